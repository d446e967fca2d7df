/* SPDX-License-Identifier: MIT */
/*
 * Joining, detaching, cancelling and registering threads.  Each function runs on the calling
 * thread.
 */
#include "gc/api/api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "gc/collect/collect.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "gc/config/options.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/queue.h"
#include "gc/api/real_threads.h"
#include "gc/api/created_threads.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

/* Not every C library has it: null where it is missing. */
extern int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
    __attribute__((weak));

/* ---- join ---- */

enum how { FOR_EVER, AT_ONCE, UNTIL, UNTIL_BY_CLOCK };

struct join {
    enum how how;
    pthread_t thread;
    void **result;
    clockid_t clock;
    const struct timespec *until;
    int error;
};

static void join_now(struct join *j)
{
    if (j->how == FOR_EVER)
        j->error = SGC_REAL_OF(pthread_join)(j->thread, j->result);
    else if (j->how == AT_ONCE)
        j->error = SGC_REAL_OF(pthread_tryjoin_np)(j->thread, j->result);
    else if (j->how == UNTIL)
        j->error = SGC_REAL_OF(pthread_timedjoin_np)(j->thread, j->result, j->until);
    else
        j->error = SGC_REAL_OF(pthread_clockjoin_np) != NULL
                       ? SGC_REAL_OF(pthread_clockjoin_np)(j->thread, j->result, j->clock, j->until) : ENOSYS;
}

static void wait_is_over(void *self)
{
    sgc_upper_active(self);
}

/* The program has not said that it waits: its handlers may run meanwhile, and change objects.  So
 * the thread does not count as stopped.  It may be cancelled inside. */
static void wait_and_join(struct join *j)
{
    struct sgc_mutator *self = sgc_mutator_self();

    sgc_assert(self == NULL || !sgc_world_is_blocked(self));
    if (self == NULL) {
        join_now(j);
        return;
    }
    sgc_upper_blocks(self);
    pthread_cleanup_push(wait_is_over, self);
    join_now(j);
    pthread_cleanup_pop(1);
}

/* The result is in the joiner's hands before the record goes, and reported, if it lies in the heap
 * there. */
static void *join(void *raw)
{
    struct join *join = raw;
    uint64_t serial = sgc_start_serial(join->thread);

    sgc_assert(join->error == EDEADLK);
    wait_and_join(join);
    if (join->error != 0)
        return NULL;
    sgc_written_report(join->result);
    sgc_start_joined(join->thread, serial);
    return NULL;
}

static int join_by(const char *function, struct join j)
{
    j.error = EDEADLK;
    if (!sgc_threads_refused(function, "waited for"))
        GC_call_with_gc_active(join, &j);
    return j.error;
}

int GC_pthread_join(pthread_t thread, void **result)
{
    return join_by("GC_pthread_join", (struct join){ .how = FOR_EVER, .thread = thread, .result = result });
}

int GC_pthread_tryjoin_np(pthread_t thread, void **result)
{
    return join_by("GC_pthread_tryjoin_np", (struct join){ .how = AT_ONCE, .thread = thread, .result = result });
}

int GC_pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *time)
{
    return join_by("GC_pthread_timedjoin_np", (struct join){ .how = UNTIL, .thread = thread, .result = result, .until = time });
}

int GC_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *time)
{
    return join_by("GC_pthread_clockjoin_np", (struct join){ .how = UNTIL_BY_CLOCK, .thread = thread, .result = result,
                                                             .clock = clock, .until = time });
}

/* ---- detach, cancel ---- */

struct detachment {
    pthread_t thread;
    int error;
};

static void *detach(void *raw)
{
    struct detachment *d = raw;
    uint64_t serial = sgc_start_serial(d->thread);

    d->error = SGC_REAL_OF(pthread_detach)(d->thread);
    if (d->error == 0)
        sgc_start_detached(d->thread, serial);
    return NULL;
}

int GC_pthread_detach(pthread_t thread)
{
    struct detachment d = { thread, EAGAIN };

    if (!sgc_threads_refused("GC_pthread_detach", "detached"))
        GC_call_with_gc_active(detach, &d);
    return d.error;
}

int GC_pthread_cancel(pthread_t thread)
{
    return pthread_cancel(thread);
}

int GC_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t allowed;

    if (set == NULL || how == SIG_UNBLOCK)
        return pthread_sigmask(how, set, old);
    allowed = *set;
    sigdelset(&allowed, sgc_options.suspend_signal);
    return pthread_sigmask(how, &allowed, old);
}

void *GC_dlopen(const char *path, int mode)
{
    return dlopen(path, mode);
}

/* ---- threads that register themselves ---- */

void GC_allow_register_threads(void)
{
    if (!sgc_init_done())
        sgc_init_now();
}

/* The first call may start the collector, which registers the thread, too. */
int GC_register_my_thread(const struct GC_stack_base *base)
{
    if (sgc_self != NULL)
        return GC_DUPLICATE;
    if (!sgc_init_done() && !sgc_init_now())
        return GC_NO_MEMORY;
    sgc_assert(sgc_init_done());
    return sgc_mutator_register((uintptr_t)base->mem_base) != NULL ? GC_SUCCESS : GC_NO_MEMORY;
}

/* For whose sake the calling thread must stay registered; NULL: nobody's.  With the lock nobody
 * would know any more that it is to be released. */
static const char *needed_by(struct sgc_mutator *self, uintptr_t entry)
{
    sgc_assert(sgc_mutator_mine(self) && entry != 0);
    if (sgc_gc_lock_recover(self, entry))
        return "a callback of a collection, or by a thread that holds the allocation lock";
    if (sgc_finalizer_running(self, entry))
        return "a finalizer or an expiry procedure, after which SGC needs the thread";
    if (sgc_disclaim_running(self, entry))
        return "a disclaim procedure, after which SGC needs the thread";
    return NULL;
}

int GC_unregister_my_thread(void)
{
    struct sgc_mutator *self = sgc_mutator_self();
    const char *caller;

    if (self == NULL) {
        sgc_warn("GC_unregister_my_thread: thread %d is not registered; nothing is changed. Call it once, on the "
                 "thread that called GC_register_my_thread", sgc_thread_id());
        return GC_NOT_FOUND;
    }
    caller = needed_by(self, sgc_callers_stack_pointer());
    if (caller != NULL) {
        sgc_warn("GC_unregister_my_thread: called by %s; nothing is changed. Call it afterwards", caller);
        return GC_UNIMPLEMENTED;
    }
    sgc_start_over();
    sgc_assert(!sgc_gc_lock_held());
    sgc_mutator_unregister(self);
    return GC_SUCCESS;
}

int GC_thread_is_registered(void)
{
    return sgc_self != NULL;
}

/* The normal stack is known from the system; what is new is the alternate one. */
void GC_register_altstack(void *stack, GC_word stack_size, void *altstack, GC_word altstack_size)
{
    struct sgc_mutator *self = sgc_api_self();
    uintptr_t low = (uintptr_t)altstack;

    (void)stack, (void)stack_size;
    if (low == 0 || altstack_size == 0 || low + altstack_size < low) {
        sgc_warn("GC_register_altstack: an alternate stack of %zu bytes at %p is none; nothing is changed. Pass its "
                 "lowest address and its size, as to sigaltstack", (size_t)altstack_size, altstack);
        return;
    }
    sgc_assert(self == NULL || sgc_mutator_mine(self));
    if (self != NULL)
        self->reported_altstack = (struct sgc_stack_bounds){ .low = low, .high = low + altstack_size };
}
