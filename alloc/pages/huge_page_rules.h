/* SPDX-License-Identifier: MIT */
/*
 * When to ask for huge pages: the rule alone, without state or system calls.  Its use: alloc/pages/huge_pages.h.
 */
#ifndef SGC_ALLOC_PAGES_HUGE_PAGE_RULES_H
#define SGC_ALLOC_PAGES_HUGE_PAGE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sgc_huge_pages { SGC_HUGE_OFF, SGC_HUGE_ON, SGC_HUGE_AUTO };

enum {
    SGC_HUGE_FROM_ARENA = 6,        /* smaller heaps (24 MB) are left alone */
    SGC_HUGE_SAMPLE = 16,           /* small pages that are touched for comparison */
    SGC_HUGE_PATIENCE = 4,          /* so many times as large a heap tries again: a trial that fails takes some milliseconds */
};

struct sgc_huge_trials {
    uint64_t sample_ns;             /* the last sample of small pages took so long */
    bool trusted;                   /* huge pages have been faster since */
    uint32_t next;                  /* no trial before this arena */
};

/* Is a huge page that took so long no more expensive, per byte, than small pages of `sample` bytes? */
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

#endif
