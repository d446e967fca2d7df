/* SPDX-License-Identifier: MIT */
/* Taking dates off with the world stopped, and counting anew: shortterm/expire_stopped.h. */
#include "gc/api/internal.h"
#include "shortterm/expire_stopped.h"

#include "alloc/large/span.h"
#include "alloc/small/remote_free.h"
#include "gc/api/guards.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/finalize.h"
#include "gc/pacing/pacing.h"
#include "shortterm/counts.h"
#include "shortterm/holds.h"
#include "shortterm/left_dates.h"
#include "shortterm/verify.h"

/* ---- taking off ---- */

/* What the program has registered about the object is the tracer's business. */
static bool may_free(const struct sgc_object *o)
{
    if (sgc_shortterm.mode == SGC_SHORTTERM_HYBRID && !sgc_counts_take_freeable(o->granule))
        return false;
    return !(sgc_finalization_registered() && sgc_finalization_has(o->start)) && !sgc_disclaim_asks(o->kind);
}

static bool clear(const struct sgc_object *o)
{
    return o->span ? sgc_span_clear(o->page) : sgc_remote_free(o->page, o->granule);
}

/* Would the thread have done so by itself, at one of its next operations? */
static bool takes_off(void)
{
    return sgc_shortterm.eager || sgc_shortterm.step != 0;
}

static void free_object(struct sgc_dates *d, uintptr_t object)
{
    struct sgc_object o;

    if (!sgc_object_find(object, &o) || o.start != object || !may_free(&o))
        return;
    if (sgc_debug_used())
        sgc_debug_take_down((void *)object);
    if (!clear(&o))
        return;
    d->freed++;
    d->freed_bytes += o.bytes;
    if (takes_off())
        sgc_pacing_freed_early(o.bytes);
    if (sgc_kind_uncollectable(o.kind))
        sgc_api_count_uncollectable(-(intptr_t)o.bytes);
}

/* An uncollectable object about which something is registered is alive for the tracer: its thread has to take the date off. */
static bool is_threads(uintptr_t object)
{
    const struct sgc_page *page = &sgc_heap.pages[sgc_page_number(object)];

    return sgc_finalization_registered() && sgc_kind_uncollectable(page->kind) && sgc_finalization_has(object);
}

static bool take_off(void *d, uintptr_t date)
{
    uintptr_t object = sgc_date_object(date);

    sgc_assert(sgc_heap_contains(object));
    if (is_threads(object))
        return true;
    if (sgc_counts_take(sgc_granule_number(object), (date & SGC_DATE_OTHER) != 0))
        free_object(d, object);
    return false;
}

/* A call of sgc_expire that is under way has to go on to the end of what is left. */
static void filter(struct sgc_dates *d)
{
    sgc_date_queue_filter(&d->expired, &d->pool, take_off, d);
    if (d->expire_to != NULL)
        d->expire_to = d->expired.first != NULL ? d->expired.last : NULL;
}

void sgc_expire_stopped(void)
{
    sgc_assert(sgc_shortterm.words == 1);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        struct sgc_dates *d = sgc_dates_of(m);

        if (d != NULL)
            filter(d);
    }
}

/* ---- counting anew ---- */

/* A thread that ends hands its dates to others, and may be in the middle of that. */
static bool is_own(const struct sgc_dates *d, uintptr_t object)
{
    uint32_t page = sgc_page_number(object);

    return d != NULL && !d->leaving && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL &&
           sgc_page_owner(page) == d->owner->cache.id;
}

/* What is not ready has never been counted: nobody has a date there.  Nobody's dates own nothing. */
static void count_dates(void *raw, uintptr_t *from, uintptr_t *end)
{
    const struct sgc_dates *d = raw;

    for (; from < end; from += sgc_shortterm.words) {
        uintptr_t object = sgc_date_object(*from);
        size_t granule = sgc_granule_number(object);

        sgc_assert(sgc_heap_contains(object));
        if (sgc_counts_ready(granule))
            *from = (*from & ~(uintptr_t)SGC_DATE_OTHER) | sgc_counts_add(granule, is_own(d, object));
    }
}

/* A hold counts as one date of another thread. */
static void count_hold(void *raw, struct sgc_range range)
{
    uintptr_t object = sgc_date_object(*(const uintptr_t *)range.lo);

    (void)raw;
    sgc_assert(range.hi - range.lo == sizeof object && sgc_heap_contains(object));
    if (sgc_counts_ready(sgc_granule_number(object)))
        sgc_counts_add(sgc_granule_number(object), false);
}

void sgc_count_dates_again(void)
{
    if (!sgc_counts_doubted())
        return;
    sgc_counts_wipe();
    sgc_holds_visit(count_hold, NULL);
    sgc_verify_visit_gone(count_dates, NULL);
    sgc_left_visit(count_dates, NULL);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            sgc_dates_visit_objects(sgc_dates_of(m), count_dates, sgc_dates_of(m));
    sgc_counts_tidy();
}
