/* SPDX-License-Identifier: MIT */
/* Concurrent cycles: the lead.  gc/collect/concurrent.h says which thread writes each field. */
#include "gc/collect/concurrent.h"

#include <limits.h>

#include "alloc/marking.h"
#include "alloc/page_supply.h"
#include "alloc/pages/marks.h"
#include "gc/collect/attempt.h"
#include "gc/collect/background.h"
#include "gc/collect/external_stop.h"
#include "gc/collect/pause.h"
#include "gc/collect/start_state.h"
#include "gc/collect/turn.h"
#include "gc/collect/write_watch.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/pacing.h"
#include "gc/pacing/pause_rules.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

enum state { IDLE, ASKED, MARKING };

enum { PAGES_AT_ONCE = 64 };

/* So long the program runs until a stop that has failed is tried again. */
static const uint64_t RETRY_NS = 200000000;

/* So long collections stop the program until the lead looks again whether they can run beside it. */
static const uint64_t AGAIN_NS = 3000000000;

struct concurrent {
    sgc_a32_t enabled;
    sgc_a32_t enabling;         /* some thread is about to: others leave it to that */
    sgc_a32_t state;            /* enum state */
    sgc_a32_t asked_in;         /* epoch */
    sgc_aw_t again_at;          /* when to look whether there is a source again; 0: never */
    sgc_a32_t held, inside;     /* futex words */
    uint64_t marking_since;     /* when the lead went inside */
};

SGC_STATE static struct concurrent concurrent;

/* ---- asking ---- */

bool sgc_concurrent_enabled(void)
{
    return sgc_a32_load_acq(&concurrent.enabled) != 0;
}

bool sgc_concurrent_marks(void)
{
    return sgc_a32_load_acq(&concurrent.state) == MARKING;
}

bool sgc_concurrent_busy(void)
{
    return sgc_a32_load_acq(&concurrent.state) != IDLE;
}

static bool asked(void)
{
    return sgc_a32_load_acq(&concurrent.state) == ASKED;
}

/* Threads that stall go on. */
static void over(void)
{
    sgc_pacing_mark_over();
    sgc_a32_store_sc(&concurrent.state, IDLE);
    sgc_wake(&concurrent.state, INT_MAX);
    sgc_turn_withdraw();
}

static void reopen_later(void)
{
    sgc_aw_store(&concurrent.again_at, sgc_clock_ns() + AGAIN_NS);
}

/* There is nothing that tells written pages, or nobody to lead.  That has been said; the lead looks again from time to time,
 * and the program may ask before (GC_enable_incremental). */
static void switch_off(void)
{
    sgc_assert(asked());
    sgc_a32_store_rel(&concurrent.enabled, 0);
    sgc_pacing_concurrent(SGC_PACING_STOPS);
    reopen_later();
    over();
}

static void switch_on(void)
{
    sgc_aw_store(&concurrent.again_at, 0);
    sgc_a32_store_rel(&concurrent.enabled, 1);
    sgc_pacing_concurrent(sgc_pause_target_ns());
}

/* The service thread is started by the first who needs it. */
static void wake_lead(struct sgc_mutator *self)
{
    sgc_gc_lock_acquire(self);
    if (!sgc_service_start())
        switch_off();
    sgc_gc_lock_release();
    sgc_service_wake_now();
}

static bool collecting_is_disabled(void)
{
    return sgc_a32_load(&sgc_client_dont_gc) != 0 || sgc_init_ended();
}

/* May a concurrent cycle begin?  Disclaim procedures and the search for leaks look through all
 * objects with the world stopped, so a mark beside the program would gain little. */
static bool may_begin(void)
{
    return !collecting_is_disabled() && !sgc_disclaim_used() && !sgc_finding_leaks();
}

void sgc_concurrent_ask(struct sgc_mutator *self)
{
    sgc_assert(!sgc_gc_lock_held());
    if (!sgc_concurrent_enabled() || !may_begin())
        return;
    if (sgc_a32_load_sc(&concurrent.asked_in) != sgc_heap.epoch)
        sgc_a32_store_sc(&concurrent.asked_in, sgc_heap.epoch);
    if (sgc_a32_load_sc(&concurrent.state) == IDLE && sgc_a32_cas(&concurrent.state, IDLE, ASKED))
        wake_lead(self);
}

