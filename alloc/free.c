/* SPDX-License-Identifier: MIT */
/*
 * Freeing one object: the local way first, then the slower ones; and dropping many.  On any
 * mutator.
 */
#include "alloc/free.h"

#include <string.h>

#include "alloc/pages/pool.h"
#include "alloc/release.h"
#include "alloc/small/freed.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/sampling.h"
#include "alloc/new_objects.h"
#include "alloc/small/sweep.h"

enum {
    OFFER_STEP = 16,            /* pages looked at before the lock is given up for a moment */
    PLACES = 16,
};

/* A page of ours that has not been swept in this epoch: after that the local way works. */
static void sweep_ours(struct sgc_cache *cache, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uintptr_t tag;

    sgc_assert(sgc_cache_ok(cache) && sgc_page_ok(page));
    sgc_lock(cache->lock, &cache->section);
    tag = sgc_aw_load_acq(&d->tag);
    if (sgc_tag_owner(tag) == cache->id && tag != cache->tag) {
        struct sgc_page_lists *lists = &cache->bin[d->kind][d->cls].lists;

        sgc_lists_renew(lists);
        sgc_page_sweep(page, cache->tag);
        if (sgc_list_of(lists, page) == SGC_LIST_TODO)
            sgc_list_move(lists, SGC_LIST_USABLE, page);
    }
    sgc_unlock(cache->lock, &cache->section);
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

/* The page may change hands at any stop outside sections, so the owner is looked at again
 * inside. */
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
 * pages, so that it has room for the object.  Of a page of ours that has been swept. */
static void make_way(struct sgc_cache *cache, const struct sgc_page *d)
{
    const struct sgc_bin *bin = &cache->bin[d->kind][d->cls];

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(d->kind));
    if (sgc_bin_closed(bin) && sgc_bin_has_freed(bin) && !sgc_bin_make_room(cache, d->kind, d->cls))
        sgc_emptied_leave_freed(cache, d->kind, d->cls);
}

/* The owner is asked first, so that an object of another thread's page costs one section.  An
 * object freed while a mark goes on beside the program, when no page has the cache's tag for frees,
 * need not wait in the bin: a cycle is about to end. */
static enum sgc_free_result free_small(struct sgc_cache *cache, const struct sgc_object *o)
{
    const struct sgc_page *d = &sgc_heap.pages[o->page];
    uintptr_t tag = sgc_aw_load_acq(&d->tag);
    bool ours = tag == cache->free_tag || sgc_tag_owner(tag) == cache->id;

    if (tag == cache->free_tag)
        make_way(cache, d);
    for (;; ours = sgc_page_owner(o->page) == cache->id) {
        enum sgc_free_result result = ours ? sgc_small_free_local(cache, o->page, o->granule) : free_remotely(cache, o);

        if (result != SGC_FREE_NOT_HERE)
            return result;
        if (ours)
            sweep_ours(cache, o->page);
    }
}

enum sgc_free_result sgc_free_found(struct sgc_cache *cache, const struct sgc_object *o)
{
    sgc_assert(sgc_object_ok(o));
    if (sgc_sampling.freed != NULL && (o->span || sgc_page_is_watched(&sgc_heap.pages[o->page], SGC_WATCH_REGISTERED)))
        sgc_sampling.freed(&cache->section, o->start);
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
    sgc_lock(cache->lock, &cache->section);
    if (sgc_aw_load(&sgc_heap.pages[page].tag) == cache->tag)
        sgc_cache_page_usable(cache, page);
    sgc_unlock(cache->lock, &cache->section);
}

/* ---- many at once ----
 *
 * First their bits are taken, in one section, without a lock: nobody else writes those of our swept
 * pages.  Then, under the cache's lock, the pages that they were on are looked at, if one of them
 * may be empty or is not known to be offered yet: for most batches no lock is needed.  Left by a
 * jump in between, pages have free slots that are found after the next cycle.
 */

/* The batch's objects of one page. */
struct run {
    const struct sgc_page *d;
    const struct sgc_bin *bin;
    size_t page, granule;               /* of one of the last that follow each other */
    uint32_t objects;
};

/* One section's worth. */
struct batch {
    uint32_t runs, pages, others;
    uint8_t at[PLACES];                 /* by the page's number: where its run may be */
    struct run run[SGC_DROP_MAX];
    uint32_t page[SGC_DROP_MAX];        /* that objects were on, most of them once */
    bool maybe_empty[SGC_DROP_MAX];     /* it is not the active page, and nothing seems to be left
                                         * in it */
    uintptr_t other[SGC_DROP_MAX];      /* objects that are not freed here */
    bool unoffered;                     /* a page is not known to be on its usable list */
    struct sgc_dropped done;
};

