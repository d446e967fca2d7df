/* SPDX-License-Identifier: MIT */
/*
 * Large objects.  Each has a span of pages of its own; every page of it leads to the first in one
 * step.
 *
 *   what                 written by                          read by     ordering
 *   descriptors          who reserved the span, before it    everybody   the release of the allocation bit, or of
 *                        is published; who takes it down;                the state; markers beside the program load
 *                        who has it as a spare one                       either with acquire
 *   kind                 the same; after zeroing a spare     everybody   release: who sees the last kind sees the
 *                        span its thread, once more                      zeros; atomic, see below
 *   span_bytes, limited, the owner of the object, as it      everybody   the same
 *   span_reach           resizes or limits it
 *   allocation bit       under the spans' lock; of spans     everybody   acquire-release RMW
 *                        swept in this epoch also without,
 *                        in a section: set by who has the
 *                        span as a spare one, cleared by
 *                        who frees it
 *   mark bit             markers; cleared a word at a time   markers     stopping the world
 *                        before a mark
 *   lists                under the spans' lock               same        the lock
 *
 * A span's bits are those of its first page in bitmaps of their own, one bit per page: four arenas
 * share a cache line, so that marking many spans touches little memory besides their descriptors.
 *
 * A span that is being set up is SGC_PAGE_RESERVED: no word makes it an object, it is not scanned,
 * and no cycle frees it, so it can be zeroed outside sections.  A spare span is used again without
 * any of this: it is allocated first, as one without pointers, then zeroed, then it gets its kind.
 *
 * While a mark goes on beside the program no span is taken down.  One that is freed, and does not
 * become a spare one, loses its allocation bit and stays on the list, where it looks dead; one that
 * shrinks keeps its pages; spare ones may be used again, since they keep their pages, too.  A
 * marker that has seen the bit of the object before may read the descriptor as the next one gets
 * it: each field by itself, so whatever it puts together lies within the span's pages.  It may find
 * the new object without pointers, and not scan it; whatever is stored into it then is stored after
 * its kind was, so its OS page is a written one, and the object is looked at again.
 */
#ifndef SGC_ALLOC_LARGE_SPAN_H
#define SGC_ALLOC_LARGE_SPAN_H

#include "alloc/pages/page_lists.h"
#include "alloc/pages/pool.h"

struct sgc_spans {
    struct sgc_lock lock;
    struct sgc_page_lists lists;        /* todo and done only */
    sgc_aw_t allocated, freed;          /* bytes, ever: adds, release; acquire */
    sgc_aw_t allocated_reported, freed_reported;    /* so much of them was taken; exchanged */
};
SGC_INNER struct sgc_spans sgc_spans;

/* Pages that `bytes` take. */
static inline size_t sgc_span_pages_for(size_t bytes)
{
    return (bytes + SGC_PAGE - 1) / SGC_PAGE;
}

/* Makes pages that were taken for it an object of `bytes`; `zero`: they read as zero.  Under a
 * guard. */
void *sgc_span_make(uint32_t first, size_t bytes, uint32_t kind, bool zero, struct sgc_section *self);

/* Makes one of the owner's spare spans an object.  NULL if it has none of that size.  By its
 * thread, outside sections. */
void *sgc_span_use_cached(uint32_t owner, size_t bytes, uint32_t kind, struct sgc_section *self);

/* Is the span that begins with the page allocated? */
static inline bool sgc_span_bit(uint32_t page)
{
    return (sgc_aw_load_acq(sgc_span_word(page, sgc_heap.alloc_role)) & sgc_arena_bit(page)) != 0;
}

/* The first page of the span that the page belongs to, maybe itself; SGC_NO_PAGE: it belongs to
 * none.  Any thread, any time.  Its descriptor may be being set up, or taken down: the answer is
 * good only if the span's allocation bit is set.  `back` shares its place with `bin`: a page that
 * is no tail any more has that there. */
static inline uint32_t sgc_span_first_page(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint8_t state = sgc_page_state(d);
    uint32_t back = state == SGC_PAGE_SPAN_TAIL ? sgc_page_back(d) : 0;

    if ((state != SGC_PAGE_SPAN && back == 0) || back >= page)
        return SGC_NO_PAGE;
    return back == 0 || sgc_page_state(d - back) == SGC_PAGE_SPAN ? page - back : SGC_NO_PAGE;
}

/* The span that begins with `page` is not allocated any more; its pages are found after the cycle.
 * False if it was not allocated.  World stopped, nothing is marked. */
bool sgc_span_clear(uint32_t page);

