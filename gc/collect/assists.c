/* SPDX-License-Identifier: MIT */
/* See gc/collect/assists.h. */
#include "gc/collect/assists.h"

#include "gc/collect/attempt.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/phases.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"

struct wait {
    uint64_t began, max_ns;         /* it takes so long at most */
};

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

/* If there is nothing for the thread to do, the mark gets on meanwhile. */
static void mark_or_rest(void *arg)
{
    struct assist *a = arg;

    mark_for_a_while(a);
    if (!a->worked)
        sgc_sleep_ns(a->wait.max_ns);
}

static void stay(void *arg)
{
    const struct wait *w = arg;

    sgc_concurrent_wait_over(w->max_ns);
}

void sgc_assist(struct sgc_mutator *self)
{
    struct assist a = { { sgc_clock_ns(), SGC_ASSIST_NS }, false };

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    sgc_world_sleep(self, mark_or_rest, &a);
    sgc_concurrent_pace_waited(SGC_ASSIST, sgc_clock_ns() - a.wait.began);
}

void sgc_stall(struct sgc_mutator *self)
{
    struct wait w = { sgc_clock_ns(), sgc_pause_target_ns() };

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    sgc_world_sleep(self, stay, &w);
    sgc_concurrent_pace_waited(SGC_STALL, sgc_clock_ns() - w.began);
}

bool sgc_assist_for(struct sgc_mutator *self, uint64_t ns)
{
    struct assist a = { { sgc_clock_ns(), ns }, false };

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    if (sgc_concurrent_marks())
        sgc_world_sleep(self, mark_for_a_while, &a);
    return a.worked;
}

/* ---- so many bytes ---- */

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

        sgc_concurrent_hold();
        until = sgc_team_marked(&sgc_cycle.team) + bytes;
        more = !sgc_team_go_on(&sgc_cycle.team, has_helped, &until);
        sgc_concurrent_release();
    }
    sgc_gc_lock_release();
    return more;
}
