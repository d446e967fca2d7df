/* SPDX-License-Identifier: MIT */
/*
 * The heap as a whole.  World stopped, but for its start.
 */
#ifndef SGC_ALLOC_WHOLE_HEAP_H
#define SGC_ALLOC_WHOLE_HEAP_H

#include "alloc/object.h"

/* Makes the heap: address space, and the first pages in the pool.  False, with a message, if the
 * system refuses them.  Once, before any other function of this layer. */
bool sgc_heap_init(const struct sgc_heap_config *config);

/* Checks every invariant of the heap, for debug builds, torture and SGC_check; panics with a
 * message at the first contradiction.  Or one thread only. */
void sgc_heap_check(void);

typedef void (*sgc_visit_t)(const struct sgc_object *object, void *arg);

/* Calls visit for each allocated object, in the order of addresses.  The caches must have been
 * retired, so that claimed slots do not look allocated. */
void sgc_walk_objects(sgc_visit_t visit, void *arg);

/* Dead objects of a page that share a word of mark bits. */
struct sgc_dead {
    sgc_aw_t *marks;            /* the word */
    uintptr_t bits;             /* a bit of it each */
    uintptr_t first;            /* the address that the word's lowest bit stands for, */
    uint32_t stride;            /* and how far it is from one bit to the next */
    size_t bytes;               /* each object has */
};
typedef void (*sgc_visit_dead_t)(const struct sgc_dead *dead, void *arg);

/* Calls visit for what this cycle's mark has not reached, of some kinds, in the order of addresses.
 * A word at a time, since most objects of a page may be dead.  Between the end of the mark and the
 * flip, the caches retired; visit may set the bits. */
void sgc_walk_dead(uint32_t kinds, sgc_visit_dead_t visit, void *arg);

/* The object of the lowest of the bits, one at least. */
static inline uintptr_t sgc_dead_object(const struct sgc_dead *dead, uintptr_t bits)
{
    return dead->first + (uintptr_t)__builtin_ctzll(bits) * dead->stride;
}

/* Has this cycle's mark reached the object?  Between the end of the mark and the flip. */
bool sgc_walk_marked(const struct sgc_object *object);

#endif
