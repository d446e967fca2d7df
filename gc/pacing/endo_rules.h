/* SPDX-License-Identifier: MIT */
/*
 * When a concurrent cycle begins, and how much who allocates has to mark, by [Endo], 5.2.  Pure
 * functions of plain numbers, without state, clock or collector.
 *
 * The heap has a fixed number of pages.  A cycle begins when fewer than a threshold are empty.  At
 * that moment, when the heap has M pages and F of them are empty, the pace of the cycle is fixed: k
 * = (M - F) / F.  From then on each thread that takes memory marks k bytes for each byte it takes.
 * So when the F pages are used up, as much has been marked as the other M - F pages have bytes, and
 * the cycle is over.
 *
 *   1  at each page taken   sgc_endo_due(pages, empty, SGC_ENDO_THRESHOLD): a cycle is to begin
 *   2  at its start         pace = sgc_endo_pace(pages, empty), which no step changes
 *   3  each thread that     sgc_endo_step(&pace, bytes, left) is what it has to mark before it uses them; `left` is what
 *      takes bytes          nobody has marked yet, as well as it is known, SIZE_MAX if it is not
 *   4  nothing to take      the thread waits until the cycle is over; that counts as a pause
 *
 * Pages are any unit that both numbers have: a collector whose heap grows gives what it means to
 * use before the next cycle as `pages`, and what is left of that as `empty`.  A step may be of any
 * size; the thesis has a page.
 *
 * The promise holds if a thread marks first and uses the memory then; if what is to be marked fits
 * into the pages in use when the cycle begins (roots, and pages that are looked at twice, come on
 * top); and if each empty page serves whatever is asked for.  Where one of these fails, step 4 is
 * what is left.  With marking after use, each thread can be ahead by a step.
 */
#ifndef SGC_GC_PACING_ENDO_RULES_H
#define SGC_GC_PACING_ENDO_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/report.h"

enum { SGC_ENDO_THRESHOLD = 15 };       /* percent of the heap's pages; k is 5.7 there */

/* k as a fraction: used / empty. */
struct sgc_endo_pace {
    size_t used, empty;
};

/* Is a cycle to begin?  No heap, no cycle; without an empty page always; from 100 percent on with
 * the first page taken. */
static inline bool sgc_endo_due(size_t pages, size_t empty, unsigned percent)
{
    sgc_assert(empty <= pages && percent <= 100);
    return (unsigned __int128)empty * 100 < (unsigned __int128)pages * percent || (empty == 0 && pages > 0);
}

/* Without an empty page everything has to be marked before anything is used. */
static inline struct sgc_endo_pace sgc_endo_pace(size_t pages, size_t empty)
{
    sgc_assert(empty <= pages);
    return (struct sgc_endo_pace){ pages - empty, empty };
}

/* The bytes that a thread has to mark before it takes `bytes`: rounded up, and at most `left`. */
static inline size_t sgc_endo_step(const struct sgc_endo_pace *k, size_t bytes, size_t left)
{
    unsigned __int128 owed;

    if (bytes == 0)
        return 0;
    if (k->empty == 0)
        return left;
    owed = ((unsigned __int128)bytes * k->used + k->empty - 1) / k->empty;
    return owed < left ? (size_t)owed : left;
}

#endif
