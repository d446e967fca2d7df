/* SPDX-License-Identifier: MIT */
/*
 * How many dates an object has, in two bytes a granule of the heap.  Pure functions of plain
 * numbers.
 *
 *   own      bits 6..0  dates made by the thread that owns the object's page
 *            bit  7     FREEABLE: the program has said that the object may be freed when its
 *                       last date is over (hybrid)
 *                       EXPIRED: it has lost its last date, and is kept all the same (verify)
 *   others   bits 6..0  dates made by all other threads
 *            bit  7     ALONE: the owner has given up its last date; the last of the others has
 *                       the object to itself
 *            only bit 7 LOOKING: there is one date, and its thread, which takes it off, finds out
 *                       whether the owner has any
 *
 * Each number stays at 127 once it is there, so that the object never loses its last date, and is
 * left to the tracer; and so is what comes to its place, until all is counted anew.
 *
 * The owner writes `own` without any order.  Everything that two threads have to agree about is one
 * exchange of `others`, made by a thread that still has a date of the object; so none of them looks
 * at an object that has been freed, and whose place another one has taken.
 *
 *   owner's last   others is 0: nobody else has a date, the object is the owner's.  Else ALONE is
 *                  set, and only then `own` goes down, by an operation that leaves the bit beside
 *                  the number: whoever has the object to itself may be changing that.  It comes
 *                  before the next object there, whose page is the owner's
 *   others' last   ALONE: the object is theirs.  Else, if `own` has dates, the owner will find
 *                  `others` 0 at its last one.  If it has none, it never had one, or has had one
 *                  again meanwhile: so LOOKING is set, which any date that is made takes away, and
 *                  if `own` still has none then, the object is theirs
 *   owner's date   takes ALONE away, and LOOKING
 *
 * A thread that refreshes an object has to know that it is not over: by a date of its own, or since
 * somebody whose date it is has told it so and waits for it.  tests/model/dates.pml has all of
 * this.
 */
#ifndef SGC_SHORTTERM_DATES_COUNT_RULES_H
#define SGC_SHORTTERM_DATES_COUNT_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/report.h"

enum {
    SGC_COUNT_STUCK = 127,          /* the largest number: it never changes again */
    SGC_COUNT_FREEABLE = 128,       /* in `own` */
    SGC_COUNT_EXPIRED = 128,        /* in `own`, in another mode */
    SGC_COUNT_ALONE = 128,          /* in `others` */
    SGC_COUNT_LOOKING = 128,        /* the whole of `others` */
};

static inline uint8_t sgc_count_number(uint8_t count)
{
    return count & SGC_COUNT_STUCK;
}

static inline bool sgc_count_is_stuck(uint8_t count)
{
    return sgc_count_number((uint8_t)(count + 1)) == 0;
}

/* Is it neither the last one, nor none, nor stuck? */
static inline bool sgc_count_is_many(uint8_t count)
{
    return (uint8_t)(sgc_count_number(count) - 2) < SGC_COUNT_STUCK - 2;
}

/* One date more.  The bit stays. */
static inline uint8_t sgc_count_up(uint8_t count)
{
    return (uint8_t)(count + !sgc_count_is_stuck(count));
}

/* One less.  None stays none: a program that is wrong may have had an object freed whose dates are
 * still written down, and its place may be in a page of another owner now. */
static inline uint8_t sgc_count_down(uint8_t count)
{
    return (uint8_t)(count - ((uint8_t)(sgc_count_number(count) - 1) < SGC_COUNT_STUCK - 1));
}

/* ---- `others` ---- */

static inline int sgc_count_others_number(uint8_t others)
{
    return others == SGC_COUNT_LOOKING ? 1 : sgc_count_number(others);
}

/* One date more. */
static inline uint8_t sgc_count_others_up(uint8_t others)
{
    return others == SGC_COUNT_LOOKING ? 2 : sgc_count_up(others);
}

/* When the owner has no date any more, and they have. */
static inline uint8_t sgc_count_others_alone(uint8_t others)
{
    sgc_assert(others != 0);
    return (uint8_t)sgc_count_others_number(others) | SGC_COUNT_ALONE;
}

/* When the owner has one again. */
static inline uint8_t sgc_count_joined(uint8_t others)
{
    return (uint8_t)sgc_count_others_number(others);
}

/* After one of its dates is over.  LOOKING: once more; else *last: the thread that makes the
 * exchange has the object to itself. */
static inline uint8_t sgc_count_others_taken(uint8_t others, uint8_t own, bool *last)
{
    bool only = sgc_count_others_number(others) == 1, has_none = sgc_count_number(own) == 0;

    *last = only && (others == SGC_COUNT_LOOKING ? has_none : (others & SGC_COUNT_ALONE) != 0);
    if (others == 1 && has_none)
        return SGC_COUNT_LOOKING;
    return only ? 0 : sgc_count_down(others);
}

/* ---- both ---- */

/* Of both sides together; 127 stands for that or more. */
static inline int sgc_count_sum(uint8_t own, uint8_t others)
{
    int sum = sgc_count_number(own) + sgc_count_others_number(others);

    return sum < SGC_COUNT_STUCK ? sum : SGC_COUNT_STUCK;
}

#endif