void sgc_concurrent_ask_again(struct sgc_mutator *self)
{
    uint64_t at = sgc_aw_load(&concurrent.again_at);

    sgc_assert(!sgc_gc_lock_held());
    if (at != 0 && sgc_clock_ns() >= at && may_begin() && sgc_a32_cas(&concurrent.state, IDLE, ASKED))
        wake_lead(self);
}

void sgc_concurrent_wait_over(uint64_t max_ns)
{
    uint64_t began = sgc_clock_ns();

    for (uint32_t now; (now = sgc_a32_load_acq(&concurrent.state)) != IDLE && sgc_clock_ns() - began < max_ns;)
        sgc_wait(&concurrent.state, now, (int64_t)max_ns);
}

/* ---- the cycle changes hands ---- */

static bool is_held(void)
{
    return sgc_a32_load_sc(&concurrent.held) != 0;
}

/* Asked by the lead between two pieces of work; the other markers do what the lead does. */
static bool must_yield(void *arg)
{
    (void)arg;
    sgc_concurrent_pace_marked(sgc_team_marked(&sgc_cycle.team));
    return is_held();
}

/* The lead goes to work; not before nobody holds the cycle.  False if it is over meanwhile.  In a blocked region. */
static bool go_inside(void)
{
    for (;;) {
        sgc_a32_store_sc(&concurrent.inside, 1);
        if (!is_held()) {
            concurrent.marking_since = sgc_clock_ns();
            return sgc_concurrent_marks();
        }
        sgc_a32_store_rel(&concurrent.inside, 0);
        sgc_wake(&concurrent.inside, 1);
        sgc_wait(&concurrent.held, 1, -1);
    }
}

/* While the lead is inside nobody ends the cycle; if it is over, the record is another's. */
static void come_out(void)
{
    if (sgc_concurrent_marks())
        sgc_cycle.record.concurrent_ns += sgc_clock_ns() - concurrent.marking_since;
    sgc_a32_store_sc(&concurrent.inside, 0);
    sgc_wake(&concurrent.inside, 1);
}

void sgc_concurrent_hold(void)
{
    sgc_assert(sgc_gc_lock_held() && !is_held());
    sgc_a32_store_sc(&concurrent.held, 1);
    sgc_team_nudge(&sgc_cycle.team);
    while (sgc_a32_load_sc(&concurrent.inside) != 0)
        sgc_wait(&concurrent.inside, 1, -1);
}

void sgc_concurrent_release(void)
{
    sgc_assert(sgc_gc_lock_held() && is_held());
    sgc_a32_store_sc(&concurrent.held, 0);
    sgc_wake(&concurrent.held, INT_MAX);
}

size_t sgc_concurrent_stacks_resident(void)
{
    bool held = is_held();
    size_t bytes;

    sgc_assert(sgc_gc_lock_held());
    if (!held)
        sgc_concurrent_hold();
    bytes = sgc_team_stacks_resident(&sgc_cycle.team);
    if (!held)
        sgc_concurrent_release();
    return bytes;
}

bool sgc_concurrent_visit_stacks(sgc_visit_stack_t visit, void *arg)
{
    bool held = is_held(), all;

    sgc_assert(sgc_gc_lock_held());
    if (!held)
        sgc_concurrent_hold();
    all = sgc_team_visit_stacks(&sgc_cycle.team, visit, arg);
    if (!held)
        sgc_concurrent_release();
    return all;
}

static void forget(void *arg)
{
    (void)arg;
    sgc_assert(sgc_stopped_by_self() && is_held());
    sgc_team_abandon(&sgc_cycle.team);
    sgc_marking_cancel();
    over();
}

bool sgc_concurrent_cancel(struct sgc_mutator *self)
{
    bool done;

    sgc_assert(sgc_gc_lock_held() && sgc_concurrent_marks());
    sgc_concurrent_hold();
    done = sgc_with_world_stopped(self, forget, NULL);
    sgc_concurrent_release();
    if (done)
        SGC_UPPER(over, (false));
    return done;
}

bool sgc_concurrent_finish(struct sgc_mutator *self, enum sgc_reason reason, uintptr_t from)
{
    bool done;

    sgc_assert(sgc_gc_lock_held() && sgc_concurrent_marks());
    sgc_concurrent_hold();
    done = sgc_attempt_finish(self, reason, from);
    if (done)
        over();
    sgc_concurrent_release();
    return done;
}

/* ---- the lead's part ---- */

