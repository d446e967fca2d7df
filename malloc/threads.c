/* SPDX-License-Identifier: MIT */
/* Threads and their caches: malloc/threads.h.  Each function runs on the thread it is about. */
#include "malloc/threads.h"

#include <limits.h>
#include <pthread.h>

#include "alloc/large/span.h"
#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "malloc/checked.h"
#include "malloc/give_back.h"
#include "platform/platform.h"
#include "platform/stretch.h"

SGC_STATE struct sgc_threads sgc_threads = { .lock = SGC_LOCK_INIT(SGC_RANK_REGISTRY) };

/* Which cache the calling thread uses. */
enum stage {
    STAGE_NEW,                  /* no cache yet */
    STAGE_OWN,                  /* a cache of its own */
    STAGE_COMMON,               /* it is over, or there was no cache for it: the common one */
};
static _Thread_local enum stage stage __attribute__((tls_model("initial-exec")));

/* ---- records ---- */

static void check_list(const struct sgc_record *first)
{
    for (const struct sgc_record *r = first; r != NULL; r = r->next)
        sgc_verify(r->cache.id != SGC_NO_OWNER && r != sgc_threads.common && (r->prev == NULL) == (r == first) &&
                   (r->next == NULL || r->next->prev == r));
}

/* Under the registry's lock. */
static void check_lists(void)
{
    sgc_assert(sgc_lock_taken(&sgc_threads.lock));
    check_list(sgc_threads.used);
    check_list(sgc_threads.lost);
}

static void link_to(struct sgc_record **list, struct sgc_record *r)
{
    sgc_assert(r->cache.id != SGC_NO_OWNER);
    r->prev = NULL;
    r->next = *list;
    if (r->next != NULL)
        r->next->prev = r;
    *list = r;
}

static void unlink_from(struct sgc_record **list, struct sgc_record *r)
{
    sgc_assert(r->prev != NULL || *list == r);
    if (r->prev != NULL)
        r->prev->next = r->next;
    else
        *list = r->next;
    if (r->next != NULL)
        r->next->prev = r->prev;
}

/* Of the bins at its end only those get memory whose kinds there are: sgc_cache_open. */
static struct sgc_record *new_record(void)
{
    struct sgc_stretch memory;
    struct sgc_record *r;

    if (!sgc_stretch_open(&memory, sizeof *r, _Alignof(struct sgc_record)))
        return NULL;
    if (!sgc_stretch_grow(&memory, offsetof(struct sgc_record, cache.bin))) {
        sgc_stretch_close(&memory);
        return NULL;
    }
    sgc_assert((uintptr_t)memory.start % _Alignof(struct sgc_record) == 0);
    r = (struct sgc_record *)(void *)memory.start;
    r->cache.memory = memory;
    return r;
}

/* An unused one, else a new one; its cache is not open. */
static struct sgc_record *take_record(void)
{
    struct sgc_record *r;

    sgc_lock(&sgc_threads.lock, NULL);
    r = sgc_threads.unused;
    if (r != NULL)
        sgc_threads.unused = r->next;
    sgc_unlock(&sgc_threads.lock, NULL);
    return r != NULL ? r : new_record();
}

/* Opens the record's cache and enters the record in the list; or gives it back. */
static bool open_record(struct sgc_record *r)
{
    bool opened;

    sgc_assert(r->cache.memory.start != NULL && !sgc_lock_taken(&r->cache.lock));
    sgc_section_reset(&r->cache.section);
    sgc_lock(&sgc_threads.lock, NULL);
    opened = sgc_cache_open(&r->cache, false);
    if (opened) {
        link_to(&sgc_threads.used, r);
    } else {
        r->next = sgc_threads.unused;
        sgc_threads.unused = r;
    }
    sgc_unlock(&sgc_threads.lock, NULL);
    return opened;
}

