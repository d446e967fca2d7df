/* SPDX-License-Identifier: MIT */
/*
 * Huge pages of the system for heaps that have some size.
 *
 * Touching memory for the first time and finding its translation cost a large heap more than
 * marking some of it.  Arenas are aligned, grow from the lowest address, and their pages are taken
 * from there, so little more memory becomes resident.  Not so in spans of several arenas, which
 * programs may use here and there, and of few pages, which may leave half of them unused: what
 * grows for these is left alone.
 *
 * On some machines the system takes longer to make a huge page than to make the small ones that it
 * replaces, or comes to such pages after others that were fast.  So each growth tries one first.
 *
 *   what         written by                         read by                    ordering
 *   looked,      the thread that grows the heap     same                       one at a time, by the pool's lock
 *   page, trials
 *   asked        the thread that grows the heap     same; who gives memory     relaxed
 *                                                   back: a hint
 */
#ifndef SGC_ALLOC_PAGES_HUGE_PAGES_H
#define SGC_ALLOC_PAGES_HUGE_PAGES_H

#include "alloc/pages/heap.h"

/* ---- when to ask: without state or system calls ---- */

enum {
    SGC_HUGE_FROM_ARENA = 6,        /* smaller heaps (24 MB) are left alone */
    SGC_HUGE_SAMPLE = 16,           /* small pages that are touched for comparison */
    SGC_HUGE_PATIENCE = 4,          /* so many times as large a heap tries again: a trial that fails
                                     * takes some milliseconds */
};

struct sgc_huge_trials {
    uint64_t sample_ns;             /* the last sample of small pages took so long */
    bool trusted;                   /* huge pages have been faster since */
    uint32_t next;                  /* no trial before this arena */
};

/* Is a huge page that took so long no more expensive, per byte, than small pages of `sample`
 * bytes? */
static inline bool sgc_huge_page_pays(uint64_t huge_ns, size_t huge, uint64_t sample_ns, size_t sample)
{
    return huge_ns <= sample_ns * (huge / sample);
}

/* In this arena a huge page of `huge` bytes took so long; the sample had `sample` bytes. */
static inline void sgc_huge_page_tried(struct sgc_huge_trials *trials, uint32_t arena, uint64_t huge_ns, size_t huge,
                                       size_t sample)
{
    trials->trusted = sgc_huge_page_pays(huge_ns, huge, trials->sample_ns, sample);
    trials->next = trials->trusted ? 0 : arena * SGC_HUGE_PATIENCE;
}

/* ---- asking: alloc/pages/pool_grow.c ---- */

/* Some pages of an arena, or the last that were backed, have been given back.  The rest of a huge
 * page would become a whole one again if the system were not told. */
void sgc_huge_pages_given_back(uint32_t arena, bool last);

#endif
