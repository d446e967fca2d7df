/* SPDX-License-Identifier: MIT */
/* Declarations that files of this room share, for stopping: gc/threads/world.c, the threads that
 * stop, and gc/threads/stopper.c, the one that stops them.  The table of orders is in
 * gc/threads/world.c. */
#ifndef SGC_GC_THREADS_WORLD_INTERNAL_H
#define SGC_GC_THREADS_WORLD_INTERNAL_H

#include "gc/threads/mutator.h"
#include "platform/platform.h"

struct sgc_world {
    sgc_a32_t gen;
    sgc_a32_t missing;
    sgc_a32_t passed;           /* somebody was let pass */
    sgc_aw_t stranger;          /* sgc_world_stranger of the thread that was signalled last without
                                 * being registered */
    uint64_t passed_over;       /* signals for which a stop has been given up, and that wait
                                 * still */
    bool interrupted;           /* the last stop was given up for one */
    int reported_refusal;       /* why a signal could not be sent, when that was said last */
    bool reported_handler;      /* that the program's handler was replaced */
};
extern struct sgc_world sgc_world;

/* Before threads are asked to stop: the program may have set all signals to their defaults, and
 * would be ended by the collector's.  `again`: they were asked, and somebody has not stopped; the
 * cause may be a handler of the program's that does not call the collector's. */
void sgc_world_keep_handler(bool again);

_Static_assert(sizeof(uintptr_t) == 2 * sizeof(uint32_t), "a stop and a thread in a word");

/* Says that in that stop no registered thread has this number. */
static inline uintptr_t sgc_world_stranger(uint32_t gen, sgc_tid_t tid)
{
    return (uintptr_t)gen << 32 | (uint32_t)tid;
}

/* ---- waiting for the end of a collection (gc/threads/spin_wait.c) ---- */

void sgc_spin_wait_init(int processors);

/* A stop begins that keeps so many markers busy; and it concerns one more thread.  By the
 * stopper. */
void sgc_spin_wait_begin(uint32_t markers);
void sgc_spin_wait_add_thread(void);

/* Spins for a moment, if with `extra` more threads each one has a processor.  True when *word
 * (acquire) is not `value` any more, false when it is time to sleep.  [any] */
bool sgc_spin_wait(const sgc_a32_t *word, uint32_t value, uint32_t extra);

/* The stopper waits likewise for those it has asked: true when *word (acquire) has become 0. */
bool sgc_spin_wait_zero(const sgc_a32_t *word);

#endif
