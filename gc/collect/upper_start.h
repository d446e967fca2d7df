/* SPDX-License-Identifier: MIT */
/* Starting a layer on top of the collector (gc/threads/upper.h). */
#ifndef SGC_GC_COLLECT_UPPER_START_H
#define SGC_GC_COLLECT_UPPER_START_H

#include "gc/threads/upper.h"

/* From now on the layer is told and asked.  Once; on any mutator, outside sections and blocked regions, with the GC lock or
 * without.  A layer that marks by itself ends concurrent collections. */
void sgc_upper_start(struct sgc_mutator *self, const struct sgc_upper *upper);

#endif
