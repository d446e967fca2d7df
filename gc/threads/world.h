/* SPDX-License-Identifier: MIT */
/*
 * Stopping the world and letting it run again.  The protocol, its states and its proof are in
 * doc/design/world.md; tests/model/stop.pml checks it.
 */
#ifndef SGC_GC_THREADS_WORLD_H
#define SGC_GC_THREADS_WORLD_H

#include "gc/events/events.h"
#include "gc/threads/mutator.h"

/* Installs the suspend handler and the section hooks.  False, with a message, if the system
 * refuses the signal. */
bool sgc_world_init(void);

/* Stops every other registered thread.  True when all stand still: the registry's lock is then
 * held, the calling thread is inside a section with its signals blocked, until sgc_world_resume.
 * False, with a message and everything running again, when some thread could not be stopped in
 * time.  Outside sections; one thread at a time (the GC lock).  `markers`: threads that will be
 * busy meanwhile. */
bool sgc_world_stop(struct sgc_mutator *self, uint32_t markers, struct sgc_cycle_record *record);

/* Lets all go on.  `record`: of the stop, in which the part SGC_PHASE_RESUME ends when all have
 * been woken; NULL: of none. */
void sgc_world_resume(struct sgc_mutator *self, struct sgc_cycle_record *record);

/* Was the last stop given up, without a message, because a signal waits that usually ends the
 * program?  A thread that needs the stop opens the GC lock, so that the signal is taken, and tries
 * again.  By the thread that has the GC lock. */
bool sgc_world_interrupted(void);

/* The calling thread is to be scanned from `sp` while it collects, is stopped or blocked.  [any] */
void sgc_world_publish_sp(struct sgc_mutator *m, uintptr_t sp);

/* Is a stop in force?  For assertions. */
bool sgc_world_stopped(void);

/* The calling thread touches no heap until sgc_world_leave_blocked: it counts as stopped, and
 * what lies above `sp` on its stack is scanned. */
void sgc_world_enter_blocked(struct sgc_mutator *self, uintptr_t sp);
void sgc_world_leave_blocked(struct sgc_mutator *self);

/* Is the calling thread in a blocked region? */
bool sgc_world_is_blocked(const struct sgc_mutator *self);

/* Runs wait(arg) as a blocked region: for our own sleeps, so that a stop needs no signal to a
 * sleeper (and so that stops work under TSan, which delivers signals only at libc calls). */
void sgc_world_sleep(struct sgc_mutator *self, void (*wait)(void *arg), void *arg);

/* Sleeps once on the word, if it is `expected`, as a blocked region. */
void sgc_world_wait(struct sgc_section *self, sgc_a32_t *word, uint32_t expected);

/* ---- one thread, for long ---- */

enum sgc_suspended {
    SGC_SUSPENDED,              /* it is, now or already */
    SGC_SUSPENDED_NOT,          /* it could not be stopped: a message has said why */
    SGC_SUSPENDED_LATER,        /* not yet: sgc_world_interrupted */
    SGC_SUSPENDED_NOBODY,       /* no registered thread of that name */
};

/* Stops that other thread until sgc_world_unsuspend: when this returns it runs no code of the
 * program's any more.  With the GC lock, inside the loader's lock (sgc_roots_snapshot), so that the
 * thread has neither. */
enum sgc_suspended sgc_world_suspend(struct sgc_mutator *self, pthread_t thread);

/* The calling thread, without the GC lock: returns when another one has told it to go on. */
void sgc_world_suspend_self(struct sgc_mutator *self);

/* The registered thread of that name, none of ours; NULL: there is none.  With the registry's
 * lock. */
struct sgc_mutator *sgc_world_find(pthread_t thread);

/* Lets it go on, suspended or not.  With the registry's lock. */
void sgc_world_unsuspend(struct sgc_mutator *m);

/* A suspended thread stays here, with nothing of ours in its hands, until it may go on.  Signals
 * blocked. */
void sgc_world_wait_suspended(struct sgc_section *self);

/* ---- all that count as stopped, for the time of a stop ---- */

/* Keeps the program's threads where they are if all of them count as stopped, but not in sleeps of
 * our own; false: some thread runs, or soon will, and nobody is kept.  By a thread of ours, with
 * the GC lock, outside sections. */
bool sgc_world_pin(struct sgc_mutator *self);
void sgc_world_unpin(struct sgc_mutator *self);

void sgc_world_after_fork(void);

#endif
