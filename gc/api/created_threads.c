/* SPDX-License-Identifier: MIT */
/*
 * Creating and ending threads that the collector knows of, and their records.
 * gc/api/created_threads.h says which thread may call each function; new threads are in `run`.
 *
 * The creator waits until the new thread is registered: its pthread_t can be joined or detached
 * from then on, its stack is a root, and if it cannot be registered the creator is told so.  They
 * meet in a structure on the creator's stack:
 *
 *   launch.state   the new thread, once, release      the creator, acquire; futex
 */
#include "gc/api/api.h"

#include <errno.h>

#include "alloc/free.h"
#include "gc/api/created_threads.h"
#include "gc/api/hooks.h"
#include "gc/api/real_threads.h"
#include "gc/collect/allocate.h"
#include "gc/collect/collect.h"
#include "gc/threads/world.h"

enum { BUCKETS = 256 };

/* All under the registry's lock. */
SGC_STATE static struct sgc_start *table[BUCKETS];      /* newest first */
SGC_STATE static struct sgc_start *settled;             /* to be freed */
SGC_STATE static uint64_t last_serial;

SGC_STATE static pthread_key_t key;
SGC_STATE static pthread_once_t key_once = PTHREAD_ONCE_INIT;
SGC_STATE static bool key_made;

/* ---- memory ---- */

/* NULL if there is no memory.  On the creating mutator. */
static struct sgc_start *make_record(void *(*body)(void *), void *arg, bool detached)
{
    struct sgc_start *start = sgc_allocate_or_null(sizeof *start, SGC_KIND_UNCOLLECTABLE);

    sgc_assert(sgc_self != NULL);
    if (start != NULL) {
        *start = (struct sgc_start){ .body = body, .detached = detached };
        sgc_written_store(&start->arg, arg);
    }
    return start;
}

/* The end of a record that is not listed. */
static void drop_record(struct sgc_start *start)
{
    enum sgc_free_result result;

    if (start == NULL)
        return;
    sgc_assert(sgc_heap_contains((uintptr_t)start));
    result = sgc_object_free(sgc_self, start);
    sgc_assert(result == SGC_FREE_DONE);
    (void)result;
}

/* ---- the table ---- */

static struct sgc_start **bucket_of(pthread_t thread)
{
    return &table[(uint64_t)thread * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

/* It keeps nothing alive from here on. */
static void settle(struct sgc_start *start)
{
    struct sgc_start **link = bucket_of(start->thread);

    sgc_assert(sgc_registry_locked() && sgc_start_ok(start));
    while (*link != start)
        link = &(*link)->next;
    *link = start->next;
    sgc_assert(start->next == NULL || start->next->serial < start->serial);     /* newest first */
    start->arg = start->result = NULL;
    start->next = settled;
    settled = start;
}

static void lock(void)
{
    sgc_lock(&sgc_registry.lock, sgc_section_self());
    sgc_assert(sgc_registry_locked());
}

/* Releases the lock and frees what is settled. */
static void unlock_and_free(void)
{
    struct sgc_start *start = NULL, *next;

    sgc_assert(sgc_registry_locked());
    if (sgc_self != NULL) {
        start = settled;
        settled = NULL;
    }
    sgc_unlock(&sgc_registry.lock, sgc_section_self());
    for (; start != NULL; start = next) {
        next = start->next;
        drop_record(start);
    }
}

static struct sgc_start *numbered(pthread_t thread, uint64_t serial)
{
    struct sgc_start *s = *bucket_of(thread);

    sgc_assert(sgc_registry_locked());
    while (s != NULL && s->serial != serial)
        s = s->next;
    sgc_assert(s == NULL || sgc_start_ok(s));
    return s;
}

static struct sgc_start *newest(pthread_t thread)
{
    struct sgc_start *s = *bucket_of(thread);

    sgc_assert(sgc_registry_locked());
    while (s != NULL && !pthread_equal(s->thread, thread))
        s = s->next;
    sgc_assert(s == NULL || sgc_start_ok(s));
    return s;
}

uint64_t sgc_start_serial(pthread_t thread)
{
    const struct sgc_start *start;
    uint64_t serial;

    lock();
    start = newest(thread);
    serial = start != NULL ? start->serial : 0;
    sgc_unlock(&sgc_registry.lock, sgc_section_self());
    return serial;
}

struct sgc_start *sgc_start_ended(pthread_t thread)
{
    struct sgc_start *start = newest(thread);

    return start != NULL && start->ended ? start : NULL;
}

/* ---- the life of a record ---- */

static void at_thread_end(void *unused)
{
    (void)unused;
    sgc_start_over();
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, at_thread_end) == 0;
}

static _Thread_local struct sgc_start *sgc_thread_record __attribute__((tls_model("initial-exec")));

/* Settles older records of the pthread_t: their threads have been joined, or were detached and have
 * ended. */
static void list(struct sgc_start *start)
{
    struct sgc_start **bucket = bucket_of(start->thread), *older;

    sgc_assert(sgc_registry_locked() && start->serial == 0);
    while ((older = newest(start->thread)) != NULL)
        settle(older);
    start->serial = ++last_serial;
    sgc_assert(*bucket == NULL || (*bucket)->serial < start->serial);
    start->next = *bucket;
    *bucket = start;
}

/* By the new thread, registered, before it runs: lists the record and sees to it that
 * sgc_start_over is called when the thread ends, whichever way.  False if the system cannot. */
static bool begin_record(struct sgc_start *start)
{
    sgc_assert(sgc_self != NULL && sgc_thread_record == NULL);
    pthread_once(&key_once, make_key);
    if (!key_made || pthread_setspecific(key, start) != 0)
        return false;
    sgc_thread_record = start;
    start->thread = pthread_self();
    lock();
    list(start);
    sgc_mutator_self()->started = start->serial;
    unlock_and_free();
    return true;
}

/* Stores the result that the calling thread leaves to the thread that joins it.  A thread that has
 * unregistered may have been detached since: then the record is gone, and its memory somebody
 * else's. */
static void set_result(void *result)
{
    struct sgc_registry_scope scope;
    struct sgc_start *start = sgc_thread_record;

    if (start != NULL) {
        sgc_written_store(&start->result, result);
        return;
    }
    sgc_registry_enter(&scope);
    start = newest(pthread_self());
    if (start != NULL)
        sgc_written_store(&start->result, result);
    sgc_registry_leave(&scope);
}

/* A thread registers: if it was away, a request to suspend it meanwhile is over.  With the
 * registry's lock. */
static void on_registered(pthread_t thread)
{
    struct sgc_start *start = sgc_start_ended(thread);

    sgc_assert(sgc_registry_locked());
    if (start != NULL)
        start->suspended = false;
}

static void end(struct sgc_start *start)
{
    sgc_assert(sgc_registry_locked() && sgc_start_ok(start) && !start->ended);
    start->ended = true;
    if (start->detached)
        settle(start);
}

void sgc_start_over(void)
{
    struct sgc_start *start = sgc_thread_record;

    sgc_assert(start == NULL || sgc_start_ok(start));
    if (start == NULL)
        return;
    sgc_thread_record = NULL;
    lock();
    end(start);
    unlock_and_free();
}

/* The thread of that record, which is not the calling one, has ended without a word.  With the
 * registry's lock. */
static void on_vanished(pthread_t thread, uint64_t serial)
{
    struct sgc_start *start = numbered(thread, serial);

    sgc_assert(sgc_registry_locked());
    if (start != NULL && !start->ended)
        end(start);
}

/* The record is settled even if it does not say that the thread is over: a thread that the system
 * has ended has not stored that. */
void sgc_start_joined(pthread_t thread, uint64_t serial)
{
    struct sgc_start *start;

    lock();
    if ((start = numbered(thread, serial)) != NULL)
        settle(start);
    unlock_and_free();
}

void sgc_start_detached(pthread_t thread, uint64_t serial)
{
    struct sgc_start *start;

    lock();
    if ((start = numbered(thread, serial)) != NULL) {
        start->detached = true;
        if (start->ended)
            settle(start);
    }
    unlock_and_free();
}

/* ---- create ---- */

enum { STARTING, RUNNING, FAILED };

struct launch {
    struct sgc_start *start;
    sgc_a32_t state;
};

/* After this the creator may be gone: the wake-up only names an address. */
static void report_state(struct launch *launch, uint32_t state)
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
    set_result(result);
    return result;
}

