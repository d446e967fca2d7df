/* SPDX-License-Identifier: MIT */
/* See gc/pacing/concurrent_pace.h. */
#include "gc/pacing/concurrent_pace.h"

#include "gc/pacing/endo_rules.h"
#include "gc/pacing/help_rules.h"
#include "gc/pacing/pacing_rules.h"
#include "gc/pacing/pause_rules.h"
#include "platform/probe.h"
#include "platform/report.h"

struct waits {
    sgc_aw_t times, ns, worth_ns, longest_ns, over_ns;
};

struct concurrent_pace {
    sgc_aw_t from, live, expected, room, mark_ns, began_ns, endo;       /* the plan */
    sgc_aw_t marked, round;
    sgc_aw_t late_from;                 /* allocated when a thread first waited for a cycle; 0:
                                         * nobody did */
    struct waits waits[SGC_WAITS];
};

enum { SLOWER_MAX = 8 };

SGC_STATE static struct concurrent_pace concurrent_pace;
SGC_STATE sgc_aw_t sgc_concurrent_room;

void sgc_concurrent_pace_begin(const struct sgc_concurrent_pace_plan *plan)
{
    sgc_assert(plan->room != 0 && sgc_aw_load(&sgc_concurrent_room) == 0);
    sgc_aw_store(&concurrent_pace.from, plan->from);
    sgc_aw_store(&concurrent_pace.live, plan->live);
    sgc_aw_store(&concurrent_pace.expected, plan->expected);
    sgc_aw_store(&concurrent_pace.room, plan->room);
    sgc_aw_store(&concurrent_pace.mark_ns, plan->mark_ns);
    sgc_aw_store(&concurrent_pace.began_ns, sgc_clock_ns());
    sgc_aw_store(&concurrent_pace.endo, plan->endo);
    sgc_aw_store(&concurrent_pace.marked, 0);
    sgc_aw_store(&concurrent_pace.round, 0);
    sgc_aw_store(&sgc_concurrent_room, plan->room);
}

void sgc_concurrent_pace_end(void)
{
    sgc_aw_store(&concurrent_pace.late_from, 0);
    sgc_aw_store(&sgc_concurrent_room, 0);
}

void sgc_concurrent_pace_marked(size_t bytes)
{
    sgc_aw_store(&concurrent_pace.marked, bytes);
}

void sgc_concurrent_pace_round(unsigned n)
{
    sgc_assert(n != 0);
    sgc_aw_store(&concurrent_pace.round, n);
}

static size_t since(size_t allocated)
{
    size_t from = sgc_aw_load(&concurrent_pace.from);

    return allocated > from ? allocated - from : 0;
}

void sgc_concurrent_pace_room_from(size_t allocated)
{
    size_t room = allocated != SGC_PACE_NEVER ? since(allocated) + sgc_aw_load(&concurrent_pace.room) : SGC_PACE_NEVER;

    sgc_assert(allocated <= SGC_PACE_NEVER);
    if (sgc_concurrent_pace_on())
        sgc_aw_store(&sgc_concurrent_room, sgc_pace_smaller(room, SGC_PACE_NEVER));
}

/* A mark that has found more than was expected may have to find all there is. */
static size_t to_be_marked(size_t marked, size_t allocated)
{
    size_t expected = sgc_aw_load(&concurrent_pace.expected);

    return marked < expected ? expected : sgc_aw_load(&concurrent_pace.live) + allocated;
}

static bool endo_behind(size_t allocated, size_t room, size_t marked)
{
    struct sgc_endo_pace pace = { sgc_aw_load(&concurrent_pace.expected), room };

    return sgc_endo_step(&pace, allocated, SIZE_MAX) > marked;
}

static bool behind(size_t allocated, size_t room)
{
    size_t marked = sgc_aw_load(&concurrent_pace.marked);
    unsigned round = (unsigned)sgc_aw_load(&concurrent_pace.round);

    sgc_assert(room != 0);
    if (sgc_aw_load(&concurrent_pace.endo) != 0)
        return round == 0 && endo_behind(since(allocated), room, marked);
    if (round != 0)
        return sgc_pause_round_behind(since(allocated), room, round);
    return sgc_pause_behind(since(allocated), room, marked, to_be_marked(marked, allocated));
}

enum sgc_pace_is sgc_concurrent_pace_is(size_t allocated)
{
    size_t room = sgc_aw_load(&sgc_concurrent_room);

    if (room == 0)
        return SGC_PACE_OFF;
    if (since(allocated) >= room)
        return (since(allocated) - room) / SGC_PACE_ROOMS >= sgc_aw_load(&concurrent_pace.room) ? SGC_PACE_HOPELESS
                                                                                               : SGC_PACE_OVERDUE;
    return behind(allocated, room) ? SGC_PACE_BEHIND : SGC_PACE_AHEAD;
}

size_t sgc_concurrent_pace_late(size_t allocated)
{
    size_t from = 0;

    sgc_assert(allocated != 0);
    if (sgc_aw_cas(&concurrent_pace.late_from, from, allocated))
        return 0;
    from = sgc_aw_load(&concurrent_pace.late_from);
    return allocated > from ? allocated - from : 0;
}

/* A mark that is not over when its room is used up takes longer than was expected; it is taken to
 * take no more than a few times as long. */
uint64_t sgc_concurrent_pace_worth_ns(size_t bytes, size_t allocated)
{
    size_t room = sgc_aw_load(&sgc_concurrent_room);
    uint64_t ns = sgc_aw_load(&concurrent_pace.mark_ns), now = sgc_clock_ns(), began = sgc_aw_load(&concurrent_pace.began_ns);

    if (room == 0)
        return UINT64_MAX;
    if (since(allocated) >= room && now > began + ns)
        ns = now - began < SLOWER_MAX * ns ? now - began : SLOWER_MAX * ns;
    return sgc_help_worth_ns(ns, bytes, room);
}

static void raise_to(sgc_aw_t *longest, uint64_t ns)
{
    uint64_t old = sgc_aw_load(longest);

    while (ns > old && !sgc_aw_cas(longest, old, ns))
        old = sgc_aw_load(longest);
}

void sgc_concurrent_pace_waited(enum sgc_wait which, uint64_t ns, uint64_t worth_ns)
{
    struct waits *w = &concurrent_pace.waits[which];

    sgc_assert((unsigned)which < SGC_WAITS);
    if (which == SGC_ASSIST)
        SGC_PROBE(assist, ns);
    else
        SGC_PROBE(stall, ns);
    sgc_aw_add_relaxed(&w->times, 1);
    sgc_aw_add_relaxed(&w->ns, ns);
    sgc_aw_add_relaxed(&w->worth_ns, worth_ns);
    raise_to(&w->longest_ns, ns);
    raise_to(&w->over_ns, ns > worth_ns ? ns - worth_ns : 0);
}

void sgc_concurrent_pace_fill(struct sgc_cycle_record *record)
{
    sgc_assert(sgc_cycle_ok(record));
    sgc_aw_store(&concurrent_pace.late_from, 0);        /* of a cycle that nobody led, too */
    for (int i = 0; i < SGC_WAITS; i++) {
        struct waits *w = &concurrent_pace.waits[i];

        record->concurrent.waits[i] = (struct sgc_waits){
            .times = sgc_aw_swap(&w->times, 0),
            .ns = sgc_aw_swap(&w->ns, 0),
            .worth_ns = sgc_aw_swap(&w->worth_ns, 0),
            .longest_ns = sgc_aw_swap(&w->longest_ns, 0),
            .over_ns = sgc_aw_swap(&w->over_ns, 0),
        };
    }
}
