/* SPDX-License-Identifier: MIT */
/*
 * Counters that only the API shows.  Written by the collecting thread at the end of a cycle (`measuring` by
 * whoever starts to measure), read by anybody: relaxed, each stands for itself.
 */
#ifndef SGC_GC_API_COUNTERS_H
#define SGC_GC_API_COUNTERS_H

#include "platform/atomics.h"

struct sgc_api_counters {
    sgc_aw_t live_objects;              /* as the last cycle found them */
    sgc_aw_t reclaimed_last;            /* bytes of dead objects the last cycle found */
    sgc_aw_t reclaimed_before;          /* and those before it */
    sgc_a32_t measuring;
    sgc_aw_t measured_ns;               /* in collections, since measuring */
};
extern struct sgc_api_counters sgc_api_counters;

#endif
