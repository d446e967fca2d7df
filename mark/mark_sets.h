/* SPDX-License-Identifier: MIT */
/*
 * Marked and white objects, a word or a span at a time.  On any marker.
 *
 * Marked are objects that are still allocated: one that was freed since is looked at by nobody, and no client's procedure is to
 * see it again.  Before a page's descriptor is used its allocation bits are acquired here.
 */
#ifndef SGC_MARK_MARK_SETS_H
#define SGC_MARK_MARK_SETS_H

#include "mark/marker.h"

/* Of the small objects that have their bits in word w, of a page of them: */
SGC_INLINE uintptr_t sgc_marked_objects(const struct sgc_marker *marker, const struct sgc_page *d, size_t w)
{
    uintptr_t marked = sgc_aw_load(&marker->marks[2 * w]);

    if (marked != 0)
        marked &= sgc_aw_load_acq(&marker->allocated[2 * w]);
    if (marked != 0 && sgc_a8_load_acq(&d->remote) != 0)
        marked &= ~sgc_aw_load(&sgc_heap.remote_bits[w]);
    return marked;
}

/* Freed ones by other threads count. */
SGC_INLINE uintptr_t sgc_white_objects(const struct sgc_marker *marker, size_t w)
{
    return sgc_aw_load_acq(&marker->allocated[2 * w]) & ~sgc_aw_load(&marker->marks[2 * w]);
}

/* Is the span that begins with the page allocated, and marked? */
SGC_INLINE bool sgc_span_is_marked(const struct sgc_marker *marker, uint32_t page)
{
    uintptr_t marked = sgc_aw_load(sgc_span_word(page, marker->alloc_role ^ 1));

    return (sgc_aw_load_acq(sgc_span_word(page, marker->alloc_role)) & marked & sgc_arena_bit(page)) != 0;
}

#endif
