/* SPDX-License-Identifier: MIT */
/*
 * Findings of collections for debugging: guards that were written to, objects that nobody can reach
 * and nobody has freed.  On the collecting thread: found with the world stopped, written down, and
 * reported when it runs again.
 */
#include <dlfcn.h>
#include <link.h>

#include "gc/api/guards.h"
#include "gc/api/api.h"

#include "alloc/whole_heap.h"
#include "gc/config/public_vars.h"
#include "gc/collect/collect.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "gc/inspect/inspect.h"
#include "gc/events/stats.h"
#include "gc/events/trace.h"
#include "gc/events/trace_buffer.h"
#include "gc/config/options.h"
#include "gc/profile/profile.h"
#include "gc/profile/sites.h"
#include "gc/threads/gc_lock.h"
#include "platform/registers.h"

enum { SITE_LINES = 8 };                   /* of a stack */
enum { FINDINGS = 100 };                   /* reported one by one per cycle; more are counted */

struct finding {
    enum sgc_debug_state state;             /* of an object with guards */
    bool leak;
    uintptr_t start;
    size_t bytes;
    uint32_t kind;
    uint32_t site;                          /* where it was allocated, if that is known */
    struct sgc_debug_header header;         /* as it was */
};

struct debug {
    size_t found, leaks;
    uint32_t site;                          /* that was printed last */
    struct finding finding[FINDINGS];
};

SGC_STATE static struct debug debug;

/* ---- looking, world stopped ---- */

static void note(const struct sgc_object *o, enum sgc_debug_state state, bool leak)
{
    struct finding *f;

    sgc_assert(leak || state != SGC_DEBUG_NONE);
    sgc_assert(debug.leaks <= debug.found);
    debug.leaks += leak;
    if (debug.found++ >= FINDINGS)
        return;
    f = &debug.finding[debug.found - 1];
    *f = (struct finding){ .state = state, .leak = leak, .start = o->start, .bytes = o->bytes, .kind = o->kind,
                           .site = sgc_sites_of(o->start) };
    if (state != SGC_DEBUG_NONE)
        f->header = *(const struct sgc_debug_header *)o->start;
}

/* A dead object's slot may be handed out with its old contents, so it must not look like an object
 * with guards. */
static void check_object(const struct sgc_object *o, void *find_leaks)
{
    enum sgc_debug_state state = sgc_debug_state_of((void *)o->start, o->bytes);
    bool dead = !sgc_walk_marked(o);
    bool freed = state == SGC_DEBUG_FREED || state == SGC_DEBUG_FREED_WRITTEN;
    bool leak = dead && !freed && find_leaks != NULL;

    sgc_assert(sgc_stopped_by_self());
    if (leak || (state != SGC_DEBUG_NONE && state != SGC_DEBUG_GOOD && state != SGC_DEBUG_FREED))
        note(o, state, leak);
    if (dead && state != SGC_DEBUG_NONE)
        sgc_debug_take_down((void *)o->start);
}

static void on_marked(void *context, const struct sgc_cycle_record *record)
{
    bool find_leaks = sgc_finding_leaks();

    sgc_assert(sgc_stopped_by_self());
    (void)context;
    debug.found = debug.leaks = 0;
    if (record->complete && (find_leaks || sgc_debug_used()))
        sgc_walk_objects(check_object, find_leaks ? &debug : NULL);
}

/* ---- telling, world running ---- */

static void describe(const struct finding *f, char text[SGC_DEBUG_TEXT])
{
    sgc_assert(sgc_heap_contains(f->start));
    if (f->state == SGC_DEBUG_NONE)
        sgc_format(text, SGC_DEBUG_TEXT, "%zu bytes at %p%s, allocated %s",
                   f->bytes, (void *)f->start, sgc_kind_has_pointers(f->kind) ? "" : ", pointer-free",
                   f->site != SGC_TABLE_NONE ? f->site == debug.site ? "where the last one was" : "here:" :
                   "without a position (use GC_MALLOC with GC_DEBUG, or SGC_PROFILE with rate=1)");
    else
        sgc_debug_describe(&f->header, (void *)f->start, text);
}

