/* SPDX-License-Identifier: MIT */
/*
 * Kinds that the interface makes for itself, with the first object of each, and what is different about their objects.
 */
#ifndef SGC_GC_API_OWN_KINDS_H
#define SGC_GC_API_OWN_KINDS_H

#include "gc/api/internal.h"

#include "alloc/object.h"
#include "gc/collect/cycle.h"

/* The number of a kind, which is made if *number is still 0.  SGC_KIND_CONSERVATIVE, with a message about `what`, if it cannot
 * be had.  Takes the GC lock.  *number: release / acquire. */
uint32_t sgc_api_own_kind(sgc_a32_t *number, const struct sgc_kind *kind, const char *what);

/* The client promises to keep a pointer near the start of this object, which it has just got. */
void sgc_api_near_start(const struct sgc_object *o);

/* An object with guards; NULL when there is no memory for it. */
void *sgc_api_debug_or_null(size_t size, uint32_t kind, const char *file, int line);

/* ---- typed objects: their last words are not the client's ---- */

bool sgc_api_is_typed(uint32_t kind);
size_t sgc_api_typed_usable(const struct sgc_object *o);

/* One whose words may all be pointers; NULL when there is no memory for it. */
void *sgc_api_typed_everything(size_t size);

/* GC_realloc. */
void *sgc_api_typed_resize(const struct sgc_object *o, size_t size);

/* The bytes that the client may use. */
static inline size_t sgc_api_usable(const struct sgc_object *o)
{
    return sgc_api_is_typed(o->kind) ? sgc_api_typed_usable(o) : o->bytes;
}

#endif
