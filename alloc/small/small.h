/* SPDX-License-Identifier: MIT */
/*
 * Small objects: handing out slots, and taking them back on the thread that owns their page.
 *
 * The common paths are inline and take neither a lock nor an atomic operation: a slot this thread
 * freed, else the next of a claimed run.  Runs are claimed a few kilobytes at a time from the
 * active page, lowest address first, and zeroed as they are claimed, just ahead of use.  Each path
 * is one brief section (platform/section/brief.h): each of its instructions may be the last, by a
 * siglongjmp, or the last before a handler looks on.
 *
 * Figures, and what each part of the paths costs: doc/design/fast-path.md.
 */
#ifndef SGC_ALLOC_SMALL_SMALL_H
#define SGC_ALLOC_SMALL_SMALL_H

#include <string.h>

#include "alloc/small/freed.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/slots.h"
#include "platform/section/brief.h"
#include "platform/single_writer.h"

/* A slot that is ready, else one of a run claimed from the active page; NULL if that has none.
 * Outside sections.  Short runs are claimed by what alloc/small/claim_short.h has. */
void *sgc_small_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* A run that has been claimed becomes the bin's, which has none.  In a section. */
void sgc_bin_give_run(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t page, struct sgc_slots s);

/* The next of the pages that are ready becomes the active one; false: there is none.  In a
 * section. */
bool sgc_bin_next_active(struct sgc_bin *bin);

/* Claims slots for a batch that has its first, and links them behind it, to `max` in all: what is
 * ready, or some kilobytes of what the active page has.  Outside sections. */
void sgc_small_link_others(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max, void **first);

/* The next slot of the claimed run; there must be one.  In a section. */
__attribute__((always_inline))
static inline void *sgc_bin_bump(struct sgc_bin *bin)
{
    char *object = bin->cur;

    bin->cur = object + bin->size;
    return object;
}

__attribute__((always_inline))
static inline bool sgc_bin_has_run(const struct sgc_bin *bin)
{
    return bin->cur < bin->limit;
}

/* An object of the class, or NULL when the slow way has to be taken.  Outside sections. */
void *sgc_small_try(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Ends of the common path: leave the brief section; then what is freed is zeroed (the caller holds
 * it, so it stays). */
__attribute__((noinline)) void *sgc_bin_finish_zeroed(struct sgc_cache *cache, void *object, size_t bytes);

enum sgc_free_result {
    SGC_FREE_DONE,
    SGC_FREE_NOT_HERE,          /* not a page of ours, or not swept yet: take the slow way */
    SGC_FREE_INTERIOR,          /* does not point at an object's first byte */
    SGC_FREE_NOT_ALLOCATED,     /* freed before, or never handed out */
};

/* Frees the object of a page that begins with a granule of the heap, if the page is ours and swept.
 * Outside sections. */
enum sgc_free_result sgc_small_free_local(struct sgc_cache *cache, uint32_t page, size_t granule);

/* Is the slot's bit set because it was handed out?  Slots that are claimed but still in the run
 * have theirs set, too. */
__attribute__((always_inline))
static inline bool sgc_bin_handed_out(const struct sgc_bin *bin, const char *object)
{
    return !SGC_TRACES || object < bin->cur || object >= bin->end;
}

/* Nothing has been changed unless it is done. */
enum sgc_free_step {
    SGC_FREE_STEP_DONE,
    SGC_FREE_STEP_MISSED,       /* not a common case */
    SGC_FREE_STEP_CLOSED,       /* one but for the bin, which is closed */
};

/* An address as the number of its granule; of one that is no multiple, a number beyond all
 * granules. */
__attribute__((always_inline))
static inline size_t sgc_exact_granule(const void *object)
{
    size_t offset = (uintptr_t)object - sgc_heap.base;

    return offset >> SGC_GRANULE_LOG | offset << (64 - SGC_GRANULE_LOG);
}

/* May an object of the page be freed by the common ways: is the page the cache's, and swept?
 * Acquire: the service thread may have swept the page, and written its bits, just now. */
__attribute__((always_inline))
static inline bool sgc_page_frees_here(const struct sgc_page *d, const struct sgc_cache *cache)
{
    return sgc_aw_load_acq(&d->tag) == cache->free_tag;
}

/* In a brief section: frees the object at a granule of the heap if its page is ours and has been
 * swept, and its bin is open.  Not while a mark goes on beside the program: then no page has the
 * tag. */
__attribute__((always_inline))
static inline enum sgc_free_step sgc_free_in_section(struct sgc_cache *cache, void *object, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    struct sgc_bin *bin;
    struct sgc_freed *at;
    size_t place;

    if (__builtin_expect(!sgc_page_frees_here(d, cache) || sgc_freed_remotely(d, granule), 0))
        return SGC_FREE_STEP_MISSED;
    bin = sgc_bin_at(cache, sgc_a32_load(&d->bin));
    place = sgc_bit_index(granule);
    if (__builtin_expect(!sgc_bin_handed_out(bin, object), 0))
        return SGC_FREE_STEP_MISSED;
    at = bin->freed;
    if (__builtin_expect(sgc_bin_closed(bin), 0))
        return SGC_FREE_STEP_CLOSED;
    if (__builtin_expect(!sgc_own_bit_take(sgc_alloc_words, place), 0))
        return SGC_FREE_STEP_MISSED;
    sgc_bin_push(bin, at, object, place);
    return SGC_FREE_STEP_DONE;
}

/* In the same brief section, after a bin that is closed: if the object is uncollectable, and its
 * page not watched for another reason, it is freed into the bin of its kind, which its page does
 * not name.  Returns its bytes; 0: nothing is changed. */
__attribute__((always_inline))
static inline size_t sgc_free_uncollectable(struct sgc_cache *cache, void *object, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    struct sgc_bin *bin = sgc_bin_at(cache, sgc_bin_offset(d->kind, d->cls));
    size_t place = sgc_bit_index(granule);

    if (sgc_a32_load(&d->bin) != sgc_bin_watched(SGC_WATCH_UNCOLLECTABLE) || !sgc_bin_handed_out(bin, object) ||
        sgc_bin_closed(bin) || !sgc_own_bit_take(sgc_alloc_words, place))
        return 0;
    sgc_bin_push(bin, bin->freed, object, place);
    return bin->size;
}

#endif
