/* SPDX-License-Identifier: MIT */
/*
 * When to collect: when what is allocated (gc/pacing/counts.h) reaches the budget, which
 * gc/pacing/pacing_rules.h works out from what collections cost (gc/pacing/costs.h) and the
 * settings.  See doc/design/pacing.md.  The table of who writes what is in
 * gc/pacing/budget.h.
 */
#ifndef SGC_GC_PACING_PACING_H
#define SGC_GC_PACING_PACING_H

#include "gc/events/events.h"
#include "gc/threads/mutator.h"

void sgc_pacing_init(void);

enum { SGC_UNPUBLISHED_MIN = SGC_UNPOLLED_MAX };

/* The bytes that all threads together may have claimed and not added to `allocated`.  On a line
 * that seldom changes. */
SGC_INNER struct sgc_unpublished { _Alignas(128) sgc_aw_t bytes; } sgc_unpublished;

/* Says how many that may be, after a new budget, or when samples of what is allocated begin or
 * end. */
void sgc_pacing_allow_unpublished(void);

/* Has the thread claimed too little since its last look to look again?  At least 16 KB; if the
 * budget is large, more; less where a sample of what it allocates is near. */
static inline bool sgc_pacing_below_batch(const struct sgc_cache *cache)
{
    size_t claimed = sgc_aw_load(&cache->claimed) - cache->claimed_counted;

    return claimed < cache->unpolled || claimed * sgc_a32_load(&sgc_cache_count) < sgc_aw_load(&sgc_unpublished.bytes);
}

/* Is it time to collect?  SOON: for a cycle that runs beside the program, so that it ends when a
 * collection is due.  LATE: that was some time ago, and it does not mark yet; or it marks, and the
 * memory for that time is used up.  ASSIST: it marks, and is behind.  In both cases the thread has
 * to help.  NOW: whatever stop that takes. */
enum sgc_due { SGC_DUE_NOT, SGC_DUE_SOON, SGC_DUE_ASSIST, SGC_DUE_LATE, SGC_DUE_NOW };

/* Takes over what the thread's cache has claimed and freed since the last time, and asks.  `next`
 * is what the thread is about to allocate in a large object, or 0.  The bytes that it has to help
 * a cycle for are added to `self->owed`.  On the slow path of allocation; outside sections. */
enum sgc_due sgc_pacing_poll(struct sgc_mutator *self, size_t next);

/* Asks once more while a cycle is wanted or marks. */
enum sgc_due sgc_pacing_poll_again(const struct sgc_mutator *self);

/* A thread waits for a cycle that does not mark yet: has the program allocated many rooms since the
 * first did?  Then the lead does not get on. */
bool sgc_pacing_hopeless(void);

/* A cycle is made, or ended, in one stop because of what is allocated: why? */
enum sgc_stopped_for sgc_pacing_stopped_for(void);

/* How long the calling thread helps that cycle for the bytes it owes: it marks for so long, or
 * rests for so many times that (gc/pacing/help_rules.h). */
struct sgc_help {
    uint64_t ns, rests;
};
struct sgc_help sgc_pacing_help(struct sgc_mutator *self);

/* A cycle marks beside the program from now on, with the GC lock, until sgc_concurrent_pace_end. */
void sgc_pacing_mark_begins(void);

/* Cycles that would stop the program for longer than this run beside it; with SGC_PACING_STOPS none
 * do. */
#define SGC_PACING_STOPS UINT64_MAX
void sgc_pacing_concurrent(uint64_t target_ns);

/* A cycle has found what its record says is marked.  Stores the bytes that were allocated since the
 * one before in the record, and the waits of threads.  The next budget is set when listeners hear
 * of the end of the cycle.  With the GC lock. */
void sgc_pacing_cycle_done(struct sgc_cycle_record *record);

/* In the child of a fork: who helped, and waited, were the parent's threads. */
void sgc_pacing_after_fork(void);

/* A cycle that allocation asks for was given up, with the program stopped or before that was tried
 * (a stop function said so): the next is tried when as much again has been allocated as between two
 * cycles, and so is the end of one that marks beside the program, after as much as it had room for.
 * Or because the program could not be stopped: then twice as much is allocated before the next, and
 * nobody helps a mark.  With the GC lock. */
void sgc_pacing_given_up(bool can_stop);

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
