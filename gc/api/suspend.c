/* SPDX-License-Identifier: MIT */
/*
 * Suspending one thread (javaxfc.h).  On any mutator; the two that only look or resume, on any
 * thread.
 *
 * A caller that suspends a thread cannot know whether it has ended by itself meanwhile.  So a
 * thread that has ended, and was created by us and not joined yet, can be suspended like any other:
 * that is noted in its record.
 */
#include "gc/api/api.h"

#include "gc/collect/collect.h"
#include "gc/javaxfc.h"
#include "gc/roots/roots.h"
#include "gc/collect/background.h"
#include "gc/api/created_threads.h"
#include "gc/threads/world.h"

struct request {
    struct sgc_mutator *self;
    pthread_t thread;
    enum sgc_suspended result;
};

static void suspend_at_snapshot(void *raw)
{
    struct request *r = raw;

    sgc_assert(sgc_mutator_mine(r->self) && sgc_gc_lock_held());
    r->result = sgc_world_suspend(r->self, r->thread);
}

/* Threads of ours are started while none is suspended, also those that a small heap does not need
 * yet: starting one takes locks of the C library. */
static void start_own_threads(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    sgc_collect_start_markers(self);
    sgc_gc_lock_acquire(self);
    sgc_service_start();
    sgc_gc_lock_release();
}

static enum sgc_suspended suspend_other(struct sgc_mutator *self, pthread_t thread)
{
    struct request r = { self, thread, SGC_SUSPENDED_NOT };

    sgc_assert(sgc_mutator_mine(self) && !pthread_equal(thread, pthread_self()));
    start_own_threads(self);
    do {
        r.result = SGC_SUSPENDED_NOT;
        sgc_gc_lock_acquire(self);
        sgc_roots_snapshot(suspend_at_snapshot, &r);
        sgc_gc_lock_release();
    } while (r.result == SGC_SUSPENDED_LATER);
    return r.result;
}

/* One that has unregistered may have come back since it was looked for: SGC_SUSPENDED_NOT. */
static enum sgc_suspended suspend_ended(pthread_t thread)
{
    struct sgc_registry_scope scope;
    enum sgc_suspended result = SGC_SUSPENDED_NOBODY;
    struct sgc_start *start;

    sgc_registry_enter(&scope);
    if (sgc_world_find(thread) != NULL) {
        result = SGC_SUSPENDED_NOT;
    } else if ((start = sgc_start_ended(thread)) != NULL) {
        start->suspended = true;
        result = SGC_SUSPENDED;
    }
    sgc_registry_leave(&scope);
    return result;
}

static enum sgc_suspended suspend_any(struct sgc_mutator *self, pthread_t thread)
{
    enum sgc_suspended result;

    do {
        result = suspend_other(self, thread);
        if (result != SGC_SUSPENDED_NOBODY)
            return result;
        result = suspend_ended(thread);
    } while (result == SGC_SUSPENDED_NOT);
    return result;
}

/* On a thread that is in no blocked region. */
static void *suspend(void *raw)
{
    struct request *r = raw;

    sgc_assert(sgc_mutator_mine(r->self) && !sgc_world_is_blocked(r->self));
    if (pthread_equal(r->thread, pthread_self()))
        sgc_world_suspend_self(r->self);
    else if (suspend_any(r->self, r->thread) == SGC_SUSPENDED_NOBODY)
        sgc_warn("GC_suspend_thread(%p): no registered thread has this id; nothing is suspended. Pass the pthread_t of a "
                 "thread that GC_pthread_create made, or that registered itself, and that has not ended", (void *)r->thread);
    return NULL;
}

/* A blocked region is left for the call: to stop a thread, or to stay, is nothing for one that
 * counts as stopped. */
void GC_suspend_thread(GC_SUSPEND_THREAD_ID thread)
{
    struct request r = { sgc_api_self(), thread, SGC_SUSPENDED_NOT };

    if (r.self == NULL)
        return;
    if (sgc_gc_lock_recover(r.self, sgc_callers_stack_pointer()))
        sgc_warn("GC_suspend_thread: called by a callback of a collection, or by a thread that holds the allocation lock; "
                 "nothing is suspended. Call it afterwards");
    else
        GC_call_with_gc_active(suspend, &r);
}

void GC_resume_thread(GC_SUSPEND_THREAD_ID thread)
{
    struct sgc_registry_scope scope;
    struct sgc_mutator *m;
    struct sgc_start *ended;

    sgc_registry_enter(&scope);
    if ((m = sgc_world_find(thread)) != NULL)
        sgc_world_unsuspend(m);
    else if ((ended = sgc_start_ended(thread)) != NULL)
        ended->suspended = false;
    sgc_registry_leave(&scope);
}

int GC_is_thread_suspended(GC_SUSPEND_THREAD_ID thread)
{
    struct sgc_registry_scope scope;
    struct sgc_mutator *m;
    const struct sgc_start *ended;
    bool suspended;

    sgc_registry_enter(&scope);
    if ((m = sgc_world_find(thread)) != NULL)
        suspended = sgc_section_suspended(sgc_section_of(m));
    else
        suspended = (ended = sgc_start_ended(thread)) != NULL && ended->suspended;
    sgc_registry_leave(&scope);
    return suspended;
}
