/* SPDX-License-Identifier: MIT */
/* Objects that have expired and can still be reached: shortterm/verify.h. */
#include "shortterm/verify.h"

#include "gc/api/internal.h"

#include "gc/finalize/disclaim.h"
#include "gc/finalize/finalize.h"
#include "mark/mark_roots.h"
#include "platform/platform.h"
#include "shortterm/counts.h"
#include "shortterm/date_pages.h"
#include "shortterm/expire.h"
#include "shortterm/expired.h"
#include "shortterm/expiry_procs.h"
#include "shortterm/findings.h"
#include "shortterm/holds.h"
#include "shortterm/orphan_dates.h"
#include "shortterm/still.h"

enum { MANY_WORDS = 1 << 21 };          /* 16 MB of dates */

SGC_STATE static struct sgc_date_list unheld = { &sgc_dates_none, NULL, NULL };
SGC_STATE static sgc_aw_t kept_bytes;                           /* read by any thread: relaxed */

size_t sgc_verify_kept_bytes(void)
{
    return sgc_aw_load(&kept_bytes);
}

/* ---- dates that are over ---- */

/* Is the object left to the tracer, which finds out when it is dead?  Dates do not free an object
 * with a finalizer, a link, a toggle reference or a disclaim procedure, so verify has nothing to
 * tell of it. */
static bool is_tracers(uintptr_t object)
{
    struct sgc_object o;

    if (!sgc_object_find(object, &o) || o.start != object)
        return true;
    return (sgc_finalization_used() && sgc_finalization_has(object)) || sgc_disclaim_asks(o.kind);
}

/* Takes a date off, and notes an object that loses its last one.  True: the date stays, the last
 * one of an object for which the program has a function: the date's thread calls that, as with
 * free. */
static bool take_off(void *raw, const uintptr_t *date)
{
    sgc_tid_t thread = *(const sgc_tid_t *)raw;
    uintptr_t object = sgc_date_object(*date);
    size_t granule = sgc_granule_number(object);

    if (sgc_expiry_used() && sgc_counts_of(granule) == 1 && sgc_expiry_has(object))
        return true;
    if (sgc_counts_take(granule, (*date & SGC_DATE_OTHER) != 0) && !is_tracers(object))
        sgc_expired_add(object, date[1], thread);
    return false;
}

static void count_stretch(void *arg, uintptr_t *from, uintptr_t *end)
{
    *(size_t *)arg += (size_t)(end - from) / 2;
}

static void take_thread(struct sgc_dates *d)
{
    size_t due = 0;

    sgc_date_queue_filter(&d->expired, &d->pool, 2, take_off, &d->owner->tid);
    sgc_expire_go_on(d);
    sgc_date_queue_visit(&d->expired, count_stretch, &due);
    d->due = (uint32_t)due;
    d->pages = 0;
}

/* Leaves dates that have no thread any more, and were not taken off, to the thread that
 * collects. */
static void hand_over(struct sgc_dates *d)
{
    size_t due = 0;

    if (sgc_orphan_dates_over.first == NULL || d == NULL)
        return;
    sgc_date_queue_visit(&sgc_orphan_dates_over, count_stretch, &due);
    sgc_date_queue_join(&d->expired, &sgc_orphan_dates_over);
    d->due += (uint32_t)due;
}

/* Pages of threads that have ended go to those for all.  Dates of no thread come first, so that the
 * last of an object's dates is one that verify can tell more about. */
static void take_all(void)
{
    struct sgc_date_pool full = { NULL, UINT32_MAX / 2 };
    sgc_tid_t nobody = 0;

    sgc_date_queue_filter(&sgc_orphan_dates_over, &full, 2, take_off, &nobody);
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            take_thread(sgc_dates_of(m));
    hand_over(sgc_dates_of(sgc_mutator_self()));
}

/* Without memory to note them dates that are over count as if they were not. */
static void take_off_all(void)
{
    size_t over = 0;

    sgc_assert(sgc_stopped_by_self());
    if (!sgc_date_list_empty(&unheld))
        sgc_date_queue_append(&sgc_orphan_dates_over, &unheld);
    sgc_date_queue_visit(&sgc_orphan_dates_over, count_stretch, &over);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            sgc_date_queue_visit(&sgc_dates_of(m)->expired, count_stretch, &over);
    sgc_expired_tidy();
    if (over != 0 && sgc_expired_reserve(over))
        take_all();
}