/* ---- many at once: the bits ---- */

/* Is any other word of the page's bits not zero?  Of large objects each word has one or none, so
 * nothing can be told from one.  The next ones come first: mostly objects are dropped in the order
 * of their addresses. */
static bool has_others(size_t granule)
{
    size_t word = granule / 64, first = word - word % SGC_PAGE_WORDS;

    for (size_t i = 1; i < SGC_PAGE_WORDS; i++)
        if (sgc_aw_load(sgc_bits_word(first + (word + i) % SGC_PAGE_WORDS, sgc_heap.alloc_role)) != 0)
            return true;
    return false;
}

/* Begins one on the object's page, if that is a swept one of ours, nothing is written into what is
 * freed, and nobody wants to know of it.  Acquire: the service thread may have swept it, and
 * written its bits, just now. */
static bool begin_run(const struct sgc_cache *cache, size_t granule, struct run *r)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];

    if (granule >= sgc_aw_load(&sgc_heap.granules) || sgc_aw_load_acq(&d->tag) != cache->free_tag || sgc_heap.config.poison ||
        (sgc_sampling.freed != NULL && sgc_page_is_watched(d, SGC_WATCH_REGISTERED)))
        return false;
    *r = (struct run){ d, &cache->bin[d->kind][d->cls], granule / SGC_PAGE_GRANULES, granule, 0 };
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && r->bin->size != 0);
    return true;
}

/* Takes the object's bit, and nothing else: so the bin that its page names for the common way of
 * freeing does not matter.  False: there is no such object. */
__attribute__((always_inline))
static inline bool drop_own(const struct sgc_page *d, const struct sgc_bin *bin, uintptr_t object, size_t granule)
{
    if (!sgc_bin_handed_out(bin, (const char *)object) || sgc_freed_remotely(d, granule))
        return false;
    return sgc_own_bit_take(sgc_alloc_words, sgc_bit_index(granule));
}

/* Does nothing seem to be left in the page, which is not the active one?  Whether the other words
 * have to be looked at is told by the one that the last object was in. */
static bool maybe_empty(const struct run *r)
{
    bool active = r->page == r->bin->page && r->bin->active_epoch == sgc_heap.epoch;
    bool remote = sgc_a8_load_acq(&r->d->remote) != 0;
    uintptr_t left = sgc_aw_load(sgc_alloc_word(r->granule));

    if (remote)
        left &= ~sgc_aw_load(sgc_remote_word(r->granule));
    return left == 0 && !active && (remote || !has_others(r->granule));
}

static void end_run(struct batch *b, const struct run *r)
{
    size_t bytes = (size_t)r->objects * r->bin->size;

    sgc_assert(b->pages < SGC_DROP_MAX);
    if (r->objects == 0)
        return;
    b->page[b->pages] = (uint32_t)r->page;
    b->maybe_empty[b->pages++] = maybe_empty(r);
    b->unoffered |= !sgc_heap.records[r->page].offered;
    b->done.objects += r->objects;
    b->done.bytes += bytes;
    if (sgc_kind_uncollectable(r->d->kind))
        b->done.uncollectable += bytes;
}

/* The run of the object's page: mostly objects of several sizes are dropped in turn, each of a page
 * that was there just before.  NULL: it takes another way. */
static struct run *run_of(const struct sgc_cache *cache, struct batch *b, size_t granule)
{
    uint8_t *at = &b->at[granule / SGC_PAGE_GRANULES % PLACES];

    if (*at < b->runs && b->run[*at].page == granule / SGC_PAGE_GRANULES)
        return &b->run[*at];
    sgc_assert(b->runs < SGC_DROP_MAX);
    if (!begin_run(cache, granule, &b->run[b->runs]))
        return NULL;
    *at = (uint8_t)b->runs++;
    return &b->run[*at];
}

/* Those from there on that are on one page; how many. */
static size_t drop_run(const struct sgc_cache *cache, struct batch *b, const uintptr_t *objects, size_t count)
{
    size_t granule = sgc_exact_granule((const void *)objects[0]), page = granule / SGC_PAGE_GRANULES, i = 0;
    uint32_t others = b->others;
    struct run *r = run_of(cache, b, granule);
    const struct sgc_page *d;
    const struct sgc_bin *bin;

    sgc_assert(count != 0);
    if (r == NULL) {
        b->other[b->others++] = objects[0];
        return 1;
    }
    r->granule = granule;
    d = r->d;
    bin = r->bin;
    do {
        if (!drop_own(d, bin, objects[i], granule))
            b->other[b->others++] = objects[i];
        if (++i == count)
            break;
        granule = sgc_exact_granule((const void *)objects[i]);
    } while (granule / SGC_PAGE_GRANULES == page);
    r->objects += (uint32_t)i - (b->others - others);
    return i;
}

