/* SPDX-License-Identifier: MIT */
/* The part of a stopped thread's stacks that is in use. */
#ifndef SGC_GC_STACK_ROOTS_H
#define SGC_GC_STACK_ROOTS_H

#include "gc/mutator.h"

/* What clients that switch stacks behind our back may install: corrects *sp for the thread. */
typedef void (*sgc_sp_corrector_t)(void **sp, void *pthread);
void sgc_stack_set_corrector(sgc_sp_corrector_t corrector);
sgc_sp_corrector_t sgc_stack_corrector(void);

enum { SGC_STACK_PARTS = 3 };

/* Fills `part` with up to SGC_STACK_PARTS ranges to scan; returns how many.  World stopped. */
int sgc_stack_parts(const struct sgc_mutator *m, struct sgc_range part[SGC_STACK_PARTS]);

#endif
