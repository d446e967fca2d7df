/* SPDX-License-Identifier: MIT */
/*
 * How long the mark of a graph takes on so many processors of a machine: [Endo], chapter 4, whole;
 * his fast form; and one form that knows more of processors of today. doc/studies/perfmodel.md says
 * what each rests on.
 *
 * Pure: from what was counted to numbers.
 */
#ifndef SGC_PERFMODEL_MODEL_PREDICT_H
#define SGC_PERFMODEL_MODEL_PREDICT_H

#include "perfmodel/model/cache.h"
#include "perfmodel/model/work.h"

/* T_P from T_1 / P and T_inf: the larger, as the thesis argues; the smaller, as it is printed
 * there; or the sum, as for Cilk. */
enum sgc_depth_rule { SGC_DEPTH_LARGER, SGC_DEPTH_SMALLER, SGC_DEPTH_SUM };

/* The unit in which T_1 is counted for the number of steals, N_S = P ln T_1: the thesis names
 * none. */
enum sgc_steal_unit { SGC_STEALS_BY_PIECES, SGC_STEALS_BY_WORDS, SGC_STEALS_BY_NS };

struct sgc_prediction_of {
    const struct sgc_machine *machine;
    const struct sgc_work *work;
    const struct sgc_misses *misses;
    const double *node_bytes; /* that are reached, by node of the machine */
    bool balanced;            /* mark bits: see perfmodel/model/homes.h */
    enum sgc_depth_rule depth;
    enum sgc_steal_unit unit;
    double steals; /* N_S with several processors, if it is known; negative: by the unit */
};

struct sgc_prediction {
    uint32_t processors;
    double computing_ns;     /* T_P */
    double steals;           /* N_S: 0 with one processor */
    double misses;           /* Q_P */
    double miss_ns;          /* M_P, mean over nodes and classes */
    double busiest;          /* rho of the node with the most to do */
    double time_ns;          /* T_P^M */
    double no_contention_ns; /* with M_P = M_1 */
    double no_extra_ns;      /* with Q_P = Q_1 */
    double fast_ns;          /* the fast form: from objects, bytes and V_j alone, without Q_P */
    double overlap_ns;       /* the form for today: misses overlap, lines in sequence stream, and
                                hits take time */
};

/* False: no memory. */
bool sgc_predict(const struct sgc_prediction_of *of, uint32_t processors, struct sgc_prediction *p);

/* The smallest number of processors up to `max` whose fast time is at most so many percent above
 * the best. */
bool sgc_predict_enough(const struct sgc_prediction_of *of, uint32_t max, double percent, uint32_t *enough);

#endif
