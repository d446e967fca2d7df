/* SPDX-License-Identifier: MIT */
/*
 * A registered thread, and the registry of all of them.
 *
 *   what                     written by                        read by            ordering
 *   next, prev, count, gone  under the registry's lock         same               the lock; held through a stop
 *   sp, altstack,            the thread, before it counts      collecting thread  release of ACKED or BLOCKED in
 *   fake_stack               as stopped                                           `state` / acquire
 *   bottom, ended_sp, ...    the thread itself                 collecting thread  stopping the world
 *   reported_bottom          who switches the thread's stack   the lead of a      release / acquire
 *                                                              concurrent cycle
 *   stack, used_from, asking the thread, before it is listed,  collecting thread  the registry's lock
 *                            or under the registry's lock
 *   cache                    alloc/small/cache.h
 *   nodes                    gc/threads/node_pool.h
 *   started                  the thread; 0 when it registers   who finds it gone  the registry's lock
 *   finalizing               the thread                        same              program order
 *   disclaiming              the thread                        same, collecting  program order; stopping the world
 *                                                              thread
 *
 * Records are never unmapped: an ended thread's record waits for the next thread.
 */
#ifndef SGC_GC_THREADS_MUTATOR_H
#define SGC_GC_THREADS_MUTATOR_H

#include <pthread.h>

#include "alloc/small/cache.h"
#include "gc/threads/node_pool.h"
#include "platform/platform.h"

struct sgc_mutator {
    struct sgc_mutator *next, *prev;
    sgc_tid_t tid;
    pthread_t handle;
    uintptr_t sp;                       /* scan from here while it is stopped or blocked */
    struct sgc_stack_bounds altstack;   /* of the signal stack it was stopped on; low 0: none */
    void *fake_stack;                   /* see sgc_fake_stack_self */
    uintptr_t interrupted;              /* where it stood when it was stopped on `altstack`; 0:
                                           unknown */
    struct sgc_stack_bounds reported_altstack;  /* what the client told us of; low 0: none */
    struct sgc_stack_bounds stack;      /* its own, as the system gave it */
    uintptr_t used_from;                /* it has been here on its own stack, so from here on that
                                           is mapped */
    uintptr_t bottom;                   /* scan up to here: stack.high, or what the client said */
    sgc_aw_t reported_bottom[2];        /* what it said last, and before that, of where its stack
                                           begins; 0: nothing */
    uintptr_t thread_pointer;
    struct sgc_range control;           /* with its control block in the C library: a root */
    struct sgc_range below_control;     /* may have thread-local variables in it, where it can be
                                           read */
    bool asking;                        /* it has not found its own stack yet, and asks once more */
    bool service;                       /* one of ours: nothing of it is a root */
    bool warned;                        /* named in a message because it did not stop */
    bool gone;                          /* it ended without a word: nothing of it is a root */
    bool signalled;                     /* in the current stop, or to be */
    int refused;                        /* why the last signal could not be sent: sgc_thread_kill */
    uint64_t started;                   /* number of its record in gc/api/created_threads.h; 0:
                                           none */
    struct sgc_node_pool nodes;         /* for what the thread registers; stays for the next
                                           thread */
    uintptr_t finalizing;               /* where it stood when it called the outermost finalizer, or
                                           the notifier; 0: none runs */
    uintptr_t disclaiming;              /* the same for disclaim procedures; of their last caller,
                                           if that is the thread */
    size_t owed;                        /* bytes allocated, or about to be, that it has not helped
                                           a cycle for yet; */
    size_t coming;                      /* of a large object that it is about to allocate */
    uint32_t helped_in;                 /* epoch of the last cycle it helped; 0: none */
    uint32_t allocations;               /* torture: since the last collection */
    uint64_t random;                    /* torture: where delays come from */
    sgc_aw_t upper;                     /* what a layer on top keeps for the thread
                                           (gc/threads/upper.h); 0: nothing */
    struct sgc_cache cache;             /* last: its end has memory as kinds come; sgc_self points
                                           here */
};

struct sgc_registry {
    struct sgc_lock lock;
    struct sgc_mutator *first;
    struct sgc_mutator *unused;         /* records waiting for a thread, linked by next */
    uint32_t count;
    uint32_t gone;                      /* of them, those that have ended without a word */
};
extern struct sgc_registry sgc_registry;

/* A part of the collector that keeps something for each thread hears of threads here; NULL: there
 * is none.  Written by the starting thread, before any thread is registered; read by threads that
 * register later, once the collector has started. */
struct sgc_thread_hooks {
    void (*registers)(pthread_t thread);                        /* with the registry's lock */
    void (*ends)(struct sgc_mutator *m);                        /* before its cache is closed */
    void (*vanished)(pthread_t thread, uint64_t started);       /* it ended without a word; with the registry's lock */
};
extern struct sgc_thread_hooks sgc_thread_hooks;

/* The registry's lock for a moment, on any thread, whatever it is doing: the one that has stopped
 * the world holds it already; a thread that counts as stopped (or is not registered) takes it
 * without a section, and blocks the signals whose handlers may come here. */
struct sgc_registry_scope {
    bool had;
    struct sgc_section *section;
    sigset_t signals;
};
void sgc_registry_enter(struct sgc_registry_scope *scope);
void sgc_registry_leave(struct sgc_registry_scope *scope);

