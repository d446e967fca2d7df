/* SPDX-License-Identifier: MIT */
/*
 * What [Endo]'s programs share: parameters by the chapters of the thesis, threads that go through phases together, a count of
 * what they allocate and keep, and the report.  They are written from the thesis' description, on gc.h alone.
 *
 *     PROGRAM [--set quick|ch2|ch3|ch4|ch5] [--threads N] [--NAME N]... [--spoil] [--weigh]
 *
 * Each parameter of the set may be given by its name.  A program checks its own result, and ends with status 1 if it is
 * wrong; with --spoil it damages the result first, so that one can see the check fail.  With --weigh it collects whenever
 * more is alive than before, and reports what the collector has in objects then, rounded up as they are: not to be timed.
 *
 * Each is built twice.  In the second build, PROGRAM-soft, every store of a pointer into a heap object is reported to the
 * collector: what a compiler with a software write barrier would do.
 */
#ifndef SGC_BENCH_ENDO_APP_H
#define SGC_BENCH_ENDO_APP_H

#include <stdbool.h>

#include "bench/cases/case.h"

/* *place = value, of pointers; place is in a heap object. */
#ifdef ENDO_SOFT
#define STORE(place, value) GC_ptr_store_and_dirty(place, value)
#else
#define STORE(place, value) ((void)(*(place) = (value)))
#endif

/* ---- parameters ---- */

enum app_set { APP_QUICK, APP_CH2, APP_CH3, APP_CH4, APP_CH5, APP_SETS };

/* Beyond its bounds a value is refused; a set whose value is 0 is one that the thesis does not have. */
struct app_parameter {
    const char *name;
    long least, most;
    long value[APP_SETS];
    long chosen;
};

/* Reads the arguments into `chosen` of the n parameters, or ends the program with status 2; starts the collector. */
void app_begin(int argc, char **argv, const char *name, struct app_parameter *parameters, int n);

/* Ends the program with status 2. */
void app_refuse(const char *what, const char *text, const char *expected);

long app_threads(void);
bool app_spoil(void);

/* ---- threads ---- */

/* body(i) on each thread, 0 being one of them, and the clock that app_end reports. */
void app_run(void (*body)(long i));

/* How long that took. */
double app_seconds(void);

/* In body: waits for all.  True on one of them. */
bool app_barrier(void);

/* Work of a phase: numbers from 0 up to a bound, each taken by one thread.  Reset by one thread between two barriers. */
struct app_tasks {
    _Alignas(128) long next;
};
void app_reset(struct app_tasks *tasks);

/* The first of `batch` numbers; below `bound`, or there are none left. */
long app_take(struct app_tasks *tasks, long batch);

/* ---- memory ---- */

/* A cleared object, counted as allocated by thread i; the second kind has no pointers, the third lives until it is freed.  Ends
 * the program if there is no memory. */
void *app_new(long i, size_t bytes);
void *app_new_plain(long i, size_t bytes);
void *app_new_uncollectable(long i, size_t bytes);

struct app_counts {
    unsigned long objects, bytes;
};

/* Of all threads up to now.  Between barriers. */
struct app_counts app_allocated(void);

/* So much was alive at a time; the most is reported.  By one thread at a time. */
void app_live(unsigned long objects, unsigned long bytes);

/* What was allocated since `before` is alive, all of it. */
void app_live_since(struct app_counts before);

/* ---- the end ---- */

/* The figures. */
int app_end(uint64_t digest);

#endif
