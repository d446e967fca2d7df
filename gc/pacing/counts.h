/* SPDX-License-Identifier: MIT */
/*
 * How much the program has allocated and freed, since the last cycle and before.  Each thread
 * counts in its cache, and spans are counted where they are made: those counts only grow, and
 * nothing is ever moved out of them, so a thread that adds them up at any time misses nothing.  The
 * bytes since a cycle are the difference from that cycle's base.
 *
 * For pacing there are sums that one load reads.  Threads add to them now and then, so they lag
 * behind.
 *
 *   allocated, freed  any mutator, relaxed adds of what its cache claimed, or    anybody: relaxed
 *                     freed; the collecting thread takes off what its cycle saw
 *   at_stop           the collecting thread, world stopped                       same
 *   bases, cycles     the collecting thread, under the GC lock: the base that    anybody: acquire, before and after the base
 *                     is not the last one, then `cycles`; release                is read.  A base is written again only when
 *                                                                                `cycles` has left it
 *   live of the last  also the thread that frees what it found dead: by CAS      anybody: relaxed
 */
#ifndef SGC_GC_PACING_COUNTS_H
#define SGC_GC_PACING_COUNTS_H

#include "gc/threads/mutator.h"

/* Bytes allocated since the last cycle, freed since then, and claimed but not handed out, at the
 * moment when the world last stopped. */
struct sgc_counts_stop {
    size_t allocated, freed, unused;
};

/* Of what threads have told since the last cycle. */
struct sgc_counts_sums {
    _Alignas(128) sgc_aw_t allocated, freed;    /* on lines of its own */
    struct sgc_counts_stop at_stop;             /* what comes after is the next cycle's */
};
SGC_INNER struct sgc_counts_sums sgc_counts_sums;

static inline size_t sgc_counts_allocated(void)
{
    return sgc_aw_load(&sgc_counts_sums.allocated);
}

static inline size_t sgc_counts_freed(void)
{
    return sgc_aw_load(&sgc_counts_sums.freed);
}

/* On the collecting thread. */
static inline const struct sgc_counts_stop *sgc_counts_at_stop(void)
{
    return &sgc_counts_sums.at_stop;
}

/* All counts.  Each byte counted as freed is counted as allocated, too; the calling thread's own
 * counts are up to date, but in a blocked region. */
struct sgc_counts {
    size_t allocated_before, freed_before;      /* up to the last cycle, which found so much
                                                 * alive */
    size_t live;
    size_t allocated_since, freed_since;
};
void sgc_counts_get(struct sgc_counts *counts);

/* One of these. */
size_t sgc_counts_allocated_since(void);
size_t sgc_counts_freed_since(void);
size_t sgc_counts_live(void);
size_t sgc_counts_allocated_before(void);
size_t sgc_counts_allocated_total(void);
size_t sgc_counts_freed_total(void);

/* Of what was allocated since then threads had so much claimed and not handed out when each last
 * counted. */
size_t sgc_counts_unused_since(void);

/* Tells what a cache has counted.  World stopped, or by its own thread in a section. */
void sgc_counts_take(struct sgc_cache *cache);

/* Tells what all threads have counted of spans; true if there was any. */
bool sgc_counts_take_spans(void);

/* Tells all.  World stopped: this is what the cycle sees. */
void sgc_counts_take_all(void);

/* So much of what was allocated, then, no thread had handed out yet; all caches are retired.  The
 * bytes that are allocated, dead or not.  World stopped. */
size_t sgc_counts_retired(size_t unused);

/* The cycle has ended and found `live` bytes: what it saw is no longer counted.  GC lock. */
void sgc_counts_cycle_done(size_t live);

/* So many of them were freed since as dead; false if that came too late to be said. */
bool sgc_counts_reclaimed(size_t bytes);

#endif
