/* SPDX-License-Identifier: MIT */
/* What has expired and can still be reached: shortterm/verify.h. */
#include "shortterm/verify.h"

#include "gc/api/internal.h"

#include "alloc/whole_heap.h"
#include "mark/mark_roots.h"
#include "platform/platform.h"
#include "shortterm/counts.h"
#include "shortterm/date_pages.h"
#include "shortterm/findings.h"
#include "shortterm/global_time.h"
#include "shortterm/holds.h"

enum {
    STILL_CYCLES = 8,                   /* a clock that has not gone on in so many collections stands still, */
    STILL_BYTES = 64 << 10,             /* if it keeps so much */
};

SGC_STATE static struct sgc_date_queue gone;
SGC_STATE static struct sgc_date_list unheld = { &sgc_dates_none, NULL, NULL };
SGC_STATE static struct { uint32_t phase, cycles; } still;      /* global time */
SGC_STATE static sgc_aw_t kept_bytes;                           /* for whoever asks: relaxed */

size_t sgc_verify_kept_bytes(void)
{
    return sgc_aw_load(&kept_bytes);
}

/* ---- dates that are over ---- */

/* An object whose last date was over, and whose that was. */
struct suspect {
    uintptr_t object;                   /* 0: something has been said of it */
    uintptr_t caller;
    sgc_tid_t thread;                   /* 0: it has ended */
};

struct suspects {
    struct suspect *of;                 /* NULL: there are none, or no memory for them */
    size_t count, most;
    sgc_tid_t thread;                   /* whose dates are taken off */
};

typedef void (*queue_fn)(void *arg, struct sgc_date_queue *queue, struct sgc_date_pool *pool, sgc_tid_t thread);

/* Pages of threads that have ended go to those for all.  What is no thread's comes first, so that of an object's dates the one
 * that can be told most about is the last. */
static void each_queue(queue_fn fn, void *arg)
{
    struct sgc_date_pool full = { NULL, UINT32_MAX / 2 };

    sgc_assert(sgc_stopped_by_self());
    fn(arg, &gone, &full, 0);
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            fn(arg, &sgc_dates_of(m)->expired, &sgc_dates_of(m)->pool, m->tid);
}

static void count_stretch(void *arg, uintptr_t *from, uintptr_t *end)
{
    *(size_t *)arg += (size_t)(end - from) / 2;
}

static void count_queue(void *arg, struct sgc_date_queue *queue, struct sgc_date_pool *pool, sgc_tid_t thread)
{
    (void)pool, (void)thread;
    sgc_date_queue_visit(queue, count_stretch, arg);
}

/* What was the last one is told by the count. */
static void take_stretch(void *arg, uintptr_t *from, uintptr_t *end)
{
    struct suspects *s = arg;

    sgc_assert((end - from) % 2 == 0);
    for (; from < end; from += 2) {
        uintptr_t object = from[0] & ~(uintptr_t)(SGC_GRANULE - 1);

        if (!sgc_counts_take(sgc_granule_number(object), (from[0] & SGC_DATE_OTHER) != 0))
            continue;
        sgc_assert(s->count < s->most);
        s->of[s->count++] = (struct suspect){ object, from[1], s->thread };
    }
}

static void take_queue(void *arg, struct sgc_date_queue *queue, struct sgc_date_pool *pool, sgc_tid_t thread)
{
    struct suspects *s = arg;

    s->thread = thread;
    sgc_date_queue_empty(queue, pool, take_stretch, s);
}

/* False: the system has no memory, and dates that are over count as if they were not. */
static bool take_off(struct suspects *s)
{
    if (!sgc_date_list_empty(&unheld))
        sgc_date_queue_append(&gone, &unheld);
    each_queue(count_queue, &s->most);
    if (s->most == 0)
        return true;
    s->of = sgc_mem_obtain(s->most * sizeof *s->of);
    if (s->of == NULL)
        return false;
    each_queue(take_queue, s);
    return true;
}

/* ---- findings ---- */

static void add_finding(int kind, const struct suspect *s, const struct sgc_object *o)
{
    struct sgc_finding *f = sgc_findings_add();

    if (f == NULL)
        return;
    f->of.kind = kind;
    f->of.object = (const void *)o->start;
    f->of.bytes = o->bytes;
    f->of.refreshed_at = (const void *)s->caller;
    f->of.thread = s->thread;
}

/* Can it be reached, and nothing has been said of it? */
static bool is_marked(const struct suspect *s, struct sgc_object *o)
{
    if (s->object == 0 || !sgc_object_find(s->object, o) || !sgc_walk_marked(o))
        return false;
    sgc_assert(o->start == s->object);
    return true;
}

static size_t count_marked(const struct suspects *s)
{
    struct sgc_object o;
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        count += is_marked(&s->of[i], &o);
    return count;
}

/* Those that are marked; not NULL: and that this search has come to. */
static void judge(struct suspects *s, int kind, const struct sgc_ways *search)
{
    struct sgc_object o;

    for (size_t i = 0; i < s->count; i++) {
        if (!is_marked(&s->of[i], &o) || (search != NULL && !sgc_ways_came_to(search, o.granule)))
            continue;
        add_finding(kind, &s->of[i], &o);
        s->of[i].object = 0;
    }
}

/* If there are more than can be told, those that are certain come first.  Without memory to look for them, in any order. */
static void judge_surest(struct suspects *s)
{
    struct sgc_ways w = { .self = sgc_mutator_self(), .targets = 1, .target = { 0 } };

    if (sgc_findings_count() + count_marked(s) > SGC_WAYS_MOST && sgc_ways_begin(&w)) {
        sgc_ways_search(&w, SGC_WAYS_CERTAIN);
        judge(s, SGC_FINDING_PREMATURE, &w);
    }
    sgc_ways_end(&w);
    judge(s, SGC_FINDING_PREMATURE, NULL);
}

