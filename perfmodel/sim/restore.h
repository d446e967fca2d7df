/* SPDX-License-Identifier: MIT */
/*
 * A graph as a heap of the simulated collector: pages, descriptors and bits of the library, made by
 * its own functions, and the words that lead from object to object.  Everything lies as far from
 * the heap's first byte as it did in the process that the snapshot is of; the other words are zero.
 * There is one heap at a time.
 *
 * Facts that a graph does not know are left out: of an object that a descriptor or a procedure
 * describes all words count; an uncollectable object is a collectable one, and the roots lead to
 * it.
 */
#ifndef SGC_PERFMODEL_SIM_RESTORE_H
#define SGC_PERFMODEL_SIM_RESTORE_H

#include "perfmodel/sim/memory.h"
#include "snapshot/graph.h"

struct sgc_sim_range {
    uintptr_t lo, hi;
    uint32_t thread;            /* the graph's */
};

struct sgc_sim_heap {
    struct sgc_sim_range *range;        /* of root words */
    uint32_t ranges;
    uint16_t *home;             /* by page: the thread's number less 1, which was the first to use
                                   it; 0: unknown */
    struct sgc_sim_layout layout;
    size_t used;                /* of the platform's memory */
};

/* Restores the graph, with room for so many markers.  NULL, or a text that says why not; *heap is
 * to be released in any case. */
const char *sgc_sim_restore(const struct sgc_graph *graph, uint32_t markers, struct sgc_sim_heap *heap);
void sgc_sim_release(struct sgc_sim_heap *heap);

/* No object is marked. */
void sgc_sim_unmark(void);

/* Is the object of the graph marked? */
bool sgc_sim_is_marked(const struct sgc_graph *graph, uint32_t object);

/* Marks that are set. */
uint64_t sgc_sim_count_marks(void);

#endif
