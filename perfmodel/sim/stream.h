/* SPDX-License-Identifier: MIT */
/*
 * The accesses of a single simulated marker, one after the other, for whoever counts misses by
 * himself (perfmodel/model/cache.h): the order of the marker that there is, instead of
 * perfmodel/model/serial_mark.h.
 *
 * Prefetches are left out: what they bring is accessed later.
 */
#ifndef SGC_PERFMODEL_SIM_STREAM_H
#define SGC_PERFMODEL_SIM_STREAM_H

#include "perfmodel/model/access.h"
#include "perfmodel/sim/sim.h"

/* As sgc_simulate with one marker; of the options machine, preset and homes count.  Addresses begin
 * with the heap's first byte. */
bool sgc_sim_stream(const struct sgc_sim_heap *heap, const struct sgc_sim_options *options, sgc_access_fn *access, void *arg,
                    struct sgc_sim_result *result);

#endif
