/* SPDX-License-Identifier: MIT */
/*
 * A machine as the performance model sees it: the values of a machine file
 * (perfmodel/machine/machine_file.h), and distances.
 *
 * The caller that reads a machine owns it; nobody changes one afterwards.
 */
#ifndef SGC_PERFMODEL_MACHINE_MACHINE_H
#define SGC_PERFMODEL_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mark/team/contention_rules.h"

enum {
    SGC_MACHINE_PROCESSORS = 4096, /* at most, also in predictions */
    SGC_MACHINE_NODES = 1024,
    SGC_MACHINE_CACHES = 3,
};

enum { SGC_NEAR, SGC_FAR };
enum sgc_placement { SGC_PLACED_INTERLEAVED, SGC_PLACED_FIRST_TOUCH };
enum sgc_network { SGC_NETWORK_FLAT, SGC_NETWORK_HYPERCUBE };
enum sgc_known { SGC_KNOWN_MEASURED, SGC_KNOWN_BOUND, SGC_KNOWN_ASSUMED };

/* All numbers are of the type that their keys are read as; whole ones are exact. */
struct sgc_machine_cache {
    double bytes, ways, line_bytes, hit_ns, shared_by;
};

struct sgc_machine_costs { /* of computing, without misses */
    double object_ns, word_ns, edge_ns, mark_ns, mark_rmw_ns, push_ns, pop_ns, steal_ns, lock_ns;
    double procedure_ns, procedure_edge_ns;
};

struct sgc_machine {
    char name[64];
    double processors, nodes, placement, network, nodes_a_router, hop_ns;
    double latency_ns[SGC_MISS_CLASSES][2]; /* M_1: near and far */
    double occupancy_ns[SGC_MISS_CLASSES];  /* S_O */
    double occupancy;                       /* enum sgc_known */
    struct sgc_machine_cache cache[SGC_MACHINE_CACHES];
    int caches;
    double misses_in_flight, stream_mb_s;
    struct {
        double entries, ways, page_bytes, walk_ns;
    } tlb;
    double handover_ns[2];
    struct sgc_machine_costs cost;
};

/* ---- asking ---- */

/* The last cache: its misses go to memory, in its lines. */
const struct sgc_machine_cache *sgc_machine_last(const struct sgc_machine *m);

/* The node of a processor: processors fill one node after the other, and begin again where the
 * machine ends, so that more of them than there are can be thought of with the same memory. */
uint32_t sgc_machine_node_of(const struct sgc_machine *m, uint32_t processor);

/* M_1 of an access from a node to a node's memory. */
double sgc_machine_latency(const struct sgc_machine *m, enum sgc_miss_class class, uint32_t from, uint32_t to);

/* Its mean over the first so many processors, which all ask equally often. */
double sgc_machine_mean_latency(const struct sgc_machine *m, enum sgc_miss_class class, uint32_t processors, uint32_t to);

#endif