/* World stopped, by any marker. */
void sgc_verify_visit_gone(sgc_visit_dates_t fn, void *arg)
{
    sgc_assert(sgc_shortterm.counts);
    sgc_date_queue_visit(&sgc_orphan_dates_over, fn, arg);
    sgc_date_list_visit(&unheld, fn, arg);
}

/* ---- the first marker that comes marks the objects that have dates ---- */

SGC_STATE static sgc_a32_t marking;     /* 1: somebody has begun to */

static void mark_stretch(void *marker, uintptr_t *from, uintptr_t *end)
{
    for (; from < end; from++)
        sgc_mark_address(marker, *from);
}

static void mark_hold(void *marker, struct sgc_range range)
{
    mark_stretch(marker, (uintptr_t *)range.lo, (uintptr_t *)range.hi);
}

static bool dates_left(void)
{
    return sgc_a32_load_acq(&marking) == 0;
}

/* Those, too, that are over and were not taken off.  Words that say where a date was given lead nowhere. */
static bool mark_dates(struct sgc_marker *marker)
{
    if (!sgc_a32_cas(&marking, 0, 1))
        return false;
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            sgc_dates_visit(sgc_dates_of(m), mark_stretch, marker);
    sgc_verify_visit_gone(mark_stretch, marker);
    sgc_orphan_dates_visit(mark_stretch, marker);
    sgc_holds_visit(mark_hold, marker);
    return true;
}

static size_t bytes_marked(const struct sgc_team *team)
{
    struct sgc_team_totals totals;

    sgc_team_totals(team, &totals);
    return totals.bytes;
}

static void mark_by_dates(struct sgc_team *team)
{
    static const struct sgc_source source = { dates_left, mark_dates };
    size_t before = bytes_marked(team);

    sgc_a32_store(&marking, 0);
    sgc_team_round(team, &source, false);
    sgc_team_rescan(team, NULL);
    sgc_assert(bytes_marked(team) >= before);
    sgc_aw_store(&kept_bytes, bytes_marked(team) - before);
}

/* ---- a collection ---- */

void sgc_verify_mark(struct sgc_team *team)
{
    sgc_assert(sgc_stopped_by_self() && sgc_verifies());
    take_off_all();
    mark_by_dates(team);
    sgc_expired_judge();
    sgc_still_find();
}

/* ---- threads ---- */

/* Under the lock. */
static bool note_over(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
{
    sgc_assert(sgc_verifies() && sgc_mutator_mine(d->owner));
    if (*unheld.next == SGC_DATES_END) {
        if (d->pool.first == NULL)
            return false;
        sgc_date_list_extend(&unheld, &d->pool);
    }
    unheld.next[1] = caller;
    *unheld.next = object | SGC_DATE_OTHER;
    unheld.next += 2;
    return true;
}

bool sgc_verify_unheld(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
{
    return note_over(d, object, caller);
}

/* Without memory for that the object is the tracer's. */
static void note_expired(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    size_t granule = sgc_granule_number(object);

    sgc_date_pool_fill(&d->pool, section);
    sgc_date_pages_lock(section);
    sgc_counts_add(granule, false);
    if (!note_over(d, object, caller))
        sgc_counts_take(granule, true);
    sgc_date_pages_unlock(section);
}

/* An object that the program's function does not keep is looked for from the next collection on. */
void sgc_verify_due(struct sgc_dates *d)
{
    uintptr_t object, caller;

    sgc_assert(sgc_verifies() && sgc_mutator_mine(d->owner));
    while (d->due != 0 && !sgc_expiry_calling(d)) {
        d->due--;
        if (!sgc_expire_first(d, &object, &caller) || sgc_expiry_ask(d, object) == SGC_EXPIRY_KEEP)
            continue;
        if (sgc_counts_of(sgc_granule_number(object)) == 0)
            note_expired(d, object, caller);
    }
}

/* Only collections take dates off: a program that does not allocate, and so has none, would fill its memory with dates. */
static bool is_check_due(const struct sgc_dates *d)
{
    return (sgc_shortterm.check != 0 && d->unchecked >= sgc_shortterm.check) || (size_t)d->pages * sgc_date_words >= MANY_WORDS;
}

void sgc_verify_tick(struct sgc_dates *d)
{
    sgc_assert(sgc_verifies() && sgc_mutator_mine(d->owner));
    if (sgc_gc_lock_held())
        return;
    d->unchecked++;
    if (is_check_due(d)) {
        d->unchecked = d->pages = 0;
        GC_gcollect();
    }
    sgc_verify_due(d);
    if (sgc_findings_wait())
        sgc_findings_tell(d->owner, NULL, NULL);
}
