/* SPDX-License-Identifier: MIT */
/*
 * Small objects: handing out slots, and taking them back on the thread that owns their page.
 *
 * The common paths are inline and take neither a lock nor an atomic operation: a slot this thread freed, else the next
 * of a claimed run.  Runs are claimed a few kilobytes at a time from the active page, lowest address first, and
 * zeroed as they are claimed, just ahead of use.  Each path is one brief section (platform/brief.h): each of its
 * instructions may be the last, by a siglongjmp, or the last before a handler looks on.
 *
 * Figures, and what each part of the paths costs: doc/design/fast-path.md.
 */
#ifndef SGC_ALLOC_SMALL_SMALL_H
#define SGC_ALLOC_SMALL_SMALL_H

#include <string.h>

#include "alloc/small/cache.h"
#include "platform/brief.h"
#include "platform/single_writer.h"

/* A slot that is ready, else one of a run claimed from the active page; NULL if that has none.  Outside sections.  Short runs
 * are claimed by what alloc/small/claim_short.h has. */
void *sgc_small_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Claims slots for a batch that has its first, and links them behind it, to `most` in all: what is ready, or some kilobytes of
 * what the active page has.  Outside sections. */
void sgc_small_link_others(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most, void **first);

/* A slot freed by this thread, allocated again.  In a section.  It leaves the list before its bit is set: when both happen
 * or only the first, nobody else gets it. */
__attribute__((always_inline))
static inline void *sgc_bin_pop(struct sgc_bin *bin)
{
    struct sgc_freed *freed = bin->freed;

    bin->freed = freed->next;
    bin->nfreed--;
    sgc_own_bit_set(sgc_alloc_words, freed->place);
    return freed;
}

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

/* Ends of the common path: leave the brief section; then what is freed is zeroed (the caller holds it, so it stays). */
__attribute__((noinline)) void *sgc_bin_finish_zeroed(struct sgc_cache *cache, void *object, size_t bytes);

enum sgc_free_result {
    SGC_FREE_DONE,
    SGC_FREE_NOT_HERE,          /* not a page of ours, or not swept yet: take the slow way */
    SGC_FREE_INTERIOR,          /* does not point at an object's first byte */
    SGC_FREE_NOT_ALLOCATED,     /* freed before, or never handed out */
};

/* Frees the object of a page that begins with a granule of the heap, if the page is ours and swept.  Outside sections. */
enum sgc_free_result sgc_small_free_local(struct sgc_cache *cache, uint32_t page, size_t granule);

/* Is the slot's bit set because it was handed out?  Slots that are claimed but still in the run have theirs set, too. */
__attribute__((always_inline))
static inline bool sgc_bin_handed_out(const struct sgc_bin *bin, const char *object)
{
    return object < bin->cur || object >= bin->end;
}

/* In a section; the slot's bit is cleared already.  The link before the head: a jump out in between loses one slot
 * until the next cycle. */
__attribute__((always_inline))
static inline void sgc_bin_push(struct sgc_bin *bin, void *object, size_t place)
{
    struct sgc_freed *freed = object;

    freed->next = bin->freed;
    freed->place = place;
    sgc_compiler_barrier();
    bin->freed = freed;
}

enum sgc_free_step {
    SGC_FREE_STEP_DONE,
    SGC_FREE_STEP_MISSED,       /* not a common case; nothing has been changed */
    SGC_FREE_STEP_CLOSED,       /* the bin was closed: sgc_free_undo is to follow */
};

/* An address as the number of its granule; of one that is no multiple, a number beyond all granules. */
__attribute__((always_inline))
static inline size_t sgc_exact_granule(const void *object)
{
    size_t offset = (uintptr_t)object - sgc_heap.base;

    return offset >> SGC_GRANULE_LOG | offset << (64 - SGC_GRANULE_LOG);
}

/* In a brief section: frees the object at a granule of the heap if its page is ours and has been swept, and its bin is
 * open.  Not while a mark goes on beside the program: then no page has the tag. */
__attribute__((always_inline))
static inline enum sgc_free_step sgc_free_in_section(struct sgc_cache *cache, void *object, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    struct sgc_bin *bin;
    size_t place;

    /* Acquire: the service thread may have swept the page, and written its bits, just now. */
    if (__builtin_expect(sgc_aw_load_acq(&d->tag) != cache->free_tag || sgc_a8_load_acq(&d->remote) != 0, 0))
        return SGC_FREE_STEP_MISSED;
    bin = sgc_bin_at(cache, sgc_a32_load(&d->bin));
    place = sgc_bit_index(granule);
    if (__builtin_expect(!sgc_bin_handed_out(bin, object), 0))
        return SGC_FREE_STEP_MISSED;
    if (__builtin_expect(!sgc_own_bit_take(sgc_alloc_words, place), 0))
        return SGC_FREE_STEP_MISSED;
    if (__builtin_expect(sgc_own_count_up(&bin->nfreed), 0))
        return SGC_FREE_STEP_CLOSED;
    sgc_bin_push(bin, object, place);
    return SGC_FREE_STEP_DONE;
}

/* In the same brief section: the object is allocated again. */
void sgc_free_undo(struct sgc_cache *cache, void *object);

/* In the same brief section, instead: if the object is uncollectable it is freed after all, into the bin of its kind, which its
 * page does not name.  Returns its bytes, or 0: sgc_free_undo is to follow.  In the order of the common path: counted before it
 * is linked. */
__attribute__((always_inline))
static inline size_t sgc_free_uncollectable(struct sgc_cache *cache, void *object, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    struct sgc_bin *bin = sgc_bin_at(cache, sgc_bin_offset(d->kind, d->cls));

    if (!sgc_kind_uncollectable(d->kind) || bin->nfreed >= 0 || !sgc_bin_handed_out(bin, object))
        return 0;
    cache->watched.nfreed--;
    bin->nfreed++;
    sgc_bin_push(bin, object, sgc_bit_index(granule));
    return bin->size;
}

#endif
