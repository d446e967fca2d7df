/* SPDX-License-Identifier: MIT */
/* Threads and their caches: malloc/threads.h.  Each function runs on the thread it is about. */
#include "malloc/threads.h"

#include <errno.h>
#include <limits.h>

#include "alloc/large/span.h"
#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "malloc/give_back.h"
#include "malloc/options.h"

SGC_STATE struct sgc_threads sgc_threads = { .lock = SGC_LOCK_INIT(SGC_RANK_REGISTRY) };

/* Which cache the calling thread uses. */
enum stage {
    STAGE_NEW,                  /* no cache yet */
    STAGE_OWN,                  /* a cache of its own */
    STAGE_COMMON,               /* it is over, or there was no cache for it: the common one */
};
static _Thread_local enum stage stage __attribute__((tls_model("initial-exec")));

_Thread_local uint32_t sgc_thread_inside __attribute__((tls_model("initial-exec")));

/* ---- records ---- */

/* Under the registry's lock. */
static void check_records(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    sgc_assert(sgc_lock_taken(&sgc_threads.lock));
    for (uint32_t id = 1; id < caches; id++)
        sgc_verify(sgc_record_of(id)->cache.id == id);
    sgc_verify(sgc_threads.common->thread == 0);
}

static struct sgc_record *new_record(void)
{
    return sgc_cache_record(sizeof(struct sgc_record), _Alignof(struct sgc_record), offsetof(struct sgc_record, cache));
}

static void name_owner(struct sgc_record *r, sgc_tid_t process)
{
    r->process = process;
    r->thread = sgc_thread_id();
    sgc_assert(r->thread != 0);
}

/* It may be another thread's.  Under the registry's lock. */
static void put_unused(struct sgc_record *r)
{
    sgc_assert(sgc_lock_taken(&sgc_threads.lock) && r != sgc_threads.common);
    r->thread = 0;
    r->next = sgc_threads.unused;
    sgc_threads.unused = r;
}

/* Has the record's thread ended without closing the cache?  Not if it ended inside malloc, with a
 * lock perhaps.  A record with another process's number was copied by a fork that ran no
 * handlers. */
static bool is_abandoned(const struct sgc_record *r, sgc_tid_t process)
{
    return r->thread > 0 && r->process == process && sgc_thread_kill(process, r->thread, 0) == ESRCH &&
           r->cache.section.guards == 0 && !sgc_section_inside(&r->cache.section);
}

enum { ASKED_AT_ONCE = 4 };

/* An abandoned record is the calling thread's from now on, so that nobody else takes it.  Asks
 * about a few, in turn: that finds as many as there can be in the long run, and costs little where
 * there are none.  NULL: none of them is. */
static struct sgc_record *take_over(void)
{
    sgc_tid_t process = sgc_process_id();
    struct sgc_record *found = NULL;

    sgc_lock(&sgc_threads.lock, NULL);
    for (int i = 0; i < ASKED_AT_ONCE && found == NULL; i++) {
        uint32_t id = sgc_threads.asked + 1 < sgc_a32_load(&sgc_cache_count) ? sgc_threads.asked + 1 : 1;
        struct sgc_record *r = sgc_record_of(id);

        sgc_threads.asked = id;
        if (is_abandoned(r, process))
            found = r;
    }
    if (found != NULL)
        name_owner(found, process);
    sgc_unlock(&sgc_threads.lock, NULL);
    return found;
}

/* An unused one, else one that was abandoned, else a new one; its cache is not open. */
static struct sgc_record *take_record(void)
{
    struct sgc_record *r;

    sgc_lock(&sgc_threads.lock, NULL);
    r = sgc_threads.unused;
    if (r != NULL)
        sgc_threads.unused = r->next;
    sgc_unlock(&sgc_threads.lock, NULL);
    if (r != NULL)
        return r;
    r = take_over();
    if (r == NULL)
        return new_record();
    sgc_cache_close_abandoned(&r->cache);
    return r;
}

/* Opens the record's cache and makes it the calling thread's; or gives it back. */
static bool open_record(struct sgc_record *r)
{
    sgc_tid_t process = sgc_process_id();
    bool opened;

    sgc_assert(r->cache.memory.start != NULL);
    sgc_section_reset(&r->cache.section);
    sgc_lock(&sgc_threads.lock, NULL);
    sgc_assert(r->cache.lock == NULL || !sgc_lock_taken(r->cache.lock));     /* a fork has all */
    opened = sgc_cache_open(&r->cache, false);
    if (opened)
        name_owner(r, process);
    else
        put_unused(r);
    sgc_unlock(&sgc_threads.lock, NULL);
    return opened;
}

