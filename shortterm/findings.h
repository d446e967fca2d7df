/* SPDX-License-Identifier: MIT */
/*
 * What verify has found, and has not told yet.
 *
 *   all     the collecting thread, in a pause; who tells, with the GC lock same          the GC lock
 *   waiting the same                                                       any thread    relaxed: a hint that there are some
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
    struct SGC_step way[SGC_FINDING_STEPS];
};

/* Is there anything to tell? */
bool sgc_findings_wait(void);

/* A new one, to be filled; NULL: there are too many, and this one is only counted.  In a pause. */
struct sgc_finding *sgc_findings_add(void);

/* The findings from number `from` on are about objects: finds how something leads to them, and so how certain they are.  In a
 * pause. */
void sgc_findings_find_ways(const struct sgc_mutator *self, uint32_t from);
uint32_t sgc_findings_count(void);

/* Tells all that wait, to the program's function, or else in messages; how many.  On a mutator, outside sections and without
 * the GC lock. */
size_t sgc_findings_tell(struct sgc_mutator *self, SGC_finding_proc proc, void *data);

#endif
