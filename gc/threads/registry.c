/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads: going through it, registering and unregistering, and threads that are
 * not here any more.  The functions that register and unregister run on the thread they are about.
 */
#include "gc/threads/mutator.h"

#include "alloc/page_supply.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/sampling.h"
#include "gc/config/options.h"
#include "gc/events/events.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"
#include "platform/probe.h"

SGC_STATE struct sgc_registry sgc_registry = { .lock = SGC_LOCK_INIT(SGC_RANK_REGISTRY) };
SGC_STATE struct sgc_thread_hooks sgc_thread_hooks;

/* ---- going through it ---- */

void sgc_registry_enter(struct sgc_registry_scope *scope)
{
    struct sgc_mutator *self = sgc_mutator_self();

    sgc_assert(self == NULL || sgc_mutator_ok(self));
    scope->had = sgc_stopped_by_self();
    scope->section = self != NULL && !sgc_world_is_blocked(self) ? sgc_section_of(self) : NULL;
    if (scope->had)
        return;
    if (scope->section == NULL)
        sgc_signals_block(&scope->signals);
    sgc_lock(&sgc_registry.lock, scope->section);
    sgc_assert(sgc_registry_locked());
}

void sgc_registry_leave(struct sgc_registry_scope *scope)
{
    sgc_assert(sgc_registry_locked());
    if (scope->had)
        return;
    sgc_unlock(&sgc_registry.lock, scope->section);
    if (scope->section == NULL)
        sgc_signals_restore(&scope->signals);
}

bool sgc_registry_any(bool (*is)(const struct sgc_mutator *m, const void *arg), const void *arg)
{
    struct sgc_registry_scope scope;
    const struct sgc_mutator *m;

    sgc_registry_enter(&scope);
    for (m = sgc_registry.first; m != NULL && !is(m, arg);)
        m = m->next;
    sgc_registry_leave(&scope);
    return m != NULL;
}

/* ---- a last chance to unregister: the destructor of thread-specific data ---- */

SGC_STATE static pthread_key_t exit_key;
SGC_STATE static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
SGC_STATE static bool exit_key_made;

enum { LAST_ROUNDS = 2 };       /* let other destructors, which may still allocate, run first */

/* The value counts the rounds of destructors that we have waited. */
static void at_thread_exit(void *value)
{
    uintptr_t round = (uintptr_t)value;
    struct sgc_mutator *m = sgc_mutator_self();

    if (m == NULL)
        return;
    sgc_assert(round >= 1 && round <= LAST_ROUNDS);
    sgc_gc_lock_thread_ends(m);
    if (round < LAST_ROUNDS)
        pthread_setspecific(exit_key, (void *)(round + 1));
    else
        sgc_mutator_unregister(m);
}

static void make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, at_thread_exit) == 0;
}

static void watch_exit(void)
{
    pthread_once(&exit_key_once, make_exit_key);
    if (exit_key_made)
        pthread_setspecific(exit_key, (void *)1);
}

/* ---- records ---- */

static struct sgc_mutator *new_record(void)
{
    return sgc_cache_record(sizeof(struct sgc_mutator), _Alignof(struct sgc_mutator), offsetof(struct sgc_mutator, cache));
}

/* The lock is taken without a section: the thread has none yet.  It cannot be stopped meanwhile,
 * since nobody knows of it. */
static struct sgc_mutator *take_record(void)
{
    struct sgc_mutator *m;

    sgc_assert(sgc_self == NULL);
    sgc_lock(&sgc_registry.lock, NULL);
    m = sgc_registry.unused;
    if (m != NULL)
        sgc_registry.unused = m->next;
    sgc_unlock(&sgc_registry.lock, NULL);
    return m != NULL ? m : new_record();
}

/* Without a section, the registry's lock free. */
static void give_record(struct sgc_mutator *m)
{
    sgc_assert(m != sgc_mutator_self());
    sgc_lock(&sgc_registry.lock, NULL);
    m->next = sgc_registry.unused;
    sgc_registry.unused = m;
    sgc_unlock(&sgc_registry.lock, NULL);
}

/* Threads of ours allocate next to nothing. */
static void count_for_sharing(const struct sgc_mutator *m, int by)
{
    if (sgc_options.share_pages && !m->service)
        sgc_a32_store(&sgc_shared.threads, sgc_a32_load(&sgc_shared.threads) + (uint32_t)by);
}

