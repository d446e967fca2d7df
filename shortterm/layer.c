/* SPDX-License-Identifier: MIT */
/* The functions of short-term memory that the collector calls: gc/threads/upper.h says when, and on
 * which thread. */
#include "shortterm/start.h"

#include "gc/finalize/queue.h"
#include "gc/finalize/register.h"
#include "gc/threads/gc_lock.h"
#include "shortterm/clocks.h"
#include "shortterm/dates.h"
#include "shortterm/dates/counts.h"
#include "shortterm/expire.h"
#include "shortterm/global_time.h"
#include "shortterm/holds.h"
#include "shortterm/orphan_dates.h"
#include "shortterm/regions.h"
#include "shortterm/verify.h"

/* ---- dates as roots ---- */

struct visit {
    void (*fn)(void *arg, const struct sgc_mutator *whose, struct sgc_range range);
    void *arg;
    const struct sgc_mutator *whose;
};

static void visit_words(void *raw, uintptr_t *from, uintptr_t *end)
{
    const struct visit *v = raw;

    sgc_assert(from < end);
    v->fn(v->arg, v->whose, (struct sgc_range){ (uintptr_t)from, (uintptr_t)end });
}

static void visit_hold(void *raw, struct sgc_range range)
{
    const struct visit *v = raw;

    sgc_assert(range.lo < range.hi);
    v->fn(v->arg, NULL, range);
}

/* With verify those that are over are no roots. */
static void visit_dates(void (*fn)(void *arg, const struct sgc_mutator *whose, struct sgc_range range), void *arg)
{
    struct visit v = { fn, arg, NULL };

    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        v.whose = m;
        if (sgc_dates_of(m) != NULL)
            (sgc_verifies() ? sgc_dates_visit_later : sgc_dates_visit)(sgc_dates_of(m), visit_words, &v);
    }
    v.whose = NULL;
    sgc_orphan_dates_visit(visit_words, &v);
    sgc_holds_visit(visit_hold, &v);
}

/* ---- pages in which GC_free asks for dates (sgc_page_watch) ----
 *
 * Which those are, and when they are no more.  An object's first date has its page watched, before
 * it is counted and in the same section.  That nothing in the page has a date any more is looked
 * for when a free has asked in vain, now and then.  The owner of the page finds it out by itself if
 * all dates there were its own: another thread that makes one has the page watched for that first.
 * Otherwise the next stop does.
 *
 *   a page's word   a thread that dates, in a section;     GC_free          compare-and-swap: the
 *                   the owner, or the collecting thread,                    stronger reason stays;
 *                   takes its reason back                                   stopping the world
 *   due             a thread that frees: 1; the            the collecting   relaxed; stopping the
 *                   collecting thread: 0                   thread           world
 *   vain            a thread that frees                    same             relaxed: a rough count
 */

/* Vain questions: a look at a page's 8 KB of numbers is a small part of what these take. */
enum { CHECK_EACH = 64 };

SGC_STATE static sgc_a32_t due, vain;

/* In a section, or world stopped. */
static bool is_watched_in_vain(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_ok(page));
    return sgc_page_state(d) == SGC_PAGE_SMALL && sgc_page_is_watched(d, SGC_WATCH_DATED_HERE) && !sgc_counts_in_page(page);
}

/* The program has freed an object of the page, and it has no date.  On that thread, outside
 * sections. */
static void watch_in_vain(struct sgc_mutator *self, uint32_t page)
{
    uint32_t count = sgc_a32_load(&vain) + 1;

    sgc_assert(sgc_mutator_mine(self) && sgc_page_ok(page));
    sgc_a32_store(&vain, count);
    if (count % CHECK_EACH != 0)
        return;
    sgc_section_enter(sgc_section_of(self));
    if (is_watched_in_vain(page)) {
        if (sgc_page_owner(page) == self->cache.id)
            sgc_page_unwatch(page, SGC_WATCH_DATED_HERE);
        sgc_a32_store(&due, 1);
    }
    sgc_section_leave(sgc_section_of(self));
}

