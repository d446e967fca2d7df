/* SPDX-License-Identifier: MIT */
/*
 * On which memory node of a machine the objects of a graph and their mark bits would be.
 *
 * A machine that spreads memory in turn has no choice.  On others an object is where the snapshot
 * says: on the node of its arena, if it is from a machine with several nodes, and else on the node
 * of the thread that first touched its page, the threads being on the machine's processors in turn.
 */
#ifndef SGC_PERFMODEL_MODEL_HOMES_H
#define SGC_PERFMODEL_MODEL_HOMES_H

#include <stdbool.h>

#include "perfmodel/machine/machine.h"
#include "snapshot/graph.h"

struct sgc_homes {
    const struct sgc_graph *graph;
    const struct sgc_machine *machine;
    bool balanced; /* mark bits are on all nodes in turn, page by page ([Endo]'s BMB), else with
                      their objects */
};

/* The node of a byte of an object. */
uint32_t sgc_home_of_byte(const struct sgc_homes *h, uint32_t object, uint64_t byte);

/* Where the mark bit of an object is: a bit a granule, in an address range beside the heap's. */
uint64_t sgc_mark_bit_address(const struct sgc_homes *h, uint32_t object);
uint32_t sgc_home_of_mark_bit(const struct sgc_homes *h, uint32_t object);

#endif