/* Frees the span that begins with `page`, into the owner's spare spans if it fits.  False if it is
 * not allocated.  By the owner's thread, outside sections. */
bool sgc_span_release(uint32_t owner, uint32_t page, struct sgc_section *self);

/* Makes the object smaller or larger in place.  Pages no longer needed go back, and those behind
 * its pages are taken if they are free, unless a mark goes on beside the program: then it keeps the
 * pages that it has, and can grow into them again.  False: it has to move.  Bytes that are gained
 * are zeroed for kinds with pointers.  Outside sections; by the thread that has the object. */
bool sgc_span_resize(struct sgc_section *self, uint32_t page, size_t bytes);

/* Only words that point at the first `bytes` of the object keep it.  By whoever owns the object. */
static inline void sgc_span_set_reach(uint32_t page, size_t bytes)
{
    sgc_assert(sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN);
    sgc_aw_store(&sgc_heap.pages[page].span_reach, bytes);
    sgc_span_set_limited(&sgc_heap.pages[page], true);
}

/* Sweeps up to `max` spans, giving dead ones back.  False if none was left, or while a mark goes on
 * beside the program.  Outside sections. */
bool sgc_span_sweep(uint32_t max, struct sgc_section *self);

/* Sweeps up to `max` spans, until some that have exactly `count` pages are among the owner's spare
 * ones, which it says.  Under a guard. */
bool sgc_span_sweep_for(uint32_t owner, uint32_t count, uint32_t max, struct sgc_section *self);

/* Gives the spare spans of an owner back; while a mark goes on beside the program they stay where
 * they are, for the next thread of the owner's number, or the next sweep.  By its thread or by the
 * thread that closes its cache, outside sections. */
void sgc_span_give_cached(uint32_t owner, struct sgc_section *self);

/* Bytes allocated in spans since this was last asked, and freed explicitly.  Of threads that ask at
 * once one gets them, and the others may get 0: in the sum of all answers is everything once. */
struct sgc_span_bytes {
    size_t allocated, freed;
};
struct sgc_span_bytes sgc_span_take_bytes(void);

/* All that were.  Any thread. */
static inline size_t sgc_span_allocated(void)
{
    return sgc_aw_load_acq(&sgc_spans.allocated);
}

static inline size_t sgc_span_freed(void)
{
    return sgc_aw_load_acq(&sgc_spans.freed);
}

/* ---- for the files of the spans ---- */

/* Makes a page that nobody else knows, or that is reserved, a tail of the span that begins with
 * `first`.  The world may be stopped anywhere in here, hence the order. */
static inline void sgc_span_set_tail(uint32_t first, uint32_t back)
{
    struct sgc_page *d = &sgc_heap.pages[first + back];

    sgc_assert(back != 0 && sgc_page_ok(first + back) && sgc_page_state(d) <= SGC_PAGE_RESERVED);
    sgc_page_set_back(d, back);
    sgc_page_set_state(d, SGC_PAGE_SPAN_TAIL);
}

/* Gives pages back that are reserved, or tails of no span any more.  Under a guard. */
void sgc_span_take_down(const struct sgc_run *runs, uint32_t count, struct sgc_section *self);

/* ---- spare spans ----
 *
 * Dead spans that a thread keeps as they are, set up and on the spans' list, for its next requests
 * of as many pages.  To use one again takes no lock: the object's size is written, then the
 * allocation bit is set.
 *
 * A spare span looks like a dead one that nobody has swept: state SGC_PAGE_SPAN, allocation bit
 * clear.  It has been swept in its epoch, so nobody takes it down; from the next flip on it is
 * unswept like any other, and the thread that had it as a spare has forgotten it.  So whatever is
 * lost, in a section that was left by a jump or by a thread that ended without giving it up, comes
 * back with the next cycle.
 *
 *   what                        written by                          read by    ordering
 *   struct sgc_span_caches,     the owner's thread, in a section;   same       program order; a thread that
 *   links and `warm` of the     a thread that closes the owner's               closes a cache has its owner's
 *   spans                       cache                                          place
 *   a spare span's descriptor   the same                            everybody  the release of its
 *                                                                              allocation bit
 */

/* Address space only; without it nothing is kept. */
void sgc_span_caches_init(void);

/* One of exactly so many pages, the one kept last; SGC_NO_PAGE if there is none. */
uint32_t sgc_cached_span_pop(uint32_t owner, uint32_t count);

/* Pages kept, those of older epochs not counted. */
uint32_t sgc_cached_span_pages(uint32_t owner);

#endif
