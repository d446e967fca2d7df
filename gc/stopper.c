/* SPDX-License-Identifier: MIT */
/*
 * Stopping the world: the thread that stops the others, or one of them.  It has the gate.  The protocol is in
 * doc/design/world.md, who writes and reads what in gc/world.c.
 */
#include "gc/world_parts.h"

#include <limits.h>

#include "gc/options.h"
#include "gc/patience.h"

static const int64_t FIRST_WAIT_NS = 20 * 1000000;      /* before asking again */
static const uint32_t GIVE_UP_FACTOR = 10;              /* times SGC_STOP_WARN_MS */

/* ---- asking ---- */

/* The kernel has no such thread any more: it ended without running destructors.  Its stack may be
 * anybody's now. */
static void count_out(struct sgc_mutator *m)
{
    m->gone = true;
    m->signalled = false;
    sgc_a32_add(&sgc_world.missing, (uint32_t)-1);
}

static void signal_once(struct sgc_mutator *m, sgc_tid_t process)
{
    if (!sgc_thread_kill(process, m->tid, sgc_options.suspend_signal))
        count_out(m);
}

static void ask(struct sgc_mutator *m, sgc_tid_t process, struct sgc_cycle_record *record)
{
    uint32_t old;

    if (m->gone)
        return;
    sgc_a32_add(&sgc_world.missing, 1);
    old = sgc_a32_or(&m->cache.section.state, SGC_STATE_STOPREQ);
    sgc_assert(!(old & (SGC_STATE_STOPREQ | SGC_STATE_ACKED)));
    m->signalled = !(old & SGC_STATE_BLOCKED);
    if (!m->signalled) {
        sgc_a32_add(&sgc_world.missing, (uint32_t)-1);
        record->threads_blocked++;
        return;
    }
    sgc_patience_one_more();
    record->threads_stopped++;
    signal_once(m, process);
}

/* All others, or `only` one. */
static void ask_all(struct sgc_mutator *self, const struct sgc_mutator *only, struct sgc_cycle_record *record)
{
    sgc_tid_t process = sgc_process_id();

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

/* A section that was abandoned by a longjmp swallowed the first signal; a thread that blocks the
 * signal is named once. */
static void ask_again(struct sgc_mutator *self, bool warn)
{
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        if (m == self || has_stopped(m))
            continue;
        sgc_a32_or(&m->cache.section.state, SGC_STATE_AGAIN);
        signal_once(m, sgc_process_id());
        if (!warn || m->warned || m->gone)
            continue;
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
}

/* Takes every request back.  Returns how many threads were asked and had not acknowledged: they
 * never will, while whoever acknowledged has decremented `missing` or is about to. */
static uint32_t withdraw_requests(struct sgc_mutator *self)
{
    uint32_t unanswered = 0;

    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        uint32_t old;

        if (m == self)
            continue;
        old = sgc_a32_and(&m->cache.section.state,
                          ~(uint32_t)(SGC_STATE_STOPREQ | SGC_STATE_ACKED | SGC_STATE_AGAIN));
        unanswered += m->signalled && !(old & SGC_STATE_ACKED);
    }
    return unanswered;
}

static uint64_t warn_after_ns(void)
{
    return sgc_options.stop_warn_ms < 0 ? UINT64_MAX
                                        : (uint64_t)sgc_options.stop_warn_ms * 1000000;
}

/* Waits until nobody is missing; false when a thread took too long. */
static bool wait_for_all(struct sgc_mutator *self)
{
    uint64_t began = sgc_clock_ns();
    uint64_t warn_ns = warn_after_ns();
    int64_t slice = FIRST_WAIT_NS;
    uint32_t missing;

    if (sgc_patience_spin_to_zero(&sgc_world.missing))
        return true;
    while ((missing = sgc_a32_load_acq(&sgc_world.missing)) != 0) {
        uint64_t waited = sgc_clock_ns() - began;

        if (sgc_wait(&sgc_world.missing, missing, slice))
            continue;
        ask_again(self, waited >= warn_ns);
        if (waited / GIVE_UP_FACTOR >= warn_ns)
            return false;
        slice = slice < 1000000000 ? slice * 2 : slice;
    }
    return true;
}

/* The stop is given up.  Those that acknowledged must have finished counting before the next stop
 * counts anew. */
static void settle_missing(struct sgc_mutator *self)
{
    uint32_t unanswered = withdraw_requests(self);

    while (sgc_a32_load_acq(&sgc_world.missing) != unanswered)
        sgc_yield();
    sgc_a32_store(&sgc_world.missing, 0);
}

static void let_go(void)
{
    sgc_patience_let_go();
    sgc_a32_add(&sgc_world.gen, 1);
    sgc_wake(&sgc_world.gen, INT_MAX);
}

/* ---- stops ---- */

/* With the registry's lock, which is released if the stop is given up. */
static bool stop(struct sgc_mutator *self, const struct sgc_mutator *only, uint32_t markers,
                 struct sgc_cycle_record *record)
{
    sgc_cycle_stop_begin(record);
    sgc_assert(sgc_a32_load(&sgc_world.missing) == 0);
    sgc_a32_store(&sgc_world.missing, 1);
    sgc_patience_begin(markers);
    sgc_a32_add(&sgc_world.gen, 1);
    ask_all(self, only, record);
    sgc_a32_add(&sgc_world.missing, (uint32_t)-1);
    if (wait_for_all(self)) {
        sgc_cycle_phase(record, SGC_PHASE_STOP);
        return true;
    }
    settle_missing(self);
    let_go();
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
    return false;
}

bool sgc_world_stop(struct sgc_mutator *self, uint32_t markers, struct sgc_cycle_record *record)
{
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    return stop(self, NULL, markers, record);
}

void sgc_world_resume(struct sgc_mutator *self)
{
    sgc_assert(sgc_world_stopped());
    withdraw_requests(self);
    let_go();
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
}

/* ---- one thread, for long ---- */

struct sgc_mutator *sgc_world_find(pthread_t thread)
{
    struct sgc_mutator *m = sgc_registry.first;

    while (m != NULL && (m->service || m->gone || !pthread_equal(m->handle, thread)))
        m = m->next;
    return m;
}

/* It is told while it stands still: so it stands outside sections, and what it does between the end of the stop and its
 * next look at the bit is ours (sgc_world_stay). */
static enum sgc_suspended suspend(struct sgc_mutator *self, struct sgc_mutator *m)
{
    struct sgc_cycle_record record;
    bool gone;

    sgc_cycle_begin(&record, 0, SGC_REASON_EXPLICIT);
    if (!stop(self, m, 1, &record))
        return SGC_SUSPENDED_NOT;
    gone = m->gone;
    if (!gone)
        sgc_a32_or(&m->cache.section.state, SGC_STATE_SUSPENDED);
    sgc_world_resume(self);
    return gone ? SGC_SUSPENDED_NOBODY : SGC_SUSPENDED;
}

enum sgc_suspended sgc_world_suspend(struct sgc_mutator *self, pthread_t thread)
{
    struct sgc_mutator *m;

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
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    sgc_a32_or(&sgc_section_of(self)->state, SGC_STATE_SUSPENDED);
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
}

void sgc_world_unsuspend(struct sgc_mutator *m)
{
    sgc_a32_and(&m->cache.section.state, ~(uint32_t)SGC_STATE_SUSPENDED);
    sgc_wake(&m->cache.section.state, INT_MAX);
}
