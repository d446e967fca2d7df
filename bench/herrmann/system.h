/* SPDX-License-Identifier: MIT */
/*
 * A system: what stands between the program and the next malloc.  Each has a file, and each file
 * shows one of these tables.
 *
 * allocate and release are called by any thread of the program, at any time from the library's
 * start on, except that a system may refuse all threads but one.  They may ask the manager, which
 * then may allocate for its thread; so nothing is locked where the manager is asked.
 */
#ifndef BENCH_HERRMANN_SYSTEM_H
#define BENCH_HERRMANN_SYSTEM_H

#include <stdatomic.h>
#include <stddef.h>

struct system {
    const char *word;                               /* of HERRMANN */
    void *(*allocate)(size_t size);                 /* NULL: there is no memory; errno is the caller's */
    void (*release)(void *block, unsigned bin);     /* of a bin, or BIN_DIRECT; keeps errno */

    /* Any of these may be NULL. */
    void *(*zeroed)(size_t count, size_t size);     /* instead of allocate, which needs to be cleared */
    void *(*aligned)(size_t alignment, size_t size);    /* instead of a place within a larger block */
    void (*start)(void);                            /* before the first call */
    void (*stop)(void);                             /* at the end, for the figures: figures_of_bin */
    void (*before_fork)(void);
    void (*after_fork)(void);                       /* in the parent */
    void (*after_fork_in_child)(void);
};

extern const struct system system_none, system_pass_through, system_locked_bins, system_lock_free_bins, system_lock_free_safe,
    system_magazine, system_magazine_off, system_ahead, system_ahead_self;

/* ---- the thesis's constants ---- */

enum { REFILL_PERIOD = 1000, DRAIN_PERIOD = 1000, WISH_MAX = 10000 };

/* Blocks given to the manager after which a thread asks for a drain; HERRMANN_DRAIN.  Written at
 * the library's start, before there are other threads. */
extern unsigned herrmann_drain_period;

enum { DRAIN_PERIOD_MAX = 2000 };

/* ---- the one that was chosen ---- */

/* system_none until the library has started.  The thread that starts it writes it once, release;
 * each call reads it, acquire: what start has prepared comes before. */
extern _Atomic(const struct system *) herrmann_system;

/* At the start: registers what this system has to do around a fork. */
void fork_start(const struct system *system);

#endif
