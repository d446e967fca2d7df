/* SPDX-License-Identifier: MIT */
/*
 * Findings of verify that it has not told yet.
 *
 *   all       the collecting thread, in a pause; a      same         the GC lock
 *             thread that tells, with the GC lock
 *   waiting   written with `all`                        any thread   relaxed: a hint that there are
 *                                                                    some
 *   still     the collecting thread, in a pause         same         the GC lock
 */
#ifndef SGC_SHORTTERM_FINDINGS_H
#define SGC_SHORTTERM_FINDINGS_H

#include "gc/inspect/way.h"
#include "gc/threads/mutator.h"
#include "sgc_shortterm.h"

enum { SGC_FINDING_STEPS = 24 };        /* of its way that a finding keeps */

/* `of.step` leads to `way` when it is told. */
struct sgc_finding {
    struct SGC_finding of;
    uint8_t level;              /* how sure it is, for who makes it */
    struct SGC_step way[SGC_FINDING_STEPS];
};

/* The finding of that kind and place that waits, or a new one, to be filled, which has no `objects`
 * yet; NULL: the system has no memory for more.  In a pause. */
struct sgc_finding *sgc_findings_at(int kind, const void *place);

/* Keeps in the finding the way that the search has found to its object.  In a pause. */
void sgc_findings_set_way(struct sgc_finding *f, struct sgc_ways *w);

/* Makes findings of clocks that stand still while their dates keep memory.  World stopped, once a
 * collection. */
void sgc_findings_of_clocks(void);

/* Tells all that wait, if there are any: the surest first, to the program's function, or else in
 * messages; returns of how many objects and clocks.  On a mutator, outside sections and without the
 * GC lock. */
size_t sgc_findings_tell(struct sgc_mutator *self, SGC_finding_proc proc, void *data);

#endif
