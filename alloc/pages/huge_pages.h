/* SPDX-License-Identifier: MIT */
/*
 * Huge pages of the system for heaps that have some size.
 *
 * Touching memory for the first time and finding its translation cost a large heap more than marking some of it.
 * Arenas are aligned, grow from the lowest address, and their pages are taken from there, so little more memory becomes
 * resident.  Not so in spans of several arenas, which programs may use here and there, and of few pages, which may leave
 * half of them unused: what grows for these is left alone.
 *
 * On some machines the system takes longer to make a huge page than to make the small ones that it replaces, or comes to
 * such pages after others that were fast.  So each growth tries one first.
 *
 *   what         written by                         read by                    ordering
 *   wish         the starting thread                any                        thread creation
 *   looked,      the thread that grows the heap     same                       one at a time, by the pool's lock
 *   page, trials
 *   asked        the thread that grows the heap     same; who gives memory     relaxed
 *                                                   back: a hint
 */
#ifndef SGC_ALLOC_PAGES_HUGE_PAGES_H
#define SGC_ALLOC_PAGES_HUGE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "alloc/pages/huge_page_rules.h"

/* Before the heap grows. */
void sgc_huge_pages_init(enum sgc_huge_pages wish);

/* `count` arenas from `first` on are committed and not used yet.  By the thread that grows, outside locks. */
void sgc_huge_pages_grown(uint32_t first, uint32_t count);

/* Some pages of an arena, or the last that were backed, have been given back.  The rest of a huge page would become
 * a whole one again if the system were not told. */
void sgc_huge_pages_given_back(uint32_t arena, bool last);

#endif
