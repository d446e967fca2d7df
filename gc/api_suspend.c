/* SPDX-License-Identifier: MIT */
/*
 * Suspending one thread (javaxfc.h).  On any mutator; the two that only look or let go, on any thread.
 */
#include "gc/api_internal.h"

#include "gc/cycle.h"
#include "gc/javaxfc.h"
#include "gc/roots.h"
#include "gc/service.h"
#include "gc/world.h"

struct request {
    struct sgc_mutator *self;
    pthread_t thread;
    enum sgc_suspended result;
};

static void suspend_at_snapshot(void *raw)
{
    struct request *r = raw;

    r->result = sgc_world_suspend(r->self, r->thread);
}

/* Threads of ours are started while none is suspended, also those that a small heap does not need yet: starting one takes locks
 * of the C library. */
static void start_own_threads(struct sgc_mutator *self)
{
    sgc_cycle_start_markers(self);
    sgc_gate_close(self);
    sgc_service_start();
    sgc_gate_open();
}

static enum sgc_suspended suspend_other(struct sgc_mutator *self, pthread_t thread)
{
    struct request r = { self, thread, SGC_SUSPENDED_NOT };

    start_own_threads(self);
    sgc_gate_close(self);
    sgc_roots_snapshot(suspend_at_snapshot, &r);
    sgc_gate_open();
    return r.result;
}

/* On a thread that is in no blocked region. */
static void *suspend(void *raw)
{
    struct request *r = raw;

    if (pthread_equal(r->thread, pthread_self()))
        sgc_world_suspend_self(r->self);
    else if (suspend_other(r->self, r->thread) == SGC_SUSPENDED_NOBODY)
        sgc_warn("GC_suspend_thread(%p): no registered thread has this id; nothing is suspended. Pass the pthread_t of a "
                 "thread that GC_pthread_create made, or that registered itself, and that has not ended", (void *)r->thread);
    return NULL;
}

/* A blocked region is left for the call: to stop a thread, or to stay, is nothing for one that counts as stopped. */
void GC_suspend_thread(GC_SUSPEND_THREAD_ID thread)
{
    struct request r = { sgc_api_self(), thread, SGC_SUSPENDED_NOT };

    if (r.self == NULL)
        return;
    if (sgc_gate_look(r.self, sgc_callers_stack_pointer()))
        sgc_warn("GC_suspend_thread: called by a callback of a collection, or by a thread that holds the allocation lock; "
                 "nothing is suspended. Call it afterwards");
    else
        GC_call_with_gc_active(suspend, &r);
}

/* Calls fn for that thread, if it is registered. */
static bool look(pthread_t thread, bool (*fn)(struct sgc_mutator *m))
{
    struct sgc_registry_look look;
    struct sgc_mutator *m;
    bool result;

    sgc_registry_enter(&look);
    m = sgc_world_find(thread);
    result = m != NULL && fn(m);
    sgc_registry_leave(&look);
    return result;
}

static bool is_suspended(struct sgc_mutator *m)
{
    return sgc_section_suspended(sgc_section_of(m));
}

static bool let_go(struct sgc_mutator *m)
{
    sgc_world_unsuspend(m);
    return true;
}

void GC_resume_thread(GC_SUSPEND_THREAD_ID thread)
{
    look(thread, let_go);
}

int GC_is_thread_suspended(GC_SUSPEND_THREAD_ID thread)
{
    return look(thread, is_suspended);
}
