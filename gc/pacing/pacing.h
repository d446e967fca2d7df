/* SPDX-License-Identifier: MIT */
/*
 * When to collect: when what is allocated (gc/pacing/counts.h) reaches the budget, which
 * gc/pacing/pacing_rules.h works out from what collections cost (gc/pacing/costs.h) and the
 * settings.  See doc/design/pacing.md.
 *
 *   what              written by                             read by, and ordering
 *   budget, first,    the collecting thread, at the end      mutators: relaxed; a stale one costs a
 *   worth,            of a cycle; API; mutators:             poll, or an early cycle
 *   recheck_at        `recheck_at`; `budget` once a cycle,
 *                     by CAS
 *   sgc_unpublished   with the budget                        mutators: relaxed; a stale one costs polls
 *   early             the collecting thread, at the end      anybody: relaxed
 *                     of a cycle
 *   own               the same; a mutator that is about      anybody: relaxed, the last one holds
 *                     to collect
 *   early_now         the collecting thread, world           same
 *                     stopped, or at the end of a cycle
 *   trigger           with the budget                        mutators: relaxed, as the budget
 *   pause_ns          any thread that chooses the mode, or   the collecting thread: relaxed
 *                     the target
 *   granted           any thread that expands the heap, or   anybody: relaxed
 *                     collects for the client
 *   memory            the starting thread                    thread creation
 */
#ifndef SGC_GC_PACING_PACING_H
#define SGC_GC_PACING_PACING_H

#include "gc/threads/mutator.h"

struct sgc_cycle_record;

void sgc_pacing_init(void);

enum { SGC_UNPUBLISHED_MIN = SGC_PAGE / 4 };

/* The bytes that all threads together may have claimed and not added to `allocated`.  On a line
 * that seldom changes. */
SGC_INNER struct sgc_unpublished { _Alignas(128) sgc_aw_t bytes; } sgc_unpublished;

/* Has the thread claimed too little since its last look to look again?  At least 16 KB; if the
 * budget is large, more. */
static inline bool sgc_pacing_below_batch(const struct sgc_cache *cache)
{
    size_t claimed = sgc_aw_load(&cache->claimed) - cache->claimed_counted;

    return claimed < SGC_UNPUBLISHED_MIN || claimed * sgc_a32_load(&sgc_cache_count) < sgc_aw_load(&sgc_unpublished.bytes);
}

/* Is it time to collect?  SOON: for a cycle that runs beside the program, so that it ends when a
 * collection is due.  While one marks, ASSIST: the thread has to help it, NOW: the memory for the
 * time of the mark is used up. */
enum sgc_due { SGC_DUE_NOT, SGC_DUE_SOON, SGC_DUE_ASSIST, SGC_DUE_NOW };

/* Takes over what the thread's cache has claimed and freed since the last time, and asks.  On the
 * slow path of allocation; outside sections. */
enum sgc_due sgc_pacing_poll(struct sgc_mutator *self);

/* A cycle marks beside the program from now on, with the GC lock, until sgc_concurrent_pace_end. */
void sgc_pacing_mark_begins(void);

/* Has the program used up the memory for the time of that mark? */
bool sgc_pacing_overdue(void);

/* Cycles that would stop the program for longer than this run beside it; with SGC_PACING_STOPS none
 * do. */
#define SGC_PACING_STOPS UINT64_MAX
void sgc_pacing_concurrent(uint64_t target_ns);

/* A cycle has found what its record says is marked.  Stores the bytes that were allocated since the
 * one before in the record, and the waits of threads.  The next budget is set when listeners hear
 * of the end of the cycle.  With the GC lock. */
void sgc_pacing_cycle_done(struct sgc_cycle_record *record);

/* A cycle was given up: the next is tried after twice the budget. */
void sgc_pacing_given_up(void);

/* How many markers the cycle that begins should wake, of `max`: as many as have something to do.
 * On the collecting thread. */
int sgc_pacing_markers(int max);

void sgc_pacing_reconsider(void);       /* a setting has changed */
void sgc_pacing_set_minimum(size_t bytes);      /* at least so much between two cycles */
size_t sgc_pacing_minimum(void);

/* The client has been promised a heap of so many bytes, which counts as its size from now on, and
 * uses so many `more` before the next cycle; 0, 0: a promise that was not used yet is taken
 * back. */
void sgc_pacing_grant(size_t heap, size_t more);
size_t sgc_pacing_granted(void);                /* 0: nothing */

/* So much of what the last cycle counted as live was found dead by it, and has been freed only now,
 * as if by the cycle: it does not count as freed.  In a section. */
void sgc_pacing_reclaimed(size_t bytes);

/* The cycle has freed so much in the program's place, which would have freed it later.  World
 * stopped, before the mark. */
void sgc_pacing_freed_early(size_t bytes);

#endif
