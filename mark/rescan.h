/* SPDX-License-Identifier: MIT */
/* The marked objects of pages that must be scanned again.  On any marker, world stopped. */
#ifndef SGC_MARK_RESCAN_H
#define SGC_MARK_RESCAN_H

#include "mark/marker.h"

/* Scans the marked objects of the arena's flagged pages again.  False if no page was flagged. */
bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena);

/* Takes all flags back. */
void sgc_pages_forget_rescans(void);

#endif
