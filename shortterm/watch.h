/* SPDX-License-Identifier: MIT */
/*
 * Pages in which GC_free asks for dates (sgc_page_watch): which those are, and when they are no
 * more.
 *
 * An object's first date has its page watched, before it is counted and in the same section.  That
 * nothing in the page has a date any more is looked for when a free has asked in vain, now and
 * then.  The owner of the page finds it out by itself if all dates there were its own: who else
 * makes one has the page watched for that first.  Otherwise the next stop does.
 *
 *   a page's word   a thread that dates, in a section;     GC_free          compare-and-swap: the
 *                   the owner, or the collecting thread,                    stronger reason stays;
 *                   takes its reason back                                   stopping the world
 *   due             a thread that frees: 1; the            the collecting   relaxed; stopping the
 *                   collecting thread: 0                   thread           world
 *   vain            a thread that frees                    same             relaxed: a rough count
 */
#ifndef SGC_SHORTTERM_WATCH_H
#define SGC_SHORTTERM_WATCH_H

#include "alloc/small/cache.h"
#include "gc/threads/mutator.h"

/* An object of the page gets a date, by the owner of the page or not.  In a section. */
static inline void sgc_watch_page(uint32_t page, bool own)
{
    sgc_assert(sgc_page_ok(page));
    sgc_page_watch(page, own ? SGC_WATCH_DATED_HERE : SGC_WATCH_DATED);
}

/* The program has freed an object of the page, and it has no date.  On that thread, outside
 * sections. */
void sgc_watch_in_vain(struct sgc_mutator *self, uint32_t page);

/* World stopped. */
void sgc_watch_stopped(void);

#endif
