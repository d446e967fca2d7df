/* SPDX-License-Identifier: MIT */
/*
 * The computing of a mark of a graph: T_1 and T_inf of [Endo], 4.3.4, in nanoseconds and without
 * misses.
 *
 * T_1, the work, is the sum over the objects that are reached, by the unit costs of a machine file.
 * T_inf, the depth, is the time of a mark by processors without number.  The processor that comes
 * to an object first marks it then, so it is ready when the quickest way to it is: T_inf is the
 * longest of these shortest ways, along which a processor takes each object from the stack, halves
 * it until it is small enough, and scans one piece.  An object above the size is such a tree of
 * halves, all of whose leaves are equally deep.
 */
#ifndef SGC_PERFMODEL_MODEL_WORK_H
#define SGC_PERFMODEL_MODEL_WORK_H

#include "perfmodel/model/homes.h"

struct sgc_work {
    uint64_t objects, bytes;  /* that are reached */
    uint64_t words, edges;    /* of these, that are scanned, and lead to objects */
    uint64_t pieces;          /* that are scanned one by one */
    uint64_t largest;         /* bytes of the largest object that is scanned */
    double work_ns, depth_ns; /* T_1 and T_inf */
};

/* False: no memory.  split_bytes: the size above which objects are halved; 0: none is.  node_bytes,
 * if not NULL, has an entry a node of the machine, and gets the bytes that are reached by home. */
bool sgc_work_measure(struct sgc_work *work, const struct sgc_homes *homes, uint32_t split_bytes, double *node_bytes);

/* The cost of an object: all of it, and along a way through it.  Without words to scan the object
 * is marked only.  A procedure that pushes its pointers looks at all of it at once. */
struct sgc_object_form {
    uint64_t bytes, edges;
    uint32_t word_bytes;
    bool has_words, has_procedure;
};
struct sgc_object_cost {
    double all_ns, way_ns;
    uint64_t pieces;
};
struct sgc_object_cost sgc_object_cost(const struct sgc_machine_costs *c, struct sgc_object_form form, uint32_t split_bytes);

#endif