/* ---- what has dates is marked: by whoever comes first ---- */

SGC_STATE static sgc_a32_t marking;     /* 1: somebody has begun to */
SGC_STATE static bool all_dates;        /* those that are over, too */

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

/* Words that say where a date was given lead nowhere. */
static bool mark_dates(struct sgc_marker *marker)
{
    if (!sgc_a32_cas(&marking, 0, 1))
        return false;
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            (all_dates ? sgc_dates_visit : sgc_dates_visit_later)(sgc_dates_of(m), mark_stretch, marker);
    if (all_dates)
        sgc_verify_visit_gone(mark_stretch, marker);
    sgc_holds_visit(mark_hold, marker);
    return true;
}

static size_t bytes_marked(const struct sgc_team *team)
{
    struct sgc_team_totals totals;

    sgc_team_totals(team, &totals);
    return totals.bytes;
}

static void mark_by_dates(struct sgc_team *team, bool all)
{
    static const struct sgc_source source = { dates_left, mark_dates };
    size_t before = bytes_marked(team);

    all_dates = all;
    sgc_a32_store(&marking, 0);
    sgc_team_look_through(team, &source, false);
    sgc_team_rescan(team, NULL);
    sgc_assert(bytes_marked(team) >= before);
    sgc_aw_store(&kept_bytes, bytes_marked(team) - before);
}

/* ---- clocks that stand still ---- */

static void add_bytes(void *arg, uintptr_t *from, uintptr_t *end)
{
    struct sgc_object o;

    for (; from < end; from += 2)
        if (sgc_object_find(*from, &o))
            *(size_t *)arg += o.bytes;
}

static size_t bytes_of(const struct sgc_date_buffer *buffer)
{
    size_t bytes = 0;

    sgc_date_buffer_visit(buffer, add_bytes, &bytes);
    return bytes;
}

static void add_still(const struct sgc_mutator *m, bool global, size_t bytes)
{
    struct sgc_finding *f = sgc_findings_add();

    sgc_assert(bytes >= STILL_BYTES);
    if (f == NULL)
        return;
    f->of.kind = SGC_FINDING_STILL;
    f->of.global = global;
    f->of.bytes = bytes;
    f->of.steps = STILL_CYCLES;
    f->of.thread = m->tid;
}

/* Said once, until it goes on. */
static void look_at_clock(struct sgc_dates *d)
{
    d->still = d->ticks == d->ticks_seen ? d->still + 1 : 0;
    d->ticks_seen = d->ticks;
    if (d->still == STILL_CYCLES && bytes_of(&d->local) >= STILL_BYTES)
        add_still(d->owner, false, bytes_of(&d->local));
}

static void look_at_global_time(void)
{
    size_t bytes = 0;

    still.cycles = sgc_time_threads() != 0 && sgc_time_phase() == still.phase ? still.cycles + 1 : 0;
    still.phase = sgc_time_phase();
    if (still.cycles != STILL_CYCLES)
        return;
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            bytes += bytes_of(&sgc_dates_of(m)->global);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL && bytes >= STILL_BYTES; m = m->next)
        if (sgc_dates_of(m) != NULL && sgc_dates_of(m)->in_time && sgc_dates_of(m)->phase == still.phase)
            add_still(m, true, bytes);
}

static void look_at_clocks(void)
{
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            look_at_clock(sgc_dates_of(m));
    look_at_global_time();
}

/* ---- a collection ---- */

void sgc_verify_mark(struct sgc_team *team)
{
    struct suspects s = { NULL, 0, 0, 0 };
    uint32_t found = sgc_findings_count();
    bool taken = take_off(&s);

    sgc_assert(sgc_stopped_by_self() && sgc_verifies());
    judge_surest(&s);
    mark_by_dates(team, !taken);
    judge(&s, SGC_FINDING_NEEDED, NULL);
    sgc_findings_find_ways(sgc_mutator_self(), found);
    look_at_clocks();
    if (s.of != NULL)
        sgc_mem_release(s.of, s.most * sizeof *s.of);
}

/* ---- threads ---- */

void sgc_verify_visit_gone(sgc_visit_dates_t fn, void *arg)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_date_queue_visit(&gone, fn, arg);
    sgc_date_list_visit(&unheld, fn, arg);
}

bool sgc_verify_unheld(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
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

/* Under the lock: before, a collection may take off what is over. */
static void leave_to_all(struct sgc_date_queue *over)
{
    sgc_assert(over->first != NULL && over->last != NULL);
    over->last->next = gone.first;
    if (gone.first == NULL)
        gone.last = over->last;
    gone.first = over->first;
    *over = (struct sgc_date_queue){ NULL, NULL, 0 };
}

void sgc_verify_leave(struct sgc_dates *d, struct sgc_section *self)
{
    struct sgc_date_queue *over = &d->expired;

    sgc_assert(sgc_verifies() && sgc_section_mine(self) && over->begin == 0);
    sgc_date_pages_lock(self);
    if (over->first != NULL)
        leave_to_all(over);
    sgc_date_pages_unlock(self);
}

void sgc_verify_tick(struct sgc_dates *d)
{
    sgc_assert(sgc_verifies() && sgc_mutator_mine(d->owner));
    if (sgc_gc_lock_held())
        return;
    if (sgc_shortterm.check != 0 && ++d->unchecked >= sgc_shortterm.check) {
        d->unchecked = 0;
        GC_gcollect();
    }
    if (sgc_findings_wait())
        sgc_findings_tell(d->owner, NULL, NULL);
}
