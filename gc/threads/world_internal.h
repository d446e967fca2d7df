/* SPDX-License-Identifier: MIT */
/* What the two sides of stopping share: gc/threads/world.c, the threads that stop, and gc/threads/stopper.c, the one that stops
 * them. The table of orders is in gc/threads/world.c. */
#ifndef SGC_GC_THREADS_WORLD_INTERNAL_H
#define SGC_GC_THREADS_WORLD_INTERNAL_H

#include "platform/platform.h"

struct sgc_world {
    sgc_a32_t gen;
    sgc_a32_t missing;
    sgc_aw_t stranger;          /* sgc_world_stranger of the thread that was signalled last without being registered */
    uint64_t passed_over;       /* signals for which a stop has been given up, and that wait still */
    bool interrupted;           /* the last stop was given up for one */
    int told;                   /* why a signal could not be sent, when that was said last */
};
extern struct sgc_world sgc_world;

_Static_assert(sizeof(uintptr_t) == 2 * sizeof(uint32_t), "a stop and a thread in a word");

/* Says that in that stop no registered thread has this number. */
static inline uintptr_t sgc_world_stranger(uint32_t gen, sgc_tid_t tid)
{
    return (uintptr_t)gen << 32 | (uint32_t)tid;
}

#endif
