/* SPDX-License-Identifier: MIT */
/*
 * Caches fed with a serial mark's accesses: Q_1, L and V_j of [Endo], 4.3.4 and 4.3.6.
 *
 * Each level is a set-associative cache in which the line goes that was not used for longest, and
 * sees all accesses: a level knows of those that a level before it has answered.  So its misses are
 * those of a cache of its size that stands alone, and what level n answers is what level n - 1
 * misses and n does not.  The caches are empty at first.
 *
 * L, the mean number of live lines: a line of the last level is live from one access to the next if
 * it is not missed in between.  So each hit adds the time since the line's last access, and the sum
 * is divided by the whole time.  Time is counted in accesses.
 *
 * One thread.
 */
#ifndef SGC_PERFMODEL_MODEL_CACHE_H
#define SGC_PERFMODEL_MODEL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/machine/machine.h"
#include "perfmodel/model/access.h"

/* ---- one cache ---- */

#define SGC_CACHE_MISS UINT64_MAX

struct sgc_cache {
    struct sgc_cache_way {
        uint64_t line, last;
    } * way; /* `ways` a set, the one used last first; line + 1, 0: empty */
    uint64_t sets;
    uint32_t ways;
    unsigned line_log;
};

/* False: no memory.  `bytes` is a multiple of ways times line_bytes. */
bool sgc_cache_make(struct sgc_cache *c, uint64_t bytes, uint32_t ways, uint32_t line_bytes);
void sgc_cache_release(struct sgc_cache *c);

/* The line with the address is used at time `now`: the time of its last use, or that it was not
 * there. */
uint64_t sgc_cache_use(struct sgc_cache *c, uint64_t address, uint64_t now);

/* ---- a machine's ---- */

struct sgc_node_misses {
    uint64_t misses[SGC_MISS_CLASSES];
    uint64_t in_sequence[SGC_MISS_CLASSES]; /* of these: the line after the one that its class
                                               missed last */
};

struct sgc_misses {
    uint64_t accesses[SGC_MISS_CLASSES];
    uint64_t misses[SGC_MISS_CLASSES]; /* Q_1 */
    uint64_t in_sequence[SGC_MISS_CLASSES];
    uint64_t answered[SGC_MACHINE_CACHES]; /* by each level, which no level before it could */
    uint64_t walks;                        /* pages that the TLB did not know */
    double live_lines;                     /* L, when all has been counted */
    uint32_t nodes;
    struct sgc_node_misses *node; /* V_j of class c is node[j].misses[c] / misses[c] */
};

struct sgc_cache_model {
    const struct sgc_machine *machine;
    struct sgc_cache level[SGC_MACHINE_CACHES], tlb;
    uint64_t now, live_time;
    uint64_t missed_last[SGC_MISS_CLASSES]; /* line */
    struct sgc_misses counted;
};

/* False: no memory.  To be released in any case. */
bool sgc_cache_model_make(struct sgc_cache_model *model, const struct sgc_machine *machine);
void sgc_cache_model_release(struct sgc_cache_model *model);

/* An sgc_access_fn; arg is the model. */
void sgc_cache_model_access(void *model, const struct sgc_access *access);

/* After the last access: what was counted, which is the model's. */
const struct sgc_misses *sgc_cache_model_end(struct sgc_cache_model *model);

#endif
