/* SPDX-License-Identifier: MIT */
/* The lead.  gc/collect/lead.h says which thread writes each field. */
#include "gc/collect/lead.h"

#include <limits.h>

#include "alloc/marking.h"
#include "alloc/page_supply.h"
#include "alloc/pages/marks.h"
#include "gc/collect/external_stop.h"
#include "gc/collect/helpers.h"
#include "gc/collect/stops.h"
#include "gc/collect/torture.h"
#include "gc/collect/write_watch.h"
#include "gc/config/options.h"
#include "gc/events/trace_buffer.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/pacing.h"
#include "gc/pacing/pacing_rules.h"
#include "gc/pacing/pause_rules.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

enum { PAGES_AT_ONCE = 64 };

/* So long the program runs until a stop that has failed is tried again. */
static const uint64_t RETRY_NS = 200000000;

/* After so long the lead stops threads wherever they are.  A program that allocates nothing needs
 * no memory either, so this may be long; but what it needs no more is to be given back some day. */
static const uint64_t LONGEST_NS = UINT64_C(1000000000);

/* Between two questions whether any thread of the program runs. */
static const uint64_t FIRST_POLL_NS = 500000, MAX_POLL_NS = 50000000;

/* So much the heap may grow, or by what lives in it, while a cycle waits that collections are
 * enabled. */
static const size_t HOLD_MIN = (size_t)64 << 20;

/* Makes a stop, with the GC lock; the thread's stack is scanned from `from`, 0: from here. */
typedef void turn_fn(struct sgc_mutator *self, uintptr_t from, void *arg);

/* Whose the cycle is. */
struct owner {
    sgc_a32_t held, inside;     /* futex words */
    uint64_t marking_since;     /* when the lead went inside */
};

struct turn {
    turn_fn *stop;
    void *arg;
    bool made;
};

SGC_STATE static struct owner owner;
SGC_STATE static struct turn turn;
SGC_STATE sgc_a32_t sgc_turn_word;

void sgc_lead_withdraw(void)
{
    if (sgc_a32_cas(&sgc_turn_word, SGC_TURN_OFFERED, SGC_TURN_NONE))
        sgc_wake(&sgc_turn_word, 1);
}

/* In a stopped world, too. */
void sgc_lead_over(void)
{
    sgc_concurrent_pace_end();
    sgc_a32_store_sc(&sgc_cycle.state, SGC_CYCLE_IDLE);
    sgc_wake(&sgc_cycle.state, INT_MAX);
    sgc_lead_withdraw();
}

/* ---- the cycle changes hands ---- */

static bool is_held(void)
{
    return sgc_a32_load_sc(&owner.held) != 0;
}

/* Asked by the lead between two pieces of work; the other markers do what the lead does. */
static bool must_yield(void *arg)
{
    (void)arg;
    sgc_concurrent_pace_marked(sgc_team_marked(&sgc_cycle.team));
    return is_held();
}

/* The lead goes to work; not before nobody holds the cycle.  False if it is over meanwhile.  In a
 * blocked region. */
static bool go_inside(void)
{
    for (;;) {
        sgc_a32_store_sc(&owner.inside, 1);
        if (!is_held()) {
            owner.marking_since = sgc_clock_ns();
            return sgc_concurrent_marks();
        }
        sgc_a32_store_rel(&owner.inside, 0);
        sgc_wake(&owner.inside, 1);
        sgc_wait(&owner.held, 1, -1);
    }
}

/* While the lead is inside nobody ends the cycle; if it is over, the record is another's.  `what`:
 * what it did there. */
static void come_out(enum sgc_trace_what what)
{
    if (sgc_concurrent_marks()) {
        uint64_t now = sgc_clock_ns();

        sgc_cycle.record.concurrent.marking_ns += now - owner.marking_since;
        sgc_trace_span(what, owner.marking_since, now, 0);
    }
    sgc_a32_store_sc(&owner.inside, 0);
    sgc_wake(&owner.inside, 1);
}

