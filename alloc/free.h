/* SPDX-License-Identifier: MIT */
/*
 * Freeing an object explicitly, whoever allocated it.
 */
#ifndef SGC_ALLOC_FREE_H
#define SGC_ALLOC_FREE_H

#include "alloc/object.h"
#include "alloc/small/small.h"

/* Frees the object that begins at `object`, an address in the heap's range.  SGC_FREE_NOT_HERE: no
 * object lies there.  Outside sections. */
enum sgc_free_result sgc_object_free(struct sgc_cache *cache, void *object);

/* Frees an object that sgc_object_slot has found, as sgc_object_free does for its first address,
 * without looking for its page and granule again.  Outside sections. */
enum sgc_free_result sgc_free_found(struct sgc_cache *cache, const struct sgc_object *object);

/* A page in which slots have been freed is looked through again in this epoch, if it is ours and was swept: kinds that keep no
 * freed slots get them by that.  Outside sections. */
void sgc_free_reuse_page(struct sgc_cache *cache, uint32_t page);

#endif