static void link_record(struct sgc_mutator *m)
{
    sgc_assert(sgc_registry_locked() && m->tid > 0 && m->cache.id != 0);
    m->prev = NULL;
    m->next = sgc_registry.first;
    if (m->next != NULL)
        m->next->prev = m;
    sgc_registry.first = m;
    sgc_registry.count++;
    count_for_sharing(m, 1);
    sgc_assert(sgc_mutator_linked(m));
}

static void unlink_record(struct sgc_mutator *m)
{
    sgc_assert(sgc_mutator_linked(m) && sgc_registry.count > 0);
    if (m->prev != NULL)
        m->prev->next = m->next;
    else
        sgc_registry.first = m->next;
    if (m->next != NULL)
        m->next->prev = m->prev;
    sgc_registry.count--;
    count_for_sharing(m, -1);
}

/* For the layers that keep something for the thread. */
static void report_end(struct sgc_mutator *m)
{
    if (sgc_thread_hooks.ends != NULL)
        sgc_thread_hooks.ends(m);
}

/* ---- registering ---- */

static _Thread_local bool registering __attribute__((tls_model("initial-exec")));

bool sgc_mutator_registering(void)
{
    return registering;
}

static void set_stack(struct sgc_mutator *m, struct sgc_stack_bounds bounds, uintptr_t bottom)
{
    uintptr_t sp = sgc_stack_pointer();

    m->stack = bounds;
    m->used_from = sgc_stack_within(&bounds, sp) ? sp : bounds.high;
    m->bottom = bounds.high;
    sgc_aw_store(&m->reported_bottom[0], 0);
    sgc_aw_store(&m->reported_bottom[1], 0);
    if (bottom != 0 && (bottom < bounds.low || bottom > bounds.high))
        m->bottom = bottom;
    sgc_assert(m->used_from <= m->stack.high);
}

/* If the system does not know, what the client says counts, and how far down the stack reaches
 * stays open.  If nobody knows, there is no collection while the thread is registered
 * (sgc_roots_unknown). */
static void find_stack(struct sgc_mutator *m, uintptr_t bottom)
{
    struct sgc_stack_bounds bounds = { sgc_round_down(sgc_stack_pointer(), sgc_os_page_size()), bottom, SGC_STACK_UNKNOWN };

    m->asking = !sgc_stack_bounds_self(&bounds) && bottom == 0;
    sgc_assert(!m->asking || bounds.high == 0);
    set_stack(m, bounds, bottom);
}

/* Registered, the thread can allocate, which may be all that was missing. */
static void find_stack_again(struct sgc_mutator *m)
{
    struct sgc_stack_bounds bounds = m->stack;
    bool known = sgc_stack_bounds_self(&bounds);

    sgc_assert(sgc_mutator_mine(m) && m->asking);
    sgc_lock(&sgc_registry.lock, sgc_section_of(m));
    if (known)
        set_stack(m, bounds, 0);
    m->asking = false;
    sgc_unlock(&sgc_registry.lock, sgc_section_of(m));
}

/* Around the thread pointer lies the C library's control block, which begins at the thread's handle
 * and has the first values of thread-specific data in it.  Below it lie thread-local variables of
 * modules that were loaded later: how far down, nobody says. All that is usually in the stack's
 * mapping, for the first thread elsewhere. */
enum { CONTROL_BLOCK = 0x900 };

static void find_control_block(struct sgc_mutator *m)
{
    uintptr_t tp = m->thread_pointer, handle = (uintptr_t)m->handle;
    uintptr_t page = sgc_round_down(tp, sgc_os_page_size()), lo = handle < page ? handle : page;

    sgc_assert(tp != 0 && page <= tp);
    m->control = m->below_control = (struct sgc_range){ 0, 0 };
    if (sgc_stack_within(&m->stack, tp))
        return;
    m->control = (struct sgc_range){ lo, sgc_mem_readable_until(tp, tp + CONTROL_BLOCK) };
    sgc_assert(m->control.lo <= tp && m->control.lo <= m->control.hi);
    if (tp - lo < CONTROL_BLOCK)
        m->below_control = (struct sgc_range){ tp - CONTROL_BLOCK, lo };
}

static void describe_self(struct sgc_mutator *m, uintptr_t bottom, bool service)
{
    sgc_assert(sgc_self == NULL);
    m->tid = sgc_thread_id();
    m->handle = pthread_self();
    m->thread_pointer = sgc_tls_thread_pointer();
    m->service = service;
    m->finalizing = m->disclaiming = 0;
    m->owed = m->coming = 0;
    m->helped_in = 0;
    m->warned = m->signalled = m->gone = false;
    m->random = (uint64_t)m->tid * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)sgc_options.torture_seed;
    m->altstack = m->reported_altstack = (struct sgc_stack_bounds){ 0 };
    find_stack(m, bottom);
    find_control_block(m);
    sgc_a32_store(&m->cache.section.state, 0);
    sgc_section_reset(sgc_section_of(m));
}