/* Threads that have begun to sweep are in sections: by the time of the stop their pages are
 * swept. */
static void sweep_all(struct sgc_mutator *self)
{
    while (sgc_sweep_ahead(PAGES_AT_ONCE, sgc_section_of(self)))
        continue;
    sgc_clear_finish();
}

struct beginning {
    uint32_t epoch;
    bool begun;
};

/* Between the sweeping and this stop there may have been a cycle, which has seen to what was asked for before it.  With the GC
 * lock. */
static void begin(struct sgc_mutator *self, uintptr_t from, void *arg)
{
    struct beginning *b = arg;

    if (sgc_heap.epoch == b->epoch && !collecting_is_disabled() && !sgc_upper_marks() && !sgc_next_in_one_stop()) {
        sgc_cycle_start_helpers((uint32_t)sgc_options.concurrent_markers);
        sgc_team_make_spares(&sgc_cycle.team);
        sgc_a32_store_rel(&concurrent.state, MARKING);
        b->begun = sgc_attempt_first(self, from);
        if (b->begun)
            sgc_pacing_mark_begins();
        else if (!collecting_is_disabled())
            sgc_pacing_given_up();
    }
    if (!b->begun)
        over();
}

static void mark(void *arg)
{
    bool *done = arg;

    while (!*done && go_inside()) {
        *done = sgc_team_go_on(&sgc_cycle.team, must_yield, NULL);
        come_out();
    }
    if (!*done)
        come_out();
}

/* One round, or a part of it: what it has not come to stays written. */
static void rescan_written(void *pages)
{
    if (go_inside()) {
        sgc_watch_rescan(&sgc_cycle.team, true, must_yield, pages);
        sgc_cycle.record.rounds++;
    }
    come_out();
}

/* Marks, and looks at what was written meanwhile, until the last stop will be short or more rounds do not help.  False: the
 * cycle is over, another thread has finished it or given it up. */
static bool mark_concurrently(struct sgc_mutator *self)
{
    struct sgc_pause_costs costs = sgc_attempt_costs();
    size_t last = 0, before = 0;

    for (unsigned rounds = 0; ; rounds++) {
        size_t pages = 0;
        bool done = false;

        sgc_world_sleep(self, mark, &done);
        if (!done)
            return false;
        sgc_concurrent_pace_round(rounds + 1);
        if (!sgc_watch_rearms_running() || !sgc_pause_round_pays(&costs, rounds, last, before))
            return true;
        sgc_world_sleep(self, rescan_written, &pages);
        if (!sgc_concurrent_marks())
            return false;
        before = last;
        last = pages;
    }
}

static void nap(void *arg)
{
    (void)arg;
    sgc_sleep_ns(RETRY_NS);
}

struct ending {
    uint32_t attempt;
    bool finished;
    bool failed;                /* the world could not be stopped */
};

/* If it could not be stopped because collections are disabled now, the cycle is given up next. */
static void attempt_once_more(struct sgc_mutator *self, uintptr_t from, struct ending *e)
{
    if (collecting_is_disabled()) {
        e->finished = sgc_concurrent_cancel(self);
        e->failed = !e->finished;
        return;
    }
    e->finished = sgc_attempt(self, e->attempt, from);
    if (e->finished)
        over();
    e->failed = !e->finished && !sgc_cycle.stopped && !collecting_is_disabled();
}

/* With the GC lock; another thread may have ended the cycle meanwhile. */
static void end(struct sgc_mutator *self, uintptr_t from, void *arg)
{
    struct ending *e = arg;

    e->finished = true;
    if (sgc_concurrent_marks())
        attempt_once_more(self, from, e);
}

/* True if that was the last stop. */
static bool try_to_finish(struct sgc_mutator *self, uint32_t attempt)
{
    struct ending e = { .attempt = attempt };

    sgc_turn_offer(self, end, &e);
    if (e.failed)
        sgc_world_sleep(self, nap, NULL);
    return e.finished;
}

static void arm(void *arg)
{
    *(bool *)arg = sgc_watch_arm();
}

/* ---- a source that was lost ---- */

static void open_again(void *arg)
{
    *(bool *)arg = sgc_watch_open_again();
}

/* By the lead, since to open a source may take locks for which threads wait in a handler.  The program may ask at the same
 * time: then it is left to that. */