/* A record whose cache is closed leaves the list and may be another thread's. */
static void retire_record(struct sgc_record *r, struct sgc_record **list)
{
    sgc_assert(r->cache.tag == 0 && &r->cache != sgc_self);
    sgc_lock(&sgc_threads.lock, NULL);
    unlink_from(list, r);
    r->next = sgc_threads.unused;
    sgc_threads.unused = r;
    sgc_unlock(&sgc_threads.lock, NULL);
}

/* ---- the end of a thread ---- */

SGC_STATE static pthread_key_t end_key;
SGC_STATE static sgc_a32_t end_key_made;

enum { LAST_ROUNDS = 2 };       /* other destructors, which may still allocate, run first */

static struct sgc_record *own_record(void)
{
    sgc_assert(stage == STAGE_OWN && sgc_self != NULL);
    return (struct sgc_record *)(void *)((char *)sgc_self - offsetof(struct sgc_record, cache));
}

/* The value counts the rounds of destructors that have been waited for.  In the child of a fork the
 * thread may end before it has taken a slow path, with the locks of caches held as the fork left
 * them. */
static void at_thread_end(void *value)
{
    uintptr_t round = (uintptr_t)value;
    struct sgc_record *r;

    if (stage != STAGE_OWN)
        return;
    sgc_assert(round >= 1 && round <= LAST_ROUNDS);
    if (round < LAST_ROUNDS) {
        pthread_setspecific(end_key, (void *)(round + 1));
        return;
    }
    sgc_threads_settle();
    r = own_record();
    sgc_cache_close(&r->cache, &r->cache.section);
    stage = STAGE_COMMON;
    sgc_cache_use(NULL);
    retire_record(r, &sgc_threads.used);
}

/* ---- caches ---- */

/* A section was left by a jump out of a signal handler. */
static void repair(struct sgc_section *self)
{
    sgc_assert(self->held == 0);
    sgc_cache_repair((struct sgc_cache *)(void *)self);
}

bool sgc_threads_start(void)
{
    struct sgc_record *r = new_record();

    sgc_assert(sgc_threads.common == NULL);
    sgc_section_hooks.repair = repair;
    if (r == NULL || !sgc_cache_open(&r->cache, false))
        return false;
    sgc_threads.common = r;
    return true;
}

/* The C library may allocate to remember the value: the thread has its cache by then.  For the
 * common paths it has none where blocks are checked. */
static void begin(void)
{
    struct sgc_record *r = take_record();
    struct sgc_cache *none = sgc_fast_cache;

    sgc_assert(stage == STAGE_NEW && sgc_self == NULL);
    stage = STAGE_COMMON;
    if (r == NULL || !open_record(r))
        return;
    stage = STAGE_OWN;
    sgc_cache_use(&r->cache);
    if (sgc_checks())
        sgc_fast_cache = none;
    if (sgc_a32_load_acq(&end_key_made) != 0)
        pthread_setspecific(end_key, (void *)1);
}

/* After a fork: closes the caches of threads that are not here, whose sections are abandoned, and
 * takes back the pages that they had in their hands. */
static void close_lost(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    struct sgc_record *r;

    sgc_assert(caches >= 2);
    for (uint32_t id = 1; id < caches; id++)
        sgc_lock_reset(&sgc_cache_of(id)->lock);
    while ((r = sgc_threads.lost) != NULL) {
        sgc_section_reset(&r->cache.section);
        sgc_a32_store(&r->cache.section.state, 0);
        sgc_cache_repair(&r->cache);
        sgc_cache_close(&r->cache, &r->cache.section);
        retire_record(r, &sgc_threads.lost);
    }
    sgc_pool_take_back_lost();
}

/* Whether a fork's child has put off closing caches: LOST by its only thread; CLOSING by the thread
 * whose compare-and-swap it is, and NONE by its release, for which others wait. */
enum { NONE, LOST, CLOSING };
SGC_STATE static sgc_a32_t put_off;

void sgc_threads_settle(void)
{
    uint32_t now;

    while (__builtin_expect((now = sgc_a32_load_acq(&put_off)) != NONE, 0)) {
        sgc_assert(now == LOST || now == CLOSING);
        if (now == CLOSING) {
            sgc_wait(&put_off, now, -1);
        } else if (sgc_a32_cas(&put_off, LOST, CLOSING)) {
            close_lost();
            sgc_a32_store_rel(&put_off, NONE);
            sgc_wake(&put_off, INT_MAX);
        }
    }
}

