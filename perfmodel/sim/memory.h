/* SPDX-License-Identifier: MIT */
/*
 * Simulated memory: a cache for each marker, lines that have a home, and the memory nodes.
 *
 * A line has a version, which a write changes, and may have an owner: the only marker that has had
 * it since it was written last, or at all.  A cache's copy is good if its version is the line's; a
 * write also needs its marker to be the owner.  Everything else is a request to the line's home,
 * which serves one at a time.  Telling other caches of a write costs nothing, and neither does
 * writing back, as in [Endo] chapter 4.
 *
 * Addresses count from the first byte of the simulator's memory, so that results do not depend on
 * where that is.  Times are picoseconds.
 */
#ifndef SGC_PERFMODEL_SIM_MEMORY_H
#define SGC_PERFMODEL_SIM_MEMORY_H

#include <stddef.h>

#include "perfmodel/sim/machine.h"

/* The regions of memory, by their contents. */
enum sgc_sim_region {
    SGC_SIM_OBJECTS,
    SGC_SIM_BITS,               /* allocation and mark bits, those of spans, too */
    SGC_SIM_TABLES,             /* page descriptors and the like */
    SGC_SIM_OTHER,              /* roots, stacks of work, flags: on the node of who touches them
                                   first */
    SGC_SIM_REGIONS
};

/* Distances from the first byte of memory. */
struct sgc_sim_layout {
    size_t bytes;                                       /* of all */
    size_t objects, bits, bits_end, tables, tables_end; /* objects: the end of them; they begin at
                                                           0 */
    size_t bits_per_page, table_per_page, page;         /* how far bits, and descriptors, of two
                                                           neighbouring pages are apart */
};

/* Where objects have their homes, and where their bits and descriptors have. */
enum sgc_sim_homes {
    SGC_SIM_IN_TURN,            /* OS pages on the nodes in turn */
    SGC_SIM_ONE_NODE,           /* all on node 0 */
    SGC_SIM_BY_PAGE,            /* as the heap says, page by page */
};

struct sgc_sim_placement {
    enum sgc_sim_homes objects;
    const uint16_t *home;       /* of each page; SGC_SIM_BY_PAGE */
    bool balance_bits;          /* bits and descriptors in turn; otherwise with their pages ([Endo]
                                   3.4, BMB) */
};

struct sgc_sim_server {
    uint64_t busy, waited, longest_wait;
    uint64_t requests[SGC_SIM_REQUESTS];
};

struct sgc_sim_marker_figures {
    uint64_t computing, missing, waited;        /* missing: all time spent on requests; waited: of
                                                   it, at nodes */
    uint64_t misses[SGC_SIM_REQUESTS], accesses, asked;
};

/* Begins anew, with empty caches.  False if there is no memory. */
bool sgc_sim_memory_begin(const struct sgc_sim_machine *machine, const struct sgc_sim_layout *layout,
                          const struct sgc_sim_placement *placement, uint32_t markers, bool contention);
void sgc_sim_memory_end(void);

/* Is there a good copy, from what time on?  The time is not before `now`. */
bool sgc_sim_memory_hit(uint32_t marker, size_t offset, bool write, uint64_t now, uint64_t *ready);

/* How long a request for the line is on its way to the memory node; 0: it does not go there. */
uint64_t sgc_sim_memory_way(uint32_t marker, size_t offset, enum sgc_sim_request request);

/* The request has arrived.  Returns when the marker has the line.  No request will arrive at an
 * earlier time than `now`, but for those of sgc_sim_memory_ask. */
uint64_t sgc_sim_memory_request(uint32_t marker, size_t offset, bool write, enum sgc_sim_request request, uint64_t now);

/* Asks for the line ahead: the marker does not wait for it.  Returns when the marker goes on, which
 * is later than `now` only if it has too many requests under way. */
uint64_t sgc_sim_memory_ask(uint32_t marker, size_t offset, bool write, uint64_t now);

/* Is there such a byte? */
bool sgc_sim_memory_has(size_t offset);

enum sgc_sim_region sgc_sim_region_of(size_t offset);
uint32_t sgc_sim_node_of(uint32_t marker);

/* The memory node of a byte.  If nobody has touched its OS page before, the marker does so now. */
uint32_t sgc_sim_home_of(uint32_t marker, size_t offset);

struct sgc_sim_marker_figures *sgc_sim_figures_of(uint32_t marker);
const struct sgc_sim_server *sgc_sim_server_of(uint32_t node);

#endif
