/* SPDX-License-Identifier: MIT */
/*
 * A set of granules of the heap, a bit for each, for walks that come to each object once.  Its
 * memory is the system's.  By one thread, with the world stopped from the obtaining to the last use
 * but the release: the heap does not grow meanwhile.
 */
#ifndef SGC_ALLOC_GRANULE_SET_H
#define SGC_ALLOC_GRANULE_SET_H

#include <string.h>

#include "alloc/pages/heap.h"

struct sgc_granule_set {
    uint64_t *word;             /* NULL: there is no memory yet */
    size_t bytes;
};

/* An empty one, for all granules that there are.  False: the system has no memory. */
static inline bool sgc_granule_set_obtain(struct sgc_granule_set *set)
{
    sgc_assert(set->word == NULL);
    set->bytes = sgc_round_up(sgc_aw_load(&sgc_heap.granules) / 8 + 8, sgc_os_page_size());
    set->word = sgc_mem_obtain(set->bytes);
    return set->word != NULL;
}

/* Also of one that was not had. */
static inline void sgc_granule_set_release(struct sgc_granule_set *set)
{
    if (set->word != NULL)
        sgc_mem_release(set->word, set->bytes);
    set->word = NULL;
}

static inline void sgc_granule_set_clear(struct sgc_granule_set *set)
{
    sgc_assert(set->word != NULL);
    memset(set->word, 0, set->bytes);
}

static inline bool sgc_granule_set_has(const struct sgc_granule_set *set, size_t granule)
{
    sgc_assert(set->word != NULL && granule / 64 * sizeof *set->word < set->bytes);
    return (set->word[granule / 64] >> granule % 64 & 1) != 0;
}

/* False: it is there already. */
static inline bool sgc_granule_set_add(struct sgc_granule_set *set, size_t granule)
{
    bool had = sgc_granule_set_has(set, granule);

    set->word[granule / 64] |= UINT64_C(1) << granule % 64;
    return !had;
}

#endif
