/* SPDX-License-Identifier: MIT */
/*
 * The shortest way from a root to an object.  On the thread that has stopped the world, with all caches given up, after a
 * snapshot of the roots.
 *
 * The search goes forward from the roots, in breadth: its queue is also the record of how each object was reached.  It
 * takes a word for the same objects as a collection would, and looks at the same words of typed ones; where a client's
 * procedure says which those are, at all.  Its memory is from the system: an entry per object, and a bit per granule.
 */
#ifndef SGC_GC_INSPECT_WHY_LIVE_H
#define SGC_GC_INSPECT_WHY_LIVE_H

#include "alloc/object.h"
#include "gc/roots/roots.h"
#include "sgc.h"

/* One object on the way. */
struct sgc_way_step {
    uintptr_t object, word;     /* word: where the pointer to it is; 0: a table of ours */
    size_t bytes;
    uint32_t from;              /* number of the step before, if `root` is SGC_HELD_BY_NOTHING */
    uint32_t next;              /* when the way has been found */
    uint8_t kind;
    uint8_t root;               /* SGC_held_t, of a first step */
    sgc_tid_t tid;              /* likewise, of a thread's */
};

struct sgc_way {
    struct sgc_way_step *step;
    uint32_t first, count;      /* the way: step[first], then each one's next, count of them */
    uint32_t used, capacity;
};

/* Are there as many steps as the way has, and has it an end? */
static inline bool sgc_way_ok(const struct sgc_way *way)
{
    return way->count <= way->used && way->used <= way->capacity && (way->count == 0 || way->first < way->used);
}

/* The way to the object, which lies in the heap and is allocated.  `self` is the thread whose own stack comes last, from
 * `frame` up: below are the frames that ask. */
SGC_held_t sgc_way_find(struct sgc_way *way, const struct sgc_object *object, const struct sgc_mutator *self,
                        uintptr_t frame);

/* Gives the memory back.  With the world running. */
void sgc_way_release(struct sgc_way *way);

#endif
