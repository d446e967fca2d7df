/* SPDX-License-Identifier: MIT */
/* Taking dates off with the world stopped, and counting anew: shortterm/expire.h. */
#include "gc/api/api.h"
#include "gc/api/objects.h"
#include "shortterm/expire.h"

#include "alloc/large/span.h"
#include "alloc/small/remote_free.h"
#include "alloc/whole_heap.h"
#include "gc/api/guards.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/queue.h"
#include "gc/finalize/register.h"
#include "gc/pacing/pacing.h"
#include "shortterm/dates/counts.h"
#include "shortterm/expiry_procs.h"
#include "shortterm/holds.h"
#include "shortterm/orphan_dates.h"

/* ---- taking off ---- */

/* An object with a finalizer, a link, a toggle reference or a disclaim procedure is left to the
 * tracer, as is any that may wait for its finalizer. */
static bool may_free(const struct sgc_object *o)
{
    bool is_known = sgc_finalization_used() && (sgc_finalizers_waiting_early() || sgc_finalization_has(o->start));
    bool is_tracers = is_known || sgc_disclaim_asks(o->kind);

    if (sgc_shortterm.mode == SGC_SHORTTERM_HYBRID && !sgc_counts_freeable(o->granule))
        return false;
    if (is_tracers)
        sgc_counts_keep();
    return !is_tracers;
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
    sgc_counts_free(o.granule);
    if (sgc_finalization_used())
        sgc_links_forget(NULL, o.start, o.start + o.bytes);
    if (!clear(&o))
        return;
    d->freed++;
    d->freed_bytes += o.bytes;
    if (takes_off())
        sgc_pacing_freed_early(o.bytes);
    if (sgc_kind_uncollectable(o.kind))
        sgc_api_count_uncollectable(-(intptr_t)o.bytes);
}

/* Has the program a function for the expired object?  The thread that takes off its last date calls
 * that: so the date waits for its thread, and keeps the object. */
static bool is_threads(uintptr_t object)
{
    return sgc_expiry_used() && sgc_expiry_has(object);
}

static bool take_off(void *d, const uintptr_t *word)
{
    uintptr_t date = *word, object = sgc_date_object(date);

    sgc_assert(sgc_heap_contains(object));
    if (is_threads(object))
        return true;
    if (sgc_counts_take(sgc_granule_number(object), (date & SGC_DATE_OTHER) != 0))
        free_object(d, object);
    return false;
}

/* Makes a queue of its own of the pages behind the one up to which a call of sgc_expire takes dates
 * off, if such a call is under way. */
static struct sgc_date_queue split(struct sgc_dates *d)
{
    struct sgc_date_page *page = d->expire_to != NULL ? d->expired.first : NULL;
    struct sgc_date_queue later = { NULL, NULL, NULL };

    while (page != NULL && page != d->expire_to)
        page = page->next;
    if (page != NULL) {
        later.first = page->next;
        page->next = NULL;
    }
    return later;
}

/* A call of sgc_expire that is under way still takes off what it would have, and no date that was
 * over later: the program's function for an object may tick and collect. */
static void filter(struct sgc_dates *d)
{
    struct sgc_date_queue later = split(d);

    sgc_date_queue_filter(&d->expired, &d->pool, 1, take_off, d);
    sgc_date_queue_filter(&later, &d->pool, 1, take_off, d);
    if (d->expire_to != NULL)
        d->expire_to = d->expired.first != NULL ? d->expired.last : NULL;
    sgc_date_queue_join(&d->expired, &later);
}

/* Takes off dates that are over, and frees the objects that expire by that. */
static void take_off_all(void)
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

    sgc_assert(sgc_page_ok(page));
    return d != NULL && !d->leaving && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL &&
           sgc_page_owner(page) == d->owner->cache.id;
}

/* Numbers that are not ready were never counted: there is no date of these objects.  Dates of no
 * thread (`raw` is NULL) are never an owner's. */
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

/* Each as one of the owner of the object's page, or of another thread, as things are now. */
static void count_again(void)
{
    sgc_counts_wipe(sgc_verifies());
    sgc_holds_visit(count_hold, NULL);
    sgc_date_queue_visit(&sgc_orphan_dates_over, count_dates, NULL);
    sgc_date_list_visit(&sgc_unheld, count_dates, NULL);
    sgc_orphan_dates_visit_objects(count_dates, NULL);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            sgc_dates_visit_objects(sgc_dates_of(m), count_dates, sgc_dates_of(m));
}

void sgc_expire_stopped(void)
{
    sgc_assert(sgc_stopped_by_self() && sgc_shortterm.counts && sgc_counts.of != NULL);
    if (!sgc_verifies())
        take_off_all();
    if (sgc_counts_doubted())
        count_again();
}

/* ---- after a mark ---- */

/* Is no object there that the mark has reached? */
static bool is_gone(size_t granule)
{
    uintptr_t start = (uintptr_t)sgc_granule_address(granule);
    struct sgc_object o;

    return !sgc_object_slot(start, &o) || o.start != start || !sgc_walk_marked(&o);
}

void sgc_expire_marked(void)
{
    sgc_assert(sgc_stopped_by_self());
    if (sgc_shortterm.mode != SGC_SHORTTERM_HYBRID)
        return;
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL && sgc_dates_of(m)->expiring)
            sgc_counts_keep();
    sgc_counts_forget_gone(is_gone);
}