/* Its cache is closed. */
static void retire_record(struct sgc_record *r)
{
    sgc_assert(r->cache.tag == 0 && &r->cache != sgc_self);
    sgc_lock(&sgc_threads.lock, NULL);
    put_unused(r);
    sgc_unlock(&sgc_threads.lock, NULL);
}

/* ---- the end of a thread ---- */

SGC_STATE static pthread_key_t end_key;
SGC_STATE static sgc_a32_t end_key_made;

enum { LAST_ROUNDS = 2 };       /* other destructors, which may still allocate, run first */

static struct sgc_record *own_record(void)
{
    sgc_assert(stage == STAGE_OWN && sgc_self != NULL);
    return sgc_record_of(sgc_self->id);
}

/* The value counts the rounds of destructors that have been waited for.  In the child of a fork the
 * thread may end before it has taken a slow path, with the locks of caches held as the fork left
 * them.  A signal handler would meet a cache that is half closed, so none runs meanwhile; the next
 * ones have the common cache. */
static void at_thread_end(void *value)
{
    uintptr_t round = (uintptr_t)value;
    struct sgc_record *r;
    sigset_t saved;

    if (stage != STAGE_OWN)
        return;
    sgc_assert(round >= 1 && round <= LAST_ROUNDS);
    if (round < LAST_ROUNDS) {
        pthread_setspecific(end_key, (void *)(round + 1));
        return;
    }
    sgc_signals_block(&saved);
    sgc_threads_settle();
    r = own_record();
    sgc_cache_close(&r->cache, &r->cache.section);
    sgc_give_back(&r->cache);
    stage = STAGE_COMMON;
    sgc_cache_use(NULL);
    retire_record(r);
    sgc_signals_restore(&saved);
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
    struct sgc_cache *none = sgc_fast_cache;
    struct sgc_record *r;

    sgc_assert(stage == STAGE_NEW && sgc_self == NULL);
    stage = STAGE_COMMON;
    sgc_inside_begin(SGC_INSIDE_CACHES);
    r = take_record();
    if (r != NULL && open_record(r)) {
        stage = STAGE_OWN;
        sgc_cache_use(&r->cache);
        if (sgc_checks())
            sgc_fast_cache = none;
    }
    sgc_inside_end(SGC_INSIDE_CACHES);
    if (stage == STAGE_OWN && sgc_a32_load_acq(&end_key_made) != 0)
        pthread_setspecific(end_key, (void *)1);
}

struct sgc_cache *sgc_thread_cache(bool *common)
{
    sgc_assert(sgc_threads.common != NULL && (stage == STAGE_OWN) == (sgc_self != NULL));
    if (stage == STAGE_NEW)
        begin();
    *common = sgc_self == NULL;
    if (!*common)
        return sgc_self;
    sgc_assert(sgc_thread_inside == 0);
    sgc_inside_begin(SGC_INSIDE_COMMON);
    sgc_lock(&sgc_threads.common_lock, NULL);
    return &sgc_threads.common->cache;
}

void sgc_thread_leave_common(void)
{
    sgc_assert((sgc_thread_inside & SGC_INSIDE_COMMON) != 0 && sgc_lock_taken(&sgc_threads.common_lock));
    sgc_unlock(&sgc_threads.common_lock, NULL);
    sgc_inside_end(SGC_INSIDE_COMMON);
}

/* ---- what the child of a fork puts off ---- */

/* Closes the caches of threads that are not here, and takes back the pages that they had in their
 * hands. */
static void close_lost(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    sgc_assert(caches >= 2);
    sgc_caches_lock_reset();
    for (uint32_t id = 1; id < caches; id++) {
        struct sgc_record *r = sgc_record_of(id);

        if (r->thread == 0 || r == sgc_threads.survivor)
            continue;
        sgc_cache_close_abandoned(&r->cache);
        retire_record(r);
    }
    sgc_pool_take_back_lost();
}

/* How many forks, one inside the other, have begun since the calling thread took all locks? */
static _Thread_local uint32_t forks __attribute__((tls_model("initial-exec")));

/* Is the thread in malloc, with locks or pages, or was it when a handler left it by a jump? */
static bool has_locks(void)
{
    return (sgc_thread_inside & ~(uint32_t)SGC_INSIDE_BLOCK) != 0 || forks != 0 ||
           (sgc_self != NULL && sgc_self->section.guards != 0);
}

/* Another section was interrupted, which is told, or left, which is repaired. */
static void leave_section(struct sgc_section *self)
{
    sgc_assert(self->held == 0);
    sgc_section_enter(self);
    sgc_section_leave(self);
}

/* Whether a fork's child has put off closing caches: LOST by its only thread; CLOSING by the thread
 * whose compare-and-swap it is, and NONE by its release, for which others wait. */
enum { NONE, LOST, CLOSING };
SGC_STATE static sgc_a32_t put_off;

