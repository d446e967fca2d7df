/* SPDX-License-Identifier: MIT */
/* Records of created threads.  Who may call what: gc/start_records.h. */
#include "gc/start_records.h"

#include "alloc/free.h"
#include "gc/allocate.h"

enum { BUCKETS = 256 };

SGC_STATE static struct sgc_start *table[BUCKETS];      /* newest first; under the registry's lock */

SGC_STATE static pthread_key_t key;
SGC_STATE static pthread_once_t key_once = PTHREAD_ONCE_INIT;
SGC_STATE static bool key_made;

/* ---- memory ---- */

struct sgc_start *sgc_start_make(void *(*body)(void *), void *arg, bool detached)
{
    struct sgc_start *start = sgc_allocate_or_null(sizeof *start, SGC_KIND_UNCOLLECTABLE);

    if (start != NULL)
        *start = (struct sgc_start){ .body = body, .arg = arg, .detached = detached };
    return start;
}

/* A thread that is not registered cannot free: then the little object stays, with nothing in it. */
void sgc_start_drop(struct sgc_start *start)
{
    enum sgc_free_result result;

    if (start == NULL)
        return;
    start->arg = start->result = NULL;
    if (sgc_self == NULL)
        return;
    result = sgc_object_free(sgc_self, start);
    sgc_assert(result == SGC_FREE_DONE);
    (void)result;
}

/* ---- the table ---- */

static struct sgc_section *section(void)
{
    return sgc_self != NULL ? &sgc_self->section : NULL;
}

static struct sgc_start **bucket_of(pthread_t thread)
{
    return &table[(uint64_t)thread * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

static void unlink_record(struct sgc_start *start)
{
    struct sgc_start **link = bucket_of(start->thread);

    while (*link != start)
        link = &(*link)->next;
    *link = start->next;
}

static struct sgc_start *newest(pthread_t thread)
{
    struct sgc_start *s = *bucket_of(thread);

    while (s != NULL && !pthread_equal(s->thread, thread))
        s = s->next;
    return s;
}

struct sgc_start *sgc_start_find(pthread_t thread)
{
    struct sgc_start *start;

    sgc_lock(&sgc_registry.lock, section());
    start = newest(thread);
    sgc_unlock(&sgc_registry.lock, section());
    return start;
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

bool sgc_start_begin(struct sgc_start *start)
{
    struct sgc_start **bucket;

    pthread_once(&key_once, make_key);
    if (!key_made || pthread_setspecific(key, start) != 0)
        return false;
    mine = start;
    start->thread = pthread_self();
    bucket = bucket_of(start->thread);
    sgc_lock(&sgc_registry.lock, section());
    start->next = *bucket;
    *bucket = start;
    sgc_unlock(&sgc_registry.lock, section());
    return true;
}

/* Who has unregistered may have been detached since: then the record is gone, and its memory somebody else's. */
void sgc_start_set_result(void *result)
{
    struct sgc_registry_look look;
    struct sgc_start *start = mine;

    if (start != NULL) {
        start->result = result;
        return;
    }
    sgc_registry_enter(&look);
    start = newest(pthread_self());
    if (start != NULL)
        start->result = result;
    sgc_registry_leave(&look);
}

void sgc_start_registers(pthread_t thread)
{
    struct sgc_start *start = sgc_start_ended(thread);

    if (start != NULL)
        start->suspended = false;
}

void sgc_start_over(void)
{
    struct sgc_start *start = mine;
    bool unwanted;

    if (start == NULL)
        return;
    mine = NULL;
    sgc_lock(&sgc_registry.lock, section());
    start->ended = true;
    unwanted = start->detached;
    if (unwanted)
        unlink_record(start);
    sgc_unlock(&sgc_registry.lock, section());
    if (unwanted)
        sgc_start_drop(start);
}

void sgc_start_joined(pthread_t thread)
{
    struct sgc_start *oldest = NULL;

    sgc_lock(&sgc_registry.lock, section());
    for (struct sgc_start *s = *bucket_of(thread); s != NULL; s = s->next)
        if (s->ended && pthread_equal(s->thread, thread))
            oldest = s;
    if (oldest != NULL)
        unlink_record(oldest);
    sgc_unlock(&sgc_registry.lock, section());
    sgc_start_drop(oldest);
}

void sgc_start_detached(struct sgc_start *start)
{
    bool unwanted;

    sgc_lock(&sgc_registry.lock, section());
    start->detached = true;
    unwanted = start->ended;
    if (unwanted)
        unlink_record(start);
    sgc_unlock(&sgc_registry.lock, section());
    if (unwanted)
        sgc_start_drop(start);
}
