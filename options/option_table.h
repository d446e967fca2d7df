/* SPDX-License-Identifier: MIT */
/*
 * Options of a library, which environment variables set: the rows of its table, and the list of all
 * names that it knows.  This room reads, checks and prints what a list says; which options there
 * are, and what they mean, each library says itself (the collector in gc/config/option_set.c).
 * Several libraries of a process have each a list, and each a copy of this room.
 *
 * Nothing here calls malloc, stdio or the locale, or keeps state of its own, so all of it may run
 * before main and inside the first allocation.  Values and states are written by
 * sgc_option_store, sgc_option_list_read, sgc_option_list_set, sgc_option_list_clamp and
 * sgc_option_list_reset; each library states on which thread it calls these, and when.
 */
#ifndef SGC_OPTIONS_OPTION_TABLE_H
#define SGC_OPTIONS_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/faults.h"

/* ---- rows ---- */

enum sgc_option_type {
    SGC_OPTION_BOOL,                    /* the field is a bool */
    SGC_OPTION_INT,
    SGC_OPTION_SIZE,                    /* a size_t */
    SGC_OPTION_MS,
    SGC_OPTION_ENUM,
    SGC_OPTION_TEXT,                    /* an array of characters, one more than the row's max */
    SGC_OPTION_SIGNAL,
    SGC_OPTION_RATIO,                   /* like all others an int */
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
    void *field;                        /* the variable that has the value */
};

/* A row's initial value from the default in a table of options: SGC_INITIAL_INT(64).  The default
 * of a TEXT is always "", which is no number. */
#define SGC_INITIAL_BOOL(x) (x)
#define SGC_INITIAL_INT(x) (x)
#define SGC_INITIAL_SIZE(x) (x)
#define SGC_INITIAL_MS(x) (x)
#define SGC_INITIAL_ENUM(x) (x)
#define SGC_INITIAL_TEXT(x) 0
#define SGC_INITIAL_SIGNAL(x) (x)
#define SGC_INITIAL_RATIO(x) (x)

/* Does what the row says of its option agree? */
static inline bool sgc_option_row_ok(const struct sgc_option_row *row)
{
    return row->name != NULL && row->help != NULL && row->field != NULL && row->min <= row->max &&
           (row->words != NULL) == (row->type == SGC_OPTION_ENUM);
}

/* May a number option have this value? */
static inline bool sgc_option_accepts(const struct sgc_option_row *row, int64_t value)
{
    return (value >= row->min && value <= row->max + sgc_fault(SGC_FAULT_OPTION_BOUND)) ||
           (row->special != SGC_NONE && value == row->special);
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

/* Signals (option_signal.c): the number of "SIGUSR1", "USR1" or "RTMIN+3", 0 if it is no name; the
 * name of a number, NULL if it has none; whether it can be used to stop threads. */
int sgc_signal_number(const char *name);
const char *sgc_signal_name(int signal);
bool sgc_signal_can_suspend(int signal);

/* ---- the list ---- */

/* Where a value came from, as SGC_PRINT_OPTIONS shows it. */
enum sgc_origin {
    SGC_ORIGIN_DEFAULT,
    SGC_ORIGIN_ENVIRONMENT,
    SGC_ORIGIN_PROGRAM,
    SGC_ORIGIN_CLAMPED,
};

const char *sgc_origin_name(enum sgc_origin origin);

struct sgc_option_state {
    unsigned char origin;               /* enum sgc_origin */
    bool seen;                          /* the environment has had the name already */
};

/* An option that a library has no more, or that another one has; the advice follows in the
 * message. */
struct sgc_unsupported_row {
    const char *name, *advice;
};

/* A word that an ENUM does not have any more. */
struct sgc_unsupported_word {
    const char *name, *word, *advice;
};

struct sgc_option_list {
    const struct sgc_option_row *rows;
    struct sgc_option_state *states;    /* of each row; zero at the start */
    const struct sgc_unsupported_row *unsupported;
    const struct sgc_unsupported_word *words;
    const char *const *foreign;         /* names of others that begin with SGC_ */
    int count, unsupported_count, word_count, foreign_count;
};

static inline bool sgc_option_list_ok(const struct sgc_option_list *list)
{
    return list->count > 0 && list->rows != NULL && list->states != NULL &&
           (list->unsupported_count == 0 || (list->unsupported_count > 0 && list->unsupported != NULL)) &&
           (list->word_count == 0 || (list->word_count > 0 && list->words != NULL)) &&
           (list->foreign_count == 0 || (list->foreign_count > 0 && list->foreign != NULL));
}

/* The row whose name is the first `length` characters of `name`; -1: none. */
int sgc_option_list_find(const struct sgc_option_list *list, const char *name, size_t length);

/* Reads `environment`, which ends with NULL; there may be none (NULL), as when the loader allocates
 * before `environ` is set.  Of a name that occurs twice the first counts.  A value that is not
 * accepted, an unsupported option, and an unknown name that is like an option's are named in a
 * message.  secure: the process gained privileges when it was executed (AT_SECURE), so it must not
 * write files or change its signals because of the environment of the user who started it: nothing
 * is read. */
void sgc_option_list_read(const struct sgc_option_list *list, char *const *environment, bool secure);

/* Sets an option for the program.  False, with a message, if there is no such option or the value
 * is not accepted; the value is then as before. */
bool sgc_option_list_set(const struct sgc_option_list *list, const char *name, const char *value);

/* Replaces the value of row `id` by one that can be had.  `why` ends the message "GC_MARKERS=8: 1
 * is used: <why>"; NULL: no message. */
void sgc_option_list_clamp(const struct sgc_option_list *list, int id, int64_t value, const char *why);

/* The listing of SGC_PRINT_OPTIONS: a line for each row. */
void sgc_option_list_print(const struct sgc_option_list *list);

/* Puts every option back to its default, as before all else.  For tests. */
void sgc_option_list_reset(const struct sgc_option_list *list);

#endif