void sgc_lead_hold(void)
{
    sgc_assert(sgc_gc_lock_held() && !is_held());
    sgc_a32_store_sc(&owner.held, 1);
    sgc_team_nudge(&sgc_cycle.team);
    while (sgc_a32_load_sc(&owner.inside) != 0)
        sgc_wait(&owner.inside, 1, -1);
}

void sgc_lead_release(void)
{
    sgc_assert(sgc_gc_lock_held() && is_held());
    sgc_a32_store_sc(&owner.held, 0);
    sgc_wake(&owner.held, INT_MAX);
}

size_t sgc_lead_stacks_resident(void)
{
    bool held = is_held();
    size_t bytes;

    sgc_assert(sgc_gc_lock_held());
    if (!held)
        sgc_lead_hold();
    bytes = sgc_team_stacks_resident(&sgc_cycle.team);
    if (!held)
        sgc_lead_release();
    return bytes;
}

bool sgc_lead_visit_stacks(sgc_visit_stack_t visit, void *arg)
{
    bool held = is_held(), all;

    sgc_assert(sgc_gc_lock_held());
    if (!held)
        sgc_lead_hold();
    all = sgc_team_visit_stacks(&sgc_cycle.team, visit, arg);
    if (!held)
        sgc_lead_release();
    return all;
}

static void forget(void *arg)
{
    (void)arg;
    sgc_assert(sgc_stopped_by_self() && is_held());
    sgc_team_abandon(&sgc_cycle.team);
    sgc_marking_cancel();
    sgc_lead_over();
}

bool sgc_lead_cancel(struct sgc_mutator *self)
{
    bool done;

    sgc_assert(sgc_gc_lock_held() && sgc_concurrent_marks());
    sgc_lead_hold();
    done = sgc_with_world_stopped(self, forget, NULL);
    sgc_lead_release();
    if (done) {
        SGC_UPPER(over, (false));
        sgc_cycle_event(&sgc_cycle.record, SGC_ON_GIVEN_UP);
    }
    return done;
}

bool sgc_lead_finish(struct sgc_mutator *self, enum sgc_reason reason, enum sgc_stopped_for what, int (*stop)(void),
                     uintptr_t from)
{
    enum sgc_reason before = sgc_cycle.record.reason;
    bool done;

    sgc_assert(sgc_gc_lock_held() && sgc_concurrent_marks());
    sgc_lead_hold();
    sgc_cycle.record.reason = reason;
    sgc_cycle.record.stopped_for = what;
    done = sgc_stops_finish(self, stop, from);
    if (done)
        sgc_lead_over();
    else
        sgc_cycle.record.reason = before;
    sgc_lead_release();
    return done;
}

/* ---- turns: whose it is to make a stop ---- */

/* With the GC lock. */
static void make(struct sgc_mutator *self, uintptr_t from)
{
    sgc_assert(sgc_gc_lock_held() && !turn.made);
    turn.made = true;
    turn.stop(self, from, turn.arg);
}

static bool runs(const struct sgc_mutator *m, const void *unused)
{
    (void)unused;
    return sgc_mutator_runs(m, sgc_a32_load(&m->cache.section.state));
}

/* Does a thread of the program run?  It may go on or stop meanwhile. */
static bool anybody_runs(void)
{
    return sgc_registry_any(runs, NULL);
}

/* Until nobody has to be waited for, or the time is over. */
static void wait_for_taker(void *arg)
{
    uint64_t until = *(const uint64_t *)arg, slice = FIRST_POLL_NS;

    while (sgc_clock_ns() < until && anybody_runs()) {
        uint32_t now = sgc_a32_load_acq(&sgc_turn_word);

        if (now == SGC_TURN_NONE)
            return;
        sgc_wait(&sgc_turn_word, now, (int64_t)slice);
        slice = slice < MAX_POLL_NS ? slice * 2 : slice;
    }
}

/* True if the stop has been made.  Nobody can make it any more whose turn has been taken back. */
static bool make_if_time(struct sgc_mutator *self, uint64_t until)
{
    bool late = sgc_clock_ns() >= until || sgc_a32_load_acq(&sgc_turn_word) == SGC_TURN_NONE;
    bool pinned = !turn.made && sgc_world_pin(self);

    if (!turn.made && (pinned || late)) {
        sgc_a32_store(&sgc_turn_word, SGC_TURN_NONE);
        make(self, 0);
    }
    if (pinned)
        sgc_world_unpin(self);
    return turn.made;
}

