/* SPDX-License-Identifier: MIT */
/*
 * Freed slots at hand: what a thread has freed, to be handed out again, last in first out.
 *
 * A bin remembers them in an array beside the heap.  So nothing of ours lies in memory that the
 * program may still write to by mistake, and freeing an object does not touch it.  An array begins
 * small and grows up to SGC_FREED_MAX slots; what is freed then makes the bin leave all of them to
 * their pages (sgc_emptied_leave_freed), where claims find them again.
 *
 * Arrays stay with their bins; large ones are memory of their own, most of which goes back to the
 * system at each cycle.  Pushing and popping are steps of brief sections: each of their
 * instructions may be the last.  An array is exchanged under the cache's lock, which no jump
 * leaves.
 */
#ifndef SGC_ALLOC_SMALL_FREED_H
#define SGC_ALLOC_SMALL_FREED_H

#include "alloc/small/cache.h"
#include "platform/single_writer.h"

enum {
    SGC_FREED_ARRAY_MIN = 1024, SGC_FREED_ARRAY_MAX = 1 << 22,  /* bytes of an array, its head included */
    SGC_FREED_GROWTH = 4,
    SGC_FREED_MAX = SGC_FREED_ARRAY_MAX / sizeof(struct sgc_freed) - 1,
};

/* Sees to it that the bin has room for one more when it is activated: false if it may have no more,
 * or there is no memory.  By the cache's thread, outside sections. */
bool sgc_bin_make_room(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* How many the bin takes before it is closed. */
static inline uint32_t sgc_bin_may_keep(const struct sgc_bin *bin)
{
    uint32_t room = sgc_bin_freed_room(bin);
    size_t bound = sgc_bin_bound(bin);

    return bound < room ? (uint32_t)bound : room;
}

/* Before the bin gets its slots: in an abandoned section (platform/section/section.h) a bin with
 * slots that is not marked would keep them over a cycle, and hand them out twice. */
static inline void sgc_bin_activate(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    cache->active[kind][cls / 64] |= UINT64_C(1) << (cls % 64);
    sgc_compiler_barrier();
    if (bin->freed != NULL && cache->keeps_freed)
        bin->freed_full = bin->freed_first + sgc_bin_may_keep(bin) * (uint32_t)sizeof(struct sgc_freed);
}

/* A slot freed by this thread, allocated again.  In a section.  It leaves the array before its bit
 * is set: when both happen or only the first, nobody else gets it. */
__attribute__((always_inline))
static inline void *sgc_bin_pop(struct sgc_bin *bin)
{
    const struct sgc_freed *last = bin->freed - 1;
    void *object = last->object;
    size_t place = last->place;

    sgc_assert(place == sgc_bit_index(sgc_granule_number((uintptr_t)object)));
    sgc_assert(!sgc_alloc_bit(sgc_granule_number((uintptr_t)object)));
    sgc_compiler_barrier();
    bin->freed--;
    sgc_own_bit_set(sgc_alloc_words, place);
    return object;
}

/* In a section; the slot's bit is cleared already, the bin is not closed, and `end` is where its
 * array ends, which the caller has in a register.  The array grows last: a jump out before loses
 * the slot until the next cycle. */
__attribute__((always_inline))
static inline void sgc_bin_push(struct sgc_bin *bin, struct sgc_freed *end, void *object, size_t place)
{
    sgc_assert(!sgc_bin_closed(bin) && end == bin->freed);
    *end = (struct sgc_freed){ object, place };
    sgc_compiler_barrier();
    bin->freed++;
}

#endif