/* From the moment the record is linked the thread is stopped with the others, so `sgc_self` must be
 * set before; with all signals blocked until then, since the suspend handler looks at it. */
static bool join_registry(struct sgc_mutator *m)
{
    sigset_t saved;
    bool opened;

    sgc_assert(m->tid > 0 && sgc_self == NULL);
    sgc_signals_block(&saved);
    sgc_lock(&sgc_registry.lock, NULL);
    opened = sgc_cache_open(&m->cache, sgc_options.torture > 0);
    m->started = 0;
    if (opened) {
        sgc_sampling_apply(&m->cache);
        sgc_cache_use(&m->cache);
        link_record(m);
        if (sgc_thread_hooks.registers != NULL)
            sgc_thread_hooks.registers(m->handle);
    }
    sgc_unlock(&sgc_registry.lock, NULL);
    sgc_signals_restore(&saved);
    sgc_assert(!opened || sgc_mutator_mine(m));
    return opened;
}

/* A thread whose number is not known could not be stopped.  That is so for all threads, and is said
 * once. */
static bool has_number(const struct sgc_mutator *m)
{
    static SGC_STATE sgc_a32_t reported;

    if (m->tid > 0)
        return true;
    if (sgc_a32_swap(&reported, 1) == 0)
        sgc_warn("a thread cannot be registered: the system does not tell its number (gettid: error %d); let the filter of "
                 "system calls allow gettid and tgkill", -m->tid);
    return false;
}

static void say_no_record(void)
{
    sgc_warn("thread %d cannot be registered: the system has no %zu bytes for its record; free memory or end other threads",
             sgc_thread_id(), sizeof(struct sgc_mutator));
}

static bool joined(struct sgc_mutator *m)
{
    sgc_assert(sgc_self == NULL);
    if (join_registry(m))
        return true;
    if (sgc_a32_load(&sgc_cache_count) < SGC_CACHES_MAX)
        say_no_record();
    else
        sgc_warn("thread %d cannot be registered: there are %d threads already; "
                 "end some of them", sgc_thread_id(), SGC_CACHES_MAX - 1);
    return false;
}

static struct sgc_mutator *register_self(uintptr_t bottom, bool service)
{
    struct sgc_mutator *m = sgc_mutator_self();

    if (m != NULL)
        return m;
    m = take_record();
    if (m == NULL) {
        say_no_record();
        return NULL;
    }
    describe_self(m, bottom, service);
    if (!has_number(m) || !joined(m)) {
        give_record(m);
        return NULL;
    }
    sgc_assert(sgc_mutator_mine(m));
    sgc_signal_unblock(sgc_options.suspend_signal);
    if (m->asking)
        find_stack_again(m);
    return m;
}

struct sgc_mutator *sgc_mutator_register(uintptr_t bottom)
{
    bool fresh = sgc_self == NULL;
    struct sgc_mutator *m;

    if (registering)
        return NULL;
    registering = fresh;
    m = register_self(bottom, false);
    registering = false;
    sgc_assert(m == sgc_mutator_self());
    if (m != NULL && fresh) {
        watch_exit();
        SGC_PROBE(thread__registered, m->tid);
        SGC_EVENT(thread_registered, m->tid);
    }
    return m;
}

struct sgc_mutator *sgc_mutator_register_service(void)
{
    sgc_assert(sgc_self == NULL);
    return register_self(0, true);
}

/* ---- unregistering ---- */

/* A suspended thread does not end: it stays at the lock's end. */
static void lock_when_not_suspended(struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self));
    sgc_lock(&sgc_registry.lock, self);
    while (sgc_section_suspended(self)) {
        sgc_unlock(&sgc_registry.lock, self);
        sgc_lock(&sgc_registry.lock, self);
    }
}

/* The stopper holds the lock throughout a stop, so none is in force here, and none that asks us
 * comes after; nor are we suspended then.  The lock's guard ends with the record; its signals stay
 * blocked. */
