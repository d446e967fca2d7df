/* SPDX-License-Identifier: MIT */
/* Dates of regions, and what becomes of these when they have none: shortterm/regions.h. */
#include "shortterm/regions.h"

#include <errno.h>
#include <string.h>

#include "gc/api/internal.h"
#include "shortterm/global_time.h"

/* ---- the last date is over ---- */

/* What the program still reaches may dangle with SGC_SHORTTERM_FREE only. */
static bool frees(const struct SGC_region *r)
{
    return sgc_shortterm.mode == SGC_SHORTTERM_FREE && sgc_a32_load(&r->traced) == 0;
}

void sgc_region_empty(struct SGC_region *r)
{
    bool closed = r->closed, freed = frees(r);

    sgc_assert(sgc_region_ok(r));
    sgc_a32_store(&r->over, 0);
    sgc_a32_store(&r->traced, 0);
    if (freed)
        sgc_region_free_chunks(r, closed);
    else
        sgc_region_leave_chunks(r);
    if (closed && freed)
        GC_free(r);
}

static void over(const struct sgc_dates *d, struct SGC_region *r)
{
    sgc_assert(sgc_region_ok(r));
    if (r->closed || r->owner == d->serial)
        sgc_region_empty(r);
    else
        sgc_a32_store_rel(&r->over, 1);
}

static void all_over(const struct sgc_dates *d, struct SGC_region *first)
{
    struct SGC_region *next;

    for (struct SGC_region *r = first; r != NULL; r = next) {
        next = r->next_over;
        over(d, r);
    }
}

/* ---- dates ---- */

struct taking {
    struct sgc_date_list *list;
    struct SGC_region *over;
    bool traced;
};

/* In a section.  Each date is gone before it is taken off, so that none is taken off twice, wherever this is left. */
static void take_off(void *raw, uintptr_t *from, uintptr_t *end)
{
    struct taking *t = raw;

    for (uintptr_t *at = from; at < end; at += sgc_shortterm.words) {
        struct SGC_region *r = (struct SGC_region *)*at;

        if (r == NULL)
            continue;
        sgc_assert(sgc_heap_contains((uintptr_t)r));
        *at = 0;
        sgc_compiler_barrier();
        if (r->latest == t->list)
            r->latest = NULL;
        if (t->traced)
            sgc_a32_store(&r->traced, 1);
        if (sgc_aw_add(&r->dates, (uintptr_t)-1) != 1)
            continue;
        sgc_dirty_store(&r->next_over, t->over);
        t->over = r;
    }
}

void sgc_regions_go_on(struct sgc_dates *d, struct sgc_date_buffer *buffer)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct sgc_date_page *first, *last;
    struct taking t = { NULL, NULL, false };

    sgc_assert(sgc_section_mine(section) && sgc_date_buffer_ok(buffer));
    sgc_section_enter(section);
    t.list = sgc_date_buffer_tick(buffer);
    sgc_date_list_visit(t.list, take_off, &t);
    sgc_date_list_clear(t.list, &first, &last);
    sgc_section_leave(section);
    if (first != NULL)
        sgc_date_pages_give(&d->pool, first, last, section);
    all_over(d, t.over);
}

/* The region's `latest` is its owner's: who is that, ends. */
static void leave(struct sgc_dates *d, struct sgc_date_buffer *buffer, bool traced)
{
    struct taking t = { NULL, NULL, traced };

    sgc_section_enter(sgc_section_of(d->owner));
    sgc_date_buffer_visit(buffer, take_off, &t);
    sgc_section_leave(sgc_section_of(d->owner));
    all_over(d, t.over);
}

void sgc_regions_leave(struct sgc_dates *d)
{
    sgc_assert(sgc_mutator_mine(d->owner) && d->clocks == NULL);
    leave(d, &d->local_regions, false);
    leave(d, &d->global_regions, true);
}

/* What has no date any more waits for its owner. */
static void give_up(void *raw, uintptr_t *from, uintptr_t *end)
{
    struct taking t = { NULL, NULL, true };

    (void)raw;
    take_off(&t, from, end);
    for (struct SGC_region *r = t.over; r != NULL; r = r->next_over)
        sgc_a32_store_rel(&r->over, 1);
}

void sgc_regions_vanished(struct sgc_dates *d)
{
    sgc_assert(sgc_dates_ok(d));
    sgc_date_buffer_visit(&d->local_regions, give_up, NULL);
    sgc_date_buffer_visit(&d->global_regions, give_up, NULL);
    for (const struct SGC_clock *c = d->clocks; c != NULL; c = c->next)
        sgc_date_buffer_visit(&c->regions, give_up, NULL);
}

/* The buffer of the date, made if need be; NULL: there is no memory. */
static struct sgc_date_buffer *buffer_of(struct sgc_dates *d, const struct sgc_region_date *date)
{
    struct sgc_date_buffer *buffer = date->global ? &d->global_regions : date->clock != NULL ? &date->clock->regions
                                                                                             : &d->local_regions;
    uint32_t lists = sgc_shortterm.extension + 1 + (date->global ? SGC_TIME_LATER : 0);

    sgc_assert(date->extension <= sgc_shortterm.extension);
    if (date->global && !sgc_time_enter(d))
        return NULL;
    return sgc_dates_make_lists(d, buffer, lists) ? buffer : NULL;
}

/* Counted before it is there: a date too many is one that the collector has to do without. */
static int add(struct sgc_dates *d, struct sgc_date_list *list, struct SGC_region *r)
{
    struct sgc_section *section = sgc_section_of(d->owner);

    if (!sgc_date_pool_fill(&d->pool, section))
        return ENOMEM;
    sgc_section_enter(section);
    sgc_aw_add(&r->dates, 1);
    if (*list->next == SGC_DATES_END)
        sgc_date_list_extend(list, &d->pool);
    if (sgc_shortterm.words > 1)
        list->next[1] = 0;              /* nobody asks who it was */
    *list->next = (uintptr_t)r;
    sgc_compiler_barrier();
    list->next += sgc_shortterm.words;
    sgc_section_leave(section);
    return 0;
}

/* A region whose last date is over for another thread is emptied first: the new date is for what will be in it. */
int sgc_region_refresh(struct sgc_dates *d, struct SGC_region *r, const struct sgc_region_date *date)
{
    bool own = r->owner == d->serial;
    struct sgc_date_buffer *buffer;
    struct sgc_date_list *list;
    int error;

    sgc_assert(sgc_mutator_mine(d->owner) && sgc_region_ok(r));
    if (own && sgc_a32_load_acq(&r->over) != 0)
        sgc_region_empty(r);
    buffer = buffer_of(d, date);
    if (buffer == NULL)
        return ENOMEM;
    list = sgc_date_buffer_list(buffer, date->extension + (date->global ? SGC_TIME_LATER : 0));
    if (own && r->latest == list)
        return 0;
    error = add(d, list, r);
    if (own && error == 0)
        r->latest = list;
    return error;
}
