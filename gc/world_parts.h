/* SPDX-License-Identifier: MIT */
/* What the two sides of stopping share: gc/world.c, the threads that stop, and gc/stopper.c, the one that stops them.
 * The table of orders is in gc/world.c. */
#ifndef SGC_GC_WORLD_PARTS_H
#define SGC_GC_WORLD_PARTS_H

#include "gc/world.h"

struct sgc_world {
    sgc_a32_t gen;
    sgc_a32_t missing;
};
extern struct sgc_world sgc_world;

#endif
