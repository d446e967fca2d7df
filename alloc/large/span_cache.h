/* SPDX-License-Identifier: MIT */
/*
 * Spare spans: dead spans that a thread keeps as they are, set up and on the spans' list, for its next requests of as
 * many pages.  To use one again takes no lock: the object's size is written, then the allocation bit is set.
 *
 * A spare span looks like a dead one that nobody has swept: state SGC_PAGE_SPAN, allocation bit clear.  It
 * has been swept in its epoch, so nobody takes it down; from the next flip on it is unswept like any other,
 * and the thread that had it as a spare has forgotten it.  So whatever is lost, in a section that was left by a jump or by a
 * thread that ended without giving it up, comes back with the next cycle.
 *
 *   what                        written by                          read by    ordering
 *   struct sgc_span_caches, links    the owner's thread, in a section;   same       program order; who closes a cache has
 *   and `warm` of the spans     who closes the owner's cache                   its owner's place
 *   a spare span's descriptor   the same                            everybody  the release of its allocation bit
 */
#ifndef SGC_ALLOC_LARGE_SPAN_CACHE_H
#define SGC_ALLOC_LARGE_SPAN_CACHE_H

#include "alloc/pages/page.h"

/* Address space only; without it nothing is kept. */
void sgc_span_caches_init(void);

/* Would a span of so many pages be kept? */
bool sgc_cached_span_fits(uint32_t owner, uint32_t count);

/* Keeps a span that fits: swept in this epoch, its allocation bit clear.  `warm`: it has just been used. */
void sgc_cached_span_push(uint32_t owner, uint32_t page, bool warm);

/* One of exactly so many pages, the one kept last; SGC_NO_PAGE if there is none. */
uint32_t sgc_cached_span_pop(uint32_t owner, uint32_t count);

/* Takes one of the owner's spare spans, of any size; SGC_NO_PAGE if there is none. */
uint32_t sgc_cached_span_pop_any(uint32_t owner);

/* Pages kept, those of older epochs not counted. */
uint32_t sgc_cached_span_pages(uint32_t owner);

#endif
