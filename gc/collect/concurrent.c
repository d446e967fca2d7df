/* SPDX-License-Identifier: MIT */
/* See gc/collect/concurrent.h, which says which thread writes each field. */
#include "gc/collect/concurrent.h"

#include "gc/collect/background.h"
#include "gc/collect/lead.h"
#include "gc/collect/stops.h"
#include "gc/collect/write_watch.h"
#include "gc/config/options.h"
#include "gc/finalize/disclaim.h"
#include "gc/pacing/pacing.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

/* So long collections stop the program until the lead tries again to have concurrent ones. */
static const uint64_t AGAIN_NS = 3000000000;

struct concurrent {
    sgc_a32_t enabled;
    sgc_a32_t enabling;         /* some thread is about to: others leave it to that */
    sgc_aw_t asked_in;          /* epoch */
    sgc_aw_t again_at;          /* when to try whether there is a source again; 0: never */
};

SGC_STATE static struct concurrent concurrent;

bool sgc_concurrent_enabled(void)
{
    return sgc_a32_load_acq(&concurrent.enabled) != 0;
}

/* ---- on and off ---- */

static void reopen_later(void)
{
    sgc_aw_store(&concurrent.again_at, sgc_clock_ns() + AGAIN_NS);
}

/* There is nothing that tells written pages, or nobody to lead.  That has been said; the lead looks
 * again from time to time, and the program may ask before (GC_enable_incremental). */
static void switch_off(void)
{
    sgc_assert(sgc_concurrent_busy() && !sgc_concurrent_marks());
    reopen_later();             /* first: a fork may come in between */
    sgc_a32_store_rel(&concurrent.enabled, 0);
    sgc_pacing_concurrent(SGC_PACING_STOPS);
    sgc_lead_over();
}

static void switch_on(void)
{
    sgc_aw_store(&concurrent.again_at, 0);
    sgc_a32_store_rel(&concurrent.enabled, 1);
    sgc_pacing_concurrent(sgc_pause_target_ns());
}

/* ---- asking ---- */

static bool asked(void)
{
    return sgc_a32_load_acq(&sgc_cycle.state) == SGC_CYCLE_ASKED;
}

/* There is nobody to lead a cycle.  The thread that was to be the lead says so beside one that has
 * asked: one of the two switches off.  The exchange changes nothing, but who asks after it sees
 * that there is nobody, and who has asked before is seen by it. */
static void no_lead(void)
{
    if (sgc_a32_or(&sgc_cycle.state, 0) == SGC_CYCLE_ASKED &&
        sgc_a32_cas(&sgc_cycle.state, SGC_CYCLE_ASKED, SGC_CYCLE_ARMING))
        switch_off();
}

/* Nothing is done if a cycle is asked for, or under way, already.  The service thread is started by
 * the first thread that needs it. */
static void ask_lead(struct sgc_mutator *self)
{
    if (!sgc_a32_cas(&sgc_cycle.state, SGC_CYCLE_IDLE, SGC_CYCLE_ASKED))
        return;
    sgc_gc_lock_acquire(self);
    if (!sgc_service_start())
        no_lead();
    sgc_gc_lock_release();
    sgc_service_wake(true);
}

/* May a concurrent cycle begin?  Disclaim procedures and the search for leaks look through all
 * objects with the world stopped, so a mark beside the program would gain little. */
static bool may_begin(void)
{
    return !sgc_cycle_disabled() && !sgc_disclaim_used() && !sgc_finding_leaks();
}

/* A thread that is late does not take back what another has noted. */
static void note_epoch(void)
{
    uint32_t epoch = sgc_heap.epoch, noted = (uint32_t)sgc_aw_load_sc(&concurrent.asked_in);

    while ((int32_t)(epoch - noted) > 0 && !sgc_aw_cas_sc(&concurrent.asked_in, noted, epoch))
        noted = (uint32_t)sgc_aw_load_sc(&concurrent.asked_in);
}

bool sgc_concurrent_ask(struct sgc_mutator *self)
{
    sgc_assert(!sgc_gc_lock_held());
    if (!sgc_concurrent_enabled() || !may_begin())
        return false;
    note_epoch();
    if (sgc_a32_load_sc(&sgc_cycle.state) == SGC_CYCLE_IDLE)
        ask_lead(self);
    return sgc_concurrent_enabled();
}

void sgc_concurrent_ask_again(struct sgc_mutator *self)
{
    uint64_t at = sgc_aw_load(&concurrent.again_at);

    sgc_assert(!sgc_gc_lock_held());
    if (at != 0 && sgc_clock_ns() >= at && may_begin())
        ask_lead(self);
}

