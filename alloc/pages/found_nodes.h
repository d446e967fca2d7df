/* SPDX-License-Identifier: MIT */
/*
 * On which memory nodes the system has put what we use, beside where it was meant to be.  Asks the
 * system for each OS page, in pieces, and needs no memory but some kilobytes of stack.  Any thread,
 * with the world running or not; what grows or is given back meanwhile is counted or not.
 */
#ifndef SGC_ALLOC_PAGES_FOUND_NODES_H
#define SGC_ALLOC_PAGES_FOUND_NODES_H

#include "alloc/pages/heap.h"

/* Beside a node: where a range was meant to be. */
enum { SGC_MEANT_IN_TURN = -1, SGC_MEANT_ANYWHERE = -2 };

/* Counts of OS pages; begins as zero.  An OS page without memory, because nobody has touched it, is
 * counted nowhere. */
struct sgc_found_nodes {
    size_t found[SGC_NODES_MAX];
    size_t meant[SGC_NODES_MAX];        /* of all that was found, how much was meant to be on the
                                           node */
    size_t right;                       /* found where it was meant to be */
    size_t turn[SGC_NODES_MAX];         /* of what was found: meant to be on all nodes in turn,
                                           until it is summed up */
};

/* Looks at a range of memory.  False if the system does not say; errno says why. */
bool sgc_found_add(struct sgc_found_nodes *f, const void *start, size_t bytes, int meant);

/* The committed part of the heap; of its bitmaps, remote bits with them; of the other tables beside
 * it. */
enum sgc_found_part { SGC_FOUND_HEAP, SGC_FOUND_BITS, SGC_FOUND_TABLES };

/* Looks at all of a part. */
bool sgc_found_add_part(struct sgc_found_nodes *f, enum sgc_found_part part);

/* Shares what was meant to be on all nodes in turn out among them.  Last, once. */
void sgc_found_sum_up(struct sgc_found_nodes *f);

static inline size_t sgc_found_total(const size_t pages[SGC_NODES_MAX])
{
    size_t sum = 0;

    for (int node = 0; node < SGC_NODES_MAX; node++)
        sum += pages[node];
    return sum;
}

#endif
