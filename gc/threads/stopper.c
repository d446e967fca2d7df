/* SPDX-License-Identifier: MIT */
/*
 * Stopping the world: the thread that stops the others, or one of them.  It has the GC lock.  The
 * protocol is in doc/design/world.md, who writes and reads what in gc/threads/world.c.
 */
#include "gc/threads/world.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "alloc/small/remote_free.h"
#include "gc/config/options.h"
#include "gc/threads/world_internal.h"
#include "gc/threads/gc_lock.h"

static const uint64_t FIRST_WAIT_NS = 20 * 1000000;     /* before asking again */
static const uint64_t LONGEST_WAIT_NS = 1000 * 1000000;
static const uint64_t PASS_NS = 100000;                 /* for who leaves the GC lock */
static const uint32_t GIVE_UP_FACTOR = 10;              /* times SGC_STOP_WARN_MS */

#define BIT(signal) (UINT64_C(1) << ((signal) - 1))

static const uint64_t ENDING = BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTERM);

/* ---- asking ---- */

/* The thread ended without running destructors, perhaps inside a section.  Its stack may be
 * anybody's now. */
static void count_out(struct sgc_mutator *m)
{
    sgc_assert(m != sgc_mutator_self() && !m->gone);
    sgc_assert(sgc_a32_load(&sgc_world.missing) != 0 && sgc_registry.gone < sgc_registry.count);
    m->gone = true;
    m->signalled = false;
    sgc_registry.gone++;
    sgc_section_reset(sgc_section_of(m));
    sgc_cache_repair(&m->cache);
    sgc_a32_add(&sgc_world.missing, (uint32_t)-1);
}

/* Only if the system has no such thread it is gone.  One to which the signal cannot be sent runs
 * on: the stop waits for it. */
static void signal_once(struct sgc_mutator *m, sgc_tid_t process, int signal)
{
    sgc_assert(m->tid != 0 && !m->gone);
    m->refused = sgc_thread_kill(process, m->tid, signal);
    if (m->refused == ESRCH)
        count_out(m);
}

/* It has stopped already, unless it has ended there: then its stack may be unmapped.  A thread of
 * our own does not end so. */
static void count_blocked(struct sgc_mutator *m, sgc_tid_t process)
{
    sgc_assert(!m->signalled && !m->gone);
    if (!m->service)
        signal_once(m, process, 0);
    if (!m->gone)
        sgc_a32_add(&sgc_world.missing, (uint32_t)-1);
}

static void ask(struct sgc_mutator *m, sgc_tid_t process, struct sgc_cycle_record *record)
{
    uint32_t old;

    sgc_assert(sgc_mutator_ok(m) && m != sgc_mutator_self());
    if (m->gone)
        return;
    sgc_a32_add(&sgc_world.missing, 1);
    old = sgc_a32_or(&m->cache.section.state, SGC_STATE_STOPREQ);
    sgc_assert(!(old & (SGC_STATE_STOPREQ | SGC_STATE_ACKED)));
    m->signalled = !(old & SGC_STATE_BLOCKED);
    if (!m->signalled) {
        record->threads.blocked++;
        count_blocked(m, process);
        return;
    }
    sgc_spin_wait_add_thread();
    record->threads.stopped++;
    signal_once(m, process, sgc_options.suspend_signal);
}

/* All others, or `only` one. */
static void ask_all(struct sgc_mutator *self, const struct sgc_mutator *only, struct sgc_cycle_record *record)
{
    sgc_tid_t process = sgc_process_id();

    sgc_assert(sgc_registry_locked() && sgc_mutator_linked(self));
    sgc_assert(sgc_world_stopped());                /* as those read it that are asked */
    if (sgc_registry.count > 1)
        sgc_world_keep_handler(false);
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        m->signalled = false;
        if (m != self && (only == NULL || m == only))
            ask(m, process, record);
    }
}

static bool has_stopped(const struct sgc_mutator *m)
{
    return !m->signalled || (sgc_a32_load_acq(&m->cache.section.state) & SGC_STATE_ACKED);
}

/* The system has given the thread's number to another one, or has not forgotten it yet. */
static bool is_over(const struct sgc_mutator *m)
{
    uint32_t gen = sgc_a32_load(&sgc_world.gen);

    sgc_assert(m != sgc_mutator_self() && sgc_registry_locked());
    return sgc_aw_load_acq(&sgc_world.stranger) == sgc_world_stranger(gen, m->tid) || sgc_registry_outlived(m) ||
           sgc_thread_is_over(m->tid);
}

