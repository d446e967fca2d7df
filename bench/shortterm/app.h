/* SPDX-License-Identifier: MIT */
/*
 * What the programs about short-term memory share: where memory comes from, parameters, periods, and the report.
 *
 *     PROGRAM [--memory malloc|gc|gc-free|dates] [--collect lazy|eager] [--extension N] [--set quick|full] [--spoil]
 *             [--early] [--live] [--series FILE] [--NAME N]...
 *
 * Each program is written once.  It says where it would free an object by hand, where objects get their dates, and where a
 * period ends; the memory that was chosen decides which of that happens:
 *
 *   malloc    the C library's: frees by hand
 *   gc        the collector's: nothing is freed, nothing has a date
 *   gc-free   the collector's: frees by hand
 *   dates     the collector's, with short-term memory: refreshes and ticks.  Mode free, unless SGC_SHORTTERM says otherwise
 *
 * A program checks its own result and ends with status 1 if it is wrong, with 2 for arguments that it does not know, and with 3
 * if there is no memory.  With --spoil it damages its result before, so that one sees the check fail.  With --early dates are a
 * tick too short, where they are longer than the shortest: a mistake that SGC_SHORTTERM=verify has to find.
 * With --series what each period took goes to a file (bench/shortterm/series.h).
 * With --live a memory that frees by hand counts what is allocated and not freed: what the program itself needs.
 */
#ifndef SGC_BENCH_SHORTTERM_APP_H
#define SGC_BENCH_SHORTTERM_APP_H

#include <stdbool.h>

#include "bench/cases/case.h"

#include "sgc_shortterm.h"

/* ---- parameters ---- */

/* A number within bounds, or, if `text` is not NULL, a word.  Both sets of arguments have a value of each number. */
struct app_parameter {
    const char *name;
    long least, most;
    long quick, full;
    long chosen;
    const char **text;
};

/* Before app_begin: the largest extension that the program needs, unless the arguments say another. */
void app_need_extension(int extension);

/* Reads the arguments into the n parameters; starts the collector, and short-term memory if it was chosen. */
void app_begin(int argc, char **argv, const char *name, struct app_parameter *parameters, int n);

/* Ends the program with status 2. */
void app_refuse(const char *what, const char *text, const char *expected);

bool app_spoil(void);

/* ---- memory ---- */

/* Objects without a date: cleared, or without pointers and not cleared.  They never return NULL. */
void *app_new(size_t bytes);
void *app_new_plain(size_t bytes);

/* An object that is needed until so many ticks have been made.  Flags of SGC_malloc_dated. */
void *app_new_dated(size_t bytes, unsigned extension, int flags);

/* The object is needed so much longer; the second one by global time. */
void app_refresh(void *object, unsigned extension);
void app_refresh_global(void *object, unsigned extension);

void app_tick(void);
void app_tick_global(void);

/* What a program without dates would write here: free the object. */
void app_free(void *object);

/* Whether that frees anything: a program may spare itself the way to the objects. */
bool app_frees(void);

/* Nobody needs the object, which may have no date: it is freed at once, or goes at the next tick. */
void app_drop(void *object);

/* Short-term memory by itself; NULL unless it was chosen. */
struct app_dates {
    __typeof__(SGC_shortterm_init) *init;
    __typeof__(SGC_shortterm_mode) *mode;
    __typeof__(SGC_refresh) *refresh, *refresh_global;
    __typeof__(SGC_tick) *tick, *tick_global;
    __typeof__(SGC_malloc_dated) *malloc_dated;
    __typeof__(SGC_expire) *expire;
    __typeof__(SGC_get_shortterm_stats) *get_stats;
    __typeof__(SGC_hold) *hold, *unhold;
    __typeof__(SGC_region_new) *region_new;
    __typeof__(SGC_region_malloc) *region_malloc;
    __typeof__(SGC_region_refresh) *region_refresh;
    __typeof__(SGC_region_close) *region_close;
};
const struct app_dates *app_dates(void);

/* ---- periods ---- */

/* One thread says when a period begins and ends.  Its time is measured, and the heap is looked at when it has ended. */
void app_period_begin(void);
void app_period_end(void);

/* ---- the end ---- */

/* The figures. */
int app_end(uint64_t digest);

#endif
