/* SPDX-License-Identifier: MIT */
/* Taking dates off: shortterm/expire.h. */
#include "gc/api/api.h"
#include "gc/api/objects.h"
#include "shortterm/expire.h"

#include "alloc/free.h"
#include "gc/api/guards.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/queue.h"
#include "gc/finalize/register.h"
#include "platform/section/brief.h"
#include "shortterm/dates/counts.h"
#include "shortterm/expiry_procs.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

/* The dates that one section has taken off. */
struct batch {
    uint32_t taken, objects;
    uintptr_t object[SGC_DROP_MAX];     /* that had their last date */
    struct sgc_date_page *first, *last; /* pages that are used up */
};

/* ---- the queue: in a section ---- */

/* The queue's first page is used up, or was left by a jump when it had gone.  The page leaves the
 * queue before `at` does, and its mark of the end goes when nobody reads it any more. */
static void leave_page(struct sgc_dates *d, struct batch *b)
{
    struct sgc_date_queue *queue = &d->expired;
    struct sgc_date_page *page = queue->first, *next = page->next;
    uintptr_t *end = queue->at;

    sgc_assert(*end == SGC_DATES_END);
    if (__builtin_expect(!sgc_date_page_holds(page, end), 0)) {
        queue->at = page->word;
        return;
    }
    queue->first = next;
    sgc_compiler_barrier();
    if (next != NULL)
        queue->at = next->word;
    sgc_compiler_barrier();
    if (page == d->expire_to)
        d->expire_to = NULL;
    if (end < page->word + sgc_date_words)
        *end = 0;
    if (b->first == NULL)
        b->first = page;
    else
        b->last->next = page;
    b->last = page;
}

/* Dates of the queue's first page, up to its end.  Each is in the queue no more before it is taken
 * off. */
static void take_page(struct sgc_dates *d, uint32_t max, struct batch *b)
{
    struct sgc_date_queue *queue = &d->expired;
    uint32_t step = sgc_shortterm.words, taken = b->taken;
    uintptr_t *at = queue->at;

    for (; taken < max && *at != SGC_DATES_END; taken++) {
        uintptr_t date = *at, object = sgc_date_object(date);

        sgc_assert(sgc_date_page_holds(queue->first, at));
        at += step;
        queue->at = at;
        if (sgc_counts_take(sgc_granule_number(object), (date & SGC_DATE_OTHER) != 0))
            b->object[b->objects++] = object;
    }
    b->taken = taken;
    if (*at == SGC_DATES_END)
        leave_page(d, b);
}

/* Takes off up to `max` dates, or one where the program has functions for expired objects: a jump
 * may leave such a function, and no other object has lost its last date then. */
static void take_some(struct sgc_dates *d, size_t max, struct batch *b)
{
    uint32_t limit = sgc_expiry_used() ? 1 : max < SGC_DROP_MAX ? (uint32_t)max : SGC_DROP_MAX;

    sgc_assert(sgc_dates_ok(d));
    while (b->taken < limit && d->expired.first != NULL && d->expire_to != NULL)
        take_page(d, limit, b);
}

/* ---- objects that have expired ---- */

/* Does the tracer have to see that the object is dead?  Nobody knows whether an object waits for
 * its finalizer. */
static bool is_tracers(const struct sgc_object *o)
{
    if (sgc_finalization_used() && (sgc_finalizers_waiting_early() || sgc_finalization_knows(sgc_mutator_self(), o->start)))
        return true;
    return sgc_disclaim_asks(o->kind);
}

/* Calls the program's function for the expired object, if it has one.  May the object go?  A jump
 * may leave the function. */
static bool may_go(struct sgc_dates *d, uintptr_t object)
{
    if (sgc_expiry_used())
        sgc_counts_keep();
    switch (sgc_expiry_ask(d, object)) {
    case SGC_EXPIRY_KEEP:
        return false;
    case SGC_EXPIRY_FREE:
        return sgc_counts_of(sgc_granule_number(object)) == 0;
    case SGC_EXPIRY_NOTHING:
        break;
    }
    return true;
}

