/* SPDX-License-Identifier: MIT */
/*
 * Freeing many objects at once, without touching them.
 *
 * GC_free keeps a freed slot for the next object of that size, linked through its first words: the right thing for an object
 * that was used just now, and a cache miss for one that was not.  Objects that are dropped lose their allocation bits and
 * nothing else: their pages are offered to the next claim, in ascending order of addresses, and one that is empty is the
 * pool's at once.
 */
#ifndef SGC_ALLOC_DROP_H
#define SGC_ALLOC_DROP_H

#include "alloc/small/cache.h"

enum { SGC_DROP_MAX = 64 };         /* objects in one section */

/* What has been freed; uncollectable: bytes of such objects, which are in the others, too. */
struct sgc_dropped {
    size_t objects, bytes, uncollectable;
};

/* Frees the objects that begin at these addresses: those of swept small pages of the caller's as said above, a section for
 * each SGC_DROP_MAX, the others one by one as sgc_object_free does, and all of them while a mark goes on beside the program.  An address at which no
 * allocated object begins is passed over, whatever it is.  Nothing may be registered about the objects (finalizers, links,
 * disclaim procedures), and nobody may use them any more.  By the cache's thread, outside sections; at best in ascending order
 * of addresses. */
struct sgc_dropped sgc_drop(struct sgc_cache *cache, const uintptr_t *objects, size_t count);

#endif
