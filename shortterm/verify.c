/* SPDX-License-Identifier: MIT */
/* SGC_SHORTTERM=verify in a collection: shortterm/verify.h. */
#include "shortterm/verify.h"

#include <string.h>

#include "alloc/whole_heap.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/register.h"
#include "gc/threads/gc_lock.h"
#include "mark/mark_roots.h"
#include "platform/platform.h"
#include "shortterm/dates/counts.h"
#include "shortterm/expire.h"
#include "shortterm/expiry_procs.h"
#include "shortterm/findings.h"
#include "shortterm/holds.h"
#include "shortterm/orphan_dates.h"

SGC_STATE static sgc_aw_t kept_bytes;                           /* read by any thread: relaxed */

size_t sgc_verify_kept_bytes(void)
{
    return sgc_aw_load(&kept_bytes);
}

/* ---- objects that have expired and are still there ---- */

/* How an object can be reached, the surer the larger. */
enum level { LEVEL_NONE, LEVEL_NEEDED, LEVEL_POSSIBLE, LEVEL_LIKELY, LEVEL_CERTAIN };

struct expired {
    uintptr_t object, caller;
    sgc_tid_t thread;
    uint8_t reported;           /* the surest that was */
    uint8_t found;              /* in this collection */
};

SGC_STATE static struct {
    struct expired *of;
    size_t count, room;
} list;

static size_t bytes_of(size_t room)
{
    return sgc_round_up(room * sizeof(struct expired), sgc_os_page_size());
}

/* Makes room for so many more.  False: the system has no memory, and nothing has changed. */
static bool reserve(size_t more)
{
    size_t room = 2 * (list.count + more);
    struct expired *of;

    sgc_assert(sgc_stopped_by_self() && list.count <= list.room);
    if (list.count + more <= list.room)
        return true;
    of = sgc_mem_obtain(bytes_of(room));
    if (of == NULL)
        return false;
    if (list.room != 0) {
        memcpy(of, list.of, list.count * sizeof *of);
        sgc_mem_release(list.of, bytes_of(list.room));
    }
    list.of = of;
    list.room = room;
    return true;
}

/* The object has lost its last date: that of the thread (0: it has ended, or was a hold), given at
 * `caller`. */
static void add(uintptr_t object, uintptr_t caller, sgc_tid_t thread)
{
    sgc_assert(list.count < list.room && sgc_heap_contains(object));
    sgc_counts_note_expired(sgc_granule_number(object), true);
    list.of[list.count++] = (struct expired){ object, caller, thread, LEVEL_NONE, LEVEL_NONE };
}

static bool stays(const struct expired *e)
{
    return sgc_counts_expired(sgc_granule_number(e->object));
}

static bool is_marked(const struct expired *e)
{
    struct sgc_object o;

    return sgc_object_find(e->object, &o) && o.start == e->object && sgc_walk_marked(&o);
}

static void keep_those(bool (*keep)(const struct expired *e))
{
    size_t kept = 0;

    sgc_assert(list.count <= list.room);
    for (size_t i = 0; i < list.count; i++)
        if (keep(&list.of[i]))
            list.of[kept++] = list.of[i];
        else
            sgc_counts_note_expired(sgc_granule_number(list.of[i].object), false);
    list.count = kept;
}

/* Forgets those that have a date again, or have been freed by hand. */
static void tidy(void)
{
    sgc_assert(sgc_stopped_by_self());
    keep_those(stays);
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

    sgc_assert(sgc_heap_contains(object));
    if (sgc_expiry_used() && sgc_counts_of(granule) == 1 && sgc_expiry_has(object))
        return true;
    if (sgc_counts_take(granule, (*date & SGC_DATE_OTHER) != 0) && !is_tracers(object))
        add(object, date[1], thread);
    return false;
}

static void count_stretch(void *arg, uintptr_t *from, uintptr_t *end)
{
    sgc_assert(from < end && (end - from) % 2 == 0);
    *(size_t *)arg += (size_t)(end - from) / 2;
}

static void take_thread(struct sgc_dates *d)
{
    size_t due = 0;

    sgc_assert(sgc_dates_ok(d) && d->expire_to == NULL);
    sgc_date_queue_filter(&d->expired, &d->pool, 2, take_off, &d->owner->tid);
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
    sgc_assert(sgc_orphan_dates_over.at == sgc_orphan_dates_over.first->word);
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
    if (!sgc_date_list_empty(&sgc_unheld))
        sgc_date_queue_append(&sgc_orphan_dates_over, &sgc_unheld);
    sgc_date_queue_visit(&sgc_orphan_dates_over, count_stretch, &over);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            sgc_date_queue_visit(&sgc_dates_of(m)->expired, count_stretch, &over);
    tidy();
    if (over != 0 && reserve(over))
        take_all();
}

