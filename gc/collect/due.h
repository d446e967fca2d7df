/* SPDX-License-Identifier: MIT */
/* A thread's part when a collection is due, or when the cycle that is going on needs help. */
#ifndef SGC_GC_COLLECT_DUE_H
#define SGC_GC_COLLECT_DUE_H

#include "gc/pacing/pacing.h"

/* Collects unless `stop` says so meanwhile, or asks for it, or assists, or stalls; the stack is scanned from `from`, 0: from
 * here.  Outside sections, no object in the thread's hands.  Under the GC lock it does nothing: a collection that waited for
 * the lock's holder would never end. */
void sgc_collect_as_due(struct sgc_mutator *self, enum sgc_due due, int (*stop)(void), uintptr_t from);

/* Collects, or asks for a concurrent cycle, when torture says so; the stack is scanned from
 * `from`.  Outside sections, no object in the thread's hands; under the GC lock it does nothing. */
void sgc_collect_under_torture(struct sgc_mutator *self, uintptr_t from);

#endif
