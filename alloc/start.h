/* SPDX-License-Identifier: MIT */
/*
 * The start of the heap.
 */
#ifndef SGC_ALLOC_START_H
#define SGC_ALLOC_START_H

#include <stdbool.h>

#include "alloc/pages/heap.h"

/* Makes the heap: address space, and the first pages in the pool.  False, with a message, if the system refuses them.  Once,
 * before any other function of this layer. */
bool sgc_heap_init(const struct sgc_heap_config *config);

#endif
