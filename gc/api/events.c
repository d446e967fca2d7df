/* SPDX-License-Identifier: MIT */
/*
 * The client's view of collections: from the collector's events to the client's hooks and to
 * counters that only the API shows.  Runs on the collecting thread with the GC lock held, part of
 * it with the world stopped.
 */
#include "gc/api/api.h"

#include "gc/api/hooks.h"
#include "gc/collect/collect.h"
#include "gc/threads/world.h"

struct hooks {
    sgc_aw_t event;                     /* GC_on_collection_event_proc */
    sgc_aw_t thread;                    /* GC_on_thread_event_proc */
    sgc_aw_t start;                     /* GC_start_callback_proc */
};

SGC_STATE static struct hooks hooks;
SGC_STATE struct sgc_api_counters sgc_api_counters;

static void tell(GC_EventType event)
{
    GC_on_collection_event_proc hook = GC_get_on_collection_event();

    if (hook != NULL)
        hook(event);
}

/* The registry is ours while the world is stopped. */
static void report_threads(GC_EventType event)
{
    GC_on_thread_event_proc hook = GC_get_on_thread_event();

    sgc_assert(sgc_stopped_by_self());
    if (hook == NULL)
        return;
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (m != sgc_mutator_self() && !m->service && m->signalled)
            hook(event, (void *)m->handle);
}

/* ---- stages of a collection ---- */

static void call_start(void)
{
    GC_start_callback_proc start = GC_get_start_callback();

    if (start != NULL)
        start();
}

static void on_cycle_start(void *context, const struct sgc_cycle_record *record)
{
    (void)context, (void)record;
    sgc_assert(sgc_gc_lock_held() && !sgc_world_stopped());
    tell(GC_EVENT_START);
    call_start();
}

/* The start callback comes before each stop, since what it begins the hook that pushes roots may
 * end. */
static void on_stop_requested(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    if (record->concurrent.earlier_stops != 0)
        call_start();
    tell(GC_EVENT_PRE_STOP_WORLD);
}

/* A concurrent cycle goes on if it cannot be stopped in the middle. */
static void on_stop_failed(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    if (record->concurrent.earlier_stops == 0)
        tell(GC_EVENT_END);
}

static void on_given_up(void *context, const struct sgc_cycle_record *record)
{
    (void)context, (void)record;
    tell(GC_EVENT_END);
}

static void on_stopped(void *context, const struct sgc_cycle_record *record)
{
    (void)context, (void)record;
    sgc_assert(sgc_stopped_by_self());
    report_threads(GC_EVENT_THREAD_SUSPENDED);
    tell(GC_EVENT_POST_STOP_WORLD);
    tell(GC_EVENT_MARK_START);
}

static void on_marked(void *context, const struct sgc_cycle_record *record)
{
    (void)context, (void)record;
    sgc_assert(sgc_stopped_by_self());
    tell(GC_EVENT_MARK_END);
}

static void on_flipped(void *context, const struct sgc_cycle_record *record)
{
    (void)context, (void)record;
    tell(GC_EVENT_PRE_START_WORLD);
    report_threads(GC_EVENT_THREAD_UNSUSPENDED);
}

/* Dead objects have been unallocated in the pause.  The program is told of that with the world
 * running, as by bdwgc, since a hook may print or lock then.  A collection that is given up ends
 * here. */
static void on_resumed(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    sgc_assert(sgc_gc_lock_held() && !sgc_world_stopped());
    tell(GC_EVENT_POST_START_WORLD);
    if (!record->concurrent.another_stop)
        tell(record->complete ? GC_EVENT_RECLAIM_START : GC_EVENT_END);
}

static void measure(const struct sgc_cycle_record *r)
{
    struct sgc_api_counters *c = &sgc_api_counters;

    sgc_assert(sgc_a32_load(&c->measuring) != 0);
    sgc_aw_add_relaxed(&c->measured_ns, r->times.resumed_ns - r->times.request_ns);
    sgc_aw_add_relaxed(&c->stopped_ns, r->concurrent.earlier_stops_ns + sgc_cycle_pause_ns(r));
    sgc_aw_add_relaxed(&c->stops, r->concurrent.earlier_stops + 1);
}

static void count(const struct sgc_cycle_record *r)
{
    struct sgc_api_counters *c = &sgc_api_counters;
    uint64_t before = r->heap.live_bytes_before, after = r->heap.live_bytes_after;
    uint64_t dead = before > after ? before - after : 0;

    sgc_assert(sgc_cycle_ok(r));
    sgc_aw_store(&c->live_objects, r->marked.objects);
    sgc_aw_add_relaxed(&c->reclaimed_before, sgc_aw_load(&c->reclaimed_last));
    sgc_aw_store(&c->reclaimed_last, dead);
    if (sgc_a32_load(&c->measuring) != 0)
        measure(r);
}

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    count(record);
    tell(GC_EVENT_RECLAIM_END);
    tell(GC_EVENT_END);
}

static const struct sgc_listener listener = {
    .cycle_start = on_cycle_start,
    .stop_requested = on_stop_requested,
    .stop_failed = on_stop_failed,
    .stopped = on_stopped,
    .marked = on_marked,
    .flipped = on_flipped,
    .resumed = on_resumed,
    .cycle_end = on_cycle_end,
    .given_up = on_given_up,
};

void sgc_client_hooks_start(void)
{
    sgc_verify(sgc_listener_add(&listener));
    sgc_api_install_reports();
}

/* ---- the hooks ---- */

SGC_API_HOOK(on_collection_event, GC_on_collection_event_proc, hooks.event)
SGC_API_HOOK(on_thread_event, GC_on_thread_event_proc, hooks.thread)
SGC_API_HOOK(start_callback, GC_start_callback_proc, hooks.start)
