/* SPDX-License-Identifier: MIT */
/* See tests/fuzz/entries.h. */
#include "tests/fuzz/entries.h"

#include <stdio.h>
#include <string.h>

const struct sgc_option_row *entry_row(struct fuzz_input *in)
{
    return &sgc_option_table[fuzz_byte(in) % SGC_OPTIONS];
}

static void add_char(char *text, unsigned c)
{
    size_t length = strlen(text);

    if (c != 0 && length + 1 < ENTRY_BYTES) {
        text[length] = (char)c;
        text[length + 1] = '\0';
    }
}

static void add_text(char *text, const char *more)
{
    snprintf(text + strlen(text), ENTRY_BYTES - strlen(text), "%s", more);
}

/* Up to a zero. */
static void add_bytes(char *text, struct fuzz_input *in)
{
    unsigned c;

    while (fuzz_more(in) && (c = fuzz_byte(in)) != 0)
        add_char(text, c);
}

static void damage(char *name, struct fuzz_input *in)
{
    size_t length = strlen(name), at = fuzz_below(in, (unsigned)length);
    unsigned how = fuzz_byte(in);
    char c = (char)('A' + fuzz_below(in, 27));      /* 'A' to '[' */

    if (how % 3 == 0) {
        memmove(name + at, name + at + 1, length - at);
    } else if (how % 3 == 1) {
        memmove(name + at + 1, name + at, length - at + 1);
        name[at] = c;
    } else {
        name[at] = c;
    }
}

static void add_near(char *text, const struct sgc_option_row *row, struct fuzz_input *in)
{
    int64_t special = row->special == SGC_NONE ? row->initial : row->special;
    const int64_t values[] = { row->min, row->max, special, 0, INT64_MAX, INT32_MAX };
    static const char *const suffixes[] = { "", "", "", "k", "m", "g", "t", "K", "kk", ".0", ".999999999", " " };
    int64_t value = values[fuzz_below(in, 6)], difference = (int64_t)fuzz_below(in, 5) - 2;
    char number[32];

    if (row->type == SGC_OPTION_RATIO)
        value /= SGC_RATIO_ONE;
    if (__builtin_add_overflow(value, difference, &value))
        value = INT64_MIN;
    snprintf(number, sizeof number, "%lld", (long long)value);
    add_text(text, number);
    add_text(text, suffixes[fuzz_below(in, 12)]);
}

static void add_word(char *text, const struct sgc_option_row *row, struct fuzz_input *in)
{
    const char *from = row->words != NULL ? row->words : "0|1|off|on|no|yes|false|true|auto|none";
    char copy[200], *save = NULL, *word;
    unsigned skip = fuzz_below(in, 12);

    snprintf(copy, sizeof copy, "%s", from);
    word = strtok_r(copy, "|", &save);
    for (char *next = word; skip > 0 && (next = strtok_r(NULL, "|", &save)) != NULL; skip--)
        word = next;
    add_text(text, word);
}

/* A text about as long as may be. */
static void add_long(char *text, const struct sgc_option_row *row, struct fuzz_input *in)
{
    int64_t length = (row->type == SGC_OPTION_TEXT ? row->max : 64) + (int64_t)fuzz_below(in, 5) - 2;
    unsigned c = fuzz_byte(in);

    for (int64_t i = 0; i < length; i++)
        add_char(text, c);
}

void make_entry(char text[ENTRY_BYTES], struct fuzz_input *in)
{
    unsigned op = fuzz_below(in, 8);

    text[0] = '\0';
    if (op == 0) {
        add_bytes(text, in);
        return;
    }
    const struct sgc_option_row *row = entry_row(in);

    add_text(text, op == 6 ? sgc_unsupported_table[fuzz_below(in, (unsigned)sgc_unsupported_count)].name : row->name);
    if (op == 1)
        damage(text, in);
    add_text(text, "=");
    switch (op) {
    case 2: case 3: add_near(text, row, in); break;
    case 4: add_word(text, row, in); break;
    case 5: add_long(text, row, in); break;
    default: add_bytes(text, in); break;
    }
}
