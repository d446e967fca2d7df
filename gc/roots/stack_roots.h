/* SPDX-License-Identifier: MIT */
/* The part of a stopped thread's stacks that is in use. */
#ifndef SGC_GC_ROOTS_STACK_ROOTS_H
#define SGC_GC_ROOTS_STACK_ROOTS_H

#include "gc/threads/mutator.h"

/* A hook for clients that switch stacks behind our back: corrects *sp for the thread. */
typedef void (*sgc_sp_corrector_t)(void **sp, void *pthread);
extern sgc_aw_t sgc_stack_corrector;    /* any thread, release / acquire */

struct sgc_stack_part {
    struct sgc_range range;
    bool unsure; /* memory of others may be part of it, who unmap it when they like: to be read by sgc_mem_copy */
};

enum { SGC_STACK_PARTS = 3 };

/* Fills `part` with up to SGC_STACK_PARTS ranges to scan; returns how many.  World stopped, for a thread whose stacks are
 * known. */
int sgc_stack_parts(const struct sgc_mutator *m, struct sgc_stack_part part[SGC_STACK_PARTS]);

/* Is there a way to tell what the thread uses?  `answers`: does the system say what memory can be read?  World stopped. */
bool sgc_stack_known(const struct sgc_mutator *m, bool answers);

#endif