static void drop_section(struct sgc_cache *cache, struct batch *b, const uintptr_t *objects, size_t count)
{
    sgc_assert(count <= SGC_DROP_MAX);
    sgc_section_enter(&cache->section);
    for (size_t from = 0; from < count;)
        from += drop_run(cache, b, objects + from, count - from);
    for (uint32_t i = 0; i < b->runs; i++)
        end_run(b, &b->run[i]);
    sgc_count_add(&cache->freed_bytes, b->done.bytes);
    sgc_section_leave(&cache->section);
}

/* ---- many at once: the pages ---- */

/* Under the lock.  A page that is not ours any more, or unswept, is none of our business: a cycle
 * has come, or it left just now. */
static void offer_page(struct sgc_cache *cache, const struct batch *b, uint32_t i, struct sgc_sweep_step *step)
{
    uint32_t page = b->page[i];
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint32_t kind, cls;

    if (sgc_aw_load(&d->tag) != cache->tag)
        return;
    kind = d->kind;
    cls = d->cls;
    if (b->maybe_empty[i] && sgc_emptied_leave(cache, page, step))
        sgc_emptied_unexpect(cache, kind, cls, step);
    else
        sgc_cache_page_usable(cache, page);
}

/* Some of them under one lock. */
static uint32_t offer_some(struct sgc_cache *cache, const struct batch *b, uint32_t from, struct sgc_sweep_step *step)
{
    *step = (struct sgc_sweep_step){ .swept = 0 };
    sgc_lock(cache->lock, &cache->section);
    for (; step->swept < OFFER_STEP && from < b->pages && step->empties < SGC_SWEEP_STEP; step->swept++)
        offer_page(cache, b, from++, step);
    sgc_sweep_announce(step);
    sgc_unlock(cache->lock, &cache->section);
    return from;
}

static void offer_all(struct sgc_cache *cache, const struct batch *b)
{
    struct sgc_sweep_step step;

    sgc_assert(b->pages != 0);
    sgc_guard_enter(&cache->section);
    for (uint32_t from = 0; from < b->pages;) {
        from = offer_some(cache, b, from, &step);
        sgc_sweep_give(&step, cache->id, &cache->section);
    }
    sgc_guard_leave(&cache->section);
}

static void offer_pages(struct sgc_cache *cache, const struct batch *b)
{
    bool any = b->unoffered;

    for (uint32_t i = 0; i < b->pages; i++)
        any |= b->maybe_empty[i];
    if (any)
        offer_all(cache, b);
}

/* ---- many at once: all others ---- */

static void drop_other(struct sgc_cache *cache, struct sgc_dropped *done, uintptr_t object)
{
    struct sgc_object o;

    if (!sgc_object_slot(object, &o) || o.start != object || sgc_free_found(cache, &o) != SGC_FREE_DONE)
        return;
    done->objects++;
    done->bytes += o.bytes;
    if (sgc_kind_uncollectable(o.kind))
        done->uncollectable += o.bytes;
}

static void drop_batch(struct sgc_cache *cache, struct sgc_dropped *done, const uintptr_t *objects, size_t count)
{
    struct batch b;

    b.runs = b.pages = b.others = 0;
    memset(b.at, 0, sizeof b.at);
    b.unoffered = false;
    b.done = *done;
    b.done.bytes = 0;
    drop_section(cache, &b, objects, count);
    offer_pages(cache, &b);
    for (uint32_t i = 0; i < b.others; i++)
        drop_other(cache, &b.done, b.other[i]);
    b.done.bytes += done->bytes;
    *done = b.done;
}

struct sgc_dropped sgc_drop(struct sgc_cache *cache, const uintptr_t *objects, size_t count)
{
    struct sgc_dropped done = { 0, 0, 0 };

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    for (size_t from = 0; from < count; from += SGC_DROP_MAX)
        drop_batch(cache, &done, objects + from, count - from < SGC_DROP_MAX ? count - from : SGC_DROP_MAX);
    return done;
}

struct sgc_dropped sgc_drop_one(struct sgc_cache *cache, uintptr_t object)
{
    struct sgc_dropped done = { 0, 0, 0 };

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    drop_other(cache, &done, object);
    return done;
}
