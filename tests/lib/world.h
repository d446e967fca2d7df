/* SPDX-License-Identifier: MIT */
/*
 * Objects that move about, and a copy outside the heap of what they are to be: for tests of cycles
 * beside the program.  A thread has a world of its own, an object with short lists.  Nothing but
 * the lists leads to their nodes, and while one moves from list to list nothing but static or
 * thread-local data or a register does.  Each store of a pointer into the heap is reported, in one
 * way or another, for the source of written pages that needs that.
 */
#ifndef TESTS_LIB_WORLD_H
#define TESTS_LIB_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"

enum { WORLD_LENGTH = 6 };              /* of a list, at most */

struct world_node;

struct world {
    struct world_node **slot;           /* the lists: an object */
    uintptr_t (*id)[WORLD_LENGTH + 1];  /* what they are to be, nothing behind a 0; */
    uintptr_t (*place)[WORLD_LENGTH + 1];       /* and where, inverted */
    uint32_t slots, number;
    uint64_t random;                    /* by random_below */
    uintptr_t next_id, typed;
    bool forgets;                       /* to report what it stores */
};

/* Of the thread with this number, with some nodes in each list. */
struct world world_make(uint32_t slots, uint32_t number, bool forgets);

/* Makes a node, moves one, or drops one, which is freed or not.  False if a node was not as it
 * should be, or not there. */
bool world_change(struct world *w);
void world_change_often(struct world *w, int times);

/* Is each node there, with its contents? */
bool world_right(const struct world *w);

/* Writes into each node what is there. */
void world_write_all(const struct world *w);

/* ---- cycles, as they are counted from world_count_cycles on ---- */

extern struct world_cycles {
    sgc_a32_t all, concurrent;
    sgc_a32_t stops_max;                /* the most that a concurrent cycle had before its last */
    sgc_a32_t wrong;                    /* records that were not in order */
} world_cycles;

void world_count_cycles(void);

/* So long a test waits for cycles: a time of sgc_clock_ns(). */
uint64_t world_patience(void);

/* There were not so many concurrent cycles yet, and it is not so late yet. */
bool world_waits_for(uint32_t concurrent, uint64_t until);

#endif