/* May it be freed here and now?  If it stays, it may be when it has had dates again. */
static bool may_free(struct sgc_dates *d, uintptr_t object)
{
    size_t granule = sgc_granule_number(object);
    struct sgc_object o;

    sgc_assert(sgc_heap_contains(object));
    if (sgc_shortterm.mode == SGC_SHORTTERM_HYBRID && !sgc_counts_freeable(granule))
        return false;
    if (!may_go(d, object) || !sgc_object_find(object, &o) || o.start != object || is_tracers(&o)) {
        sgc_counts_keep();
        return false;
    }
    sgc_counts_free(granule);
    if (sgc_finalization_used())
        sgc_links_forget(d->owner, o.start, o.start + o.bytes);
    if (sgc_debug_used())
        sgc_debug_take_down((void *)object);
    return true;
}

/* Is there anything that might be registered about any object, or be left to the tracer? */
__attribute__((always_inline))
static inline bool must_check(void)
{
    return sgc_shortterm.mode != SGC_SHORTTERM_FREE || sgc_finalization_used() || sgc_disclaim_used() || sgc_debug_used();
}

static void note_freed(struct sgc_dates *d, struct sgc_dropped done)
{
    d->freed += done.objects;
    d->freed_bytes += done.bytes;
    if (done.uncollectable != 0)
        sgc_api_count_uncollectable(-(intptr_t)done.uncollectable);
}

static void free_objects(struct sgc_dates *d, uintptr_t *object, uint32_t count)
{
    uint32_t free = 0;

    sgc_assert(sgc_mutator_mine(d->owner) && count <= SGC_DROP_MAX);
    if (must_check()) {
        for (uint32_t i = 0; i < count; i++)
            if (may_free(d, object[i]))
                object[free++] = object[i];
    } else {
        free = count;
    }
    note_freed(d, sgc_drop(&d->owner->cache, object, free));
}

void sgc_expire_object(struct sgc_dates *d, uintptr_t object)
{
    sgc_assert(sgc_mutator_mine(d->owner) && sgc_heap_contains(object));
    if (!must_check() || may_free(d, object))
        note_freed(d, sgc_drop_one(&d->owner->cache, object));
}

/* ---- taking off ---- */

/* Takes off one batch of a call of sgc_expire.  The batches end with the dates that are over when
 * the first one begins; it notes their last page in its section, since before a collection may give
 * that page back. */
static uint32_t expire_batch(struct sgc_dates *d, size_t max, bool begins)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct batch b;

    b.taken = b.objects = 0;
    b.first = NULL;
    sgc_section_enter(section);
    if (begins)
        d->expire_to = d->expired.last;
    take_some(d, max, &b);
    sgc_assert(b.objects <= b.taken && b.taken <= SGC_DROP_MAX);
    sgc_section_leave(section);
    if (b.first != NULL)
        sgc_date_pages_give(&d->pool, b.first, b.last, section);
    if (b.objects != 0)
        free_objects(d, b.object, b.objects);
    return b.taken;
}

/* The most frequent step of lazy programs: takes off the first date, if that is easy, and frees the
 * object where it is hot if that was its last one.  False: nothing is done, or the object, which
 * has no date any more, is left in *object.  Bytes of an uncollectable one are left to be counted.
 * A collection may have emptied the queue since the caller looked.  In a brief section. */
__attribute__((always_inline))
static inline bool take_first(struct sgc_dates *d, struct sgc_cache *cache, uintptr_t *object, size_t *uncollectable)
{
    struct sgc_date_queue *queue = &d->expired;
    uintptr_t date = __builtin_expect(queue->first != NULL, 1) ? *queue->at : SGC_DATES_END;
    size_t granule = sgc_granule_number(date);
    struct sgc_dropped done;
    uint8_t own;

    _Static_assert((SGC_DATES_END & SGC_DATE_OTHER) != 0, "the end of a page is not easy to take");
    *object = 0;
    if ((date & SGC_DATE_OTHER) != 0 || !sgc_counts_easy(granule, &own))
        return false;
    sgc_assert(sgc_date_page_holds(queue->first, queue->at) && sgc_heap_contains(date));
    queue->at += sgc_shortterm.words;
    if (!sgc_counts_take_easily(granule, own))
        return true;
    done = sgc_drop_hot(cache, date, granule);
    d->freed += done.objects;
    d->freed_bytes += done.bytes;
    *uncollectable = done.uncollectable;
    if (done.objects == 0)
        *object = date;
    return done.objects != 0;
}

static void expire_slowly(struct sgc_dates *d, uintptr_t object)
{
    if (object != 0)
        sgc_expire_object(d, object);
    else
        sgc_expire(d, 1);
}

