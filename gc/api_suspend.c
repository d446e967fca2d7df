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

/* Threads of ours are started while none is suspended: starting one takes locks of the C library. */
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

void GC_suspend_thread(GC_SUSPEND_THREAD_ID thread)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL)
        return;
    if (sgc_gate_mine())
        sgc_warn("GC_suspend_thread: called by a callback of a collection, or by a thread that holds the allocation lock; "
                 "nothing is suspended. Call it afterwards");
    else if (pthread_equal(thread, pthread_self()))
        sgc_world_suspend_self(self);
    else if (suspend_other(self, thread) == SGC_SUSPENDED_NOBODY)
        sgc_warn("GC_suspend_thread(%p): no registered thread has this id; nothing is suspended. Pass the pthread_t of a "
                 "thread that GC_pthread_create made, or that registered itself, and that has not ended", (void *)thread);
}

/* Calls fn for that thread, if it is registered.  A thread that has stopped the world holds the registry's lock. */
static bool look(pthread_t thread, bool (*fn)(struct sgc_mutator *m))
{
    bool locked = sgc_world_stopped() && sgc_gate_mine();
    struct sgc_mutator *m;
    bool result;

    if (!locked)
        sgc_lock(&sgc_registry.lock, sgc_api_section());
    m = sgc_world_find(thread);
    result = m != NULL && fn(m);
    if (!locked)
        sgc_unlock(&sgc_registry.lock, sgc_api_section());
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
