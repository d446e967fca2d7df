/* SPDX-License-Identifier: MIT */
/* Objects found page by page.  On any marker, world stopped. */
#ifndef SGC_MARK_RESCAN_H
#define SGC_MARK_RESCAN_H

#include "mark/marker.h"

/* Marks the uncollectable objects of some arenas: a piece of kind SGC_WORK_PAGES. */
void sgc_pages_uncollectable(struct sgc_marker *marker, struct sgc_work work);

/* Scans the marked objects of the arena's flagged pages again.  False if no page was flagged. */
bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena);

/* Takes all flags back. */
void sgc_pages_forget_rescans(void);

#endif