/* That is so for all threads, and is said once. */
static void report_refused(const struct sgc_mutator *m)
{
    sgc_assert(m->refused != 0);
    if (sgc_world.reported_refusal == m->refused)
        return;
    sgc_world.reported_refusal = m->refused;
    if (m->refused == EAGAIN)
        sgc_warn("signal %d cannot be queued for thread %d, because the user's queue of real-time signals is full, and a "
                 "collection waits for that; allow a longer one (ulimit -i) or choose a signal below SIGRTMIN with "
                 "GC_set_suspend_signal", sgc_options.suspend_signal, m->tid);
    else
        sgc_warn("the system refuses to send signal %d to thread %d (tgkill: error %d), which cannot be stopped for a "
                 "collection without; let the filter of system calls allow gettid, getpid and tgkill",
                 sgc_options.suspend_signal, m->tid, m->refused);
}

/* A full queue gets room again, but a filter of system calls stays: there is nothing to wait
 * for. */
static bool refused_for_good(const struct sgc_mutator *self)
{
    sgc_assert(sgc_registry_locked());
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (m != self && !has_stopped(m) && m->refused != 0 && m->refused != EAGAIN) {
            report_refused(m);
            return true;
        }
    return false;
}

/* Each thread is named once. */
static void report_late(struct sgc_mutator *m)
{
    sgc_assert(m->signalled && m->refused == 0);
    if (m->warned)
        return;
    m->warned = true;
    if (sgc_thread_blocks_signal(m->tid, sgc_options.suspend_signal))
        sgc_warn("thread %d blocks signal %d and cannot be stopped for a collection; let it leave "
                 "that signal unblocked, choose another one (GC_set_suspend_signal, "
                 "SGC_SUSPEND_SIGNAL), or wrap the blocking part in GC_do_blocking",
                 m->tid, sgc_options.suspend_signal);
    else
        sgc_warn("thread %d has not stopped for a collection yet; if it is stopped by a "
                 "debugger or by SIGSTOP, let it go on", m->tid);
}

static void ask_one_again(struct sgc_mutator *m, bool warn)
{
    sgc_assert(m->signalled && !m->gone && m != sgc_mutator_self());
    sgc_a32_or(&m->cache.section.state, SGC_STATE_AGAIN);
    sgc_a32_and(&m->cache.section.state, ~(uint32_t)SGC_STATE_PASSED);
    signal_once(m, sgc_process_id(), sgc_options.suspend_signal);
    if (!warn || m->gone)
        return;
    if (m->refused != 0)
        report_refused(m);
    else
        report_late(m);
}

/* Before anybody is asked again: the next stranger that gets a signal says so in the same place.
 * True if there are any. */
static bool count_out_all(struct sgc_mutator *self)
{
    uint32_t before = sgc_registry.gone;

    sgc_assert(sgc_registry_locked());
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (m != self && !has_stopped(m) && is_over(m))
            count_out(m);
    return sgc_registry.gone != before;
}

/* A section that was abandoned by a longjmp swallowed the first signal, or there was no room for it
 * in the queue.  True if it is worth to look again soon. */
static bool ask_again(struct sgc_mutator *self, bool warn)
{
    bool soon = count_out_all(self);

    sgc_world_keep_handler(true);
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        if (m == self || has_stopped(m))
            continue;
        ask_one_again(m, warn);
        soon = soon || m->refused == EAGAIN;
    }
    return soon;
}

/* Those that were let pass have run a little since, or have come to stop by themselves. */
static void ask_passed(struct sgc_mutator *self)
{
    sgc_assert(sgc_registry_locked() && sgc_world_stopped());
    if (sgc_a32_swap(&sgc_world.passed, 0) == 0)
        return;
    sgc_wait(&sgc_world.passed, 0, (int64_t)PASS_NS);
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (m != self && !has_stopped(m) &&
            (sgc_a32_and(&m->cache.section.state, ~(uint32_t)SGC_STATE_PASSED) & SGC_STATE_PASSED))
            signal_once(m, sgc_process_id(), sgc_options.suspend_signal);
}

/* Takes every request back.  Returns how many threads were asked and had not acknowledged: they
 * never will, while whoever acknowledged has decremented `missing` or is about to. */
static uint32_t withdraw_requests(struct sgc_mutator *self)
{
    uint32_t unanswered = 0;

    sgc_assert(sgc_registry_locked() && sgc_world_stopped());
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        uint32_t old;

        if (m == self)
            continue;
        old = sgc_a32_and(&m->cache.section.state,
                          ~(uint32_t)(SGC_STATE_STOPREQ | SGC_STATE_ACKED | SGC_STATE_AGAIN | SGC_STATE_PASSED));
        unanswered += m->signalled && !(old & SGC_STATE_ACKED);
    }
    return unanswered;
}

