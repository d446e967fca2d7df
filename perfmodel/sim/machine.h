/* SPDX-License-Identifier: MIT */
/*
 * The data of a machine that the simulator needs.  Times are nanoseconds.
 *
 * A request that finds no copy in its marker's cache goes through the network to the memory node
 * that has the line, occupies it, and comes back: M_1 = 2 S_L + S_O in the words of [Endo] chapter
 * 4.  Costs of computing are times of operations when all that they need is in the cache.
 */
#ifndef SGC_PERFMODEL_SIM_MACHINE_H
#define SGC_PERFMODEL_SIM_MACHINE_H

#include "perfmodel/machine/machine.h"

enum { SGC_SIM_MARKERS_MAX = 1024, SGC_SIM_NODES_MAX = 256 };

/* A request that reads, and one that reads, modifies and writes at once. */
enum sgc_sim_request { SGC_SIM_REQUEST_READ, SGC_SIM_REQUEST_UPDATE, SGC_SIM_REQUESTS };

struct sgc_sim_memory {
    double local, remote;       /* M_1: from a marker of the same node, and from the others, unless
                                   there are `distances` */
    double occupied;            /* S_O */
};

struct sgc_sim_costs {
    double word;                /* a word of an object or of the roots is looked at */
    double edge;                /* one that leads into the heap, in addition */
    double test;                /* a word of a bitmap is read */
    double mark, mark_shared;   /* it is written: plainly, at once with reading it */
    double read, write, update; /* anything else that markers share: descriptors, pieces of work,
                                   flags */
    double ask;                 /* a prefetch */
    double pause, yield;        /* a hint that somebody spins; letting others run */
    double sleep, wake, woken;  /* going to sleep; waking one; until who was woken runs */
};

struct sgc_sim_machine {
    uint32_t nodes, per_node;   /* memory nodes; markers of each: marker i is of node i / per_node,
                                   in turn */
    bool in_turn;               /* lines lie on the nodes in turn, whatever a heap says */
    uint32_t line_bytes;        /* a power of two */
    uint32_t os_page_bytes;     /* a power of two: bytes that have one home */
    uint64_t cache_bytes;       /* a marker's own */
    uint32_t ways;
    uint32_t in_flight;         /* requests that a marker may wait for at a time; 1: prefetches do
                                   nothing */
    double stream;              /* a line that is read after the one before it comes so soon; 0: as
                                   any other */
    double handover[2];         /* from the cache that wrote a line last, near and far; 0: by way of
                                   the line's home */
    uint32_t near;              /* so many markers are near each other: they share a cache */
    struct sgc_sim_memory memory[SGC_SIM_REQUESTS];
    const struct sgc_machine *distances;    /* NULL: all other nodes are equally far */
    struct sgc_sim_costs costs;
};

/* NULL, or a text that says which value cannot be. */
const char *sgc_sim_machine_check(const struct sgc_sim_machine *machine);

/* From a machine file, which stays where it is.  by_owner: a line that another cache has written
 * comes from there; otherwise, as in [Endo], by way of its home. */
void sgc_sim_machine_of(const struct sgc_machine *file, bool by_owner, struct sgc_sim_machine *machine);

#endif
