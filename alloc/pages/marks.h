/* SPDX-License-Identifier: MIT */
/*
 * The bits of a mark: while it goes on beside the program, and from its end to the beginning of the
 * next: the flip, by which they say what is allocated, and the clearing of those that did so until
 * then.
 *
 * While a mark goes on only markers write its bits, in pages that were in use when it began:
 * nothing is swept, taken down, set up for something else, or cleared ahead.  (A page that was in
 * nobody's use is set up as ever: its bits are zero before its state is published, so there is
 * nothing in it to mark.)  A thread that clears an allocation bit of a small page notes the page;
 * alloc/marking.h says what for.
 *
 *   what                 written by                                read by             ordering
 *   a page's bit in      a thread that clears an allocation bit    the collecting      stopping the
 *   `noted` of its       of the page, before that, in the same     thread              world
 *   arena                section: atomic or, if it is not set
 *                        yet; the collecting thread, world
 *                        stopped: all of them to 0
 */
#ifndef SGC_ALLOC_PAGES_MARKS_H
#define SGC_ALLOC_PAGES_MARKS_H

#include "alloc/pages/page.h"

/* Allocation bits of the page are going to be cleared: notes the page if a mark goes on beside the
 * program.  By a thread that may clear them, in the same section. */
void sgc_marks_note(uint32_t page);

static inline void sgc_marking_note_freed(uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    if (SGC_TRACES && __builtin_expect(sgc_heap_is_marking(), 0))
        sgc_marks_note(page);
}

/* The bitmaps change roles: what was marked is what is allocated, in a new epoch.  Where survival
 * is checked (alloc/pages/survival.h), it is so before and after that.  World stopped; the caller
 * gives the caches their new tags. */
void sgc_heap_flip(void);

/* Clears one page's part of the bitmap that will be marked next.  Between cycles; nobody reads it
 * then. */
void sgc_page_clear_marks(uint32_t page);

/* Clears what sweeping has left of the bitmap that will be marked next, arena by arena.  After each
 * cycle, before the next.  The work is shared: any number of threads may call it.  Returns when all
 * is clear. */
void sgc_clear_begin(void);             /* by the collecting thread, world stopped, after the
                                         * flip */
void sgc_clear_again(void);             /* likewise, after a mark that was given up; and in the child of a fork, where a thread
                                           that does not exist any more may have been in the middle of it */
bool sgc_clear_some(uint32_t arenas);   /* false when nothing is left to take */
void sgc_clear_finish(void);            /* clears what is left and waits for the others */

#endif