/* The stopper blocks all signals, and those that it has stopped do.  One that usually ends the
 * program is not to wait for a thread that does not stop: true if one has come since this was asked
 * last.  A signal that still waits is blocked by the program itself. */
static bool signal_waits(void)
{
    uint64_t waiting = sgc_signals_pending() & ENDING;
    bool new = (waiting & ~sgc_world.passed_over) != 0;

    sgc_world.passed_over = waiting;
    return new;
}

/* Those that have been taken since the last stop count when they come again. */
static void begin_waiting(void)
{
    sgc_world.interrupted = false;
    if (sgc_world.passed_over != 0)
        sgc_world.passed_over &= sgc_signals_pending();
}

bool sgc_world_interrupted(void)
{
    return sgc_world.interrupted;
}

/* Waits until nobody is missing; false when a thread took too long or cannot be asked, or a signal
 * waits. */
static bool wait_for_all(struct sgc_mutator *self)
{
    uint64_t began = sgc_clock_ns(), asked = began;
    uint64_t warn_ns = sgc_options.stop_warn_ms < 0 ? UINT64_MAX : (uint64_t)sgc_options.stop_warn_ms * 1000000;
    uint64_t slice = FIRST_WAIT_NS;
    uint32_t missing;

    sgc_assert(sgc_world_stopped());
    begin_waiting();
    if (refused_for_good(self))
        return false;
    if (sgc_spin_wait_zero(&sgc_world.missing))
        return true;
    while ((missing = sgc_a32_load_acq(&sgc_world.missing)) != 0) {
        uint64_t now, waited;

        ask_passed(self);
        sgc_wait(&sgc_world.missing, missing, (int64_t)slice);
        now = sgc_clock_ns();
        if (now - asked < slice)
            continue;
        asked = now;
        waited = now - began;
        if ((sgc_world.interrupted = signal_waits()))
            return false;
        slice = ask_again(self, waited >= warn_ns) ? FIRST_WAIT_NS : slice < LONGEST_WAIT_NS ? slice * 2 : slice;
        if (waited / GIVE_UP_FACTOR >= warn_ns || refused_for_good(self))
            return false;
    }
    return true;
}

/* The stop is given up.  Those that acknowledged must have finished counting before the next stop
 * counts again. */
static void settle_missing(struct sgc_mutator *self)
{
    uint32_t unanswered = withdraw_requests(self);

    sgc_assert(unanswered <= sgc_registry.count);
    while (sgc_a32_load_acq(&sgc_world.missing) != unanswered)
        sgc_yield();
    sgc_a32_store(&sgc_world.missing, 0);
}

/* When all have been woken.  The threads that wake may take this one's processor; when it gets that
 * again, they have been running for long.  So of the time that this takes, that of the processor
 * counts. */
static uint64_t wake_all(void)
{
    uint64_t began = sgc_clock_ns(), ran = sgc_clock_thread_cpu_ns(), now;

    sgc_assert(!sgc_world_stopped());
    sgc_wake(&sgc_world.gen, INT_MAX);
    ran = sgc_clock_thread_cpu_ns() - ran;
    now = sgc_clock_ns();
    return ran < now - began ? began + ran : now;
}

/* `record`: of the stop that ends; NULL: of none. */
static void resume_all(struct sgc_mutator *self, struct sgc_cycle_record *record)
{
    struct sgc_mutator *gone;
    uint64_t resumed_ns;

    sgc_assert(sgc_registry_locked() && sgc_world_stopped());
    sgc_a32_add(&sgc_world.gen, 1);
    resumed_ns = wake_all();
    if (record != NULL)
        sgc_cycle_phase_at(record, SGC_PHASE_RESUME, resumed_ns);
    gone = sgc_registry_take_gone();
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
    sgc_registry_bury(gone);
}

/* ---- stops ---- */

/* With the registry's lock, which is released if the stop is given up. */
static bool stop(struct sgc_mutator *self, const struct sgc_mutator *only, uint32_t markers,
                 struct sgc_cycle_record *record)
{
    sgc_assert(sgc_mutator_mine(self) && self != only && markers > 0);
    sgc_assert(sgc_registry_locked() && !sgc_world_stopped());
    sgc_cycle_stop_begin(record);
    sgc_assert(sgc_a32_load(&sgc_world.missing) == 0);
    sgc_a32_store(&sgc_world.missing, 1);
    sgc_spin_wait_begin(markers);
    sgc_a32_add(&sgc_world.gen, 1);
    ask_all(self, only, record);
    sgc_a32_add(&sgc_world.missing, (uint32_t)-1);
    if (wait_for_all(self)) {
        sgc_cycle_phase(record, SGC_PHASE_STOP);
        return true;
    }
    settle_missing(self);
    resume_all(self, NULL);
    return false;
}

