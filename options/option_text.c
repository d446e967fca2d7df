/* SPDX-License-Identifier: MIT */
/*
 * Option values from text and as text.  Pure functions: no malloc, no stdio, no locale, so they may
 * run before main and inside the first allocation.
 */
#include "options/option_table.h"

#include <string.h>

#include "platform/text_line.h"
#include "platform/report.h"

/* ---- from text
 * --------------------------------------------------------------------------------------- */

static const char not_a_number[] = "not a number";
static const char too_many_digits[] = "a number with too many digits";
static const char out_of_range[] = "out of range";
static const char special_word[] = "auto";

/* Decimal digits with an optional minus sign; *end is what follows them. */
static const char *parse_decimal(const char *text, const char **end, int64_t *value)
{
    bool negative = *text == '-';
    int64_t number = 0;

    text += negative;
    if (*text < '0' || *text > '9')
        return not_a_number;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number))
            return too_many_digits;
    sgc_assert(number >= 0);
    *end = text;
    *value = negative ? -number : number;
    return NULL;
}

static const char *parse_int(const char *text, int64_t *value)
{
    const char *end;
    const char *wrong = parse_decimal(text, &end, value);

    if (wrong == NULL && *end != '\0')
        wrong = not_a_number;
    return wrong;
}

/* The shift a size suffix stands for; -1: it is none. */
static int suffix_shift(const char *suffix)
{
    static const char letters[] = "kKmMgGtT";

    sgc_assert(*suffix < '0' || *suffix > '9');         /* all digits have been read */
    if (*suffix == '\0')
        return 0;
    const char *letter = strchr(letters, *suffix);
    return letter != NULL && suffix[1] == '\0' ? 10 + 10 * (int)((letter - letters) / 2) : -1;
}

static const char *parse_size(const char *text, int64_t *value)
{
    const char *end;
    const char *wrong = parse_decimal(text, &end, value);

    if (wrong != NULL)
        return wrong;
    int shift = suffix_shift(end);
    if (shift < 0)
        return "not a size in bytes, with k, m, g or t";
    return __builtin_mul_overflow(*value, INT64_C(1) << shift, value) ? "a size far too large" : NULL;
}

/* The position of `text` among words separated by '|'; -1: not there. */
static int64_t word_position(const char *words, const char *text)
{
    size_t length = strlen(text);
    int64_t position = 0;

    sgc_assert(*words != '\0' && *words != '|');
    for (;;) {
        size_t word = strcspn(words, "|");
        if (word == length && strncmp(words, text, length) == 0)
            return position;
        if (words[word] == '\0')
            return -1;
        words += word + 1;
        position++;
    }
}

static const char not_a_word[] = "not one of the known words";

static const char *parse_word(const char *words, const char *text, int64_t *value)
{
    *value = word_position(words, text);
    return *value < 0 ? not_a_word : NULL;
}

static const char bool_words[] = "0|1|off|on|no|yes|false|true";

static const char *parse_bool(const char *text, int64_t *value)
{
    const char *wrong = parse_word(bool_words, text, value);

    *value &= 1;                        /* each pair of words is (false, true) */
    return wrong;
}

static const char *parse_signal(const char *text, int64_t *value)
{
    sgc_assert(*text != '\0');
    *value = sgc_signal_number(text);
    if (*value == 0 && parse_int(text, value) != NULL)
        return "not a signal";
    if (1 <= *value && *value <= 64 && !sgc_signal_can_suspend((int)*value))
        return "a signal that cannot be used for this";
    return NULL;
}

/* Reads the digits behind a point, nine at most, in parts of a RATIO, rounded down. */
static const char *parse_places(const char *text, int64_t *parts)
{
    int64_t digits = 0, unit = 1;

    if (*text == '\0')
        return not_a_number;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (unit == 1000000000)
            return too_many_digits;
        digits = digits * 10 + (*text - '0');
        unit *= 10;
    }
    sgc_assert(digits < unit);
    *parts = digits * SGC_RATIO_ONE / unit;
    return *text == '\0' ? NULL : not_a_number;
}

