/* SPDX-License-Identifier: MIT */
/*
 * The loops whose operations bench/shortterm/operations.c measures, of any library: functions of their own, so that
 * callgrind can count them apart.  Each does `batch` operations of a kind, and what follows from these.
 */
#ifndef SGC_BENCH_SHORTTERM_LOOPS_H
#define SGC_BENCH_SHORTTERM_LOOPS_H

#include "bench/shortterm/app.h"

/* A library; what it does not have is NULL.  What its functions return beside objects is not asked for. */
struct library {
    const char *name;
    void *(*new)(size_t);
    void (*free)(void *);
    void (*refresh)(void *, unsigned), (*refresh_global)(void *, unsigned);
    void (*tick)(void), (*tick_global)(void);
    int (*region_new)(void);
    void *(*region_malloc)(size_t, int);
    void (*region_refresh)(int, unsigned);
};

struct loops {
    size_t batch;
    void **objects;             /* in the heap, and so a root of what they point at */
    SGC_region_t *region;
};
extern struct loops loops;

/* Objects go one by one, or when all are made; at a tick; with a region, or with all that is in an arena. */
void timed_pairs(const struct library *l, size_t size);
void timed_batches(const struct library *l, size_t size);
void timed_cycles(const struct library *l, size_t size);
void timed_dated(int flags, size_t size);
void timed_region(const struct library *l, size_t size);
void timed_numbered(const struct library *l, size_t size);
void timed_arena(const struct library *l, size_t size);
/* A request: objects of several sizes are made, written and read, and go at its end. */
void timed_request(const struct library *l, size_t unused);
void timed_request_dated(const struct library *l, size_t unused);
void timed_request_region(const struct library *l, size_t unused);
void timed_request_arena(const struct library *l, size_t unused);
/* What objects live through. */
void timed_holds(const struct library *l, size_t size);
void timed_refreshes(void (*refresh)(void *, unsigned));
void timed_ticks(void (*tick)(void));
void timed_tick(void (*tick)(void));

#endif
