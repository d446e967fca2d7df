/* SPDX-License-Identifier: MIT */
/*
 * Freeing objects explicitly, whoever allocated them.
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

/* A page in which slots have been freed is looked through again in this epoch, if it is ours and
 * was swept: kinds that keep no freed slots get them by that.  Outside sections. */
void sgc_free_reuse_page(struct sgc_cache *cache, uint32_t page);

/* ---- many objects at once, without touching them ----
 *
 * GC_free keeps a freed slot for the next object of that size: the right thing for an object that
 * was used just now, and a cache miss, when it is handed out, for one that was not.  Objects that
 * are dropped lose their allocation bits and nothing else: their pages are offered to the next
 * claim, in ascending order of addresses, and one that is empty is the pool's at once.
 */

enum { SGC_DROP_MAX = 64 };         /* objects in one section */

/* The objects that a call has freed: how many, their bytes, and the bytes of those of uncollectable
 * kinds, which `bytes` counts, too. */
struct sgc_dropped {
    size_t objects, bytes, uncollectable;
};

/* Frees the objects that begin at these addresses: those of swept small pages of the caller's as
 * said above, a section for each SGC_DROP_MAX, the others one by one as sgc_object_free does, and
 * all of them so while a mark goes on beside the program.  An address at which no allocated object
 * begins is passed over, whatever it is.  Nothing may be registered about the objects (finalizers,
 * links, disclaim procedures), and nobody may use them any more.  By the cache's thread, outside
 * sections; at best in ascending order of addresses. */
struct sgc_dropped sgc_drop(struct sgc_cache *cache, const uintptr_t *objects, size_t count);

/* Frees the object that begins at `object`, under the conditions of sgc_drop.  Its slot becomes the
 * next one of its size, as by GC_free: for an object that was used just now. */
struct sgc_dropped sgc_drop_one(struct sgc_cache *cache, uintptr_t object);

/* Does in a section what sgc_drop_one does, if the page is a swept small one of the caller's
 * in which no other thread has freed the object, and its bin is open; the page may be watched
 * because of other objects.  Otherwise nothing changes, and sgc_drop_one, called then, makes room
 * for the objects that follow. */
__attribute__((always_inline))
static inline struct sgc_dropped sgc_drop_hot(struct sgc_cache *cache, uintptr_t object, size_t granule)
{
    const struct sgc_dropped nothing = { 0, 0, 0 };
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    size_t place = sgc_bit_index(granule);
    struct sgc_bin *bin;

    if (!sgc_page_frees_here(d, cache) || sgc_freed_remotely(d, granule))
        return nothing;
    bin = &cache->bin[d->kind][d->cls];
    if (sgc_bin_closed(bin) || !sgc_bin_handed_out(bin, (const char *)object) || !sgc_own_bit_take(sgc_alloc_words, place))
        return nothing;
    sgc_bin_push(bin, bin->freed, (void *)object, place);
    return (struct sgc_dropped){ 1, bin->size, sgc_kind_uncollectable(d->kind) ? bin->size : 0 };
}

#endif