bool sgc_world_stop(struct sgc_mutator *self, uint32_t markers, struct sgc_cycle_record *record)
{
    sgc_assert(!sgc_stopped_by_self());
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    return stop(self, NULL, markers, record);
}

void sgc_world_resume(struct sgc_mutator *self, struct sgc_cycle_record *record)
{
    sgc_assert(sgc_mutator_mine(self) && sgc_registry_locked());
    sgc_assert(sgc_world_stopped());
    withdraw_requests(self);
    resume_all(self, record);
}

/* ---- one thread, for long ---- */

struct sgc_mutator *sgc_world_find(pthread_t thread)
{
    struct sgc_mutator *m = sgc_registry.first;

    sgc_assert(sgc_registry_locked());
    while (m != NULL && (m->service || m->gone || !pthread_equal(m->handle, thread)))
        m = m->next;
    sgc_assert(m == NULL || sgc_mutator_linked(m));
    return m;
}

/* It is told while it stands still: so it stands outside sections, and what it does between the end
 * of the stop and its next look at the bit is ours (sgc_world_wait_suspended). */
static enum sgc_suspended suspend(struct sgc_mutator *self, struct sgc_mutator *m)
{
    struct sgc_cycle_record record;
    bool gone;

    sgc_assert(sgc_mutator_ok(m) && !m->service && m != self);
    sgc_cycle_begin(&record, 0, SGC_REASON_EXPLICIT);
    if (!stop(self, m, 1, &record))
        return sgc_world.interrupted ? SGC_SUSPENDED_LATER : SGC_SUSPENDED_NOT;
    gone = m->gone;
    if (!gone)
        sgc_a32_or(&m->cache.section.state, SGC_STATE_SUSPENDED);
    sgc_world_resume(self, NULL);
    return gone ? SGC_SUSPENDED_NOBODY : SGC_SUSPENDED;
}

enum sgc_suspended sgc_world_suspend(struct sgc_mutator *self, pthread_t thread)
{
    struct sgc_mutator *m;

    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held());
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    m = sgc_world_find(thread);
    sgc_assert(m != self);
    if (m != NULL && !sgc_section_suspended(sgc_section_of(m)))
        return suspend(self, m);
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
    return m != NULL ? SGC_SUSPENDED : SGC_SUSPENDED_NOBODY;
}

/* Its own lock's end is where it stays. */
void sgc_world_suspend_self(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    sgc_a32_or(&sgc_section_of(self)->state, SGC_STATE_SUSPENDED);
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
}

void sgc_world_unsuspend(struct sgc_mutator *m)
{
    sgc_assert(sgc_registry_locked() && sgc_mutator_linked(m));
    sgc_a32_and(&m->cache.section.state, ~(uint32_t)SGC_STATE_SUSPENDED);
    sgc_wake(&m->cache.section.state, INT_MAX);
}

/* ---- all that count as stopped, for the time of a stop ---- */

/* A thread that counts as stopped may go on at any time; pinned, it stays where it is, or where it
 * first has nothing of the collector's in its hands, like one that is suspended
 * (gc/threads/world.c).  So a stop that follows finds no thread in the middle of the program's
 * code. */
static void unpin(void)
{
    sgc_assert(sgc_registry_locked());
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_a32_and(&m->cache.section.state, ~(uint32_t)SGC_STATE_PINNED) & SGC_STATE_PINNED)
            sgc_wake(&m->cache.section.state, INT_MAX);
}

/* One change says whether it counted as stopped when it was pinned. */
static bool pin(struct sgc_mutator *m)
{
    return m->service || !sgc_mutator_runs(m, sgc_a32_or(&m->cache.section.state, SGC_STATE_PINNED));
}

bool sgc_world_pin(struct sgc_mutator *self)
{
    struct sgc_mutator *m;

    sgc_assert(sgc_mutator_mine(self) && self->service && sgc_gc_lock_held() && !sgc_world_stopped());
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    for (m = sgc_registry.first; m != NULL && pin(m);)
        m = m->next;
    if (m != NULL)
        unpin();
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
    return m == NULL;
}

void sgc_world_unpin(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held() && !sgc_world_stopped());
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    unpin();
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
}