/* Holds are not counted where dates are not. */
static void watch_held(void *unused, struct sgc_range range)
{
    (void)unused;
    sgc_assert(sgc_heap_contains(*(const uintptr_t *)range.lo));
    sgc_page_watch(sgc_page_number(*(const uintptr_t *)range.lo), SGC_WATCH_DATED);
}

/* World stopped. */
static void watch_stopped(void)
{
    uint32_t end = (uint32_t)(sgc_aw_load(&sgc_heap.granules) / SGC_PAGE_GRANULES);

    sgc_assert(sgc_stopped_by_self());
    if (sgc_a32_load(&due) == 0)
        return;
    sgc_a32_store(&due, 0);
    for (uint32_t page = 1; page < end; page++)
        if (is_watched_in_vain(page)) {
            sgc_page_unwatch(page, SGC_WATCH_DATED);
            sgc_page_unwatch(page, SGC_WATCH_DATED_HERE);
        }
    sgc_holds_visit(watch_held, NULL);
}

/* ---- a collection begins ---- */

static void stopped(void)
{
    sgc_time_count_again();
    if (sgc_shortterm.counts)
        sgc_expire_stopped();
    watch_stopped();
}

/* ---- threads that wait, and end ---- */

/* Takes off the thread's dates that are over, which would wait for it, and those of ended threads.
 * While it is blocked it can make no date. */
static void blocks(struct sgc_mutator *self)
{
    struct sgc_dates *d = sgc_dates_of(self);

    if (d == NULL)
        return;
    sgc_assert(sgc_dates_ok(d) && !d->blocked);
    sgc_orphan_dates_take(d);
    if (sgc_verifies())
        sgc_verify_due(d);
    else if (sgc_shortterm.counts)
        sgc_expire(d, SIZE_MAX);
    d->out_for_now = sgc_time_exit(d);
    d->blocked = true;
    d->room = 0;
}

static void active(struct sgc_mutator *self)
{
    struct sgc_dates *d = sgc_dates_of(self);
    bool was_in_time = d != NULL && d->out_for_now;

    if (d == NULL)
        return;
    sgc_assert(sgc_dates_ok(d));
    d->blocked = d->out_for_now = false;
    sgc_dates_open(d);
    if (was_in_time)
        sgc_time_enter(d);
}

/* Ends the thread's own clocks, which nobody else could tick.  The program's functions for expired
 * objects may make dates, and clocks. */
static void end_own_clocks(struct sgc_dates *d)
{
    sgc_assert(sgc_mutator_mine(d->owner) && !d->blocked);
    while (d->clocks != NULL)
        sgc_clock_release(d, d->clocks);
    for (uint32_t i = 0; i <= sgc_shortterm.extension; i++)
        sgc_clock_over(d, &d->local);
    if (sgc_verifies())
        sgc_verify_due(d);
    else
        sgc_expire(d, SIZE_MAX);
}

/* Releases the record.  Dates that the thread leaves stay counted, but are written down nowhere.
 * So there is doubt, but only afterwards: a collection before would still find them.  One that has
 * begun does not count anew. */
static void drop(struct sgc_dates *d, bool leaves_dates, struct sgc_section *self)
{
    if (d->expiring)
        sgc_counts_keep();
    sgc_dates_drop(d, self);
    if (leaves_dates && sgc_shortterm.counts)
        sgc_counts_doubt();
}

static void thread_over(struct sgc_mutator *self)
{
    struct sgc_dates *d = sgc_dates_of(self);

    if (d == NULL)
        return;
    d->calling = 0;                     /* its stack may be as deep again as when it left a call */
    sgc_orphan_dates_take(d);           /* threads may come and go, and none of them tick */
    end_own_clocks(d);
    sgc_time_exit(d);
    sgc_regions_leave(d);
    sgc_orphan_dates_gather(d, sgc_section_of(d->owner));
    drop(d, d->clocks != NULL || d->expired.first != NULL || !sgc_date_buffer_empty(&d->local), sgc_section_of(self));
}

