/* SPDX-License-Identifier: MIT */
/* The number of dates of one object: shortterm/dates/count.h. */
#include "shortterm/dates/count.h"

/* They are told that the owner is back before its date counts. */
void sgc_count_add_slowly(struct sgc_count *count)
{
    uint8_t own = sgc_a8_load(&count->own), others;

    do
        others = sgc_a8_load(&count->others);
    while ((others & SGC_COUNT_ALONE) != 0 && !sgc_a8_cas(&count->others, others, sgc_count_joined(others)));
    sgc_assert(sgc_count_number(sgc_count_up(own)) != 0);
    sgc_a8_store(&count->own, sgc_count_up(own));
}

void sgc_count_add_other(struct sgc_count *count)
{
    uint8_t others;

    do
        others = sgc_a8_load(&count->others);
    while (!sgc_a8_cas(&count->others, others, sgc_count_others_up(others)));
    sgc_assert(sgc_count_others_number(sgc_count_others_up(others)) > 1 || others == 0);
}

bool sgc_count_take_other(struct sgc_count *count)
{
    uint8_t others, next;
    bool last;

    do {
        others = sgc_a8_load(&count->others);
        next = sgc_count_others_taken(others, sgc_a8_load(&count->own), &last);
    } while (!sgc_a8_cas(&count->others, others, next) || next == SGC_COUNT_LOOKING);
    sgc_assert(!last || next == 0);
    return last;
}

/* By then the last of the others may have the object to itself, and clear the bit beside the
 * number, or have freed it: the number goes down by itself, whatever is beside it. */
bool sgc_count_leave_alone(struct sgc_count *count)
{
    uint8_t others;

    do {
        others = sgc_a8_load_acq(&count->others);
        if (others == 0)
            return true;
    } while (!sgc_a8_cas(&count->others, others, sgc_count_others_alone(others)));
    sgc_a8_add(&count->own, UINT8_MAX);
    return false;
}
