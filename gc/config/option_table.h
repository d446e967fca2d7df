/* SPDX-License-Identifier: MIT */
/*
 * The table of options as data, and how a value is read from and written as text.  For the option
 * files and their tests; gc/config/options.h has the values, gc/config/option_set.h sets them.
 */
#ifndef SGC_GC_CONFIG_OPTION_TABLE_H
#define SGC_GC_CONFIG_OPTION_TABLE_H

#include "gc/config/options.h"

/* One identifier an option: SGC_OPT_GC_MARKERS, SGC_OPT_SGC_DECAY_MS, ... in the table's order. */
enum sgc_option_id {
#define SGC_OPTION(type, name, field, initial, min, max, special, words, help) SGC_OPT_##name,
#include "gc/config/option_table.def"
    SGC_OPTIONS
};

/* Where a value came from, as SGC_PRINT_OPTIONS shows it. */
enum sgc_origin {
    SGC_ORIGIN_DEFAULT,
    SGC_ORIGIN_ENVIRONMENT,
    SGC_ORIGIN_PROGRAM,
    SGC_ORIGIN_CLAMPED,
};

enum sgc_option_type {
    SGC_OPTION_BOOL,
    SGC_OPTION_INT,
    SGC_OPTION_SIZE,
    SGC_OPTION_MS,
    SGC_OPTION_ENUM,
    SGC_OPTION_TEXT,
    SGC_OPTION_SIGNAL,
    SGC_OPTION_RATIO,
};

enum { SGC_RATIO_ONE = 256 };           /* a RATIO is in such parts; its special value is written as
                                         * "auto" */

#define SGC_NONE INT64_MIN              /* no special value */

struct sgc_option_row {
    const char *name;
    const char *words;                  /* ENUM: "a|b"; otherwise NULL */
    const char *help;
    int64_t initial, min, max, special; /* TEXT: min and max bound the length */
    enum sgc_option_type type;
    size_t field;                       /* offset in struct sgc_options */
};

struct sgc_unsupported_row {
    const char *name, *advice;
};

extern const struct sgc_option_row sgc_option_table[SGC_OPTIONS];
extern const struct sgc_unsupported_row sgc_unsupported_table[];
extern const int sgc_unsupported_count;

/* Is it a row of the table, and does what it says of its option agree? */
static inline bool sgc_option_row_ok(const struct sgc_option_row *row)
{
    return row >= sgc_option_table && row < sgc_option_table + SGC_OPTIONS && row->min <= row->max &&
           row->field < sizeof(struct sgc_options) && (row->words != NULL) == (row->type == SGC_OPTION_ENUM);
}

/* May a number option have this value? */
static inline bool sgc_option_accepts(const struct sgc_option_row *row, int64_t value)
{
    return (value >= row->min && value <= row->max) || (row->special != SGC_NONE && value == row->special);
}

/* The number in an option's field (not for TEXT). */
int64_t sgc_option_number(const struct sgc_option_row *row);
void sgc_option_store(const struct sgc_option_row *row, int64_t value);
char *sgc_option_text(const struct sgc_option_row *row);

/* Reads a value of the option from `text`.  Returns NULL if it is accepted, with the number in
 * *value; otherwise the error ("not a number").  *value stays untouched for a TEXT. */
const char *sgc_option_parse(const struct sgc_option_row *row, const char *text, int64_t *value);

/* The accepted values ("1 to 64, or 0"), a value ("4m"), and the current one (a text that does not
 * fit is cut).  The first two return `buffer`. */
#define SGC_OPTION_WORDS 128
char *sgc_option_range(const struct sgc_option_row *row, char *buffer, size_t size);
char *sgc_option_show(const struct sgc_option_row *row, int64_t value, char *buffer, size_t size);
const char *sgc_option_current(const struct sgc_option_row *row, char *buffer, size_t size);
const char *sgc_origin_name(enum sgc_origin origin);

/* Signals (option_signal.c): the number of "SIGUSR1", "USR1" or "RTMIN+3", 0 if it is no name; the
 * name of a number, NULL if it has none; whether it can be used to stop threads. */
int sgc_signal_number(const char *name);
const char *sgc_signal_name(int signal);
bool sgc_signal_can_suspend(int signal);

#endif
