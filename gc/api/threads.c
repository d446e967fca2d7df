/* SPDX-License-Identifier: MIT */
/*
 * Creating, joining, ending and registering threads that the collector knows of.  Each function runs on the calling thread, new
 * threads in `run`.
 *
 * The creator waits until the new thread is registered: its pthread_t can be joined or detached from then
 * on, its stack is a root, and if it cannot be registered the creator hears of it.  They meet in a structure on the
 * creator's stack:
 *
 *   launch.state   the new thread, once, release      the creator, acquire; futex
 */
#include "gc/api/internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include "gc/api/hooks.h"
#include "gc/collect/cycle.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "gc/config/options.h"
#include "gc/finalize/finalize.h"
#include "gc/api/real_threads.h"
#include "gc/api/created_threads.h"
#include "gc/threads/world.h"

/* ---- the real functions ---- */

#define REAL(name) (SGC_real_##name != NULL ? SGC_real_##name : name)

/* Not every C library has it: null where it is missing. */
extern int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
    __attribute__((weak));

/* The records of threads have a lock, and a thread that stands still does not end. */
static bool refuse(const char *function, const char *what)
{
    if (!sgc_stopped_by_self())
        return false;
    sgc_warn("%s: called by a callback of a collection, or by a thread that holds the world stopped; no thread is %s. Call it "
             "afterwards", function, what);
    return true;
}

/* ---- create ---- */

enum { STARTING, RUNNING, FAILED };

struct launch {
    struct sgc_start *start;
    sgc_a32_t state;
};

/* After this the creator may be gone: the wake-up only names an address. */
static void tell(struct launch *launch, uint32_t state)
{
    sgc_assert(state != STARTING && sgc_a32_load(&launch->state) == STARTING);
    sgc_a32_store_rel(&launch->state, state);
    sgc_wake(&launch->state, 1);
}

static void *run_body(struct sgc_start *start)
{
    void *arg = start->arg, *result;

    sgc_assert(sgc_self != NULL && start->body != NULL);
    start->arg = NULL;
    result = start->body(arg);
    sgc_start_set_result(result);
    return result;
}

static void *run(void *raw)
{
    struct launch *launch = raw;
    struct sgc_start *start = launch->start;

    sgc_assert(sgc_a32_load(&launch->state) == STARTING && start->serial == 0);
    if (sgc_mutator_register(0) == NULL || !sgc_start_begin(start)) {
        tell(launch, FAILED);
        return NULL;
    }
    tell(launch, RUNNING);
    return run_body(start);
}

static bool wait_until_running(struct launch *launch)
{
    uint32_t state;

    sgc_assert(launch->start != NULL);
    while ((state = sgc_a32_load_acq(&launch->state)) == STARTING) {
        if (sgc_self != NULL)
            sgc_world_wait(&sgc_self->section, &launch->state, STARTING);
        else
            sgc_wait(&launch->state, STARTING, -1);
    }
    return state == RUNNING;
}

static bool is_detached(const pthread_attr_t *attr)
{
    int state = PTHREAD_CREATE_JOINABLE;

    return attr != NULL && pthread_attr_getdetachstate(attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED;
}

static int launch_thread(struct launch *launch, pthread_t *thread, const pthread_attr_t *attr, bool detached)
{
    int error = REAL(pthread_create)(thread, attr, run, launch);

    sgc_assert(launch->start != NULL);
    if (error != 0)
        return error;
    if (wait_until_running(launch))
        return 0;
    if (!detached)
        REAL(pthread_join)(*thread, NULL);
    return EAGAIN;
}

struct creation {
    pthread_t *thread;
    const pthread_attr_t *attr;
    void *(*body)(void *);
    void *arg;
    int error;
};

static void *create(void *raw)
{
    struct creation *c = raw;
    bool detached = is_detached(c->attr);
    struct launch launch = { .start = sgc_start_make(c->body, c->arg, detached) };

    sgc_assert(sgc_mutator_mine(sgc_mutator_self()) && !sgc_world_is_blocked(sgc_mutator_self()));
    sgc_cycle_start_threads_ahead(sgc_mutator_self());
    c->error = launch.start != NULL ? launch_thread(&launch, c->thread, c->attr, detached) : EAGAIN;
    if (c->error != 0)
        sgc_start_drop(launch.start);
    return NULL;
}

/* A blocked region is left for the call: the record is in the heap. */
int GC_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    struct creation c = { thread, attr, body, arg, EAGAIN };

    if (sgc_api_self() == NULL)
        return EAGAIN;
    if (!refuse("GC_pthread_create", "created"))
        GC_call_with_gc_active(create, &c);
    return c.error;
}

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