struct sgc_cache *sgc_thread_cache(void)
{
    sgc_assert(sgc_threads.common != NULL && (stage == STAGE_OWN) == (sgc_self != NULL));
    if (stage == STAGE_NEW)
        begin();
    return sgc_self;
}

/* ---- fork ----
 *
 * The forking thread holds all locks meanwhile, so that the child finds the heap whole.  The
 * handlers are registered with the first call of the family, before anybody else's: so they are the
 * last to prepare, and the first in the child, and others' handlers may allocate.
 *
 *   held      the thread that has all locks     that thread, and the child's only one
 */

SGC_STATE static bool held;

static struct sgc_section *own_section(void)
{
    return sgc_self != NULL ? &sgc_self->section : NULL;
}

/* In rank order.  Caches are opened under the registry's lock, so as many are unlocked later.  No
 * thread ever holds two caches' locks, so theirs may be taken one after the other.  A child of an
 * earlier fork first does what it has put off: its locks of caches are held until then. */
static void prepare(void)
{
    struct sgc_section *self = own_section();
    uint32_t caches;

    sgc_threads_settle();
    sgc_lock(&sgc_threads.common_lock, NULL);
    sgc_lock(&sgc_threads.lock, self);
    if (SGC_ASSERTS)
        check_lists();
    caches = sgc_a32_load_acq(&sgc_cache_count);
    for (uint32_t id = 1; id < caches; id++)
        sgc_lock(&sgc_cache_of(id)->lock, NULL);
    sgc_lock(&sgc_spans.lock, self);
    sgc_lock(&sgc_orphans.lock, self);
    sgc_pool_lock_settled(self);
    sgc_assert(!held);
    held = true;
}

static void parent(void)
{
    struct sgc_section *self = own_section();

    if (!held)
        return;
    held = false;
    sgc_assert(sgc_lock_held(&sgc_pool.lock, self));
    sgc_unlock(&sgc_pool.lock, self);
    sgc_unlock(&sgc_orphans.lock, self);
    sgc_unlock(&sgc_spans.lock, self);
    for (uint32_t id = sgc_a32_load_acq(&sgc_cache_count); id-- > 1;)
        sgc_unlock(&sgc_cache_of(id)->lock, NULL);
    sgc_unlock(&sgc_threads.lock, self);
    sgc_unlock(&sgc_threads.common_lock, NULL);
}

/* Their caches are closed later, so a program that calls exec at once is spared that. */
static void forget_others(void)
{
    struct sgc_record *self = stage == STAGE_OWN ? own_record() : NULL;

    sgc_assert(sgc_threads.lost == NULL);
    if (self != NULL) {
        unlink_from(&sgc_threads.used, self);
        sgc_section_reset(&self->cache.section);
    }
    sgc_threads.lost = sgc_threads.used;
    sgc_threads.used = NULL;
    if (self != NULL)
        link_to(&sgc_threads.used, self);
    sgc_lock_reset(&sgc_threads.lock);
    sgc_lock_reset(&sgc_threads.common_lock);
    sgc_a32_store(&put_off, LOST);
}

static void child(void)
{
    if (!held)
        return;
    held = false;
    sgc_assert(sgc_a32_load(&put_off) == NONE);
    sgc_pool_after_fork();
    sgc_give_back_after_fork();
    sgc_lock_reset(&sgc_orphans.lock);
    sgc_lock_reset(&sgc_spans.lock);
    forget_others();
}

/* A thread that has its cache already is watched, too. */
void sgc_threads_watch(void)
{
    pthread_atfork(prepare, parent, child);
    if (pthread_key_create(&end_key, at_thread_end) != 0)
        return;
    sgc_a32_store_rel(&end_key_made, 1);
    if (stage == STAGE_OWN)
        pthread_setspecific(end_key, (void *)1);
}