/* Calls fn for each stretch of dates that are over and no thread's.  By any marker. */
static void visit_gone(sgc_visit_dates_t fn, void *arg)
{
    sgc_assert(sgc_shortterm.counts);
    sgc_date_queue_visit(&sgc_orphan_dates_over, fn, arg);
    sgc_date_list_visit(&sgc_unheld, fn, arg);
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

/* Those, too, that are over and were not taken off.  Words that say where a date was given lead
 * nowhere. */
static bool mark_dates(struct sgc_marker *marker)
{
    if (!sgc_a32_cas(&marking, 0, 1))
        return false;
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            sgc_dates_visit(sgc_dates_of(m), mark_stretch, marker);
    visit_gone(mark_stretch, marker);
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

/* ---- findings ---- */

static void describe(struct sgc_finding *f, const struct expired *e, struct sgc_ways *w)
{
    struct sgc_object o;

    sgc_assert(e->found != LEVEL_NONE);
    sgc_object_find(e->object, &o);
    f->of.object = (const void *)o.start;
    f->of.bytes = o.bytes;
    f->of.thread = e->thread;
    f->of.certainty = e->found >= LEVEL_LIKELY ? LEVEL_CERTAIN - e->found : SGC_FINDING_POSSIBLE;
    if (e->found == LEVEL_NEEDED)
        f->of.certainty = SGC_FINDING_LIKELY;
    sgc_findings_set_way(f, w);
}

_Static_assert(SGC_FINDING_CERTAIN == 0 && SGC_FINDING_LIKELY == 1, "in one order with the levels, the other way round");

/* One for each place where dates are given: reported is the surest of its objects, and how many
 * there are. */
static void note(struct expired *e, struct sgc_ways *w)
{
    int kind = e->found == LEVEL_NEEDED ? SGC_FINDING_NEEDED : SGC_FINDING_PREMATURE;
    struct sgc_finding *f = sgc_findings_at(kind, (const void *)e->caller);

    sgc_assert(e->found > e->reported);
    if (f == NULL)
        return;                         /* no memory: in the next collection */
    if (f->of.objects == 0 || f->level < e->found) {
        f->level = e->found;
        describe(f, e, w);
    }
    f->of.objects += f->of.objects == 0 || e->reported == LEVEL_NONE;
    e->reported = e->found;
}

static void judge(struct sgc_ways *w, uint8_t level)
{
    sgc_assert(level != LEVEL_NONE && level <= LEVEL_CERTAIN);
    for (size_t i = 0; i < list.count; i++) {
        struct expired *e = &list.of[i];

        if (e->found != LEVEL_NONE || !sgc_ways_came_to(w, sgc_granule_number(e->object)))
            continue;
        e->found = level;
        if (level > e->reported)
            note(e, w);
    }
}

/* Is there any of which something surer may be found? */
static bool are_open(void)
{
    bool open = false;

    for (size_t i = 0; i < list.count; i++) {
        list.of[i].found = LEVEL_NONE;
        open |= list.of[i].reported < LEVEL_CERTAIN;
    }
    return open;
}

/* Free would have freed an uncollectable one: what it leads to nobody needs. */
static bool is_dead(uintptr_t object)
{
    return sgc_counts_expired(sgc_granule_number(object));
}

/* When all is marked: forgets what is garbage, and makes findings of what the program can reach, as
 * far as that has not been told yet or is surer now. */
static void judge_all(void)
{
    static const struct { enum sgc_ways_by by; uint8_t level; } turns[] = {
        { SGC_WAYS_CERTAIN, LEVEL_CERTAIN }, { SGC_WAYS_LIKELY, LEVEL_LIKELY }, { SGC_WAYS_OWN_STACK, LEVEL_POSSIBLE },
        { SGC_WAYS_DATES, LEVEL_NEEDED }
    };
    struct sgc_ways w = { .self = sgc_mutator_self(), .dead = is_dead };

    sgc_assert(sgc_stopped_by_self());
    keep_those(is_marked);
    if (are_open() && sgc_ways_begin(&w))
        for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
            sgc_ways_search(&w, turns[i].by);
            judge(&w, turns[i].level);
        }
    sgc_ways_end(&w);
}

/* ---- a collection ---- */

void sgc_verify_mark(struct sgc_team *team)
{
    sgc_assert(sgc_stopped_by_self() && sgc_verifies());
    take_off_all();
    mark_by_dates(team);
    judge_all();
    sgc_findings_of_clocks();
}
