/* SPDX-License-Identifier: MIT */
/* The threads of helper markers (mark/team/team.h).  On the collecting thread, which has the GC
 * lock. */
#ifndef SGC_GC_COLLECT_HELPERS_H
#define SGC_GC_COLLECT_HELPERS_H

#include "mark/team/team.h"

/* Makes the team as the options say, with one marker.  False, with a message, if there is no
 * memory.  Once, at start. */
bool sgc_helpers_init(struct sgc_team *team);

/* Sees to it that helpers for `want` markers exist, as far as the system has threads; what it
 * refuses has a message once, and is not asked for again.  World running, outside sections, while
 * nobody marks. */
void sgc_helpers_start(struct sgc_team *team, uint32_t want);

/* From now on what each marker does is put into the timeline.  Once, at start. */
void sgc_helpers_trace(struct sgc_team *team);

#endif
