/* SPDX-License-Identifier: MIT */
/* What verify has found: shortterm/findings.h. */
#include "shortterm/findings.h"

#include <dlfcn.h>
#include <string.h>

#include "gc/api/internal.h"
#include "platform/platform.h"

struct findings {
    uint32_t count;
    size_t lost;                        /* there was no room for so many more */
    struct sgc_finding of[SGC_WAYS_MOST];
};

static struct findings findings;
SGC_STATE_LARGE(findings);
SGC_STATE static sgc_a32_t waiting;

/* ---- in a pause ---- */

bool sgc_findings_wait(void)
{
    return sgc_a32_load(&waiting) != 0;
}

uint32_t sgc_findings_count(void)
{
    sgc_assert(sgc_gc_lock_held() && findings.count <= SGC_WAYS_MOST);
    return findings.count;
}

struct sgc_finding *sgc_findings_add(void)
{
    sgc_assert(sgc_stopped_by_self() && findings.count <= SGC_WAYS_MOST);
    sgc_a32_store(&waiting, 1);
    if (findings.count == SGC_WAYS_MOST) {
        findings.lost++;
        return NULL;
    }
    findings.of[findings.count] = (struct sgc_finding){ .of = { .certainty = SGC_FINDING_POSSIBLE, .held = SGC_HELD_UNKNOWN } };
    return &findings.of[findings.count++];
}

/* ---- ways ---- */

static void keep_step(const struct SGC_step *step, void *finding)
{
    struct sgc_finding *f = finding;

    sgc_assert(step->number == f->of.steps);
    if (f->of.steps < SGC_FINDING_STEPS)
        f->way[f->of.steps] = *step;
    f->of.steps++;
}

static int certainty_of(enum sgc_ways_by by, SGC_held_t held)
{
    if (by == SGC_WAYS_CERTAIN)
        return SGC_FINDING_CERTAIN;
    return held == SGC_HELD_BY_OWN_STACK ? SGC_FINDING_POSSIBLE : SGC_FINDING_LIKELY;
}

static bool keep_way(struct sgc_ways *w, uint32_t target, struct sgc_finding *f)
{
    SGC_held_t held = sgc_ways_trace(w, target);

    sgc_assert(w->target[target] == (uintptr_t)f->of.object && f->of.steps == 0);
    if (held == SGC_HELD_BY_NOTHING)
        return false;
    f->of.held = held;
    f->of.certainty = certainty_of(w->by, held);
    sgc_ways_visit(w, keep_step, f);
    return true;
}

/* Looks for those that have none yet; false: all have one. */
static bool find_more(struct sgc_ways *w, uint32_t from, enum sgc_ways_by by)
{
    uint32_t left = 0;

    sgc_ways_search(w, by);
    for (uint32_t i = 0; i < w->targets; i++)
        if (findings.of[from + i].of.steps == 0)
            left += !keep_way(w, i, &findings.of[from + i]);
    return left != 0;
}

/* Of those found to be expired what nothing certain leads to is looked for by all words, and at last by dates: what nothing
 * else leads to, objects with dates do. */
void sgc_findings_find_ways(const struct sgc_mutator *self, uint32_t from)
{
    struct sgc_ways w = { .self = self, .targets = findings.count - from };

    sgc_assert(sgc_stopped_by_self() && from <= findings.count);
    for (uint32_t i = 0; i < w.targets; i++)
        w.target[i] = (uintptr_t)findings.of[from + i].of.object;
    if (w.targets != 0 && sgc_ways_begin(&w)) {
        bool left = find_more(&w, from, SGC_WAYS_CERTAIN) && find_more(&w, from, SGC_WAYS_LIKELY);

        w.dates = true;
        if (left)
            find_more(&w, from, SGC_WAYS_LIKELY);
    }
    sgc_ways_end(&w);
}

/* ---- telling ---- */

enum { SITE_TEXT = 300 };

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

static void print_object(const struct SGC_finding *f)
{
    char object[SGC_API_OBJECT_TEXT], site[SITE_TEXT];

    sgc_assert(f->object != NULL && f->bytes != 0);
    if (!sgc_api_describe_object((uintptr_t)f->object, object))
        sgc_format(object, sizeof object, "%zu bytes at %p", f->bytes, f->object);
    describe_site(f, site);
    if (f->kind == SGC_FINDING_PREMATURE)
        sgc_warn("SGC_SHORTTERM=verify: %s expired too early: %s. Its last date was thread %ld's, given at %s. With free a "
                 "pointer would dangle: refresh it as long as it is needed, or forget what leads to it", certainty(f), object,
                 f->thread, site);
    else
        sgc_warn("SGC_SHORTTERM=verify: expired before an object that leads to it and has a date: %s. Its last date was thread "
                 "%ld's, given at %s. Refresh it together with that object", object, f->thread, site);
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

/* Taken over with the GC lock, told without: who is told may use the collector, and names are asked of the loader. */
static struct findings *take(struct sgc_mutator *self)
{
    struct findings *mine = sgc_mem_obtain(sizeof *mine);
    bool closed = sgc_gc_lock_enter(self);

    if (mine != NULL) {
        *mine = findings;
        findings.count = 0;
        findings.lost = 0;
        sgc_a32_store(&waiting, 0);
    }
    sgc_gc_lock_leave(closed);
    return mine;
}

size_t sgc_findings_tell(struct sgc_mutator *self, SGC_finding_proc proc, void *data)
{
    struct findings *mine = take(self);
    size_t told = 0;

    sgc_assert(sgc_mutator_mine(self));
    if (mine == NULL)
        return 0;
    for (uint32_t i = 0; i < mine->count; i++) {
        mine->of[i].of.step = mine->of[i].way;
        (proc != NULL ? proc : print)(&mine->of[i].of, data);
    }
    if (mine->lost != 0 && proc == NULL)
        sgc_warn("SGC_SHORTTERM=verify: %zu findings more are not told; see to these first", mine->lost);
    told = mine->count + mine->lost;
    sgc_mem_release(mine, sizeof *mine);
    return told;
}
