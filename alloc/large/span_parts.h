/* SPDX-License-Identifier: MIT */
/*
 * What the files of the spans share.
 */
#ifndef SGC_ALLOC_LARGE_SPAN_PARTS_H
#define SGC_ALLOC_LARGE_SPAN_PARTS_H

#include "alloc/pages/page_lists.h"
#include "alloc/pages/pool.h"
#include "platform/lock.h"

struct sgc_spans {
    struct sgc_lock lock;
    struct sgc_page_lists lists;        /* todo and done only */
    sgc_aw_t allocated, freed;          /* bytes since somebody asked */
};
extern struct sgc_spans sgc_spans;

/* Off the lists; returns how many pages it has.  Under the lock. */
uint32_t sgc_span_withdraw(uint32_t first);

/* Gives reserved pages back.  Under a guard. */
void sgc_span_take_down(const struct sgc_run *runs, uint32_t count, struct sgc_section *self);

#endif