/* ---- on the lead ---- */

static void open_again(void *arg)
{
    *(bool *)arg = sgc_watch_open(true) == SGC_WATCH_OPEN;
}

/* By the lead, since to open a source may take locks for which threads wait in a handler.  The
 * program may ask at the same time: then it is left to that. */
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
    sgc_lead_over();
}

/* A thread that has asked after the cycle that took the place of ours, while the lead waited for
 * its turn, wants another one.  Either the lead sees that the thread has asked, or the thread sees
 * that no cycle is asked for any more, and asks. */
static void ask_for_the_late(struct sgc_mutator *self, uint32_t epoch)
{
    uint32_t now = sgc_heap.epoch;

    sgc_assert(!sgc_gc_lock_held());
    if (now != epoch && (uint32_t)sgc_aw_load_sc(&concurrent.asked_in) == now)
        sgc_concurrent_ask(self);
}

/* The lead was woken late: a cycle has begun and ended since anybody asked. */
static void let_stale_be(struct sgc_mutator *self, uint32_t asked_in)
{
    sgc_assert(asked());
    sgc_lead_over();
    ask_for_the_late(self, asked_in);
}

static void lead(struct sgc_mutator *self)
{
    /* Read first: what is asked later is of the epoch that is read then, or of a later one. */
    uint32_t asked_in = (uint32_t)sgc_aw_load_sc(&concurrent.asked_in);
    uint32_t epoch = sgc_heap.epoch;
    enum sgc_lead_result result;

    sgc_assert(sgc_mutator_mine(self) && self->service && !sgc_gc_lock_held());
    if (!sgc_concurrent_enabled()) {
        reopen_source(self);
        return;
    }
    if (asked_in != epoch) {
        let_stale_be(self, asked_in);
        return;
    }
    result = sgc_lead_cycle(self, epoch);
    if (result == SGC_LEAD_UNARMED)
        switch_off();
    else if (result == SGC_LEAD_NOT_BEGUN)
        ask_for_the_late(self, epoch);
}

/* ---- start and fork ---- */

static void say_ruled_out(void)
{
    static SGC_STATE sgc_a32_t reported;

    if (sgc_a32_swap(&reported, 1) == 0)
        sgc_warn("SGC_SHORTTERM=verify looks at what each mark has reached before dates count, with the program stopped; "
                 "collections stop it, although SGC_MODE=concurrent or GC_enable_incremental asks for others. "
                 "GC_DISABLE_INCREMENTAL=1 silences this");
}

static bool may_be_led(void)
{
    if (sgc_options.find_leak)
        return false;
    if (sgc_upper_marks()) {
        say_ruled_out();
        return false;
    }
    if (sgc_options.service == SGC_SERVICE_OFF)
        sgc_warn("SGC_BACKGROUND_THREAD=off leaves nobody to mark beside the program; collections stop it, although "
                 "SGC_MODE=concurrent or GC_enable_incremental asks for others. "
                 "GC_DISABLE_INCREMENTAL=1 silences this");
    return sgc_options.service != SGC_SERVICE_OFF;
}

void sgc_concurrent_enable(void)
{
    static const struct sgc_service_job job = { asked, lead, no_lead };
    enum sgc_watch_opened opened;

    if (sgc_concurrent_enabled() || !sgc_a32_cas(&concurrent.enabling, 0, 1))
        return;
    if (may_be_led()) {
        sgc_service_set_job(&job);
        opened = sgc_watch_open(false);
        if (opened == SGC_WATCH_OPEN)
            switch_on();
        else if (opened == SGC_WATCH_LATER)
            reopen_later();
    }
    sgc_a32_store_rel(&concurrent.enabling, 0);
}

/* A cycle that has been asked for is not begun; one that marks has begun without what rules it
 * out. */
void sgc_concurrent_rule_out(struct sgc_mutator *self)
{
    sgc_assert(sgc_gc_lock_held() && sgc_mutator_mine(self));
    if (sgc_concurrent_marks())
        sgc_lead_cancel(self);
    if (!sgc_concurrent_enabled())
        return;
    sgc_a32_store_rel(&concurrent.enabled, 0);
    sgc_aw_store(&concurrent.again_at, 0);
    sgc_pacing_concurrent(SGC_PACING_STOPS);
    say_ruled_out();
}

void sgc_concurrent_after_fork(void)
{
    sgc_a32_store(&concurrent.enabling, 0);
    sgc_lead_after_fork();
}
