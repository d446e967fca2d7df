/* SPDX-License-Identifier: MIT */
/* Dates of global time that threads have left: shortterm/left_dates.h. */
#include "shortterm/left_dates.h"

#include "shortterm/counts.h"
#include "shortterm/global_time.h"

SGC_STATE sgc_a32_t sgc_left_some;

SGC_STATE static struct {
    struct sgc_date_queue gathered;     /* for the next turn */
    struct sgc_date_queue waiting;
    uint32_t until;                     /* global time: from then on those that wait are over */
} left;

/* Under the lock.  To be over at a time that is half the circle away or more is to be over. */
static bool is_over(void)
{
    return (int32_t)(sgc_time_phase() - left.until) >= 0;
}

/* Under the lock. */
static void begin_turn(void)
{
    if (left.waiting.first != NULL || left.gathered.first == NULL)
        return;
    left.waiting = left.gathered;
    left.gathered = (struct sgc_date_queue){ NULL, NULL, 0 };
    left.until = sgc_time_phase() + sgc_shortterm.extension + SGC_TIME_LATER + 1;
}

/* Anybody may take the date off from now on.  Counted there before it is not counted here any more. */
static void count_as_others(void *raw, uintptr_t *from, uintptr_t *end)
{
    struct sgc_section *section = raw;

    sgc_section_enter(section);
    for (; from < end; from++) {
        size_t granule = sgc_granule_number(sgc_date_object(*from));

        if ((*from & SGC_DATE_OTHER) != 0)
            continue;
        *from |= sgc_counts_add(granule, false);
        sgc_counts_take(granule, false);
    }
    sgc_section_leave(section);
}

void sgc_left_leave(struct sgc_dates *d)
{
    struct sgc_section *section = sgc_section_of(d->owner);

    sgc_assert(sgc_mutator_mine(d->owner) && sgc_shortterm.counts && sgc_shortterm.words == 1);
    if (d->global.list == NULL)
        return;
    d->leaving = true;
    sgc_compiler_barrier();
    sgc_date_buffer_visit(&d->global, count_as_others, section);
    sgc_date_pages_lock(section);
    for (uint32_t i = 0; i < d->global.lists; i++)
        sgc_date_queue_append(&left.gathered, &d->global.list[i]);
    begin_turn();
    if (left.waiting.first != NULL)
        sgc_a32_store(&sgc_left_some, 1);
    sgc_date_pages_unlock(section);
}

/* Under the lock. */
static void hand_over(struct sgc_date_queue *to)
{
    if (to->first == NULL)
        *to = left.waiting;
    else
        to->last->next = left.waiting.first;
    to->last = left.waiting.last;
    left.waiting = (struct sgc_date_queue){ NULL, NULL, 0 };
}

void sgc_left_take_slowly(struct sgc_dates *d)
{
    struct sgc_section *section = sgc_section_of(d->owner);

    sgc_assert(sgc_mutator_mine(d->owner));
    sgc_date_pages_lock(section);
    if (left.waiting.first != NULL && is_over()) {
        hand_over(&d->expired);
        begin_turn();
        sgc_a32_store(&sgc_left_some, left.waiting.first != NULL);
    }
    sgc_date_pages_unlock(section);
}

void sgc_left_visit(sgc_visit_dates_t fn, void *arg)
{
    sgc_date_queue_visit(&left.gathered, fn, arg);
    sgc_date_queue_visit(&left.waiting, fn, arg);
}
