/* SPDX-License-Identifier: MIT */
/*
 * What a system counts, and writes at the end of the process to the file that HERRMANN_FIGURES
 * names: a line "name<TAB>value" for each figure.  %p in the file's name becomes the number of the
 * process, since programs that start others share the environment.  A child of fork writes nothing.
 *
 *     calls                 of the program; none and ahead count none; a thread counts for itself and
 *                           adds up now and then, so what a thread called last before its end is missing
 *     misses                requests that found no block ready
 *     refills, drains       rounds of the manager
 *     blocks_made           of the next malloc; ahead: pieces of 64 KB that were touched
 *     blocks_kept           which the program did not have at the end
 *     largest_bin           the wish of the bin that wished for the most blocks
 *     manager_cpu_seconds   of the manager's thread
 *
 *   figures.calls to .made   written by any thread, by relaxed additions; read by the thread that
 *                            ends the process: a number for itself
 *   figures.kept, .largest   written and read by the thread that ends the process
 *   calls                    written and read by its thread alone
 */
#ifndef BENCH_HERRMANN_FIGURES_H
#define BENCH_HERRMANN_FIGURES_H

#include <stdatomic.h>

typedef _Atomic unsigned long figure_t;

struct figures {
    figure_t calls, misses, refills, drains, made;
    unsigned long kept, largest;
};

extern struct figures figures __attribute__((visibility("hidden")));

/* Of the calling thread, since it added them to the figures. */
struct calls {
    unsigned allocations, releases;
};

extern __thread struct calls calls __attribute__((visibility("hidden")));

static inline void figures_add(figure_t *figure, unsigned long n)
{
    atomic_fetch_add_explicit(figure, n, memory_order_relaxed);
}

/* The calling thread's calls are added, and begin at 0. */
static inline void figures_add_calls(void)
{
    figures_add(&figures.calls, (unsigned long)calls.allocations + calls.releases);
    calls.allocations = 0;
    calls.releases = 0;
}

/* At the end: blocks that a bin has, and its wish. */
static inline void figures_of_bin(long kept, long wish)
{
    figures.kept += kept > 0 ? (unsigned long)kept : 0;
    if (wish > 0 && (unsigned long)wish > figures.largest)
        figures.largest = (unsigned long)wish;
}

/* Reads the environment. */
void figures_start(void);

/* Are they wanted, by this process? */
int figures_wanted(void);

/* Writes the file. */
void figures_write(void);

#endif