/* Has stop(..., arg) called, once.  By the lead, which counts as stopped while it waits. */
static void offer_stop(struct sgc_mutator *self, turn_fn *stop, void *arg)
{
    uint64_t until = sgc_torture_chance(self, 2) ? 0 : sgc_clock_ns() + LONGEST_NS;
    bool made;

    sgc_assert(sgc_mutator_mine(self) && self->service && !sgc_gc_lock_held());
    sgc_assert(sgc_a32_load(&sgc_turn_word) == SGC_TURN_NONE);
    turn = (struct turn){ stop, arg, false };
    sgc_a32_store_rel(&sgc_turn_word, SGC_TURN_OFFERED);
    sgc_wake(&sgc_cycle.state, 1);
    do {
        sgc_world_sleep(self, wait_for_taker, &until);
        sgc_gc_lock_acquire(self);
        made = make_if_time(self, until);
        sgc_gc_lock_release();
    } while (!made);
}

void sgc_turn_take(struct sgc_mutator *self, uintptr_t from)
{
    sgc_assert(sgc_mutator_mine(self));
    if (sgc_gc_lock_held())
        return;
    sgc_gc_lock_acquire(self);
    if (sgc_a32_load_acq(&sgc_turn_word) == SGC_TURN_OFFERED) {
        sgc_a32_store(&sgc_turn_word, SGC_TURN_TAKEN);
        make(self, from);
        sgc_a32_store_rel(&sgc_turn_word, SGC_TURN_NONE);
    }
    sgc_gc_lock_release();
    sgc_wake(&sgc_turn_word, 1);
}

/* ---- the lead's steps ---- */

/* All that the lead keeps about its cycle. */
struct led {
    struct sgc_mutator *self;
    uint32_t epoch;                     /* of the heap, when the lead began to sweep */
    bool armed, begun;
    bool marked;                        /* all that was known */
    unsigned rounds;                    /* since the last stop; */
    size_t pages, before;               /* scanned by the last of them, and by the one before it */
    struct sgc_pause_costs costs;       /* of stops, as learnt by then */
    uint32_t attempts;
    bool finished;                      /* by an attempt: the cycle is over; */
    bool failed;                        /* the world could not be stopped */
    uint64_t held_until;                /* collections are disabled; 0: they were not */
    size_t held_bytes;                  /* of the heap, up to which the cycle waits for that */
};

enum step_number { SWEEP, ARM, FIRST_STOP, MARK, ROUND, ATTEMPT, WAIT, OVER };

/* Threads that have begun to sweep are in sections: by the time of the stop their pages are
 * swept. */
static void sweep(void *led)
{
    struct led *l = led;
    uint64_t began = sgc_trace_begin();

    while (sgc_sweep_ahead(PAGES_AT_ONCE, sgc_section_of(l->self)))
        continue;
    sgc_clear_finish();
    sgc_trace_end(SGC_TRACE_SWEPT, began, 0);
}

static enum step_number after_sweep(struct led *l)
{
    sgc_assert(!l->armed && !l->begun);
    return ARM;
}

static void arm(void *led)
{
    struct led *l = led;

    l->armed = sgc_watch_arm();
}

static enum step_number after_arm(struct led *l)
{
    return l->armed ? FIRST_STOP : OVER;
}

/* Between the sweeping and this stop there may have been a cycle, which has seen to what was
 * asked for before it.  With the GC lock. */
