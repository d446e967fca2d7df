/* SPDX-License-Identifier: MIT */
/*
 * Stops without a cycle, for the client and for looks at the heap.  On the thread that has the GC
 * lock.
 */
#include "gc/collect/external_stop.h"

#include "gc/events/events.h"
#include "gc/threads/gc_lock.h"
#include "gc/roots/roots.h"
#include "gc/threads/world.h"

/* By the thread that has the GC lock. */
struct external {
    bool stopped;
    bool keep_lock;                     /* the thread had it before */
    uint32_t nested;                    /* stops in a world that stood still already */
    bool looking;                       /* slots that caches have claimed are hidden */
};

SGC_STATE static struct external external;

struct stop {
    struct sgc_mutator *self;
    void (*fn)(void *arg);              /* NULL: the world stays as it is */
    void *arg;
    bool again;                         /* the stop has been given up for a signal, which is taken
                                           before the next try */
};

static void each_cache(void (*change)(struct sgc_cache *cache))
{
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        change(&m->cache);
}

/* Caches keep what they have: if a look took it from them, a program that looks often would claim
 * anew each time, and what it claims counts as allocated.  A look within a look finds it done. */
static void with_claims_hidden(void *arg)
{
    const struct stop *e = arg;
    bool within = external.looking;

    sgc_assert(sgc_stopped_by_self() && e->fn != NULL);
    external.looking = true;
    if (!within)
        each_cache(sgc_cache_hide_claimed);
    e->fn(e->arg);
    if (!within)
        each_cache(sgc_cache_take_back);
    external.looking = within;
}

static void external_stop_at_snapshot(void *arg)
{
    struct stop *e = arg;
    struct sgc_cycle_record record;

    sgc_assert(sgc_gc_lock_held());
    sgc_cycle_begin(&record, 0, SGC_REASON_EXPLICIT);
    external.stopped = sgc_world_stop(e->self, 1, &record);
    e->again = !external.stopped && sgc_world_interrupted();
    if (!external.stopped || e->fn == NULL)
        return;
    with_claims_hidden(e);
    sgc_world_resume(e->self, NULL);
}

/* Inside the loader's lock, as a cycle's: so no thread that stands still has that lock. */
static void external_stop_from(void *arg, uintptr_t sp)
{
    struct stop *e = arg;

    sgc_world_publish_sp(e->self, sp);
    external.stopped = e->again = false;
    sgc_roots_snapshot(external_stop_at_snapshot, e);
}

/* True with the GC lock, which *closed is about. */
static bool external_stop(struct stop *e, bool *closed)
{
    bool stopped;

    sgc_assert(sgc_mutator_mine(e->self));
    do {
        *closed = sgc_gc_lock_enter(e->self);
        sgc_with_registers(external_stop_from, e);
        stopped = external.stopped;
        if (!stopped)
            sgc_gc_lock_leave(*closed);
    } while (e->again);
    return stopped;
}

/* A thread that holds the GC lock for another reason keeps it after the stop. */
bool sgc_external_stop(struct sgc_mutator *self)
{
    struct stop e = { .self = self };
    bool closed;

    if (sgc_stopped_by_self()) {
        external.nested++;
        return true;
    }
    if (!external_stop(&e, &closed))
        return false;
    external.keep_lock = !closed;
    return true;
}

/* In a world that stands still already modules may have gone since. */
bool sgc_with_world_stopped(struct sgc_mutator *self, void (*fn)(void *arg), void *arg)
{
    struct stop e = { .self = self, .fn = fn, .arg = arg };
    bool closed;

    if (sgc_stopped_by_self())
        return sgc_roots_snapshot(with_claims_hidden, &e);
    if (!external_stop(&e, &closed))
        return false;
    sgc_gc_lock_leave(closed);
    return true;
}

void sgc_external_resume(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && sgc_stopped_by_self());
    if (external.nested > 0) {
        external.nested--;
        return;
    }
    sgc_world_resume(self, NULL);
    sgc_gc_lock_leave(!external.keep_lock);
}
