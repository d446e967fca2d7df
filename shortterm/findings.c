/* SPDX-License-Identifier: MIT */
/* Findings of verify: shortterm/findings.h. */
#include "shortterm/findings.h"

#include <dlfcn.h>
#include <string.h>

#include "alloc/object.h"
#include "gc/api/api.h"
#include "gc/inspect/inspect.h"
#include "platform/platform.h"
#include "shortterm/global_time.h"
#include "shortterm/orphan_dates.h"

struct findings {
    struct sgc_finding *of;
    uint32_t count, room;
};

SGC_STATE static struct findings findings;
SGC_STATE static sgc_a32_t waiting;

/* ---- in a pause ---- */

static size_t bytes_of(uint32_t room)
{
    return sgc_round_up(room * sizeof(struct sgc_finding), sgc_os_page_size());
}

static void release(struct findings *f)
{
    sgc_assert(f->count <= f->room && (f->room == 0 || f->of != NULL));
    if (f->room != 0)
        sgc_mem_release(f->of, bytes_of(f->room));
    *f = (struct findings){ .of = NULL };
}

static bool grow(void)
{
    struct findings larger = { .count = findings.count, .room = findings.room == 0 ? 16 : 2 * findings.room };

    sgc_assert(findings.count == findings.room);
    larger.of = sgc_mem_obtain(bytes_of(larger.room));
    if (larger.of == NULL)
        return false;
    if (findings.count != 0)
        memcpy(larger.of, findings.of, findings.count * sizeof *findings.of);
    release(&findings);
    findings = larger;
    return true;
}

/* A new one, to be filled; it has no `objects` yet.  NULL: the system has no memory for more. */
static struct sgc_finding *add_finding(int kind)
{
    struct sgc_finding *f;

    sgc_assert(sgc_stopped_by_self() && findings.count <= findings.room);
    if (findings.count == findings.room && !grow())
        return NULL;
    sgc_a32_store(&waiting, 1);
    f = &findings.of[findings.count++];
    *f = (struct sgc_finding){ .of = { .kind = kind, .certainty = SGC_FINDING_POSSIBLE, .held = SGC_HELD_UNKNOWN } };
    return f;
}

struct sgc_finding *sgc_findings_at(int kind, const void *place)
{
    struct sgc_finding *f;

    sgc_assert(sgc_stopped_by_self());
    for (uint32_t i = 0; i < findings.count; i++)
        if (findings.of[i].of.kind == kind && findings.of[i].of.refreshed_at == place)
            return &findings.of[i];
    f = add_finding(kind);
    if (f != NULL)
        f->of.refreshed_at = place;
    return f;
}

static void keep_step(const struct SGC_step *step, void *finding)
{
    struct sgc_finding *f = finding;

    sgc_assert(step->number == f->of.steps);
    if (f->of.steps < SGC_FINDING_STEPS)
        f->way[f->of.steps] = *step;
    f->of.steps++;
}

void sgc_findings_set_way(struct sgc_finding *f, struct sgc_ways *w)
{
    f->of.steps = 0;
    f->of.held = sgc_ways_trace(w, (uintptr_t)f->of.object);
    sgc_assert(f->of.held != SGC_HELD_BY_NOTHING);
    sgc_ways_visit(w, keep_step, f);
}

/* ---- clocks that stand still ---- */

enum {
    STILL_CYCLES = 8,                   /* a clock that has not gone on in so many collections */
    STILL_BYTES = 64 << 10,             /* stands still, if it keeps so much */
};

SGC_STATE static struct { uint32_t phase, cycles; } still;      /* global time */

static void add_bytes(void *arg, uintptr_t *from, uintptr_t *end)
{
    struct sgc_object o;

    sgc_assert(from < end && (end - from) % 2 == 0);
    for (; from < end; from += 2)
        if (sgc_object_find(*from, &o))
            *(size_t *)arg += o.bytes;
}

static size_t bytes_in(const struct sgc_date_buffer *buffer)
{
    size_t bytes = 0;

    sgc_date_buffer_visit(buffer, add_bytes, &bytes);
    return bytes;
}

static void add_still(const struct sgc_mutator *m, bool global, size_t bytes)
{
    struct sgc_finding *f = add_finding(SGC_FINDING_STILL);

    sgc_assert(bytes >= STILL_BYTES);
    if (f == NULL)
        return;
    f->of.objects = 1;
    f->of.global = global;
    f->of.bytes = bytes;
    f->of.steps = STILL_CYCLES;
    f->of.thread = m->tid;
}

/* Said once, until it goes on. */
static void check_clock(struct sgc_dates *d)
{
    sgc_assert(d->ticks >= d->ticks_seen);
    d->still = d->ticks == d->ticks_seen ? d->still + 1 : 0;
    d->ticks_seen = d->ticks;
    if (d->still == STILL_CYCLES && bytes_in(&d->local) >= STILL_BYTES)
        add_still(d->owner, false, bytes_in(&d->local));
}

static void check_global_time(void)
{
    size_t bytes = 0;

    still.cycles = sgc_time_threads() != 0 && sgc_time_phase() == still.phase ? still.cycles + 1 : 0;
    still.phase = sgc_time_phase();
    if (still.cycles != STILL_CYCLES)
        return;
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            bytes += bytes_in(&sgc_dates_of(m)->global);
    sgc_orphan_dates_visit_objects(add_bytes, &bytes);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL && bytes >= STILL_BYTES; m = m->next)
        if (sgc_dates_of(m) != NULL && sgc_dates_of(m)->in_time && sgc_dates_of(m)->phase == still.phase)
            add_still(m, true, bytes);
}

