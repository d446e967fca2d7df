/* SPDX-License-Identifier: MIT */
/*
 * Checking every invariant of the heap, for debug builds, torture and SGC_check.
 */
#ifndef SGC_ALLOC_CHECK_H
#define SGC_ALLOC_CHECK_H

#include "platform/report.h"

/* What the checks of this layer are made of.  Not an assertion: whoever asks for a check gets one, in every
 * build. */
#define sgc_verify(e) ((e) ? (void)0 : sgc_assert_failed(#e, __FILE__, __LINE__))

/* Panics with a message at the first contradiction.  World stopped (or one thread only). */
void sgc_heap_check(void);

#endif
