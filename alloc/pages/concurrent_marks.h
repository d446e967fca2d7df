/* SPDX-License-Identifier: MIT */
/*
 * Mark bits while a mark goes on beside the program.
 *
 * Only markers write them then, in pages that were in use when the mark began: nothing is swept, taken down, set up for
 * something else, or cleared ahead.  (A page that was in nobody's use is set up as ever: its bits are zero before its
 * state is published, so there is nothing in it to mark.)
 *
 * A slot that is freed after it was marked has a mark and no allocation bit, and the flip would make it allocated again:
 * nobody's for a cycle, and for ever where it is uncollectable.  So who clears an allocation bit of a small page notes the
 * page, and before the flip the marks of noted pages are reduced to what is allocated.  A mark that a marker sets late, since
 * it had seen the allocation bit before, is gone with the others.  Of spans all marks are reduced: they are few words.
 *
 *   what                 written by                                read by             ordering
 *   a page's bit in      who clears an allocation bit of the page, the collecting      stopping the world
 *   `noted` of its       before that, in the same section: atomic  thread
 *   arena                or, if it is not set yet; the collecting
 *                        thread, world stopped: all of them to 0
 */
#ifndef SGC_ALLOC_PAGES_CONCURRENT_MARKS_H
#define SGC_ALLOC_PAGES_CONCURRENT_MARKS_H

#include "alloc/pages/page.h"

/* Allocation bits of the page are going to be cleared: notes the page if a mark goes on beside the program.  By who may clear
 * them, in the same section. */
void sgc_marks_note(uint32_t page);

static inline void sgc_marking_note_freed(uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    if (__builtin_expect(sgc_heap_is_marking(), 0))
        sgc_marks_note(page);
}

/* Takes away the marks of what was freed while it was marked, and forgets the notes.  The bytes of the objects.  World
 * stopped, the mark is complete. */
size_t sgc_marks_drop_freed(void);

/* Forgets the notes.  World stopped, or one thread only. */
void sgc_marks_forget_noted(void);

/* Panics if something is unswept, marked or noted.  World stopped. */
void sgc_marks_check_none(void);

#endif
