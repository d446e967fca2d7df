/* SPDX-License-Identifier: MIT */
/*
 * What the files of the spans share.
 */
#ifndef SGC_ALLOC_LARGE_SPAN_PARTS_H
#define SGC_ALLOC_LARGE_SPAN_PARTS_H

#include "alloc/large/span.h"

struct sgc_spans {
    struct sgc_lock lock;
    struct sgc_page_lists lists;        /* todo and done only */
    sgc_aw_t allocated, freed;          /* bytes since somebody asked */
};
extern struct sgc_spans sgc_spans;

/* The number of the thread that the section is of. */
static inline uint32_t sgc_span_owner(const struct sgc_section *self)
{
    return self != NULL ? ((const struct sgc_cache *)self)->id : SGC_NO_OWNER;
}

/* Off the lists; returns how many pages it has.  Under the lock. */
uint32_t sgc_span_withdraw(uint32_t first);

/* Gives reserved pages back.  Under a guard. */
void sgc_span_take_down(const struct sgc_run *runs, uint32_t count, struct sgc_section *self);

/* Sweeps up to `most` spans, until some that have exactly `count` pages are among the thread's spare ones, which it
 * says.  Under a guard. */
bool sgc_span_sweep_for(uint32_t count, uint32_t most, struct sgc_section *self);

#endif
