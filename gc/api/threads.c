/* SPDX-License-Identifier: MIT */
/*
 * Creating, joining and ending threads that the collector knows of.  Each function runs on the calling thread, new
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

#include "gc/collect/client_hooks.h"
#include "gc/collect/cycle.h"
#include "gc/config/options.h"
#include "gc/api/real_threads.h"
#include "gc/api/created_threads.h"
#include "gc/threads/world.h"

/* ---- the real functions ---- */

static int real_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    return SGC_real_pthread_create != NULL ? SGC_real_pthread_create(thread, attr, body, arg)
                                           : pthread_create(thread, attr, body, arg);
}

static int real_join(pthread_t thread, void **result)
{
    return SGC_real_pthread_join != NULL ? SGC_real_pthread_join(thread, result) : pthread_join(thread, result);
}

static int real_tryjoin(pthread_t thread, void **result)
{
    return SGC_real_pthread_tryjoin_np != NULL ? SGC_real_pthread_tryjoin_np(thread, result)
                                               : pthread_tryjoin_np(thread, result);
}

static int real_timedjoin(pthread_t thread, void **result, const struct timespec *until)
{
    return SGC_real_pthread_timedjoin_np != NULL ? SGC_real_pthread_timedjoin_np(thread, result, until)
                                                 : pthread_timedjoin_np(thread, result, until);
}

/* Not every C library has it: null where it is missing. */
extern int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
    __attribute__((weak));

static int real_clockjoin(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
    if (SGC_real_pthread_clockjoin_np != NULL)
        return SGC_real_pthread_clockjoin_np(thread, result, clock, until);
    return pthread_clockjoin_np != NULL ? pthread_clockjoin_np(thread, result, clock, until) : ENOSYS;
}

static int real_detach(pthread_t thread)
{
    return SGC_real_pthread_detach != NULL ? SGC_real_pthread_detach(thread) : pthread_detach(thread);
}

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
    int error = real_create(thread, attr, run, launch);

    sgc_assert(launch->start != NULL);
    if (error != 0)
        return error;
    if (wait_until_running(launch))
        return 0;
    if (!detached)
        real_join(*thread, NULL);
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

struct join {
    int (*real)(const struct join *join);
    pthread_t thread;
    void **result;
    clockid_t clock;
    const struct timespec *until;
    int error;
};

static int for_ever(const struct join *join)
{
    return real_join(join->thread, join->result);
}

static int at_once(const struct join *join)
{
    return real_tryjoin(join->thread, join->result);
}

static int until(const struct join *join)
{
    return real_timedjoin(join->thread, join->result, join->until);
}

static int until_by_clock(const struct join *join)
{
    return real_clockjoin(join->thread, join->result, join->clock, join->until);
}

static void *join_blocked(void *raw)
{
    struct join *join = raw;

    join->error = join->real(join);
    return NULL;
}

/* The result is in the joiner's hands before the record goes. */
static void *join(void *raw)
{
    struct join *join = raw;
    uint64_t serial = sgc_start_serial(join->thread);

    sgc_assert(join->error == EDEADLK);
    sgc_api_block(join_blocked, join);
    if (join->error == 0)
        sgc_start_joined(join->thread, serial);
    return NULL;
}

static int join_by(const char *function, struct join *j)
{
    j->error = EDEADLK;
    if (!refuse(function, "waited for"))
        GC_call_with_gc_active(join, j);
    return j->error;
}

int GC_pthread_join(pthread_t thread, void **result)
{
    struct join j = { .real = for_ever, .thread = thread, .result = result };

    return join_by("GC_pthread_join", &j);
}

int GC_pthread_tryjoin_np(pthread_t thread, void **result)
{
    struct join j = { .real = at_once, .thread = thread, .result = result };

    return join_by("GC_pthread_tryjoin_np", &j);
}

int GC_pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *time)
{
    struct join j = { .real = until, .thread = thread, .result = result, .until = time };

    return join_by("GC_pthread_timedjoin_np", &j);
}

int GC_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *time)
{
    struct join j = { .real = until_by_clock, .thread = thread, .result = result, .clock = clock, .until = time };

    return join_by("GC_pthread_clockjoin_np", &j);
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

    d->error = real_detach(d->thread);
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
    if (SGC_real_pthread_exit != NULL)
        SGC_real_pthread_exit(result);
    pthread_exit(result);
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

/* ---- for the rest of the library ---- */

void sgc_api_thread_over(void)
{
    sgc_start_over();
}

void sgc_client_threads_start(void)
{
    if (SGC_real_pthread_create != NULL)
        sgc_thread_set_creator(SGC_real_pthread_create);
    sgc_thread_hooks.registers = sgc_start_registers;
    sgc_thread_hooks.vanished = sgc_start_vanished;
}
