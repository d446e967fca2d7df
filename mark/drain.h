/* SPDX-License-Identifier: MIT */
/* The marker's loop: mark/marker.h says what it does.  On any marker, world stopped. */
#ifndef SGC_MARK_DRAIN_H
#define SGC_MARK_DRAIN_H

#include "mark/marker.h"

/* Scans all that this marker has to scan.  False if the team gave up meanwhile. */
bool sgc_mark_drain(struct sgc_marker *marker);

#endif
