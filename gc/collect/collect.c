/* SPDX-License-Identifier: MIT */
/*
 * Collections: which sort of cycle, those that stop the program once, and what threads do that
 * wait for a cycle, or help it.  Everything runs on the thread that asks.
 */
#include "gc/collect/collect.h"

#include "gc/collect/background.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/helpers.h"
#include "gc/collect/lead.h"
#include "gc/collect/stops.h"
#include "gc/collect/torture.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/events/trace_buffer.h"
#include "gc/finalize/disclaim.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/help_rules.h"
#include "gc/pacing/pacing.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

/* ---- in one pause ---- */

/* Under torture small heaps are marked by all, too. */
static uint32_t wanted_markers(void)
{
    int max = sgc_options.markers;

    return (uint32_t)(sgc_options.torture > 0 ? max : sgc_pacing_markers(max));
}

/* Has memory run out, and did a signal come?  Then the caller tries once more. */
static bool is_tried_again(enum sgc_reason reason)
{
    return reason == SGC_REASON_LIMIT && sgc_cycle.interrupted;
}

/* Allocation would try again at once.  When a request of the program is given up, what is allocated
 * calls for a cycle as before; and so if a thread has disabled collections meanwhile, which will
 * enable them. */
static bool given_up(enum sgc_reason reason, bool can_stop)
{
    sgc_assert((unsigned)reason < SGC_REASONS);
    if (reason != SGC_REASON_EXPLICIT && !is_tried_again(reason) && !sgc_collect_disabled())
        sgc_pacing_given_up(can_stop || sgc_cycle.interrupted);
    return false;
}

/* Why a mark for that reason, or what is left of one, is made with the program stopped.  With the
 * GC lock. */
static enum sgc_stopped_for stopped_for(enum sgc_reason reason)
{
    sgc_assert(sgc_gc_lock_held());
    if (!sgc_concurrent_enabled())
        return SGC_FOR_MODE;
    if (reason == SGC_REASON_TORTURE)
        return SGC_FOR_TORTURE;
    if (reason == SGC_REASON_LIMIT)
        return SGC_FOR_MEMORY;
    if (reason != SGC_REASON_ALLOCATION || sgc_next_in_one_stop())
        return SGC_FOR_REQUEST;
    return sgc_disclaim_used() || sgc_finding_leaks() ? SGC_FOR_CLIENT : sgc_pacing_stopped_for();
}

static bool run(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    enum sgc_stopped_for what = stopped_for(reason);

    sgc_cycle_open(self, reason, stop, from);
    sgc_cycle.record.stopped_for = what;
    if (!sgc_cycle_stop(self, wanted_markers(), sgc_phases_stopped))
        return given_up(reason, false);
    sgc_team_trim(&sgc_cycle.team);
    if (!sgc_cycle.complete) {
        SGC_UPPER(over, (false));
        return given_up(reason, true);
    }
    sgc_cycle_close();
    sgc_lead_withdraw();
    return true;
}

/* A thread that runs out of memory, or of room, takes the marks that there are already; one that
 * wants to know which objects are garbage now begins anew. */
static bool may_finish(struct sgc_mutator *self, enum sgc_reason reason)
{
    if (reason == SGC_REASON_TORTURE)
        return sgc_torture_chance(self, 2);
    return reason == SGC_REASON_ALLOCATION || reason == SGC_REASON_LIMIT;
}

/* With the GC lock.  The marks of a cycle beside the program are not forgotten for a collection
 * that may be given up: the cycle is finished first, unless the stop function says so meanwhile.
 * A finish that allocation needs is not given up. */
static bool collect(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    if (stop != NULL && stop() != 0)
        return given_up(reason, true);
    if (sgc_concurrent_marks()) {
        bool enough = may_finish(self, reason);
        bool over = enough || stop != NULL
                        ? sgc_lead_finish(self, reason, stopped_for(reason), enough ? NULL : stop, from)
                        : sgc_lead_cancel(self);

        if (!over)
            return given_up(reason, sgc_cycle.stopped);
        if (enough)
            return true;
    }
    return run(self, reason, stop, from);
}