static void begin(struct sgc_mutator *self, uintptr_t from, void *led)
{
    struct led *l = led;

    if (sgc_heap.epoch == l->epoch && !sgc_cycle_disabled() && !sgc_upper_marks() && !sgc_next_in_one_stop()) {
        sgc_helpers_start(&sgc_cycle.team, (uint32_t)sgc_options.concurrent_markers);
        sgc_team_make_spares(&sgc_cycle.team);
        sgc_a32_store_rel(&sgc_cycle.state, SGC_CYCLE_STANDS);
        l->begun = sgc_stops_first(self, from);
        if (l->begun)
            sgc_pacing_mark_begins();
        else if (!sgc_cycle_disabled())
            sgc_pacing_given_up(sgc_cycle.interrupted);
    }
    if (!l->begun)
        sgc_lead_over();
}

/* After a stop: rounds are counted anew, and what stops cost may have been learnt. */
static enum step_number mark_again(struct led *l)
{
    l->costs = sgc_stops_costs();
    l->rounds = 0;
    l->pages = l->before = 0;
    return MARK;
}

static enum step_number after_first_stop(struct led *l)
{
    return l->begun ? mark_again(l) : OVER;
}

static void mark(void *led)
{
    struct led *l = led;

    l->marked = false;
    while (!l->marked && go_inside()) {
        l->marked = sgc_team_go_on(&sgc_cycle.team, must_yield, NULL);
        come_out(SGC_TRACE_CONCURRENT);
    }
    if (!l->marked)
        come_out(SGC_TRACE_CONCURRENT);
}

/* If not all is marked, the cycle is over: another thread has finished it or given it up. */
static enum step_number after_mark(struct led *l)
{
    if (!l->marked)
        return OVER;
    sgc_concurrent_pace_round(l->rounds + 1);
    if (!sgc_watch_rearms_running() || !sgc_pause_round_pays(&l->costs, l->rounds, l->pages, l->before))
        return ATTEMPT;
    return ROUND;
}

/* One round, or a part of it: what it has not come to stays written. */
static void rescan_written(void *led)
{
    struct led *l = led;

    l->before = l->pages;
    l->pages = 0;
    if (go_inside()) {
        sgc_watch_rescan(l->self, sgc_cycle.first, true, must_yield, &l->pages);
        sgc_cycle.record.concurrent.rounds++;
    }
    come_out(SGC_TRACE_ROUND);
}

static enum step_number after_round(struct led *l)
{
    l->rounds++;
    return sgc_concurrent_marks() ? MARK : OVER;
}

/* Of a program that disables collections again and again no cycle would come to its end, were it
 * given up each time: so the lead waits for a while that they are enabled.  Not for long, nor while
 * the heap grows: what the program frees by itself cannot be used while a cycle marks. */
static bool is_hold_over(const struct led *l)
{
    sgc_assert(l->held_until != 0);
    return sgc_init_ended() || sgc_clock_ns() >= l->held_until || sgc_pool_heap_bytes() > l->held_bytes;
}

static void attempt_while_disabled(struct sgc_mutator *self, struct led *l)
{
    sgc_assert(sgc_gc_lock_held() && sgc_concurrent_marks());
    if (l->held_until == 0) {
        l->held_until = sgc_clock_ns() + LONGEST_NS;
        l->held_bytes = sgc_pool_heap_bytes() + sgc_pace_larger(sgc_counts_live(), HOLD_MIN);
    }
    l->finished = is_hold_over(l) && sgc_lead_cancel(self);
    l->failed = !l->finished;
}

/* As long as the world cannot be stopped, nobody helps a mark that cannot end. */
static void attempt_once_more(struct sgc_mutator *self, uintptr_t from, struct led *l)
{
    if (sgc_cycle_disabled()) {
        attempt_while_disabled(self, l);
        return;
    }
    l->held_until = 0;
    l->finished = sgc_stops_attempt(self, from, l->attempts);
    if (l->finished)
        sgc_lead_over();
    l->failed = !l->finished && !sgc_cycle.stopped && !sgc_cycle_disabled();
    if (l->failed)
        sgc_concurrent_pace_room_from(SGC_PACE_NEVER);
    else if (sgc_aw_load(&sgc_concurrent_room) == SGC_PACE_NEVER)
        sgc_concurrent_pace_room_from(0);
}

/* With the GC lock; another thread may have ended the cycle meanwhile. */
static void attempt(struct sgc_mutator *self, uintptr_t from, void *led)
{
    struct led *l = led;

    if (sgc_concurrent_marks())
        attempt_once_more(self, from, l);
    else
        l->finished = true;
}

