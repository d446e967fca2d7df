/* SPDX-License-Identifier: MIT */
/*
 * What a mark has reached lives until the next one: a check of flips, clearing and sweeping that does not trust them
 * (SGC_VERIFY=marks, and under torture).
 *
 * At the flip the marks are copied: that copy is what each page must have allocated until somebody looks at it.  With R for the
 * marks at the flip, and A for what is allocated:
 *
 *   at the flip                       R stands only where A does; no page counts as swept in the epoch that begins
 *   at a page's first sweep,          A = R.  What other threads have freed has its remote bit, and is merged afterwards; who
 *   before remote frees are merged    frees an object of its own page has the page swept first
 *   at a span's first sweep           A = R.  Who frees a span before takes its bit out of both
 *   when a mark begins                the same of all that is still unswept; what was in R and is neither swept nor there is
 *                                     lost; no mark stands
 *   when a mark beside the            no page has changed its shape since it began: it is none of other objects, and no span
 *   program is complete               has come, gone or become shorter on pages that were in use
 *
 * The copy lies in memory of its own.  What was looked at is taken out of it.
 *
 *   what             written by                                 read by                        ordering
 *   R of a page      the collecting thread, world stopped;      the same                       the lock of the list that the
 *                    who sweeps the page first                                                 page is on; stopping the world
 *   R of spans       the collecting thread, world stopped;      the same                       the spans' lock; stopping the
 *                    who sweeps or frees a span                                                world
 *   shapes           the collecting thread, world stopped       the same                       stopping the world
 *   where they lie   sgc_survival_init                          everybody                      there are no other threads yet
 */
#ifndef SGC_ALLOC_PAGES_SURVIVAL_H
#define SGC_ALLOC_PAGES_SURVIVAL_H

#include "alloc/pages/page.h"

/* Has it all checked from now on.  False, and nothing is: the system refuses address space.  Once, before there is an
 * object. */
bool sgc_survival_init(void);

bool sgc_survival_checked(void);

/* ---- world stopped, caches retired; nothing happens where nothing is checked ---- */

/* A mark begins. */
void sgc_survival_begin(void);

/* It is complete, and no page's shape was to change: it went on beside the program. */
void sgc_survival_check_shapes(void);

/* Before the flip; and after it, when the caches have their tags. */
void sgc_survival_keep(void);
void sgc_survival_flipped(void);

/* ---- sweeping and freeing: under the lock of the list that it is on ---- */

/* The page is going to be swept for the first time since the flip. */
void sgc_survival_first_sweep(uint32_t page);

/* The span is being looked at for the first time; it was freed by the program. */
void sgc_survival_span_swept(uint32_t first);
void sgc_survival_span_freed(uint32_t first);

#endif
