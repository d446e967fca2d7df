/* SPDX-License-Identifier: MIT */
/*
 * Freeing: the local way first, then the slower ones.  On any mutator.
 */
#include "alloc/free.h"

#include "alloc/emptied.h"
#include "alloc/small/freed.h"
#include "alloc/small/remote_free.h"
#include "alloc/large_object.h"
#include "alloc/small/sweep.h"

enum { MERGE_EVERY = 64 };      /* frees in pages where others have freed, too */

/* A page of ours that has not been swept in this epoch: after that the local way works. */
static void sweep_ours(struct sgc_cache *cache, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uintptr_t tag;

    sgc_assert(sgc_cache_ok(cache) && sgc_page_ok(page));
    sgc_lock(&cache->lock, &cache->section);
    tag = sgc_aw_load_acq(&d->tag);
    if (sgc_tag_owner(tag) == cache->id && tag != cache->tag) {
        struct sgc_page_lists *lists = &cache->bin[d->kind][d->cls].lists;

        sgc_lists_renew(lists);
        sgc_page_sweep(page, cache->tag);
        if (sgc_list_of(lists, page) == SGC_LIST_TODO)
            sgc_list_move(lists, SGC_LIST_USABLE, page);
    }
    sgc_unlock(&cache->lock, &cache->section);
}

static bool remote_free(struct sgc_cache *cache, const struct sgc_object *o)
{
    bool freed;

    sgc_assert(cache->freeing == SGC_NO_PAGE && sgc_section_inside(&cache->section));
    cache->freeing = o->page;
    sgc_compiler_barrier();
    freed = sgc_remote_free(o->page, o->granule);
    sgc_compiler_barrier();
    cache->freeing = SGC_NO_PAGE;
    return freed;
}

/* The page may change hands at any stop outside sections, so the owner is looked at again inside. */
static enum sgc_free_result free_remotely(struct sgc_cache *cache, const struct sgc_object *o)
{
    enum sgc_free_result result = SGC_FREE_NOT_ALLOCATED;

    sgc_assert(!o->span && sgc_page_ok(o->page));
    sgc_section_enter(&cache->section);
    if (sgc_page_owner(o->page) == cache->id)
        result = SGC_FREE_NOT_HERE;
    else if (sgc_object_allocated(o) && remote_free(cache, o))
        result = SGC_FREE_DONE;
    if (result == SGC_FREE_DONE)
        sgc_count_add(&cache->freed_bytes, o->bytes);
    sgc_section_leave(&cache->section);
    return result;
}

/* If the bin's array of freed slots is full and may not grow, the bin leaves these slots to their
 * pages, so that it has room for the object.  An object freed while a mark goes on beside the
 * program need not wait in the bin: a cycle is about to end. */
static void make_way(struct sgc_cache *cache, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    const struct sgc_bin *bin;

    sgc_assert(sgc_page_ok(page));
    if (sgc_aw_load_acq(&d->tag) != cache->free_tag)
        return;
    bin = &cache->bin[d->kind][d->cls];
    if (sgc_bin_closed(bin) && sgc_bin_has_freed(bin) && !sgc_bin_make_room(cache, d->kind, d->cls))
        sgc_emptied_leave_freed(cache, d->kind, d->cls);
}

/* Remote frees in a page keep its owner off the common path there until the owner merges them.  An
 * owner that needs no slots would never merge; one in whose page others free all the time would do
 * little else.  So a thread merges at each MERGE_EVERY-th of its frees in pages with remote frees,
 * if that page is its own. */
static void merge_now_and_then(struct sgc_cache *cache, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_ok(page));
    if (sgc_a8_load_acq(&d->remote) == 0 || ++cache->unmerged % MERGE_EVERY != 0)
        return;
    sgc_lock(&cache->lock, &cache->section);
    if (sgc_aw_load_acq(&d->tag) == cache->free_tag)
        sgc_page_merge(page);
    sgc_unlock(&cache->lock, &cache->section);
}

static enum sgc_free_result free_small(struct sgc_cache *cache, const struct sgc_object *o)
{
    make_way(cache, o->page);
    merge_now_and_then(cache, o->page);
    for (;;) {
        enum sgc_free_result result = sgc_small_free_local(cache, o->page, o->granule);

        if (result != SGC_FREE_NOT_HERE)
            return result;
        if (sgc_page_owner(o->page) == cache->id)
            sweep_ours(cache, o->page);
        else if ((result = free_remotely(cache, o)) != SGC_FREE_NOT_HERE)
            return result;
    }
}

enum sgc_free_result sgc_free_found(struct sgc_cache *cache, const struct sgc_object *o)
{
    sgc_assert(sgc_object_ok(o));
    if (o->span)
        return sgc_span_free(&cache->section, o->page) ? SGC_FREE_DONE : SGC_FREE_NOT_ALLOCATED;
    return free_small(cache, o);
}

enum sgc_free_result sgc_object_free(struct sgc_cache *cache, void *object)
{
    struct sgc_object o;

    sgc_assert(sgc_cache_ok(cache));
    if (!sgc_object_slot((uintptr_t)object, &o))
        return SGC_FREE_NOT_HERE;
    return o.start == (uintptr_t)object ? sgc_free_found(cache, &o) : SGC_FREE_INTERIOR;
}

void sgc_free_reuse_page(struct sgc_cache *cache, uint32_t page)
{
    sgc_assert(sgc_cache_ok(cache) && sgc_page_ok(page));
    sgc_lock(&cache->lock, &cache->section);
    if (sgc_aw_load(&sgc_heap.pages[page].tag) == cache->tag)
        sgc_cache_page_usable(cache, page);
    sgc_unlock(&cache->lock, &cache->section);
}