void sgc_findings_of_clocks(void)
{
    sgc_assert(sgc_stopped_by_self() && sgc_verifies());
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            check_clock(sgc_dates_of(m));
    check_global_time();
}

/* ---- telling ---- */

enum { SITE_TEXT = 300, OTHERS_TEXT = 40 };

static const char *certainty(const struct SGC_finding *f)
{
    static const char *const words[] = { "certainly", "likely", "possibly" };

    sgc_assert((unsigned)f->certainty < sizeof words / sizeof words[0]);
    return words[f->certainty];
}

static void describe_site(const struct SGC_finding *f, char text[SITE_TEXT])
{
    Dl_info info;

    if (dladdr(f->refreshed_at, &info) == 0 || info.dli_fname == NULL)
        sgc_format(text, SITE_TEXT, "%p", f->refreshed_at);
    else if (info.dli_sname == NULL)
        sgc_format(text, SITE_TEXT, "%p in %s, +0x%zx", f->refreshed_at, info.dli_fname,
                   (size_t)((const char *)f->refreshed_at - (const char *)info.dli_fbase));
    else
        sgc_format(text, SITE_TEXT, "%p in %s, `%s`+%zu", f->refreshed_at, info.dli_fname, info.dli_sname,
                   (size_t)((const char *)f->refreshed_at - (const char *)info.dli_saddr));
}

static void print_way(const struct SGC_finding *f)
{
    struct sgc_way_telling t = { .held = f->held, .count = f->steps };

    for (size_t i = 0; i < f->steps && i < SGC_FINDING_STEPS; i++)
        sgc_way_print_step(&f->step[i], &t);
    if (f->steps > SGC_FINDING_STEPS)
        sgc_print("     ... %zu objects more ...", f->steps - SGC_FINDING_STEPS);
}

/* Behind the place where it got its date. */
static void describe_others(const struct SGC_finding *f, char text[OTHERS_TEXT])
{
    text[0] = '\0';
    if (f->objects > 1)
        sgc_format(text, OTHERS_TEXT, ", as those of %zu more", f->objects - 1);
}

static void print_object(const struct SGC_finding *f)
{
    char object[SGC_API_OBJECT_TEXT], site[SITE_TEXT], others[OTHERS_TEXT];

    sgc_assert(f->object != NULL && f->bytes != 0);
    if (!sgc_api_describe_object((uintptr_t)f->object, object))
        sgc_format(object, sizeof object, "%zu bytes at %p", f->bytes, f->object);
    describe_site(f, site);
    describe_others(f, others);
    if (f->kind == SGC_FINDING_PREMATURE)
        sgc_warn("SGC_SHORTTERM=verify: %s expired too early: %s. Its last date was thread %ld's, given at %s%s. With free "
                 "a pointer would dangle: refresh it as long as it is needed, or forget what leads to it", certainty(f), object,
                 f->thread, site, others);
    else
        sgc_warn("SGC_SHORTTERM=verify: expired before an object that leads to it and has a date: %s. Its last date was thread "
                 "%ld's, given at %s%s. Refresh it together with that object", object, f->thread, site, others);
    print_way(f);
}

static void print(const struct SGC_finding *f, void *unused)
{
    (void)unused;
    if (f->kind != SGC_FINDING_STILL)
        print_object(f);
    else if (f->global)
        sgc_warn("SGC_SHORTTERM=verify: global time has stood still for %zu collections and keeps %zu bytes, since thread %ld "
                 "does not tick. Let it call SGC_tick_global, or SGC_leave_time, or wait in GC_do_blocking", f->steps, f->bytes,
                 f->thread);
    else
        sgc_warn("SGC_SHORTTERM=verify: thread %ld's clock has stood still for %zu collections and keeps %zu bytes. Let the "
                 "thread call SGC_tick", f->thread, f->steps, f->bytes);
}

/* Takes over the findings with the GC lock.  They are told without it: the program's function may
 * use the collector, and names are asked of the loader. */
static struct findings take(struct sgc_mutator *self)
{
    bool closed = sgc_gc_lock_enter(self);
    struct findings mine = findings;

    findings = (struct findings){ .of = NULL };
    sgc_a32_store(&waiting, 0);
    sgc_gc_lock_leave(closed);
    return mine;
}

size_t sgc_findings_tell(struct sgc_mutator *self, SGC_finding_proc proc, void *data)
{
    struct findings mine;
    size_t objects = 0;

    sgc_assert(sgc_mutator_mine(self));
    if (sgc_a32_load(&waiting) == 0)
        return 0;
    mine = take(self);
    for (int certainty = SGC_FINDING_CERTAIN; certainty <= SGC_FINDING_POSSIBLE; certainty++)
        for (uint32_t i = 0; i < mine.count; i++) {
            struct sgc_finding *f = &mine.of[i];

            if (f->of.certainty != certainty)
                continue;
            f->of.step = f->way;
            objects += f->of.objects;
            (proc != NULL ? proc : print)(&f->of, data);
        }
    release(&mine);
    return objects;
}