/* Does what a fork's child has put off.  Takes locks. */
static void catch_up(void)
{
    uint32_t now;

    while (__builtin_expect((now = sgc_a32_load_acq(&put_off)) != NONE, 0)) {
        sgc_assert(now == LOST || now == CLOSING);
        if (now == CLOSING) {
            sgc_wait(&put_off, now, -1);
        } else if (sgc_a32_cas(&put_off, LOST, CLOSING)) {
            sgc_inside_begin(SGC_INSIDE_CACHES);
            close_lost();
            sgc_inside_end(SGC_INSIDE_CACHES);
            sgc_a32_store_rel(&put_off, NONE);
            sgc_wake(&put_off, INT_MAX);
        }
    }
}

void sgc_threads_settle(void)
{
    if (__builtin_expect(sgc_thread_inside != 0 || has_locks(), 0))
        sgc_section_used_inside(&sgc_fast_cache->section);
    if (sgc_self != NULL && __builtin_expect(sgc_section_inside(&sgc_self->section), 0))
        leave_section(&sgc_self->section);
    catch_up();
}

/* ---- fork ----
 *
 * The forking thread holds all locks meanwhile, so that the child finds the heap whole.  The
 * handlers are registered with the first call of the family, before anybody else's: so they are the
 * last to prepare, and the first in the child, and others' handlers may allocate.  Signals are
 * blocked meanwhile: a handler may allocate and fork where it has interrupted a fork.
 *
 * A handler of pthread_atfork that was registered earlier still, where this library's constructor
 * is not the first, may not allocate, but may fork.  The inner fork finds all locks taken.  In its
 * child, which has one thread, they are given back at once; what is left of the outer fork there
 * does without.
 *
 * They write to few OS pages, each of which the fork makes costly, however many threads there are:
 * to this library's variables, to the table that the locks of all caches lie in, and to the forking
 * thread's own.
 */

/* Of the thread that forks, which has all locks. */
SGC_STATE static sigset_t signals_before;

/* In rank order.  Caches are opened under the registry's lock, so as many are unlocked later.  A
 * child of an earlier fork first does what it has put off: its locks of caches are held until then.
 * No section is entered, since that of the forking thread would tell of all these locks.  A signal
 * handler may fork that has interrupted malloc, under a lock perhaps, for which it would wait in
 * vain. */
static void prepare(void)
{
    sigset_t saved;

    if (forks != 0) {
        forks++;
        return;
    }
    if (has_locks() || (sgc_self != NULL && sgc_section_inside(&sgc_self->section)))
        return;
    sgc_signals_block(&saved);
    catch_up();
    sgc_lock(&sgc_threads.common_lock, NULL);
    sgc_lock(&sgc_threads.lock, NULL);
    if (SGC_ASSERTS)
        check_records();
    sgc_caches_lock();
    sgc_lock(&sgc_spans.lock, NULL);
    sgc_lock(&sgc_orphans.lock, NULL);
    sgc_pool_lock_settled(NULL);
    signals_before = saved;
    forks = 1;
}

static void parent(void)
{
    sigset_t saved;

    if (forks == 0 || --forks != 0)
        return;
    saved = signals_before;
    sgc_assert(sgc_lock_taken(&sgc_pool.lock) && sgc_lock_taken(&sgc_threads.lock));
    sgc_unlock(&sgc_pool.lock, NULL);
    sgc_unlock(&sgc_orphans.lock, NULL);
    sgc_unlock(&sgc_spans.lock, NULL);
    sgc_caches_unlock();
    sgc_unlock(&sgc_threads.lock, NULL);
    sgc_unlock(&sgc_threads.common_lock, NULL);
    sgc_signals_restore(&saved);
}

/* The others' caches are closed later, so a program that calls exec at once is spared that; but not
 * where a handler has forked that interrupted a checked block, which goes on in the child and puts
 * nothing in order. */
static void child(void)
{
    struct sgc_record *self;

    if (forks == 0)
        return;
    self = stage == STAGE_OWN ? own_record() : NULL;
    forks = 0;
    sgc_assert(sgc_a32_load(&put_off) == NONE);
    sgc_pool_after_fork();
    sgc_give_back_after_fork();
    sgc_lock_reset(&sgc_orphans.lock);
    sgc_lock_reset(&sgc_spans.lock);
    if (self != NULL)
        name_owner(self, sgc_process_id());
    sgc_threads.survivor = self;
    sgc_lock_reset(&sgc_threads.lock);
    sgc_lock_reset(&sgc_threads.common_lock);
    sgc_a32_store(&put_off, LOST);
    if (sgc_thread_inside != 0)
        catch_up();
    sgc_signals_restore(&signals_before);
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