static void *join_blocked(void *raw)
{
    struct join *j = raw;

    if (j->how == FOR_EVER)
        j->error = REAL(pthread_join)(j->thread, j->result);
    else if (j->how == AT_ONCE)
        j->error = REAL(pthread_tryjoin_np)(j->thread, j->result);
    else if (j->how == UNTIL)
        j->error = REAL(pthread_timedjoin_np)(j->thread, j->result, j->until);
    else
        j->error = REAL(pthread_clockjoin_np) != NULL
                       ? REAL(pthread_clockjoin_np)(j->thread, j->result, j->clock, j->until) : ENOSYS;
    return NULL;
}

/* The result is in the joiner's hands before the record goes, and reported, if it lies in the heap there. */
static void *join(void *raw)
{
    struct join *join = raw;
    uint64_t serial = sgc_start_serial(join->thread);

    sgc_assert(join->error == EDEADLK);
    GC_do_blocking(join_blocked, join);
    if (join->error != 0)
        return NULL;
    sgc_dirty_report(join->result);
    sgc_start_joined(join->thread, serial);
    return NULL;
}

static int join_by(const char *function, struct join j)
{
    j.error = EDEADLK;
    if (!refuse(function, "waited for"))
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

/* ---- detach, end ---- */

struct detachment {
    pthread_t thread;
    int error;
};

static void *detach(void *raw)
{
    struct detachment *d = raw;
    uint64_t serial = sgc_start_serial(d->thread);

    d->error = REAL(pthread_detach)(d->thread);
    if (d->error == 0)
        sgc_start_detached(d->thread, serial);
    return NULL;
}

int GC_pthread_detach(pthread_t thread)
{
    struct detachment d = { thread, EAGAIN };

    if (!refuse("GC_pthread_detach", "detached"))
        GC_call_with_gc_active(detach, &d);
    return d.error;
}

int GC_pthread_cancel(pthread_t thread)
{
    return pthread_cancel(thread);
}

void GC_pthread_exit(void *result)
{
    sgc_start_set_result(result);
    REAL(pthread_exit)(result);
    __builtin_unreachable();
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

/* With the lock nobody would know any more that it is to be released. */
int GC_unregister_my_thread(void)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (self == NULL) {
        sgc_warn("GC_unregister_my_thread: thread %d is not registered; nothing is changed. Call it once, on the "
                 "thread that called GC_register_my_thread", sgc_thread_id());
        return GC_NOT_FOUND;
    }
    if (sgc_gc_lock_recover(self, sgc_callers_stack_pointer())) {
        sgc_warn(
            "GC_unregister_my_thread: called by a callback of a collection, or by a thread that holds the allocation lock; "
            "nothing is changed. Call it afterwards");
        return GC_UNIMPLEMENTED;
    }
    if (sgc_finalizer_running(self, sgc_callers_stack_pointer())) {
        sgc_warn("GC_unregister_my_thread: called by a finalizer or an expiry procedure, after which SGC needs the thread; "
                 "nothing is changed. Call it afterwards");
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

/* ---- for the rest of the library ---- */

void sgc_client_threads_start(void)
{
    sgc_thread_set_creator(REAL(pthread_create));
    sgc_thread_hooks.registers = sgc_start_registers;
    sgc_thread_hooks.vanished = sgc_start_vanished;
}