static void reopen_source(struct sgc_mutator *self)
{
    bool open = false;

    sgc_assert(asked() && !sgc_gc_lock_held());
    reopen_later();
    if (!sgc_upper_marks() && sgc_a32_cas(&concurrent.enabling, 0, 1)) {
        sgc_world_sleep(self, open_again, &open);
        if (open)
            switch_on();
        sgc_a32_store_rel(&concurrent.enabling, 0);
    }
    over();
}

/* ---- the lead's part, from the beginning ---- */

/* A thread that has asked after the cycle that took the place of ours, while the lead waited for
 * its turn, wants another one.  Either the lead sees that the thread has asked, or the thread sees
 * that no cycle is asked for any more, and asks. */
static void ask_for_the_late(struct sgc_mutator *self, const struct beginning *b)
{
    uint32_t epoch = sgc_heap.epoch;

    sgc_assert(!sgc_gc_lock_held());
    if (!b->begun && epoch != b->epoch && sgc_a32_load_sc(&concurrent.asked_in) == epoch)
        sgc_concurrent_ask(self);
}

/* Arming counts as blocked: it may hold a source's lock, for which threads wait in a handler, where they cannot be stopped. */
static void lead(struct sgc_mutator *self)
{
    struct beginning b = { .epoch = sgc_heap.epoch };
    bool armed = false;

    sgc_assert(sgc_mutator_mine(self) && self->service && !sgc_gc_lock_held());
    if (!sgc_concurrent_enabled()) {
        reopen_source(self);
        return;
    }
    sweep_all(self);
    sgc_world_sleep(self, arm, &armed);
    if (!armed) {
        switch_off();
        return;
    }
    sgc_turn_offer(self, begin, &b);
    if (b.begun)
        for (uint32_t attempt = 0; mark_concurrently(self); attempt++)
            if (try_to_finish(self, attempt))
                break;
    sgc_watch_rest();
    ask_for_the_late(self, &b);
}

/* ---- start and fork ---- */

static void say_ruled_out(void)
{
    static SGC_STATE sgc_a32_t reported;

    if (sgc_a32_swap(&reported, 1) == 0)
        sgc_warn("SGC_SHORTTERM=verify looks at what each mark has reached before dates count, with the program stopped; "
                 "collections stop it, although SGC_MODE=concurrent or GC_enable_incremental asks for others. SGC_MODE=stop "
                 "silences this");
}

static bool may_be_led(void)
{
    if (sgc_upper_marks()) {
        say_ruled_out();
        return false;
    }
    if (sgc_options.service == SGC_SERVICE_OFF)
        sgc_warn("SGC_BACKGROUND_THREAD=off leaves nobody to mark beside the program; collections stop it, although "
                 "SGC_MODE=concurrent or GC_enable_incremental asks for others. SGC_MODE=stop silences this");
    return sgc_options.service != SGC_SERVICE_OFF;
}

void sgc_concurrent_enable(void)
{
    static const struct sgc_service_job job = { asked, lead };

    if (sgc_concurrent_enabled() || !sgc_a32_cas(&concurrent.enabling, 0, 1))
        return;
    if (may_be_led()) {
        sgc_service_set_job(&job);
        if (sgc_watch_open())
            switch_on();
        else if (sgc_watch_may_open_later())
            reopen_later();
    }
    sgc_a32_store_rel(&concurrent.enabling, 0);
}

/* A cycle that has been asked for is not begun; one that marks has begun without what rules it out. */
void sgc_concurrent_rule_out(struct sgc_mutator *self)
{
    sgc_assert(sgc_gc_lock_held() && sgc_mutator_mine(self));
    if (sgc_concurrent_marks())
        sgc_concurrent_cancel(self);
    if (!sgc_concurrent_enabled())
        return;
    sgc_a32_store_rel(&concurrent.enabled, 0);
    sgc_aw_store(&concurrent.again_at, 0);
    sgc_pacing_concurrent(SGC_PACING_STOPS);
    say_ruled_out();
}

void sgc_concurrent_after_fork(void)
{
    if (sgc_concurrent_marks()) {
        sgc_team_abandon(&sgc_cycle.team);
        sgc_marking_cancel();
    }
    sgc_pacing_mark_over();
    sgc_turn_after_fork();
    sgc_a32_store(&concurrent.enabling, 0);
    sgc_a32_store(&concurrent.state, IDLE);
    sgc_a32_store(&concurrent.held, 0);
    sgc_a32_store(&concurrent.inside, 0);
    sgc_watch_after_fork();
}
