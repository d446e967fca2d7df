/* SPDX-License-Identifier: MIT */
/*
 * The page policy: where a thread that has run out of pages gets one.
 *
 * For now there is the simplest: one pool for all, lowest address first.  [Endo] ch. 2 describes
 * AS, PS, AL and LPS(k) as policies of one mechanism; they will stand behind this function, which is
 * told who asks.
 */
#ifndef SGC_ALLOC_POLICY_H
#define SGC_ALLOC_POLICY_H

#include "alloc/pool.h"

/* A free page for the asking mutator, and whether it reads as zero.  SGC_NO_PAGE when the heap may
 * not grow.  Outside sections. */
uint32_t sgc_policy_take_page(struct sgc_section *self, bool *zero);

/* The same for `count` adjacent pages. */
uint32_t sgc_policy_take_pages(uint32_t count, struct sgc_section *self, bool *zero);

/* A page without live objects goes back.  Inside or outside sections. */
void sgc_policy_give_page(uint32_t page, struct sgc_section *self);

#endif
