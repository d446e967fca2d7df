/* SPDX-License-Identifier: MIT */
/*
 * Simulating a mark: so many markers run the library's own marking code over a restored heap, on a
 * machine that there need not be.  doc/design/simulator.md says what is real and what is modelled.
 */
#ifndef SGC_PERFMODEL_SIM_SIM_H
#define SGC_PERFMODEL_SIM_SIM_H

#include "perfmodel/sim/restore.h"
#include "perfmodel/sim/schedule.h"

/* "sgc", "endo-opt" ...: how markers work.  NULL behind the last. */
const char *sgc_sim_preset_name(unsigned i);
bool sgc_sim_preset_known(const char *name);

struct sgc_sim_options {
    const struct sgc_sim_machine *machine;
    const char *preset;
    uint32_t markers;                   /* 1 to SGC_SIM_MARKERS_MAX */
    enum sgc_sim_homes homes;           /* of objects */
    bool no_contention;                 /* nobody waits at a memory node */
    size_t split_bytes;                 /* larger objects are split, where the library's markers
                                           split any; 0: as they do */
    uint32_t seed;                      /* of whom thieves look at first; 0: as the markers have it
                                           by themselves */
    sgc_sim_watch watch;                /* told of each access; NULL: nobody.  With one marker it is
                                           the serial stream */
    void *arg;
};

struct sgc_sim_result {
    uint32_t markers, nodes;
    uint64_t ps;                        /* picoseconds from the beginning of the mark to its end */
    uint64_t objects, bytes;            /* marked */
    uint64_t steals, stolen;            /* thefts, and pieces of work */
    uint64_t computing, missing, waited;/* of all markers together; waited: of missing, at memory nodes */
    uint64_t misses[SGC_SIM_REQUESTS], accesses, asked;
    struct sgc_sim_server server[SGC_SIM_NODES_MAX];
};

/* The marks stay, for sgc_sim_is_marked.  False if there is no memory. */
bool sgc_simulate(const struct sgc_sim_heap *heap, const struct sgc_sim_options *options, struct sgc_sim_result *result);

#endif
