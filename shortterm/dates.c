/* SPDX-License-Identifier: MIT */
/* The record of a thread in short-term memory: shortterm/dates.h. */
#include "shortterm/dates.h"

#include "platform/platform.h"

SGC_STATE struct sgc_dates_gone sgc_dates_gone;

static SGC_STATE sgc_aw_t serials;

struct sgc_dates *sgc_dates_make(struct sgc_mutator *self)
{
    uint32_t lists = sgc_shortterm.extension + 1;
    size_t bytes = sizeof(struct sgc_dates) + lists * sizeof(struct sgc_date_list);
    struct sgc_dates *d = sgc_mem_obtain(bytes);

    sgc_assert(sgc_mutator_mine(self) && sgc_dates_of(self) == NULL && sgc_shortterm_ok());
    if (d == NULL)
        return NULL;
    d->owner = self;
    d->serial = sgc_aw_add(&serials, 1) + 1;
    d->bytes = bytes;
    sgc_date_buffer_init(&d->local, (struct sgc_date_list *)(void *)(d + 1), lists);
    sgc_dates_open(d);
    sgc_aw_store_rel(&self->upper, (uintptr_t)d);
    return d;
}

static size_t bytes_of_lists(uint32_t count)
{
    return count * sizeof(struct sgc_date_list);
}

bool sgc_dates_make_lists(struct sgc_dates *d, struct sgc_date_buffer *buffer, uint32_t count)
{
    struct sgc_date_list *list;

    sgc_assert(sgc_mutator_mine(d->owner) && count > sgc_shortterm.extension);
    if (buffer->list != NULL)
        return true;
    list = sgc_mem_obtain(bytes_of_lists(count));
    if (list == NULL)
        return false;
    sgc_section_enter(sgc_section_of(d->owner));
    sgc_date_buffer_init(buffer, list, count);
    sgc_section_leave(sgc_section_of(d->owner));
    sgc_assert(sgc_date_buffer_ok(buffer));
    return true;
}

/* Forgets the dates of a buffer, and gives its lists back.  On the thread outside sections, on the
 * one that buries it, or (self NULL) where no other thread runs. */
static void release_lists(struct sgc_dates *d, struct sgc_date_buffer *buffer, struct sgc_section *self)
{
    struct sgc_date_list *list = buffer->list;

    if (list == NULL)
        return;
    sgc_date_buffer_drop(buffer, &d->pool, self);
    if (self != NULL)
        sgc_section_enter(self);
    buffer->list = NULL;
    if (self != NULL)
        sgc_section_leave(self);
    sgc_mem_release(list, bytes_of_lists(buffer->lists));
}

void sgc_dates_forget_global(struct sgc_dates *d, struct sgc_section *self)
{
    sgc_assert(!d->in_time);
    release_lists(d, &d->global, self);
    release_lists(d, &d->global_regions, self);
}

/* ---- all of them ---- */

/* Calls fn for each of its buffers, those without lists, too. */
static void each_buffer(const struct sgc_dates *d, void (*fn)(void *arg, const struct sgc_date_buffer *buffer), void *arg)
{
    const struct sgc_date_buffer *own[] = { &d->local, &d->global, &d->local_regions, &d->global_regions };

    sgc_assert(sgc_dates_ok(d));
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        fn(arg, own[i]);
    for (const struct SGC_clock *c = d->clocks; c != NULL; c = c->next) {
        fn(arg, &c->objects);
        fn(arg, &c->regions);
    }
}

struct visit {
    sgc_visit_dates_t fn;
    void *arg;
};

static void visit_buffer(void *raw, const struct sgc_date_buffer *buffer)
{
    const struct visit *v = raw;

    sgc_date_buffer_visit(buffer, v->fn, v->arg);
}

void sgc_dates_visit_objects(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg)
{
    sgc_assert(sgc_dates_ok(d));
    sgc_date_buffer_visit(&d->local, fn, arg);
    sgc_date_buffer_visit(&d->global, fn, arg);
    for (const struct SGC_clock *c = d->clocks; c != NULL; c = c->next)
        sgc_date_buffer_visit(&c->objects, fn, arg);
    sgc_date_queue_visit(&d->expired, fn, arg);
}

void sgc_dates_visit_later(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg)
{
    struct visit v = { fn, arg };

    each_buffer(d, visit_buffer, &v);
}

void sgc_dates_visit(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg)
{
    sgc_assert(sgc_dates_ok(d));
    sgc_dates_visit_later(d, fn, arg);
    sgc_date_queue_visit(&d->expired, fn, arg);
}

void sgc_dates_drop_clock(struct sgc_dates *d, struct SGC_clock *clock, struct sgc_section *self)
{
    struct SGC_clock **at = clock->prev != NULL ? &clock->prev->next : &d->clocks;

    sgc_assert(clock->dates == d && *at == clock);
    if (self != NULL)
        sgc_section_enter(self);
    if (clock->next != NULL)
        clock->next->prev = clock->prev;
    sgc_compiler_barrier();             /* left here by a jump, it is in the list still */
    *at = clock->next;
    if (self != NULL)
        sgc_section_leave(self);
    sgc_date_buffer_drop(&clock->objects, &d->pool, self);
    release_lists(d, &clock->regions, self);
    sgc_mem_release(clock, clock->bytes);
}

/* Forgets the dates that are over, and gives their pages back: the collecting thread does not find
 * them any more when their marks of the end go. */
static void drop_expired(struct sgc_dates *d, struct sgc_section *self)
{
    struct sgc_date_queue expired;

    if (self != NULL)
        sgc_section_enter(self);
    expired = d->expired;
    d->expired = (struct sgc_date_queue){ NULL, NULL, NULL };
    d->expire_to = NULL;
    if (self != NULL)
        sgc_section_leave(self);
    sgc_date_queue_give(&expired, &d->pool, self);
}

static void count_gone(const struct sgc_dates *d)
{
    sgc_aw_add_relaxed(&sgc_dates_gone.ticks, d->ticks);
    sgc_aw_add_relaxed(&sgc_dates_gone.global_ticks, d->global_ticks);
    sgc_aw_add_relaxed(&sgc_dates_gone.freed, d->freed);
    sgc_aw_add_relaxed(&sgc_dates_gone.freed_bytes, d->freed_bytes);
}

void sgc_dates_drop(struct sgc_dates *d, struct sgc_section *self)
{
    sgc_assert(sgc_dates_ok(d) && !d->in_time);
    count_gone(d);
    d->room = 0;
    while (d->clocks != NULL)
        sgc_dates_drop_clock(d, d->clocks, self);
    sgc_date_buffer_drop(&d->local, &d->pool, self);
    release_lists(d, &d->local_regions, self);
    sgc_dates_forget_global(d, self);
    drop_expired(d, self);
    sgc_date_pool_empty(&d->pool, self);
    sgc_aw_store_rel(&d->owner->upper, 0);
    sgc_mem_release(d, d->bytes);
}
