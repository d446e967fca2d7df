/* SPDX-License-Identifier: MIT */
/*
 * The number of dates of one object.  shortterm/dates/count_rules.h says what its two bytes mean,
 * and why the number is exact.
 *
 *   own      the number: the thread that owns the      same;         relaxed: ordered by messages
 *            page, in a section; the bit beside it:    others: see   that tell a thread of the
 *            the thread that has just allocated the    the rules     object, and its owner of that
 *            object, or has it to itself; both: the                  thread's date; and by exchanges
 *            collecting thread, world stopped                        of `others` before and after.
 *                                                                    RMW where number and bit may
 *                                                                    change at a time
 *   others   any thread, in a section: by exchange;    same          acquire-release: the last one
 *            the collecting thread, world stopped                    sees what all others did to
 *                                                                    the object
 *
 * A jump out of a section may leave a number too high, and never one too low.  So a date is counted
 * before it is written down, and no longer written down before it is taken off.
 */
#ifndef SGC_SHORTTERM_DATES_COUNT_H
#define SGC_SHORTTERM_DATES_COUNT_H

#include "platform/atomics.h"
#include "shortterm/dates/count_rules.h"

struct sgc_count {
    sgc_a8_t own, others;
};
_Static_assert(sizeof(struct sgc_count) == 2, "two bytes a granule");

/* Of both sides together; 127 stands for that or more.  Any thread. */
static inline int sgc_count_dates(const struct sgc_count *count)
{
    return sgc_count_sum(sgc_a8_load_acq(&count->own), sgc_a8_load_acq(&count->others));
}

/* ---- in a section ---- */

/* A date more that is not the owner's; or the owner's, where the others have been told that they
 * are alone, or no number is left. */
void sgc_count_add_other(struct sgc_count *count);
void sgc_count_add_slowly(struct sgc_count *count);

/* A date of the owner's more. */
static inline void sgc_count_add_own(struct sgc_count *count)
{
    uint8_t own = sgc_a8_load(&count->own);

    if (__builtin_expect((sgc_a8_load(&count->others) & SGC_COUNT_ALONE) != 0 || sgc_count_is_stuck(own), 0))
        sgc_count_add_slowly(count);
    else
        sgc_a8_store(&count->own, (uint8_t)(own + 1));
}

/* One of the others' dates is over; true: it was the object's last. */
bool sgc_count_take_other(struct sgc_count *count);

/* The owner's last date is over.  True: nobody else has one, and the caller takes it off.
 * Otherwise these know, and it is taken off. */
bool sgc_count_leave_alone(struct sgc_count *count);

/* Does the owner need no exchange to take a date off: because it has more, or nobody else has one?
 * By the owner; *own is what it has. */
static inline bool sgc_count_easy(const struct sgc_count *count, uint8_t *own)
{
    *own = sgc_a8_load(&count->own);
    return sgc_count_is_many(*own) || (sgc_count_number(*own) == 1 && sgc_a8_load_acq(&count->others) == 0);
}

/* Then one of its dates is over; true: it was the object's last. */
static inline bool sgc_count_take_easily(struct sgc_count *count, uint8_t own)
{
    sgc_assert(sgc_count_number(own) != 0 && !sgc_count_is_stuck(own) && own == sgc_a8_load(&count->own));
    sgc_a8_store(&count->own, (uint8_t)(own - 1));
    return sgc_count_number(own) == 1;
}

/* One of the owner's dates is over; true: it was the object's last.  *stuck: the number is, and
 * does not go down; else as it was. */
static inline bool sgc_count_take_own(struct sgc_count *count, bool *stuck)
{
    uint8_t own = sgc_a8_load(&count->own);
    bool last;

    if (sgc_count_number(own) == 1) {
        last = sgc_a8_load_acq(&count->others) == 0 || sgc_count_leave_alone(count);
        if (last)
            sgc_a8_store(&count->own, (uint8_t)(own - 1));
        return last;
    }
    if (sgc_count_is_many(own))
        sgc_a8_store(&count->own, (uint8_t)(own - 1));
    else if (sgc_count_is_stuck(own))
        *stuck = true;
    return false;
}

/* ---- the bit beside the owner's number ---- */

/* By the thread that has the object to itself.  The owner, whose last date has just gone, may not
 * have taken it off its number yet. */
static inline void sgc_count_clear_bit(struct sgc_count *count)
{
    uint8_t own = sgc_a8_load(&count->own);

    if (own == SGC_COUNT_FREEABLE)
        sgc_a8_store(&count->own, 0);
    else if (own > SGC_COUNT_STUCK)
        sgc_a8_and(&count->own, SGC_COUNT_STUCK);
}

#endif
