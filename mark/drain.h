/* SPDX-License-Identifier: MIT */
/* The marker's loop: mark/marker.h says what it does; and objects found page by page.  On any marker, world stopped. */
#ifndef SGC_MARK_DRAIN_H
#define SGC_MARK_DRAIN_H

#include "mark/marker.h"

/* Scans all that this marker has to scan.  False if the team gave up meanwhile. */
bool sgc_mark_drain(struct sgc_marker *marker);

/* Marks uncollectable objects, which are roots. */
void sgc_mark_uncollectable(struct sgc_marker *marker);

/* Scans the marked objects of the arena's flagged pages again.  False if no page was flagged. */
bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena);

/* Takes all flags back. */
void sgc_pages_forget_rescans(void);

#endif