static enum step_number after_attempt(struct led *l)
{
    l->attempts++;
    if (l->finished)
        return OVER;
    return l->failed ? WAIT : mark_again(l);
}

/* If collections are disabled, until they are enabled, which wakes the lead. */
static void wait_to_retry(void *led)
{
    const struct led *l = led;
    uint32_t disabled;

    if (l->held_until == 0 || is_hold_over(l))
        sgc_sleep_ns(RETRY_NS);
    else
        while ((disabled = sgc_a32_load(&sgc_client_dont_gc)) != 0 && !is_hold_over(l))
            sgc_wait(&sgc_client_dont_gc, disabled, (int64_t)MAX_POLL_NS);
}

/* The lead is a mutator like others; it counts as stopped; or it has the program stopped, by the
 * thread whose turn that is. */
enum lead_is { RUNNING, BLOCKED, STOPPING };

/* The steps of a cycle, in the order in which they are first made.  The stop that finishes the
 * cycle is an attempt, too: its rows go on with those that commit (gc/collect/stops.c).  Arming
 * counts as blocked since it may hold a source's lock, for which threads wait in a handler, where
 * they cannot be stopped. */
static const struct step {
    const char *name;
    enum lead_is lead;
    void (*run)(void *led);             /* unless the lead is STOPPING, */
    turn_fn *stop;                      /* if it is */
    enum step_number (*after)(struct led *l);
} steps[] = {
    [SWEEP] = { "sweep", RUNNING, sweep, NULL, after_sweep },
    [ARM] = { "arm", BLOCKED, arm, NULL, after_arm },
    [FIRST_STOP] = { "first stop", STOPPING, NULL, begin, after_first_stop },
    [MARK] = { "mark", BLOCKED, mark, NULL, after_mark },
    [ROUND] = { "round", BLOCKED, rescan_written, NULL, after_round },
    [ATTEMPT] = { "attempt", STOPPING, NULL, attempt, after_attempt },
    [WAIT] = { "wait", BLOCKED, wait_to_retry, NULL, mark_again },
};

/* Torture waits at the seams. */
static void walk(struct led *l)
{
    for (enum step_number n = SWEEP; n != OVER; n = steps[n].after(l)) {
        sgc_assert(sgc_mutator_mine(l->self) && !sgc_gc_lock_held());
        sgc_cycle.step = steps[n].name;
        sgc_test_point();
        if (steps[n].lead == STOPPING)
            offer_stop(l->self, steps[n].stop, l);
        else if (steps[n].lead == BLOCKED)
            sgc_world_sleep(l->self, steps[n].run, l);
        else
            steps[n].run(l);
    }
    sgc_cycle.step = NULL;
}

enum sgc_lead_result sgc_lead_cycle(struct sgc_mutator *self, uint32_t epoch)
{
    struct led l = { .self = self, .epoch = epoch };

    sgc_assert(self->service && sgc_concurrent_busy() && !sgc_concurrent_marks());
    sgc_a32_store_rel(&sgc_cycle.state, SGC_CYCLE_ARMING);
    walk(&l);
    if (!l.armed)
        return SGC_LEAD_UNARMED;
    sgc_watch_rest();
    return l.begun ? SGC_LEAD_OVER : SGC_LEAD_NOT_BEGUN;
}

/* ---- fork ---- */

void sgc_lead_after_fork(void)
{
    if (sgc_concurrent_marks()) {
        sgc_team_abandon(&sgc_cycle.team);
        sgc_marking_cancel();
    }
    sgc_concurrent_pace_end();
    sgc_pacing_after_fork();
    sgc_a32_store(&sgc_turn_word, SGC_TURN_NONE);
    sgc_a32_store(&sgc_cycle.state, SGC_CYCLE_IDLE);
    sgc_cycle.step = NULL;
    sgc_a32_store(&owner.held, 0);
    sgc_a32_store(&owner.inside, 0);
    sgc_watch_after_fork();
}