/* ---- any ---- */

enum sgc_collect_result sgc_collect_from(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void),
                                         uintptr_t from)
{
    uint64_t before = sgc_cycles_finished();
    bool done, again;

    sgc_assert(sgc_mutator_mine(self) && (unsigned)reason < SGC_REASONS);
    if (sgc_cycle_disabled())
        return SGC_COLLECT_DISABLED;
    if (sgc_gc_lock_held()) {
        if (reason == SGC_REASON_EXPLICIT)
            sgc_warn("a collection was asked for by a callback of a collection, or by a thread that holds the "
                     "allocation lock; it is not made. Ask for it afterwards");
        return SGC_COLLECT_NESTED;
    }
    sgc_gc_lock_acquire(self);
    if (reason != SGC_REASON_EXPLICIT && sgc_cycles_finished() != before) {
        sgc_gc_lock_release();
        return SGC_COLLECTED;
    }
    sgc_cycle.interrupted = false;
    done = collect(self, reason, stop, from);
    again = !done && is_tried_again(reason);
    if (done)
        sgc_service_start_if_worth_it();
    sgc_gc_lock_release();
    if (done)
        sgc_service_wake(false);
    return done ? SGC_COLLECTED : again ? SGC_COLLECT_INTERRUPTED : SGC_COLLECT_GIVEN_UP;
}

void sgc_collect_finish_and_disable(struct sgc_mutator *self, uintptr_t from)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    sgc_gc_lock_acquire(self);
    sgc_cycle.interrupted = false;
    if (sgc_concurrent_marks() && !sgc_cycle_disabled())
        sgc_lead_finish(self, SGC_REASON_EXPLICIT, SGC_FOR_REQUEST, NULL, from);
    sgc_collect_disable();
    sgc_gc_lock_release();
}

/* ---- threads that help a cycle, or wait for it: they count as stopped meanwhile ---- */

struct wait {
    uint64_t began, max_ns;         /* it takes so long at most */
};

/* A thread that waits looks so often whether a stop is offered: one that is offered between its
 * look and its sleep wakes nobody. */
static const uint64_t LONGEST_SLEEP_NS = 2000000;

struct assist {
    struct wait wait;
    bool worked;
};

static void mark_for_a_while(void *arg)
{
    struct assist *a = arg;
    uint64_t ns = a->wait.max_ns, now = a->wait.began;

    a->worked = sgc_team_assist(&sgc_cycle.team, ns < UINT64_MAX - now ? now + ns : UINT64_MAX);
}

/* Until no cycle is busy, or a stop is offered. */
static void wait_over(void *arg)
{
    const struct wait *w = arg;

    for (uint32_t now; (now = sgc_a32_load_acq(&sgc_cycle.state)) != SGC_CYCLE_IDLE;) {
        uint64_t waited_ns = sgc_clock_ns() - w->began;

        if (waited_ns >= w->max_ns || sgc_turn_offered())
            return;
        waited_ns = w->max_ns - waited_ns;
        sgc_wait(&sgc_cycle.state, now, (int64_t)(waited_ns < LONGEST_SLEEP_NS ? waited_ns : LONGEST_SLEEP_NS));
    }
}

bool sgc_assist_for(struct sgc_mutator *self, uint64_t ns)
{
    struct assist a = { { sgc_clock_ns(), ns }, false };

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    if (sgc_concurrent_marks()) {
        sgc_world_sleep(self, mark_for_a_while, &a);
        sgc_trace_span(SGC_TRACE_ASSISTED, a.wait.began, sgc_trace_begin(), 0);
    }
    return a.worked;
}

static bool has_helped(void *until)
{
    return sgc_team_marked(&sgc_cycle.team) >= *(const size_t *)until;
}

