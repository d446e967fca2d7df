/* SPDX-License-Identifier: MIT */
/*
 * The table of options, lookup by name, and access to the fields.  Constant data and pure functions,
 * except sgc_option_store, whose callers are said in gc/config/options.h.
 */
#include "gc/config/option_table.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/report.h"

/* The values start as the defaults, so that reading an option early is right too. */
struct sgc_options sgc_options SGC_STATE = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_) .field_ = initial_,
#include "gc/config/option_table.def"
};

/* The default of a TEXT is always "", which is no number. */
#define INITIAL_BOOL(x) (x)
#define INITIAL_INT(x) (x)
#define INITIAL_SIZE(x) (x)
#define INITIAL_MS(x) (x)
#define INITIAL_ENUM(x) (x)
#define INITIAL_TEXT(x) 0
#define INITIAL_SIGNAL(x) (x)
#define INITIAL_RATIO(x) (x)

const struct sgc_option_row sgc_option_table[SGC_OPTIONS] = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_)              \
    { .name = #name_, .words = words_, .help = help_, .initial = INITIAL_##type_(initial_),         \
      .min = min_, .max = max_, .special = special_, .type = SGC_OPTION_##type_,                         \
      .field = offsetof(struct sgc_options, field_) },
#include "gc/config/option_table.def"
};

const struct sgc_unsupported_row sgc_unsupported_table[] = {
#define SGC_UNSUPPORTED(name_, advice_) { .name = #name_, .advice = advice_ },
#include "gc/config/option_table.def"
};

const int sgc_unsupported_count = sizeof sgc_unsupported_table / sizeof sgc_unsupported_table[0];

static const struct sgc_unsupported_word unsupported_words[] = {
#define SGC_UNSUPPORTED_WORD(name_, word_, advice_) { .name = #name_, .word = #word_, .advice = advice_ },
#include "gc/config/option_table.def"
};

static const char *const foreign_names[] = {
#define SGC_FOREIGN(name_) #name_,
#include "gc/config/option_table.def"
};

static bool same_name(const char *known, const char *name, size_t length)
{
    sgc_assert(strnlen(name, length) == length);
    return strncmp(known, name, length) == 0 && known[length] == '\0';
}

int sgc_option_find(const char *name, size_t length)
{
    for (int i = 0; i < SGC_OPTIONS; i++)
        if (same_name(sgc_option_table[i].name, name, length))
            return i;
    return -1;
}

int sgc_unsupported_find(const char *name, size_t length)
{
    for (int i = 0; i < sgc_unsupported_count; i++)
        if (same_name(sgc_unsupported_table[i].name, name, length))
            return i;
    return -1;
}

const char *sgc_unsupported_word_advice(const char *name, const char *word)
{
    for (size_t i = 0; i < sizeof unsupported_words / sizeof unsupported_words[0]; i++)
        if (strcmp(unsupported_words[i].name, name) == 0 && strcmp(unsupported_words[i].word, word) == 0)
            return unsupported_words[i].advice;
    return NULL;
}

bool sgc_option_is_foreign(const char *name, size_t length)
{
    sgc_assert(length >= 4 && strncmp(name, "SGC_", 4) == 0);       /* nothing else is asked about */
    for (size_t i = 0; i < sizeof foreign_names / sizeof foreign_names[0]; i++)
        if (same_name(foreign_names[i], name, length))
            return true;
    return false;
}

/* ---- the nearest name ------------------------------------------------------------------------------ */

enum { LONGEST = 48 };                  /* no name is longer; longer ones get no suggestion */

static int min_of_three(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many characters must be inserted, removed or replaced to make one of the other (Levenshtein's
 * distance), one row of the table at a time. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[LONGEST + 1];

    sgc_assert(a_length <= LONGEST && b_length <= LONGEST);
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int above = row[j];
            row[j] = min_of_three(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    sgc_assert(row[b_length] >= 0 && (size_t)row[b_length] <= (a_length > b_length ? a_length : b_length));
    return row[b_length];
}

/* Behind "SGC_" or "GC_", which are taken for each other. */
static const char *own_part(const char *name)
{
    return strncmp(name, "SGC_", 4) == 0 ? name + 4 : strncmp(name, "GC_", 3) == 0 ? name + 3 : name;
}

enum { FARTHEST = 2 };                  /* letters wrong, and one in three: what is farther away is another name */

const char *sgc_option_nearest(const char *name, size_t length)
{
    const char *best = NULL, *part = own_part(name);
    size_t part_length = length - (size_t)(part - name);
    int best_distance = (part_length / 3 < FARTHEST ? (int)(part_length / 3) : FARTHEST) + 1;

    sgc_assert(strnlen(name, length) == length);
    if (length > LONGEST)
        return NULL;
    for (int i = 0; i < SGC_OPTIONS; i++) {
        const char *known = own_part(sgc_option_table[i].name);
        int d = distance(part, part_length, known, strlen(known));

        if (d < best_distance) {
            best_distance = d;
            best = sgc_option_table[i].name;
        }
    }
    return best;
}

/* ---- the fields ------------------------------------------------------------------------------------ */

static void *field(const struct sgc_option_row *row)
{
    return (char *)&sgc_options + row->field;
}

int64_t sgc_option_number(const struct sgc_option_row *row)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(row->type != SGC_OPTION_TEXT);
    if (row->type == SGC_OPTION_BOOL)
        return *(bool *)field(row);
    if (row->type == SGC_OPTION_SIZE)
        return (int64_t)*(size_t *)field(row);
    return *(int *)field(row);
}

void sgc_option_store(const struct sgc_option_row *row, int64_t value)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(sgc_option_accepts(row, value) || value == row->initial);
    sgc_assert(row->type != SGC_OPTION_TEXT);
    if (row->type == SGC_OPTION_BOOL) {
        *(bool *)field(row) = value != 0;
    } else if (row->type == SGC_OPTION_SIZE) {
        *(size_t *)field(row) = (size_t)value;
    } else {
        sgc_assert(INT_MIN <= value && value <= INT_MAX);
        *(int *)field(row) = (int)value;
    }
}

char *sgc_option_text(const struct sgc_option_row *row)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(row->type == SGC_OPTION_TEXT);
    return field(row);
}
