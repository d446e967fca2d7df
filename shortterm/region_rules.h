/* SPDX-License-Identifier: MIT */
/*
 * The state of a region as one word: how many dates it has, and what becomes of it after the last.
 * Pure functions of plain numbers.
 *
 *   bits 63..4   dates that are not over
 *   bit  3       ORPHAN: the owner has ended, and left dates behind; nobody allocates in it
 *   bit  2       CLOSED: nobody allocates in it, and it goes with its last date
 *   bit  1       TRACED: dates were given up that were not over, so what is in it is left to the
 *                tracer
 *   bit  0       OVER: the last date is over; there is none, and none is made, until what is in it
 *                is gone
 *
 * The word is changed by compare-and-swap; each function returns what it becomes.  The exchange
 * that takes off the last date also says that it is over: there is no moment in between, in which a
 * new date could be made and forgotten.  OVER takes the region away from everybody but one thread,
 * which empties it and makes the word 0 again (but for ORPHAN): the owner; of a region that is
 * closed, or an orphan, the thread that made the exchange.
 *
 * A region without dates that is not OVER is persistent: it has never had one since it was made, or
 * emptied.  tests/model/regions.pml has all of this.
 */
#ifndef SGC_SHORTTERM_REGION_RULES_H
#define SGC_SHORTTERM_REGION_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/report.h"

enum {
    SGC_REGION_OVER = 1,
    SGC_REGION_TRACED = 2,
    SGC_REGION_CLOSED = 4,
    SGC_REGION_ORPHAN = 8,
    SGC_REGION_DATE = 16,               /* each date is so much */
};

static inline uintptr_t sgc_region_dates_in(uintptr_t word)
{
    return word / SGC_REGION_DATE;
}

static inline bool sgc_region_word_ok(uintptr_t word)
{
    return (word & SGC_REGION_OVER) == 0 || sgc_region_dates_in(word) == 0;
}

/* One date more, of a region that is not OVER. */
static inline uintptr_t sgc_region_dated(uintptr_t word)
{
    sgc_assert((word & SGC_REGION_OVER) == 0 && word <= UINTPTR_MAX - SGC_REGION_DATE);
    return word + SGC_REGION_DATE;
}

/* One date less: it is over, or (TRACED in `more`) given up. */
static inline uintptr_t sgc_region_taken(uintptr_t word, uintptr_t more)
{
    sgc_assert(sgc_region_word_ok(word) && sgc_region_dates_in(word) != 0);
    word = (word - SGC_REGION_DATE) | more;
    return sgc_region_dates_in(word) == 0 ? word | SGC_REGION_OVER : word;
}

/* Does the thread whose exchange took off a date, and made this word, have the region to itself? */
static inline bool sgc_region_is_takers(uintptr_t word, bool owner)
{
    return (word & SGC_REGION_OVER) != 0 && (owner || (word & (SGC_REGION_CLOSED | SGC_REGION_ORPHAN)) != 0);
}

/* Does the owner have to empty the region before it uses it? */
static inline bool sgc_region_is_left(uintptr_t word)
{
    return (word & (SGC_REGION_OVER | SGC_REGION_CLOSED)) == SGC_REGION_OVER;
}

/* Nothing is in it any more. */
static inline uintptr_t sgc_region_emptied(uintptr_t word)
{
    sgc_assert((word & (SGC_REGION_OVER | SGC_REGION_CLOSED)) == SGC_REGION_OVER && sgc_region_word_ok(word));
    return word & SGC_REGION_ORPHAN;
}

#endif