static void leave_registry(struct sgc_mutator *m)
{
    lock_when_not_suspended(sgc_section_of(m));
    sgc_assert(sgc_mutator_mine(m) && sgc_mutator_linked(m));
    sgc_assert(!sgc_world_stopped());
    unlink_record(m);
    sgc_cache_use(NULL);
    sgc_section_reset(sgc_section_of(m));
    m->tid = 0;
    m->next = sgc_registry.unused;
    sgc_registry.unused = m;
    sgc_unlock(&sgc_registry.lock, NULL);
}

/* A handler of the program that allocates would meet a cache that is half closed.  The thread can
 * still be stopped. */
static void block_handlers(sigset_t *saved)
{
    sigset_t others;

    sgc_signals_all_but(sgc_options.suspend_signal, &others);
    sgc_signals_change(&others, saved);
}

void sgc_mutator_unregister(struct sgc_mutator *m)
{
    sgc_tid_t tid = m->tid;
    bool service = m->service;
    sigset_t saved;

    sgc_assert(sgc_mutator_mine(m));
    if (sgc_world_is_blocked(m)) {
        sgc_world_leave_blocked(m);     /* cancelled, or ended, inside GC_do_blocking */
        sgc_upper_active(m);
    }
    sgc_assert(!sgc_world_is_blocked(m));
    sgc_upper_thread_over(m);
    report_end(m);
    block_handlers(&saved);
    sgc_cache_close(&m->cache, sgc_section_of(m));
    leave_registry(m);
    sgc_signals_restore(&saved);
    if (!service)
        SGC_EVENT(thread_gone, tid);
}

/* ---- left by a jump ---- */

bool sgc_mutator_left(const struct sgc_mutator *self, uintptr_t called, uintptr_t entry)
{
    struct sgc_stack_bounds alternate;
    bool has_one = sgc_mutator_at_home(self, entry) && sgc_altstack_self(&alternate);

    sgc_assert(self == sgc_mutator_self());
    return sgc_mutator_frame_left(self, called, entry, has_one ? &alternate : NULL);
}

/* ---- threads that are not here any more ---- */

static void take_out(struct sgc_mutator *m)
{
    unlink_record(m);
    if (sgc_thread_hooks.vanished != NULL)
        sgc_thread_hooks.vanished(m->handle, m->started);
}

static void close_record(struct sgc_mutator *m)
{
    sgc_assert(m != sgc_mutator_self() && m->cache.id != 0);
    sgc_cache_close_abandoned(&m->cache);
    m->tid = 0;
}

struct sgc_mutator *sgc_registry_take_gone(void)
{
    struct sgc_mutator *gone = NULL, *next;
    uint32_t found = 0;

    sgc_assert(sgc_registry_locked());
    if (sgc_registry.gone == 0)
        return NULL;
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = next) {
        next = m->next;
        if (!m->gone)
            continue;
        take_out(m);
        found++;
        m->next = gone;
        gone = m;
    }
    sgc_assert(found == sgc_registry.gone);
    sgc_registry.gone = 0;
    return gone;
}

void sgc_registry_bury(struct sgc_mutator *gone)
{
    while (gone != NULL) {
        struct sgc_mutator *m = gone;
        sgc_tid_t tid = m->tid;

        sgc_assert(m->gone && m != sgc_mutator_self());
        gone = m->next;
        sgc_upper_vanished(m);
        report_end(m);
        close_record(m);
        give_record(m);
        SGC_EVENT(thread_gone, tid);
    }
}

/* ---- fork and checks ---- */

/* The lock, which the forking thread has taken, goes last: the hooks that are called here rely on
 * it. */
void sgc_registry_after_fork(struct sgc_mutator *self)
{
    struct sgc_mutator *m = sgc_registry.first;

    sgc_assert(self == sgc_mutator_self());
    sgc_caches_lock_reset();
    while (m != NULL) {
        struct sgc_mutator *next = m->next;

        if (m != self) {
            take_out(m);
            sgc_upper_vanished(m);
            close_record(m);
            m->next = sgc_registry.unused;
            sgc_registry.unused = m;
        }
        m = next;
    }
    sgc_registry.gone = 0;
    sgc_assert(sgc_registry.first == self && sgc_registry.count == (self != NULL));
    if (self != NULL)
        self->tid = sgc_thread_id();
    sgc_lock_reset(&sgc_registry.lock);
}

void sgc_registry_check(void)
{
    uint32_t count = 0;

    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        sgc_verify(m->tid != 0 && m->cache.id != 0);
        sgc_verify(sgc_cache_of(m->cache.id) == &m->cache);
        sgc_verify(m->next == NULL || m->next->prev == m);
        count++;
    }
    sgc_verify(count == sgc_registry.count);
    (void)count;
}