/* Is there a thread for which is(m, arg) holds?  With the registry's lock while it asks. */
bool sgc_registry_any(bool (*is)(const struct sgc_mutator *m, const void *arg), const void *arg);

static inline struct sgc_mutator *sgc_mutator_of(struct sgc_section *section)
{
    return (struct sgc_mutator *)(void *)((char *)section - offsetof(struct sgc_mutator, cache));
}

static inline struct sgc_mutator *sgc_mutator_self(void)
{
    return sgc_self != NULL ? sgc_mutator_of(&sgc_self->section) : NULL;
}

static inline struct sgc_section *sgc_section_of(struct sgc_mutator *m)
{
    return &m->cache.section;
}

/* Is it the record of a registered thread?  For that thread, or with the registry's lock. */
static inline bool sgc_mutator_ok(const struct sgc_mutator *m)
{
    return m->tid != 0 && m->cache.id != 0 && m->cache.id < sgc_a32_load_acq(&sgc_cache_count) &&
           sgc_cache_of(m->cache.id) == &m->cache && m->used_from <= m->stack.high && m->control.lo <= m->control.hi;
}

/* Is it the calling thread's own? */
static inline bool sgc_mutator_mine(const struct sgc_mutator *m)
{
    return m == sgc_mutator_self() && sgc_mutator_ok(m);
}

/* Does the list lead back to it from both sides?  With the registry's lock. */
static inline bool sgc_mutator_linked(const struct sgc_mutator *m)
{
    return (m->prev != NULL ? m->prev->next : sgc_registry.first) == m && (m->next == NULL || m->next->prev == m);
}

/* The calling thread's; NULL if it is not registered and has none. */
static inline struct sgc_section *sgc_section_self(void)
{
    return sgc_self != NULL ? &sgc_self->section : NULL;
}

static inline bool sgc_section_mine(const struct sgc_section *section)
{
    return section == sgc_section_self();
}

/* Does somebody hold the registry's lock, the calling thread most likely? */
static inline bool sgc_registry_locked(void)
{
    return sgc_a32_load(&sgc_registry.lock.word) != 0;
}

/* Makes the calling thread a mutator with the given stack end (0: ask the system).  NULL, with a
 * message, when the system or our tables have no room; the record if it is registered already.
 * Outside sections. */
struct sgc_mutator *sgc_mutator_register(uintptr_t bottom);

/* Makes the calling service thread of ours a mutator, nothing of which is a root.  NULL, with a
 * message, when the system or our tables have no room. */
struct sgc_mutator *sgc_mutator_register_service(void);

/* The calling thread's registration ends; its pages become orphans.  Outside sections. */
void sgc_mutator_unregister(struct sgc_mutator *m);

/* Is the calling thread in the middle of being registered?  The C library allocates when it is
 * asked for a stack's bounds, and a program may have made its malloc of ours. */
bool sgc_mutator_registering(void);

/* In the child of a fork: everybody else is gone. */
void sgc_registry_after_fork(struct sgc_mutator *self);

/* Threads that a stop has found to be gone leave the registry when it is over: the first takes
 * their records out, with the registry's lock; the second, without it, ends them as those threads
 * would have.  By who has the GC lock. */
struct sgc_mutator *sgc_registry_take_gone(void);
void sgc_registry_bury(struct sgc_mutator *gone);

/* Is there a registered thread that has the same number, and has registered later?  Its record
 * comes first, and the older thread has ended.  With the registry's lock. */
static inline bool sgc_registry_outlived(const struct sgc_mutator *m)
{
    const struct sgc_mutator *newer = sgc_registry.first;

    sgc_assert(sgc_registry_locked() && sgc_mutator_linked(m));
    while (newer != m && newer->tid != m->tid)
        newer = newer->next;
    return newer != m;
}

/* Is it a thread of the program that runs, or soon will?  `state`: of its section.  With the
 * registry's lock. */
static inline bool sgc_mutator_runs(const struct sgc_mutator *m, uint32_t state)
{
    return !m->service && !m->gone && (state & (SGC_STATE_BLOCKED | SGC_STATE_ASLEEP)) != SGC_STATE_BLOCKED;
}

void sgc_registry_check(void);

static inline bool sgc_mutator_at_home(const struct sgc_mutator *m, uintptr_t place)
{
    return sgc_stack_within(&m->stack, place);
}

/* Has the frame at `recorded` been left by a jump, now that the thread stands at `now`?
 * `alternate` is its alternate signal stack as the kernel knows it (NULL: none), which may lie
 * inside its own.  Between those two stacks that can be told; of others nothing.  A thread on a
 * stack that only the client told us of has not left what lies elsewhere. */
static inline bool sgc_mutator_frame_left(const struct sgc_mutator *m, uintptr_t recorded, uintptr_t now,
                                          const struct sgc_stack_bounds *alternate)
{
    return sgc_mutator_at_home(m, now) && (sgc_mutator_at_home(m, recorded) || sgc_stack_within(alternate, recorded)) &&
           sgc_section_left(recorded, now, alternate) &&
           (alternate != NULL || sgc_section_left(recorded, now, &m->reported_altstack));
}

/* A procedure of the program was called at `called`, which may leave by a jump; now the thread,
 * which calls this, enters one of our functions at `entry`.  Functions that the procedure calls are
 * entered below; a thread that enters above has left it, however deep our own frames go.  Outside
 * sections. */
bool sgc_mutator_left(const struct sgc_mutator *self, uintptr_t called, uintptr_t entry);

#endif