/* The address as its file has it, and the function's name where the loader knows it. */
static void print_place(uintptr_t place)
{
    Dl_info info;
    struct link_map *map;

    if (dladdr1((void *)place, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || info.dli_fname == NULL)
        sgc_print("  %p", (void *)place);
    else
        sgc_print("  %s(%p)%s%s", info.dli_fname, (void *)(place - map->l_addr), info.dli_sname != NULL ? " " : "",
                  info.dli_sname != NULL ? info.dli_sname : "");
}

static void print_site(uint32_t site)
{
    uintptr_t place[SITE_LINES];
    int places = sgc_sites_stack(sgc_section_self(), site, place, SITE_LINES);

    for (int i = 0; i < places; i++)
        print_place(place[i]);
}

static void tell(const struct finding *f)
{
    char text[SGC_DEBUG_TEXT];

    sgc_assert(f->leak || f->state != SGC_DEBUG_NONE);
    describe(f, text);
    if (f->state != SGC_DEBUG_NONE && f->state != SGC_DEBUG_GOOD)
        sgc_debug_report("a collection", f->state, text);
    if (f->leak)
        sgc_warn("leaked: %s", text);
    if (!f->leak || f->state != SGC_DEBUG_NONE)
        return;
    if (f->site != SGC_TABLE_NONE && f->site != debug.site)
        print_site(f->site);
    debug.site = f->site;
}

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    size_t reported = debug.found < FINDINGS ? debug.found : FINDINGS;

    sgc_assert(!sgc_stopped_by_self());
    (void)context, (void)record;
    debug.site = SGC_TABLE_NONE;
    for (size_t i = 0; i < reported; i++)
        tell(&debug.finding[i]);
    if (reported < debug.found)
        sgc_warn("%zu more objects were leaked or written to out of bounds; they are not listed", debug.found - reported);
    debug.found = 0;
    if (debug.leaks != 0 && sgc_options.abort_on_leak)
        sgc_fatal("%zu objects were leaked, and GC_ABORT_ON_LEAK is set", debug.leaks);
}

static const struct sgc_listener listener = { .marked = on_marked, .cycle_end = on_cycle_end };

/* ---- when ---- */

void sgc_client_checks_start(void)
{
    sgc_verify(sgc_listener_add(&listener));
}

static void collect_for_leaks(void)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (self != NULL && sgc_finding_leaks())
        sgc_collect(self, SGC_REASON_EXPLICIT, NULL);
}

/* Not while the thread itself collects, or stops the world: the file opens without its end, too. */
static void end_timeline(void)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (!sgc_trace_wanted() || sgc_gc_lock_recover(self, sgc_stack_pointer()))
        return;
    sgc_gc_lock_acquire(self);
    sgc_trace_stop();
    sgc_gc_lock_release();
}

/* The thread that ends the program may be none that allocates. */
static void end_profile(void)
{
    struct sgc_mutator *self = sgc_options.profile[0] != '\0' ? sgc_mutator_self() : NULL;
    bool closed;

    if (sgc_options.profile[0] != '\0' && self == NULL)
        self = sgc_mutator_admit();
    if (self == NULL || sgc_gc_lock_recover(self, sgc_stack_pointer()))
        return;
    closed = sgc_gc_lock_enter(self);
    sgc_profile_at_exit(self);
    sgc_gc_lock_leave(closed);
}

/* When the program ends: the last leaks, the last profile, the timeline's end, the summary of
 * GC_PRINT_STATS. */
__attribute__((destructor))
static void at_exit(void)
{
    if (!sgc_init_done())
        return;
    collect_for_leaks();
    end_profile();
    end_timeline();
    sgc_stats_at_exit();
    if (sgc_options.numa_report)
        SGC_print_placement();
}
