/* SPDX-License-Identifier: MIT */
/*
 * The memory accesses of a mark, one after the other: what makes them calls a function for each,
 * and what counts misses is that function.  So the marking order can come from
 * perfmodel/model/serial_mark.h or from a simulated run of the marker itself.
 */
#ifndef SGC_PERFMODEL_MODEL_ACCESS_H
#define SGC_PERFMODEL_MODEL_ACCESS_H

#include <stdint.h>

#include "mark/team/contention_rules.h"

/* One access, which lies within a line.  node: where the memory is. */
struct sgc_access {
    uint64_t address;
    uint32_t node;
    enum sgc_miss_class class;
};

typedef void sgc_access_fn(void *arg, const struct sgc_access *access);

#endif