void sgc_expire_one(struct sgc_dates *d)
{
    struct sgc_cache *cache = &d->owner->cache;
    uintptr_t object = 0;
    size_t uncollectable = 0;
    bool done = false;

    sgc_assert(sgc_dates_ok(d) && sgc_mutator_mine(d->owner));
    sgc_assert(sgc_shortterm.counts && sgc_shortterm.words == 1);
    if (__builtin_expect(d->calling == 0 && !must_check(), 1)) {
        sgc_brief_enter(&cache->section);
        done = take_first(d, cache, &object, &uncollectable);
        if (sgc_brief_leave(&cache->section))
            sgc_brief_leave_slowly(&cache->section, NULL);
        if (uncollectable != 0)
            sgc_api_count_uncollectable(-(intptr_t)uncollectable);
    }
    if (__builtin_expect(!done, 0))
        expire_slowly(d, object);
}

/* Takes off only dates that are over when the call begins: the program's function for an object may
 * let others expire without end. */
__attribute__((always_inline))
static inline size_t expire_batches(struct sgc_dates *d, size_t max)
{
    size_t taken = 0;

    while (taken < max && d->expired.first != NULL && (taken == 0 || d->expire_to != NULL))
        taken += expire_batch(d, max - taken, taken == 0);
    return taken;
}

/* hybrid: a jump may leave an object that has lost its last date, and still has FREEABLE. */
__attribute__((noinline))
static size_t expire_noted(struct sgc_dates *d, size_t max)
{
    size_t taken;

    sgc_assert(sgc_shortterm.mode == SGC_SHORTTERM_HYBRID);
    if (d->expiring)
        sgc_counts_keep();
    d->expiring = true;
    sgc_compiler_barrier();
    taken = expire_batches(d, max);
    sgc_compiler_barrier();
    d->expiring = false;
    return taken;
}

size_t sgc_expire(struct sgc_dates *d, size_t max)
{
    sgc_assert(sgc_mutator_mine(d->owner) && !d->blocked);
    sgc_assert(sgc_shortterm.counts || d->expired.first == NULL);
    if (sgc_verifies() || (d->calling != 0 && sgc_expiry_calling(d)))
        return 0;
    if (sgc_shortterm.mode == SGC_SHORTTERM_HYBRID)
        return expire_noted(d, max);
    return expire_batches(d, max);
}

/* ---- verify ---- */

/* The word is in the queue no more before the date is taken off.  Without a date a jump has left a
 * page that was used up. */
static bool take_wide(struct sgc_dates *d, struct batch *b, uintptr_t *caller)
{
    struct sgc_date_queue *queue = &d->expired;
    const uintptr_t *at = queue->at;
    bool last = false;

    sgc_assert(sgc_shortterm.words == 2);
    if (*at != SGC_DATES_END) {
        sgc_assert(sgc_date_page_holds(queue->first, at));
        b->object[0] = sgc_date_object(at[0]);
        *caller = at[1];
        queue->at += 2;
        last = sgc_counts_take(sgc_granule_number(b->object[0]), (at[0] & SGC_DATE_OTHER) != 0);
    }
    if (*queue->at == SGC_DATES_END)
        leave_page(d, b);
    return last;
}

bool sgc_expire_first(struct sgc_dates *d, uintptr_t *object, uintptr_t *caller)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct batch b = { .first = NULL };
    bool last;

    sgc_assert(sgc_mutator_mine(d->owner));
    sgc_section_enter(section);
    last = d->expired.first != NULL && take_wide(d, &b, caller);
    sgc_section_leave(section);
    if (b.first != NULL)
        sgc_date_pages_give(&d->pool, b.first, b.last, section);
    *object = b.object[0];
    return last;
}

/* ---- questions ---- */

/* Is it surely the first address of an object of the calling thread's? */
static bool is_own_object(const void *object)
{
    const struct sgc_cache *cache = sgc_self;
    size_t granule = sgc_exact_granule(object);
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];

    return cache != NULL && granule < sgc_aw_load(&sgc_heap.granules) && sgc_page_frees_here(d, cache) &&
           sgc_alloc_bit(granule) && !sgc_freed_remotely(d, granule) &&
           sgc_bin_handed_out(&cache->bin[d->kind][d->cls], object);
}

int SGC_dates(const void *object)
{
    struct sgc_object o;

    if (sgc_counts.of != NULL && is_own_object(object))
        return sgc_counts_of(sgc_granule_number((uintptr_t)object));
    return sgc_counts.of != NULL && sgc_named_object((uintptr_t)object, &o) == 0 ? sgc_counts_of(o.granule) : -1;
}
