/* SPDX-License-Identifier: MIT */
/*
 * Checking every invariant of the heap, for debug builds, torture and SGC_check.
 */
#ifndef SGC_ALLOC_CHECK_H
#define SGC_ALLOC_CHECK_H

/* Panics with a message at the first contradiction.  World stopped (or one thread only). */
void sgc_heap_check(void);

#endif
