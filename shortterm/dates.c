/* SPDX-License-Identifier: MIT */
/* What a thread has of short-term memory: shortterm/dates.h. */
#include "shortterm/dates.h"

#include "platform/platform.h"

/* Dates of two words do not go the common way. */
void sgc_dates_open(struct sgc_dates *d)
{
    sgc_assert(!d->blocked && sgc_shortterm_ok());
    d->room = sgc_shortterm.mode == SGC_SHORTTERM_VERIFY ? 0 : sgc_shortterm.extension + 1;
}

struct sgc_dates *sgc_dates_make(struct sgc_mutator *self)
{
    uint32_t lists = sgc_shortterm.extension + 1;
    size_t bytes = sizeof(struct sgc_dates) + lists * sizeof(struct sgc_date_list);
    struct sgc_dates *d = sgc_mem_obtain(bytes);

    sgc_assert(sgc_mutator_mine(self) && sgc_dates_of(self) == NULL && sgc_shortterm_ok());
    if (d == NULL)
        return NULL;
    d->owner = self;
    d->bytes = bytes;
    sgc_date_buffer_init(&d->local, (struct sgc_date_list *)(void *)(d + 1), lists);
    sgc_dates_open(d);
    sgc_aw_store_rel(&self->upper, (uintptr_t)d);
    return d;
}

bool sgc_dates_make_global(struct sgc_dates *d)
{
    uint32_t lists = sgc_shortterm.extension + 1 + SGC_TIME_LATER;
    struct sgc_date_list *list;

    if (d->global.list != NULL)
        return true;
    list = sgc_mem_obtain(lists * sizeof *list);
    if (list == NULL)
        return false;
    d->global_bytes = lists * sizeof *list;
    sgc_section_enter(sgc_section_of(d->owner));
    sgc_date_buffer_init(&d->global, list, lists);
    sgc_section_leave(sgc_section_of(d->owner));
    sgc_assert(sgc_date_buffer_ok(&d->global));
    return true;
}

void sgc_dates_visit(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg)
{
    sgc_assert(sgc_dates_ok(d));
    sgc_date_buffer_visit(&d->local, fn, arg);
    sgc_date_buffer_visit(&d->global, fn, arg);
    sgc_date_queue_visit(&d->expired, fn, arg);
}

void sgc_dates_drop(struct sgc_dates *d, struct sgc_section *self)
{
    sgc_assert(sgc_dates_ok(d) && !d->in_time);
    d->room = 0;
    sgc_date_buffer_drop(&d->local, &d->pool, self);
    sgc_date_buffer_drop(&d->global, &d->pool, self);
    sgc_date_pool_empty(&d->pool, self);
    sgc_aw_store_rel(&d->owner->upper, 0);
    if (d->global.list != NULL)
        sgc_mem_release(d->global.list, d->global_bytes);
    sgc_mem_release(d, d->bytes);
}
