/* SPDX-License-Identifier: MIT */
/* Dates of global time that threads have left: shortterm/orphan_dates.h. */
#include "shortterm/orphan_dates.h"

#include "shortterm/dates/counts.h"
#include "shortterm/global_time.h"
#include "shortterm/regions.h"

SGC_STATE sgc_a32_t sgc_orphan_dates_wait;
SGC_STATE struct sgc_date_queue sgc_orphan_dates_over;

struct dates {
    struct sgc_date_queue objects, regions;
};

SGC_STATE static struct {
    struct dates gathered;              /* for the next turn */
    struct dates waiting;
    uint32_t until;                     /* global time: from then on those that wait are over */
} orphans;

/* Under the lock. */
static bool is_empty(const struct dates *dates)
{
    sgc_assert(sgc_shortterm_locked());
    return dates->objects.first == NULL && dates->regions.first == NULL;
}

/* Under the lock.  To be over at a time that is half the circle away or more is to be over. */
static bool is_over(void)
{
    sgc_assert(sgc_shortterm_locked());
    return (int32_t)(sgc_time_phase() - orphans.until) >= 0;
}

/* Under the lock. */
static void begin_turn(void)
{
    if (is_empty(&orphans.waiting) && !is_empty(&orphans.gathered)) {
        orphans.waiting = orphans.gathered;
        orphans.gathered = (struct dates){ 0 };
        orphans.until = sgc_time_phase() + sgc_shortterm.extension + SGC_TIME_LATER + 1;
    }
    sgc_a32_store(&sgc_orphan_dates_wait, !is_empty(&orphans.waiting));
}

/* ---- a thread ends ---- */

/* Anybody may take the date off from now on.  Counted there before it is not counted here any
 * more. */
static void count_as_others(void *raw, uintptr_t *from, uintptr_t *end)
{
    struct sgc_section *section = raw;

    sgc_assert(from < end && sgc_shortterm.counts);
    sgc_section_enter(section);
    for (; from < end; from += sgc_shortterm.words) {
        size_t granule = sgc_granule_number(sgc_date_object(*from));

        if ((*from & SGC_DATE_OTHER) != 0)
            continue;
        *from |= sgc_counts_add(granule, false);
        sgc_counts_take(granule, false);
    }
    sgc_section_leave(section);
}

/* Under the lock. */
static void gather(struct sgc_date_queue *queue, struct sgc_date_buffer *buffer)
{
    sgc_assert(sgc_shortterm_locked() && (buffer->list == NULL || sgc_date_buffer_ok(buffer)));
    for (uint32_t i = 0; buffer->list != NULL && i < buffer->lists; i++)
        sgc_date_queue_append(queue, &buffer->list[i]);
}

void sgc_orphan_dates_gather(struct sgc_dates *d, struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self) && sgc_dates_ok(d));
    if (sgc_shortterm.counts && d->global.list != NULL) {
        d->leaving = true;
        sgc_compiler_barrier();
        sgc_date_buffer_visit(&d->global, count_as_others, self);
    }
    sgc_shortterm_lock(self);
    gather(&orphans.gathered.objects, &d->global);
    gather(&orphans.gathered.regions, &d->global_regions);
    if (sgc_verifies())
        sgc_date_queue_join(&sgc_orphan_dates_over, &d->expired);
    begin_turn();
    sgc_shortterm_unlock(self);
}

/* ---- they are over ---- */

/* The objects' dates are over, as if they had been ours; with verify they are nobody's, and where
 * none is counted they are forgotten.  Regions have to be taken off here, since nothing else keeps
 * their records then. */
void sgc_orphan_dates_take_slowly(struct sgc_dates *d)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct SGC_region *emptied = NULL;
    struct dates over = { 0 };

    sgc_assert(sgc_mutator_mine(d->owner));
    sgc_shortterm_lock(section);
    if (!is_empty(&orphans.waiting) && is_over()) {
        sgc_assert(sgc_dates_ok(d));
        over = orphans.waiting;
        orphans.waiting = (struct dates){ 0 };
        emptied = sgc_regions_take_off(d, &over.regions);
        if (sgc_shortterm.counts)
            sgc_date_queue_join(sgc_verifies() ? &sgc_orphan_dates_over : &d->expired, &over.objects);
        begin_turn();
    }
    sgc_shortterm_unlock(section);
    sgc_date_queue_give(&over.objects, &d->pool, section);
    sgc_date_queue_give(&over.regions, &d->pool, section);
    sgc_regions_empty_all(emptied);
}

/* ---- as roots ---- */

void sgc_orphan_dates_visit_objects(sgc_visit_dates_t fn, void *arg)
{
    sgc_date_queue_visit(&orphans.gathered.objects, fn, arg);
    sgc_date_queue_visit(&orphans.waiting.objects, fn, arg);
}

void sgc_orphan_dates_visit(sgc_visit_dates_t fn, void *arg)
{
    sgc_orphan_dates_visit_objects(fn, arg);
    sgc_date_queue_visit(&orphans.gathered.regions, fn, arg);
    sgc_date_queue_visit(&orphans.waiting.regions, fn, arg);
}
