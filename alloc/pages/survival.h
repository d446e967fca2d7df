/* SPDX-License-Identifier: MIT */
/*
 * Checks that objects reached by a mark live until the next one, without trusting flips, clearing
 * and sweeping (SGC_VERIFY=marks, and under torture).
 *
 * At the flip the marks are copied: each page must have the objects of the copy allocated, and no
 * others, until a thread first sweeps it.  With R for the marks at the flip, and A for the
 * allocated objects:
 *
 *   at the flip                       R stands only where A does; no page counts as swept in the
 *                                     epoch that begins
 *   at a page's first sweep,          A = R.  Objects that other threads have freed have remote
 *   before remote frees are merged    bits, merged afterwards; an owner that frees an object has
 *                                     the page swept first
 *   at a span's first sweep           A = R.  A thread that frees a span before takes its bit out
 *                                     of both
 *   when a mark begins                A = R for all that is still unswept; an object in R that is
 *                                     neither swept nor there is lost; no mark stands
 *   when a mark beside the            no page has changed its shape since it began: it has no
 *   program is complete               other objects, and no span has come, gone or become shorter
 *                                     on pages that were in use
 *
 * The copy lies in memory of its own.  It loses the marks of each page and span that is checked.
 *
 *   what            written by                         read by    ordering
 *   R of a page     the collecting thread, world       the same   the lock of the list that the
 *                   stopped; the thread that first                page is on; stopping the world
 *                   sweeps the page
 *   R of spans      the collecting thread, world       the same   the spans' lock; stopping the
 *                   stopped; a thread that sweeps or              world
 *                   frees a span
 *   shapes          the collecting thread, world       the same   stopping the world
 *                   stopped
 *   where they lie  sgc_survival_init                  everybody  there are no other threads yet
 */
#ifndef SGC_ALLOC_PAGES_SURVIVAL_H
#define SGC_ALLOC_PAGES_SURVIVAL_H

#include "alloc/pages/page.h"

/* Has it all checked from now on.  False, and nothing is: the system refuses address space.  Once,
 * before there is an object. */
bool sgc_survival_init(void);

bool sgc_survival_checked(void);

/* ---- world stopped, caches retired; nothing happens where nothing is checked ---- */

/* A mark begins, during which no dangling words are noted yet (alloc/pages/dangling.h). */
void sgc_survival_begin(void);

/* It is complete, and no page's shape was to change: it went on beside the program. */
void sgc_survival_check_shapes(void);

/* Before the flip, and after it. */
void sgc_survival_keep(void);
void sgc_survival_flipped(void);

/* ---- sweeping and freeing: under the lock of the list that it is on ---- */

/* The page is going to be swept for the first time since the flip. */
void sgc_survival_first_sweep(uint32_t page);

/* The span is being looked at for the first time; it was freed by the program. */
void sgc_survival_span_swept(uint32_t first);
void sgc_survival_span_freed(uint32_t first);

#endif
