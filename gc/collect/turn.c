/* SPDX-License-Identifier: MIT */
/* See gc/collect/turn.h. */
#include "gc/collect/turn.h"

#include "gc/collect/torture.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"

/* After so long the lead stops threads wherever they are.  A program that allocates nothing needs no memory either, so this may
 * be long; but what it has let go of is to be given back some time. */
static const uint64_t LONGEST_NS = UINT64_C(1000000000);

/* Between two looks whether any thread of the program runs. */
static const uint64_t FIRST_POLL_NS = 500000, MAX_POLL_NS = 50000000;

struct turn {
    sgc_turn_t *stop;
    void *arg;
    bool made;
};

SGC_STATE sgc_a32_t sgc_turn_word;
SGC_STATE static struct turn turn;

/* With the GC lock. */
static void make(struct sgc_mutator *self, uintptr_t from)
{
    sgc_assert(sgc_gc_lock_held() && !turn.made);
    turn.made = true;
    turn.stop(self, from, turn.arg);
}

/* ---- the lead ---- */

/* Until nobody has to be waited for, or the time is over. */
static void wait_for_taker(void *arg)
{
    uint64_t until = *(const uint64_t *)arg, slice = FIRST_POLL_NS;

    while (sgc_clock_ns() < until && sgc_registry_anybody_runs()) {
        uint32_t now = sgc_a32_load_acq(&sgc_turn_word);

        if (now == SGC_TURN_NONE)
            return;
        sgc_wait(&sgc_turn_word, now, (int64_t)slice);
        slice = slice < MAX_POLL_NS ? slice * 2 : slice;
    }
}

/* True if the stop has been made.  Nobody can make it any more whose turn has been taken back. */
static bool make_if_time(struct sgc_mutator *lead, uint64_t until)
{
    bool late = sgc_clock_ns() >= until || sgc_a32_load_acq(&sgc_turn_word) == SGC_TURN_NONE;
    bool pinned = !turn.made && sgc_world_pin(lead);

    if (!turn.made && (pinned || late)) {
        sgc_a32_store(&sgc_turn_word, SGC_TURN_NONE);
        make(lead, 0);
    }
    if (pinned)
        sgc_world_unpin(lead);
    return turn.made;
}

void sgc_turn_offer(struct sgc_mutator *lead, sgc_turn_t *stop, void *arg)
{
    uint64_t until = sgc_torture_chance(lead, 2) ? 0 : sgc_clock_ns() + LONGEST_NS;
    bool made;

    sgc_assert(sgc_mutator_mine(lead) && lead->service && !sgc_gc_lock_held());
    sgc_assert(sgc_a32_load(&sgc_turn_word) == SGC_TURN_NONE);
    turn = (struct turn){ stop, arg, false };
    sgc_a32_store_rel(&sgc_turn_word, SGC_TURN_OFFERED);
    do {
        sgc_world_sleep(lead, wait_for_taker, &until);
        sgc_gc_lock_acquire(lead);
        made = make_if_time(lead, until);
        sgc_gc_lock_release();
    } while (!made);
}

/* ---- the others ---- */

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

void sgc_turn_withdraw(void)
{
    if (sgc_a32_cas(&sgc_turn_word, SGC_TURN_OFFERED, SGC_TURN_NONE))
        sgc_wake(&sgc_turn_word, 1);
}

void sgc_turn_after_fork(void)
{
    sgc_a32_store(&sgc_turn_word, SGC_TURN_NONE);
}
