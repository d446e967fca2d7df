/* SPDX-License-Identifier: MIT */
/* The marker's loop: mark/marker.h says what it does; and objects found page by page.  On any marker. */
#ifndef SGC_MARK_DRAIN_H
#define SGC_MARK_DRAIN_H

#include "mark/marker.h"

/* Scans all that this marker has to scan.  False if the team said stop meanwhile: the rest is on
 * the stack, or its page is flagged, unless the mark is given up. */
bool sgc_mark_drain(struct sgc_marker *marker);

/* All that another marker of the same mark has to do, and what it has counted, becomes this one's.  The calling thread owns
 * both; thieves may be at their public parts.  Where there is no room the page is flagged. */
void sgc_marker_take_over(struct sgc_marker *marker, struct sgc_marker *from);

/* Marks uncollectable objects, which are roots. */
void sgc_mark_uncollectable(struct sgc_marker *marker);

/* Scans the marked objects of the arena's flagged pages again, the world being stopped for good.  False if no page was
 * flagged. */
bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena);

/* Scans the marked objects of the arena's flagged pages again, on the only marker, in a stop after
 * which the program may go on; flags those anew that have objects which only a stop lets scan.
 * False if the team said stop meanwhile: the pages that are left keep their flags. */
bool sgc_pages_rescan_paused(struct sgc_marker *marker, uint32_t arena);

/* Is any page flagged?  While nobody marks. */
bool sgc_pages_flagged(void);

/* Takes all flags back. */
void sgc_pages_forget_rescans(void);

#endif