/* The special value has a word, so that the number which stands for it inside is out of range like
 * others. */
static const char *parse_ratio(const struct sgc_option_row *row, const char *text, int64_t *value)
{
    const char *end, *wrong;
    int64_t parts = 0;

    sgc_assert(row->min > 0);
    if (row->special != SGC_NONE && strcmp(text, special_word) == 0) {
        *value = row->special;
        return NULL;
    }
    wrong = parse_decimal(text, &end, value);
    if (wrong == NULL && *end == '.')
        wrong = parse_places(end + 1, &parts);
    else if (wrong == NULL && *end != '\0')
        wrong = not_a_number;
    if (wrong != NULL)
        return wrong;
    if (__builtin_mul_overflow(*value, SGC_RATIO_ONE, value) || __builtin_add_overflow(*value, parts, value))
        return too_many_digits;
    return row->min <= *value && *value <= row->max ? NULL : out_of_range;
}

/* Reads an INT; for an option whose special value is 0 the word "auto" means 0, too. */
static const char *parse_special_int(const struct sgc_option_row *row, const char *text, int64_t *value)
{
    sgc_assert(row->type == SGC_OPTION_INT);
    if (row->special != 0 || strcmp(text, special_word) != 0)
        return parse_int(text, value);
    *value = row->special;
    return NULL;
}

static const char *parse_number(const struct sgc_option_row *row, const char *text, int64_t *value)
{
    sgc_assert(row->type != SGC_OPTION_TEXT);
    switch (row->type) {
    case SGC_OPTION_BOOL:   return parse_bool(text, value);
    case SGC_OPTION_INT:    return parse_special_int(row, text, value);
    case SGC_OPTION_SIZE:   return parse_size(text, value);
    case SGC_OPTION_ENUM:   return parse_word(row->words, text, value);
    case SGC_OPTION_SIGNAL: return parse_signal(text, value);
    case SGC_OPTION_RATIO:  return parse_ratio(row, text, value);
    default:                return parse_int(text, value);
    }
}

const char *sgc_option_parse(const struct sgc_option_row *row, const char *text, int64_t *value)
{
    int64_t number;

    sgc_assert(sgc_option_row_ok(row));
    if (*text == '\0')
        return "empty";
    if (row->type == SGC_OPTION_TEXT)
        return strlen(text) > (size_t)row->max ? "too long" : NULL;
    const char *wrong = parse_number(row, text, &number);
    if (wrong != NULL)
        return wrong;
    if (!sgc_option_accepts(row, number))
        return out_of_range;
    *value = number;
    return NULL;
}

/* ---- as text
 * ----------------------------------------------------------------------------------------- */

static void show_size(int64_t bytes, char *buffer, size_t size)
{
    static const char letters[] = "tgmk";

    sgc_assert(bytes >= 0 && size > 0);
    for (int i = 0; i < 4; i++) {
        int64_t unit = INT64_C(1) << (40 - 10 * i);
        if (bytes != 0 && bytes % unit == 0) {
            sgc_format(buffer, size, "%ld%c", (long)(bytes / unit), letters[i]);
            return;
        }
    }
    sgc_format(buffer, size, "%ld", (long)bytes);
}

static void show_word(const char *words, int64_t position, char *buffer, size_t size)
{
    sgc_assert(position >= 0 && size > 0);
    while (position-- > 0) {
        sgc_assert(strchr(words, '|') != NULL);         /* there are so many words */
        words += strcspn(words, "|") + 1;
    }
    size_t length = strcspn(words, "|");
    if (length >= size)
        length = size - 1;
    memcpy(buffer, words, length);
    buffer[length] = '\0';
}