bool sgc_assist_bytes(struct sgc_mutator *self, size_t bytes)
{
    bool more = false;

    sgc_assert(sgc_mutator_mine(self));
    sgc_gc_lock_acquire(self);
    if (sgc_concurrent_marks()) {
        size_t until;

        sgc_lead_hold();
        until = sgc_team_marked(&sgc_cycle.team) + bytes;
        more = !sgc_team_go_on(&sgc_cycle.team, has_helped, &until);
        sgc_lead_release();
    }
    sgc_gc_lock_release();
    return more;
}

/* ---- help in proportion ---- */

/* A piece of help. */
struct piece {
    struct assist assist;
    uint64_t rests;
};

/* If there is nothing for the thread to mark, it rests, at most until the cycle has come further,
 * or a stop is offered. */
static void help_a_little(void *arg)
{
    struct piece *p = arg;
    uint32_t now;

    if (sgc_concurrent_marks())
        mark_for_a_while(&p->assist);
    now = sgc_a32_load_acq(&sgc_cycle.state);
    if (!p->assist.worked && now != SGC_CYCLE_IDLE && !sgc_turn_offered())
        sgc_wait(&sgc_cycle.state, now, (int64_t)sgc_help_rest_ns(p->assist.wait.max_ns, p->rests));
}

static void help_once(struct sgc_mutator *self, const struct sgc_help *part, enum sgc_wait which, struct sgc_helped *helped)
{
    uint64_t piece_ns = sgc_help_piece_ns(part->ns - helped->done_ns);
    struct piece p = { { { sgc_clock_ns(), piece_ns }, false }, part->rests };
    uint64_t now;

    sgc_world_sleep(self, help_a_little, &p);
    now = sgc_clock_ns();
    sgc_trace_span(which == SGC_STALL ? SGC_TRACE_STALLED : SGC_TRACE_ASSISTED, p.assist.wait.began, now, 0);
    sgc_helped_add(helped, now - p.assist.wait.began, p.assist.worked ? piece_ns : 0, part->rests);
}

/* A thread that allocates faster than the cycle gets on does what its bytes are worth, unless the
 * cycle catches up before.  Between two pieces it may be stopped, or make a stop that is
 * offered. */
static void help(struct sgc_mutator *self, enum sgc_due due, uintptr_t from)
{
    struct sgc_help part = sgc_pacing_help(self);
    enum sgc_wait which = due == SGC_DUE_LATE ? SGC_STALL : SGC_ASSIST;
    struct sgc_helped helped = { 0, 0, 0 };

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    if (part.ns < SGC_HELP_MIN_NS)
        return;
    self->owed = 0;
    while (helped.done_ns < part.ns && (due == SGC_DUE_ASSIST || due == SGC_DUE_LATE) && sgc_concurrent_busy()) {
        help_once(self, &part, which, &helped);
        if (sgc_turn_offered())
            sgc_turn_take(self, from);
        due = sgc_pacing_poll_again(self);
    }
    if (helped.done_ns != 0)
        sgc_concurrent_pace_waited(which, helped.waited_ns, sgc_help_wait_ns(part.ns, helped.marked_ns, part.rests));
}

/* The thread is beyond what it was to allocate before a concurrent cycle. */
static bool help_late(struct sgc_mutator *self, uintptr_t from)
{
    if (sgc_next_in_one_stop() || !sgc_concurrent_ask(self) || sgc_pacing_hopeless())
        return false;
    help(self, SGC_DUE_LATE, from);
    return true;
}

/* One for which there is no memory until the cycle is over: it waits no longer than a stop may
 * take.  If a stop is offered it makes that, since the lead waits for a thread to do so. */
static void stall(struct sgc_mutator *self, uintptr_t from)
{
    uint64_t max_ns = sgc_pause_target_ns(), waited_ns = 0, now;

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    do {
        struct wait w = { sgc_clock_ns(), max_ns - waited_ns };

        sgc_world_sleep(self, wait_over, &w);
        now = sgc_clock_ns();
        sgc_trace_span(SGC_TRACE_STALLED, w.began, now, 0);
        waited_ns += now - w.began;
        if (sgc_turn_offered())
            sgc_turn_take(self, from);
    } while (waited_ns < max_ns && sgc_concurrent_busy());
    sgc_concurrent_pace_waited(SGC_STALL, waited_ns, max_ns);
}

