/* SPDX-License-Identifier: MIT */
/*
 * The helper markers' threads.  They are started when a cycle first wants them, before its pause, and sleep
 * between marks.  They are no mutators: they touch the heap only while the world is stopped.
 */
#ifndef SGC_GC_COLLECT_HELPERS_H
#define SGC_GC_COLLECT_HELPERS_H

#include "mark/team.h"
#include "platform/section.h"

/* Sees to it that helpers for `want` markers exist, as far as the system has threads; what it refuses is said once and
 * not asked for again.  On the collecting thread; world running, outside sections.  It has the GC lock, for the reason that
 * sgc_service_start gives. */
void sgc_helpers_start(struct sgc_team *team, uint32_t want, struct sgc_section *self);

#endif
