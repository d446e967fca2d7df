/* SPDX-License-Identifier: MIT */
/*
 * Where dangling words lead while a mark goes on beside the program: for the check of its closure
 * (gc/collect/closure.c).
 *
 * A word may lead where nothing is allocated: the object that was there has been freed, and the
 * program has not written the word since.  A marker that reads it marks nothing.  Then an object
 * is allocated there, and the word leads to one without mark, although nothing was missed: it is
 * no pointer to that object.  So granules are noted to which words lead, with nothing there, when
 * the mark begins, and those of objects that are freed meanwhile.  An object without mark to
 * which a word leads in any other place has been missed.
 *
 *   what      written by                             read by                   ordering
 *   a bit     the collecting thread, world stopped;  the collecting thread,    atomic or; stopping
 *             a thread that clears an allocation     world stopped             the world
 *             bit, in the same section
 *   the rest  the collecting thread, world stopped   threads that clear        stopping the world
 *                                                    allocation bits
 */
#ifndef SGC_ALLOC_PAGES_DANGLING_H
#define SGC_ALLOC_PAGES_DANGLING_H

#include "alloc/pages/page.h"

/* Nothing is noted any more, and from now on is.  World stopped, before the mark begins.  False:
 * there is no memory for it. */
bool sgc_dangling_begin(void);

/* Nothing is noted from now on.  World stopped. */
void sgc_dangling_end(void);

/* A word leads to that granule, or led to it. */
void sgc_dangling_note(size_t granule);

/* Have any of these bytes of the heap been noted? */
bool sgc_dangling_any(uintptr_t start, size_t bytes);

/* The object that begins with the granule is freed.  By who clears its bit, in the same section. */
static inline void sgc_dangling_freed(size_t granule)
{
    if (SGC_TRACES && __builtin_expect(sgc_heap_is_marking(), 0))
        sgc_dangling_note(granule);
}

/* The objects whose bits in word w are `bits` are freed.  By the thread that clears these, in the
 * same section. */
static inline void sgc_dangling_freed_word(size_t w, uintptr_t bits)
{
    if (!SGC_TRACES || __builtin_expect(!sgc_heap_is_marking(), 1))
        return;
    for (; bits != 0; bits &= bits - 1)
        sgc_dangling_note(w * 64 + (size_t)__builtin_ctzll(bits));
}

#endif
