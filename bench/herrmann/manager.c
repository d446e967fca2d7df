/* SPDX-License-Identifier: MIT */
/*
 *   body, serve   written at the library's start; read by any thread, after it
 *   state         written by the thread that makes the manager, which a compare-and-swap from NONE
 *                 chooses, and by the child of a fork; read by any thread.  Sequentially
 *                 consistent: it is rarely written, and not on a common path
 *   thread        written by the thread that makes the manager, before RUNS; read by the one that
 *                 writes the figures, if RUNS
 *   asked         any thread adds bits; a round takes all of them by one exchange.  The thread that
 *                 makes it other than 0 wakes the manager under the lock, and the manager reads it
 *                 under the lock before it sleeps: no wake-up is lost
 *   round         a lock, held during each round, and by a fork.  Taken before all other locks
 *   lock          of the two conditions: work, for the manager; change, for those that wait for it.
 *                 Taken last: no lock is taken under it
 */
#include "bench/herrmann/manager.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

enum { YIELDS = 100, LIMIT_NS = 10 * 1000 * 1000, NS_PER_S = 1000 * 1000 * 1000, STACK_BYTES = 256 << 10 };

enum { NONE, MAKING, RUNS, NEVER };

static struct {
    void (*body)(void);
    void (*serve)(unsigned asked);
    atomic_int state;
    atomic_uint asked;
    pthread_t thread;
    pthread_mutex_t round, lock;
    pthread_cond_t work, change;
} manager = { .round = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- conditions ---- */

void manager_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec manager_limit(void)
{
    struct timespec limit;

    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_nsec += LIMIT_NS;
    if (limit.tv_nsec >= NS_PER_S) {
        limit.tv_nsec -= NS_PER_S;
        limit.tv_sec++;
    }
    return limit;
}

int manager_hold_cancellation(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void manager_allow_cancellation(int before)
{
    int held;

    pthread_setcancelstate(before, &held);
}

/* ---- rounds ---- */

/* Sleeps until there is something asked for, and takes that. */
static unsigned await(void)
{
    unsigned asked;

    pthread_mutex_lock(&manager.lock);
    for (;;) {
        asked = atomic_exchange(&manager.asked, 0);
        if (asked != 0)
            break;
        pthread_cond_wait(&manager.work, &manager.lock);
    }
    pthread_mutex_unlock(&manager.lock);
    return asked;
}

static void serve_for_ever(void)
{
    for (;;) {
        unsigned asked = await();

        pthread_mutex_lock(&manager.round);
        manager.serve(asked);
        pthread_mutex_unlock(&manager.round);
        manager_changed();
    }
}

/* In a thread of the program: there is no manager.  If another thread is at it, it is done. */
static void serve_here(void)
{
    if (pthread_mutex_trylock(&manager.round) != 0)
        return;
    if (manager.serve != NULL)
        manager.serve(atomic_exchange(&manager.asked, 0));
    pthread_mutex_unlock(&manager.round);
}

void manager_changed(void)
{
    pthread_mutex_lock(&manager.lock);
    pthread_cond_broadcast(&manager.change);
    pthread_mutex_unlock(&manager.lock);
}

static void wake(void)
{
    pthread_mutex_lock(&manager.lock);
    pthread_cond_signal(&manager.work);
    pthread_mutex_unlock(&manager.lock);
}

/* ---- the thread ---- */

static void prepare(void)
{
    manager_condition(&manager.work);
    manager_condition(&manager.change);
}

void manager_start(void (*serve)(unsigned asked))
{
    manager.serve = serve;
    manager.body = serve_for_ever;
    prepare();
}

void manager_start_body(void (*body)(void))
{
    manager.body = body;
    prepare();
}

static void *begin(void *arg)
{
    manager.body();
    return arg;
}

/* A stack of that size, 0: the system's.  Its memory is mapped; its thread-local storage is
 * allocated by the library itself, and such calls find that the manager is being made. */
static int create(size_t stack_bytes)
{
    pthread_attr_t attributes;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes != 0)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    error = pthread_create(&manager.thread, &attributes, begin, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

/* With all signals blocked, which the thread inherits.  Returns the state. */
static int make(void)
{
    sigset_t all, before;
    int state = NONE;

    if (!atomic_compare_exchange_strong(&manager.state, &state, MAKING))
        return state;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    state = create(STACK_BYTES) == 0 || create(0) == 0 ? RUNS : NEVER;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&manager.state, state);
    return state;
}

/* The state, after the first call of a process. */
static int state_now(void)
{
    int state = atomic_load(&manager.state), saved;

    if (state == NONE) {
        saved = errno;
        state = make();
        errno = saved;
    }
    return state;
}

bool manager_runs(void)
{
    return state_now() == RUNS;
}

void manager_ask(unsigned what)
{
    unsigned before = atomic_fetch_or(&manager.asked, what);
    int state = state_now();

    if (state == RUNS && before == 0)
        wake();
    else if (state == NEVER)
        serve_here();
}

/* First as the thesis does, then asleep.  The condition is signalled under the lock after what was
 * waited for has come, and looked at under the lock. */
bool manager_wait(bool (*there)(unsigned bin), unsigned bin)
{
    struct timespec limit;
    int cancellation, error = 0;
    bool found;

    for (int turn = 0; turn < YIELDS && atomic_load(&manager.state) == RUNS; turn++) {
        if (there(bin))
            return true;
        sched_yield();
    }
    if (atomic_load(&manager.state) != RUNS)
        return there(bin);
    cancellation = manager_hold_cancellation();
    limit = manager_limit();
    pthread_mutex_lock(&manager.lock);
    while (!(found = there(bin)) && error == 0)
        error = pthread_cond_timedwait(&manager.change, &manager.lock, &limit);
    pthread_mutex_unlock(&manager.lock);
    manager_allow_cancellation(cancellation);
    return found;
}

/* ---- rare ---- */

double manager_cpu_seconds(void)
{
    struct timespec used = { 0, 0 };
    clockid_t clock;

    if (atomic_load(&manager.state) != RUNS || pthread_getcpuclockid(manager.thread, &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
        return 0;
    return (double)used.tv_sec + (double)used.tv_nsec / NS_PER_S;
}

void manager_hold_rounds(void)
{
    pthread_mutex_lock(&manager.round);
}

void manager_resume_rounds(void)
{
    pthread_mutex_unlock(&manager.round);
}

/* The lock may have been held by a thread that the child does not have, and conditions may have
 * waiters that it does not have: all of them begin anew. */
void manager_begin_in_child(void)
{
    pthread_mutex_init(&manager.round, NULL);
    pthread_mutex_init(&manager.lock, NULL);
    prepare();
    atomic_store(&manager.asked, 0);
    atomic_store(&manager.state, NONE);
}