static void *run(void *raw)
{
    struct launch *launch = raw;
    struct sgc_start *start = launch->start;

    sgc_assert(sgc_a32_load(&launch->state) == STARTING && start->serial == 0);
    if (sgc_mutator_register(0) == NULL || !begin_record(start)) {
        report_state(launch, FAILED);
        return NULL;
    }
    report_state(launch, RUNNING);
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
    int error = SGC_REAL_OF(pthread_create)(thread, attr, run, launch);

    sgc_assert(launch->start != NULL);
    if (error != 0)
        return error;
    if (wait_until_running(launch))
        return 0;
    if (!detached)
        SGC_REAL_OF(pthread_join)(*thread, NULL);
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
    struct launch launch = { .start = make_record(c->body, c->arg, detached) };

    sgc_assert(sgc_mutator_mine(sgc_mutator_self()) && !sgc_world_is_blocked(sgc_mutator_self()));
    sgc_collect_start_threads_ahead(sgc_mutator_self());
    c->error = launch.start != NULL ? launch_thread(&launch, c->thread, c->attr, detached) : EAGAIN;
    if (c->error != 0)
        drop_record(launch.start);
    return NULL;
}

/* A blocked region is left for the call: the record is in the heap. */
int GC_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    struct creation c = { thread, attr, body, arg, EAGAIN };

    if (sgc_api_self() == NULL)
        return EAGAIN;
    if (!sgc_threads_refused("GC_pthread_create", "created"))
        GC_call_with_gc_active(create, &c);
    return c.error;
}

/* ---- end ---- */

void GC_pthread_exit(void *result)
{
    set_result(result);
    SGC_REAL_OF(pthread_exit)(result);
    __builtin_unreachable();
}

/* ---- for the other files ---- */

bool sgc_threads_refused(const char *function, const char *what)
{
    if (!sgc_stopped_by_self())
        return false;
    sgc_warn("%s: called by a callback of a collection, or by a thread that holds the world stopped; no thread is %s. Call it "
             "afterwards", function, what);
    return true;
}

void sgc_client_threads_start(void)
{
    sgc_thread_set_creator(SGC_REAL_OF(pthread_create));
    sgc_thread_hooks.registers = on_registered;
    sgc_thread_hooks.vanished = on_vanished;
}
