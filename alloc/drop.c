/* SPDX-License-Identifier: MIT */
/*
 * Dropping objects: alloc/drop.h.  On any mutator, for itself.
 *
 * First their bits are taken, in one section, without a lock: nobody else writes those of our swept pages.  Then, under the
 * cache's lock, the pages that they were on are looked at, if one of them may be empty or is not known to be offered yet: for
 * most batches no lock is needed.  Left by a jump in between, pages have free slots that are found after the next cycle.
 */
#include "alloc/drop.h"

#include <string.h>

#include "alloc/emptied.h"
#include "alloc/free.h"
#include "alloc/object.h"
#include "alloc/pages/pool.h"
#include "alloc/small/small.h"

enum {
    POISON = 0xdf,
    LOOK_STEP = 16,             /* pages looked at before the lock is given up for a moment */
};

/* One section's worth. */
struct batch {
    uint32_t pages, others;
    uint32_t page[SGC_DROP_MAX];        /* that objects were on, neighbours once */
    bool maybe_empty[SGC_DROP_MAX];     /* it is not the active page, and nothing seems to be left in it */
    uintptr_t other[SGC_DROP_MAX];      /* objects that are not freed here */
    bool unoffered;                     /* a page is not known to be on its usable list */
    struct sgc_dropped done;
};

/* ---- the bits ---- */

/* Is any other word of the page's bits not zero?  Of large objects each word has one or none, so nothing can be told from one.
 * The next ones come first: mostly objects are dropped in the order of their addresses. */
static bool has_others(size_t granule)
{
    size_t word = granule / 64, first = word - word % SGC_PAGE_WORDS;

    for (size_t i = 1; i < SGC_PAGE_WORDS; i++)
        if (sgc_aw_load(sgc_bits_word(first + (word + i) % SGC_PAGE_WORDS, sgc_heap.alloc_role)) != 0)
            return true;
    return false;
}

/* Objects of one page, which follow each other in the batch. */
struct run {
    const struct sgc_page *d;
    const struct sgc_bin *bin;
    size_t page, granule;               /* of the last one */
    uint32_t objects;
};

/* Begins one on the object's page, if that is a swept one of ours.  Acquire: the service thread may have swept it, and written
 * its bits, just now. */
static bool begin_run(const struct sgc_cache *cache, size_t granule, struct run *r)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];

    if (granule >= sgc_aw_load(&sgc_heap.granules) || sgc_aw_load_acq(&d->tag) != cache->free_tag)
        return false;
    *r = (struct run){ d, &cache->bin[d->kind][d->cls], granule / SGC_PAGE_GRANULES, granule, 0 };
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && r->bin->size != 0);
    return true;
}

/* Has another thread freed the object, so that its bit is set still? */
static bool freed_remotely(const struct sgc_page *d, size_t granule)
{
    return sgc_a8_load_acq(&d->remote) != 0 && sgc_remote_bit(granule);
}

/* Takes the object's bit, and nothing else: so the bin that its page names for the common way of freeing does not matter.
 * False: there is no such object. */
__attribute__((always_inline))
static inline bool drop_own(struct run *r, uintptr_t object, size_t granule)
{
    if (!sgc_bin_handed_out(r->bin, (const char *)object) || freed_remotely(r->d, granule))
        return false;
    if (__builtin_expect(sgc_heap.config.poison, 0) && sgc_alloc_bit(granule))
        memset((void *)object, POISON, r->bin->size);
    if (!sgc_own_bit_take(sgc_alloc_words, sgc_bit_index(granule)))
        return false;
    r->granule = granule;
    r->objects++;
    return true;
}

/* Does nothing seem to be left in the page, which is not the active one?  Whether the other words have to be looked at is told
 * by the one that the last object was in. */
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

/* Those from there on that are on one page; how many. */
static size_t drop_run(const struct sgc_cache *cache, struct batch *b, const uintptr_t *objects, size_t count)
{
    size_t granule = sgc_exact_granule((const void *)objects[0]), i = 0;
    struct run r;

    sgc_assert(count != 0);
    if (!begin_run(cache, granule, &r)) {
        b->other[b->others++] = objects[0];
        return 1;
    }
    do {
        if (!drop_own(&r, objects[i], granule))
            b->other[b->others++] = objects[i];
        if (++i == count)
            break;
        granule = sgc_exact_granule((const void *)objects[i]);
    } while (granule / SGC_PAGE_GRANULES == r.page);
    end_run(b, &r);
    return i;
}

static void drop_section(struct sgc_cache *cache, struct batch *b, const uintptr_t *objects, size_t count)
{
    sgc_assert(count <= SGC_DROP_MAX);
    sgc_section_enter(&cache->section);
    for (size_t from = 0; from < count;)
        from += drop_run(cache, b, objects + from, count - from);
    sgc_count_add(&cache->freed_bytes, b->done.bytes);
    sgc_section_leave(&cache->section);
}

/* ---- the pages ---- */

/* Under the lock.  A page that is not ours any more, or unswept, is none of our business: a cycle has come, or it left just
 * now. */
static void look_at(struct sgc_cache *cache, const struct batch *b, uint32_t i, struct sgc_sweep_step *step)
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
static uint32_t look_at_some(struct sgc_cache *cache, const struct batch *b, uint32_t from, struct sgc_sweep_step *step)
{
    *step = (struct sgc_sweep_step){ .swept = 0 };
    sgc_lock(&cache->lock, &cache->section);
    for (; step->swept < LOOK_STEP && from < b->pages && step->empties < SGC_SWEEP_STEP; step->swept++)
        look_at(cache, b, from++, step);
    sgc_sweep_announce(step);
    sgc_unlock(&cache->lock, &cache->section);
    return from;
}

static void look_at_pages(struct sgc_cache *cache, const struct batch *b)
{
    struct sgc_sweep_step step;

    sgc_assert(b->pages != 0);
    sgc_guard_enter(&cache->section);
    for (uint32_t from = 0; from < b->pages;) {
        from = look_at_some(cache, b, from, &step);
        sgc_sweep_give(&step, cache->id, &cache->section);
    }
    sgc_guard_leave(&cache->section);
}

static void offer_pages(struct sgc_cache *cache, const struct batch *b)
{
    bool look = b->unoffered;

    for (uint32_t i = 0; i < b->pages; i++)
        look |= b->maybe_empty[i];
    if (look)
        look_at_pages(cache, b);
}

/* ---- all others ---- */

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

    b.pages = b.others = 0;
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
