/* SPDX-License-Identifier: MIT */
/* Records of created threads.  gc/api/created_threads.h says which thread may call each
 * function. */
#include "gc/api/created_threads.h"

#include "alloc/free.h"
#include "gc/collect/allocate.h"
#include "platform/dirty.h"

enum { BUCKETS = 256 };

/* All under the registry's lock. */
SGC_STATE static struct sgc_start *table[BUCKETS];      /* newest first */
SGC_STATE static struct sgc_start *settled;             /* to be freed */
SGC_STATE static uint64_t last_serial;

SGC_STATE static pthread_key_t key;
SGC_STATE static pthread_once_t key_once = PTHREAD_ONCE_INIT;
SGC_STATE static bool key_made;

/* ---- memory ---- */

struct sgc_start *sgc_start_make(void *(*body)(void *), void *arg, bool detached)
{
    struct sgc_start *start = sgc_allocate_or_null(sizeof *start, SGC_KIND_UNCOLLECTABLE);

    sgc_assert(sgc_self != NULL);
    if (start != NULL) {
        *start = (struct sgc_start){ .body = body, .detached = detached };
        sgc_dirty_store(&start->arg, arg);
    }
    return start;
}

void sgc_start_drop(struct sgc_start *start)
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

/* Lets go of the lock and frees what is settled. */
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
        sgc_start_drop(start);
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

static _Thread_local struct sgc_start *mine __attribute__((tls_model("initial-exec")));

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

bool sgc_start_begin(struct sgc_start *start)
{
    sgc_assert(sgc_self != NULL && mine == NULL);
    pthread_once(&key_once, make_key);
    if (!key_made || pthread_setspecific(key, start) != 0)
        return false;
    mine = start;
    start->thread = pthread_self();
    lock();
    list(start);
    sgc_mutator_self()->started = start->serial;
    unlock_and_free();
    return true;
}

/* A thread that has unregistered may have been detached since: then the record is gone, and its memory somebody else's. */
void sgc_start_set_result(void *result)
{
    struct sgc_registry_scope scope;
    struct sgc_start *start = mine;

    if (start != NULL) {
        sgc_dirty_store(&start->result, result);
        return;
    }
    sgc_registry_enter(&scope);
    start = newest(pthread_self());
    if (start != NULL)
        sgc_dirty_store(&start->result, result);
    sgc_registry_leave(&scope);
}

void sgc_start_registers(pthread_t thread)
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
    struct sgc_start *start = mine;

    sgc_assert(start == NULL || sgc_start_ok(start));
    if (start == NULL)
        return;
    mine = NULL;
    lock();
    end(start);
    unlock_and_free();
}

void sgc_start_vanished(pthread_t thread, uint64_t serial)
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
