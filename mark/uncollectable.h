/* SPDX-License-Identifier: MIT */
/* Uncollectable objects, which are roots.  On any marker, world stopped. */
#ifndef SGC_MARK_UNCOLLECTABLE_H
#define SGC_MARK_UNCOLLECTABLE_H

#include "mark/marker.h"

/* Marks uncollectable objects, page by page. */
void sgc_mark_uncollectable(struct sgc_marker *marker);

/* Marks the uncollectable objects of some arenas: a piece of kind SGC_WORK_PAGES. */
void sgc_pages_uncollectable(struct sgc_marker *marker, struct sgc_work work);

#endif
