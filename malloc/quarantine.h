/* SPDX-License-Identifier: MIT */
/*
 * The quarantine of level 2: blocks that the program has freed wait here, so that a program that
 * still uses one meets no other block at its address.  Blocks of a size leave in the order in which
 * they came.
 *
 * Each cache has one, made with its first block; a thread that gets the cache's number later takes
 * it over with what it holds.  By the cache's thread, or under the common cache's lock.
 */
#ifndef SGC_MALLOC_QUARANTINE_H
#define SGC_MALLOC_QUARANTINE_H

#include "alloc/new_objects.h"
#include "alloc/small/cache.h"
#include "platform/report.h"

enum {
    SGC_QUARANTINE_SLOTS = 256,         /* of each size, up to */
    SGC_QUARANTINE_SMALL = 1024,        /* bytes; of larger ones so many: */
    SGC_QUARANTINE_LARGER = 32,
    SGC_QUARANTINE_SPANS = 16,
};

struct sgc_quarantine {
    uintptr_t last;                     /* the block that came last; 0: none, or it is a span */
    size_t last_bytes;                  /* it has, and they are zero */
    uint32_t spans;                     /* that ever came, */
    uint32_t came[SGC_CLASSES_MAX];     /* and blocks of each class */
    void *span[SGC_QUARANTINE_SPANS];
    void *block[SGC_CLASSES_MAX][SGC_QUARANTINE_SLOTS];
};

_Static_assert((SGC_QUARANTINE_SLOTS & (SGC_QUARANTINE_SLOTS - 1)) == 0 &&
               (SGC_QUARANTINE_LARGER & (SGC_QUARANTINE_LARGER - 1)) == 0 &&
               (SGC_QUARANTINE_SPANS & (SGC_QUARANTINE_SPANS - 1)) == 0, "a place is found without a division");

/* By owner number; NULL: it has none yet.  Without the table, as without memory for one, blocks do
 * not wait.  Made before the first cache is opened, in malloc/checked.c. */
SGC_INNER struct sgc_quarantine **sgc_quarantines;

/* The cache's; NULL: it has none. */
static inline struct sgc_quarantine *sgc_quarantine_there(const struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    return sgc_quarantines != NULL ? sgc_quarantines[cache->id] : NULL;
}

/* The cache's, made now if need be: a block of the heap that is never freed.  NULL: there is no
 * memory.  Outside sections. */
static inline struct sgc_quarantine *sgc_quarantine_of(struct sgc_cache *cache)
{
    struct sgc_quarantine *q = sgc_quarantine_there(cache);

    sgc_assert(!sgc_section_inside(&cache->section));
    if (q != NULL || sgc_quarantines == NULL)
        return q;
    q = sgc_span_alloc(&cache->section, sizeof *q, SGC_KIND_CONSERVATIVE, SGC_GRANULE);
    sgc_assert(q == NULL || (q->last == 0 && q->spans == 0));
    sgc_quarantines[cache->id] = q;
    return q;
}

/* A block comes, and the one that has waited longest leaves; NULL: none has to. */
static inline void *sgc_quarantine_pass(struct sgc_quarantine *q, uint32_t cls, void *block)
{
    uint32_t slots = sgc_class_bytes(cls) <= SGC_QUARANTINE_SMALL ? SGC_QUARANTINE_SLOTS : SGC_QUARANTINE_LARGER;
    void **at = &q->block[cls][q->came[cls] & (slots - 1)], *leaves = *at;

    sgc_assert(block != NULL && cls < SGC_CLASSES_MAX);
    *at = block;
    q->came[cls]++;
    return leaves;
}

static inline void *sgc_quarantine_pass_span(struct sgc_quarantine *q, void *span)
{
    void **at = &q->span[q->spans++ % SGC_QUARANTINE_SPANS], *leaves = *at;

    *at = span;
    return leaves;
}

#endif
