/* SPDX-License-Identifier: MIT */
/*
 * The bits of a mark, from its end to the beginning of the next: the flip, by which they say what is allocated, and the
 * clearing of those that did so until then.
 */
#ifndef SGC_ALLOC_PAGES_MARKS_H
#define SGC_ALLOC_PAGES_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/* The bitmaps change roles: what was marked is what is allocated, in a new epoch.  World stopped; the caller gives the caches
 * their new tags. */
void sgc_heap_flip(void);

/* Clears one page's part of the bitmap that will be marked next.  Between cycles; nobody reads it then. */
void sgc_page_clear_marks(uint32_t page);

/* Clears what sweeping has left of the bitmap that will be marked next, arena by arena.  After each cycle, before the next.
 * The work is shared: any number of threads may call it.  Returns when all is clear. */
void sgc_clear_begin(void);             /* by the collecting thread, world stopped, after the flip */
void sgc_clear_again(void);             /* likewise, after a mark that was given up; and in the child of a fork, where a thread
                                           that does not exist any more may have been in the middle of it */
bool sgc_clear_some(uint32_t arenas);   /* false when nothing is left to take */
void sgc_clear_finish(void);            /* clears what is left and waits for the others */

#endif