/* The operation that the thread was in the middle of has left its lists as they were before or
 * after it.  Its objects are left to the collector; its dates of global time, a promise to other
 * threads, are left to these, but not in the child of a fork, which has none of them. */
static void vanished(struct sgc_mutator *m)
{
    struct sgc_dates *d = sgc_dates_of(m);

    if (d == NULL)
        return;
    sgc_assert(d->owner == m);
    sgc_time_gone(d);
    sgc_regions_vanished(d, !m->gone);
    if (!m->gone)
        sgc_dates_forget_global(d, sgc_section_self());
    sgc_orphan_dates_gather(d, sgc_section_self());
    drop(d, true, sgc_section_self());
}

/* ---- GC_free ---- */

static bool is_held(struct sgc_mutator *self, uintptr_t object)
{
    bool held;

    sgc_assert(sgc_mutator_mine(self) && sgc_heap_contains(object));
    sgc_section_enter(sgc_section_of(self));
    held = sgc_held(object);
    sgc_section_leave(sgc_section_of(self));
    return held;
}

static void say_kept(uintptr_t object, int dates)
{
    static SGC_STATE sgc_a32_t reported;

    sgc_assert(dates > 0);
    if (sgc_a32_swap(&reported, 1) == 0)
        sgc_warn("GC_free(%p): the object has %d expiration dates, so it is not freed now but when they are over; this is said "
                 "once. Free only objects that were never refreshed", (void *)object, dates);
}

/* Has it dates, and stays?  If not, and the program has said that it may be freed, that is over. */
static bool has_dates(uintptr_t object, bool freed)
{
    int dates = sgc_counts_of(sgc_granule_number(object));

    if (dates != 0 && freed)
        say_kept(object, dates);
    if (dates == 0 && sgc_counts.of != NULL && sgc_counts_ready(sgc_granule_number(object)))
        sgc_counts_free(sgc_granule_number(object));
    return dates != 0;
}

/* verify: an object that has expired is freed by hand. */
static void forget_expired(uintptr_t object)
{
    if (sgc_counts_expired(sgc_granule_number(object)))
        sgc_counts_note_expired(sgc_granule_number(object), false);
}

/* For the program the object is gone, or has moved: so nothing is called for it at its last
 * date. */
static void forget_finalizer(struct sgc_mutator *self, uintptr_t object)
{
    struct sgc_finalizer none = { .fn = NULL }, old;

    if (sgc_finalization_used()) {
        sgc_finalizer_set(self, object, &none, &old);
        sgc_queue_object_freed(self, object);
    }
}

static bool keeps(struct sgc_mutator *self, uintptr_t object, bool freed)
{
    bool keeps = is_held(self, object) || has_dates(object, freed);

    if (keeps)
        forget_finalizer(self, object);
    if (!keeps && sgc_verifies())
        forget_expired(object);
    if (!keeps)
        watch_in_vain(self, sgc_page_number(object));
    return keeps;
}

static bool owns(const struct sgc_object *o)
{
    return sgc_region_of_object(o) != NULL;
}

/* ---- fork ---- */

static void before_fork(void)
{
    sgc_shortterm_lock(sgc_section_self());
}

static void after_fork_parent(void)
{
    sgc_assert(sgc_shortterm_locked());
    sgc_shortterm_unlock(sgc_section_self());
}

static void after_fork_child(struct sgc_mutator *self)
{
    (void)self;
    sgc_shortterm_lock_reset();
    sgc_time_count_again();
}

#define SAME                                                                                         \
    .stopped = stopped, .marked = sgc_expire_marked, .visit = visit_dates,                             \
    .blocks = blocks, .active = active,                                                                \
    .thread_over = thread_over, .vanished = vanished, .keeps = keeps, .owns = owns,              \
    .before_fork = before_fork, .after_fork_parent = after_fork_parent, .after_fork_child = after_fork_child

const struct sgc_upper sgc_shortterm_layer = { SAME };
const struct sgc_upper sgc_shortterm_verifying = { SAME, .mark = sgc_verify_mark };
