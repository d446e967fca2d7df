/* SPDX-License-Identifier: MIT */
/*
 * Large objects: made of spare spans, of dead ones, or of new pages.
 */
#ifndef SGC_ALLOC_LARGE_OBJECT_H
#define SGC_ALLOC_LARGE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/section.h"

/* A large object of `bytes` (end byte included), at a multiple of `align` (a power of two; at least the
 * page size counts).  Zeroed for kinds with pointers.  NULL if no pages are available.  Outside
 * sections. */
void *sgc_span_alloc(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align);

/* Frees the span that begins with `page`.  False if it is not allocated.  Outside sections. */
bool sgc_span_free(struct sgc_section *self, uint32_t page);

#endif