/* There is no memory for what is allocated until a concurrent cycle is over, or [Endo]'s pace
 * allows none.  False: it has to end now. */
static bool wait_for_cycle(struct sgc_mutator *self, uintptr_t from)
{
    if (!sgc_concurrent_busy())
        return false;
    if (sgc_pacing_poll_again(self) < SGC_DUE_LATE)
        return true;
    stall(self, from);
    return sgc_pacing_poll_again(self) < SGC_DUE_LATE;
}

/* Our frames say nothing about the client's objects afterwards. */
void sgc_collect_as_due(struct sgc_mutator *self, enum sgc_due due, int (*stop)(void), uintptr_t from)
{
    sgc_assert(sgc_mutator_mine(self));
    if (due == SGC_DUE_NOT || sgc_gc_lock_held() || sgc_cycle_disabled())
        return;
    if (due == SGC_DUE_SOON && !sgc_next_in_one_stop())
        sgc_concurrent_ask(self);
    else if (due == SGC_DUE_ASSIST)
        help(self, due, from);
    else if (due == SGC_DUE_LATE && help_late(self, from))
        ;
    else if (!wait_for_cycle(self, from)) {
        sgc_collect_from(self, SGC_REASON_ALLOCATION, stop, from);
        sgc_concurrent_ask_again(self);
    }
    sgc_stack_clear_deep();
}

/* In concurrent mode: does this allocation, which is due, leave collecting to the lead?  Most do;
 * on a busy machine somebody has to make room for it. */
static bool leaves_it_to_lead(struct sgc_mutator *self)
{
    if (!sgc_concurrent_enabled() || sgc_next_in_one_stop())
        return false;
    if (sgc_torture_chance(self, 4))
        sgc_yield();
    return !sgc_torture_chance(self, 16);
}

void sgc_collect_under_torture(struct sgc_mutator *self, uintptr_t from)
{
    sgc_assert(sgc_mutator_mine(self));
    if (sgc_gc_lock_held())
        return;
    if (leaves_it_to_lead(self))
        sgc_concurrent_ask(self);
    else
        sgc_collect_from(self, SGC_REASON_TORTURE, NULL, from);
    sgc_stack_clear_deep();
}

/* ---- markers ---- */

void sgc_collect_start_markers(struct sgc_mutator *self)
{
    sgc_assert(self == sgc_mutator_self());
    if (sgc_gc_lock_held())
        return;
    sgc_gc_lock_acquire(self);
    sgc_lead_hold();
    sgc_helpers_start(&sgc_cycle.team, (uint32_t)sgc_options.markers);
    sgc_lead_release();
    sgc_gc_lock_release();
}

void sgc_collect_start_threads_ahead(struct sgc_mutator *self)
{
    static SGC_STATE sgc_a32_t begun;

    if (sgc_a32_load(&begun) != 0 || sgc_limit_address_space() == SIZE_MAX || sgc_gc_lock_held())
        return;
    sgc_assert(self == sgc_mutator_self());
    sgc_a32_store(&begun, 1);
    sgc_collect_start_markers(self);
    sgc_gc_lock_acquire(self);
    sgc_service_start();
    sgc_gc_lock_release();
}

/* ---- disabling ---- */

bool sgc_collect_enable(void)
{
    for (;;) {
        uint32_t depth = sgc_a32_load(&sgc_client_dont_gc);

        if (depth == 0)
            return false;
        if (!sgc_a32_cas(&sgc_client_dont_gc, depth, depth - 1))
            continue;
        if (depth == 1 && sgc_concurrent_marks())
            sgc_wake(&sgc_client_dont_gc, 1);
        return true;
    }
}