static void show_signal(int signal, char *buffer, size_t size)
{
    const char *name = sgc_signal_name(signal);

    sgc_assert(signal == 0 || name != NULL || sgc_signal_can_suspend(signal));
    if (name != NULL)
        sgc_format(buffer, size, "%s", name);
    else
        sgc_format(buffer, size, "%d", signal);
}

/* With as few places as say which it is: three always do. */
static void show_ratio(int64_t value, char *buffer, size_t size)
{
    int64_t unit = 1, up = value / SGC_RATIO_ONE;
    struct sgc_line line;
    int places = 0;

    sgc_assert(value > 0 && size > 0);
    while (up * SGC_RATIO_ONE / unit != value) {
        sgc_assert(places < 3);
        unit *= 10;
        places++;
        up = (value * unit + SGC_RATIO_ONE - 1) / SGC_RATIO_ONE;
    }
    sgc_line_start(&line);
    sgc_line_fixed(&line, (uint64_t)up, (uint64_t)unit, places);
    sgc_format(buffer, size, "%s", line.text);
}

char *sgc_option_show(const struct sgc_option_row *row, int64_t value, char *buffer, size_t size)
{
    sgc_assert(sgc_option_row_ok(row) && row->type != SGC_OPTION_TEXT && size > 0);
    if (row->type == SGC_OPTION_SIZE)
        show_size(value, buffer, size);
    else if (row->type == SGC_OPTION_ENUM)
        show_word(row->words, value, buffer, size);
    else if (row->type == SGC_OPTION_SIGNAL)
        show_signal((int)value, buffer, size);
    else if (row->type == SGC_OPTION_RATIO && value == row->special)
        sgc_format(buffer, size, "%s", special_word);
    else if (row->type == SGC_OPTION_RATIO)
        show_ratio(value, buffer, size);
    else
        sgc_format(buffer, size, "%ld", (long)value);
    return buffer;
}

const char *sgc_option_current(const struct sgc_option_row *row, char *buffer, size_t size)
{
    sgc_assert(sgc_option_row_ok(row) && size > 0);
    if (row->type != SGC_OPTION_TEXT)
        return sgc_option_show(row, sgc_option_number(row), buffer, size);
    const char *text = sgc_option_text(row);
    return *text != '\0' ? sgc_quote(text, strlen(text), buffer, size) : "none";
}

static void show_interval(const struct sgc_option_row *row, char *buffer, size_t size)
{
    char low[32], high[32], word[32], special[40] = "";

    sgc_assert(row->special == SGC_NONE || row->special < row->min || row->special > row->max);
    sgc_option_show(row, row->min, low, sizeof low);
    sgc_option_show(row, row->max, high, sizeof high);
    if (row->special != SGC_NONE)
        sgc_format(special, sizeof special, ", or %s", sgc_option_show(row, row->special, word, sizeof word));
    sgc_format(buffer, size, "%s to %s%s", low, high, special);
}

char *sgc_option_range(const struct sgc_option_row *row, char *buffer, size_t size)
{
    sgc_assert(sgc_option_row_ok(row) && size > 0);
    switch (row->type) {
    case SGC_OPTION_BOOL:
        sgc_format(buffer, size, "%s", bool_words);
        break;
    case SGC_OPTION_ENUM:
        sgc_format(buffer, size, "%s", row->words);
        break;
    case SGC_OPTION_TEXT:
        sgc_format(buffer, size, "a file name of %ld to %ld bytes", (long)row->min, (long)row->max);
        break;
    case SGC_OPTION_SIGNAL:
        sgc_format(buffer, size, "a number of %ld to %ld or a name like SIGUSR1", (long)row->min, (long)row->max);
        break;
    default:
        show_interval(row, buffer, size);
    }
    return buffer;
}

const char *sgc_origin_name(enum sgc_origin origin)
{
    static const char *const names[] = { "default", "environment", "program", "clamped" };

    sgc_assert((size_t)origin < sizeof names / sizeof names[0]);
    return names[origin];
}
