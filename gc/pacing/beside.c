/* SPDX-License-Identifier: MIT */
/* See gc/pacing/beside.h. */
#include "gc/pacing/beside.h"

#include "gc/pacing/endo_rules.h"
#include "gc/pacing/pause_rules.h"
#include "platform/report.h"

struct waits {
    sgc_aw_t times, ns, longest_ns;
};

struct beside {
    sgc_aw_t room, from, live, expected, endo;          /* the plan */
    sgc_aw_t marked, round;
    struct waits waits[SGC_WAITS];
};

SGC_STATE static struct beside beside;

void sgc_beside_begin(const struct sgc_beside_plan *plan)
{
    sgc_assert(plan->room != 0 && !sgc_beside_on());
    sgc_aw_store(&beside.from, plan->from);
    sgc_aw_store(&beside.live, plan->live);
    sgc_aw_store(&beside.expected, plan->expected);
    sgc_aw_store(&beside.endo, plan->endo);
    sgc_aw_store(&beside.marked, 0);
    sgc_aw_store(&beside.round, 0);
    sgc_aw_store(&beside.room, plan->room);
}

void sgc_beside_end(void)
{
    sgc_aw_store(&beside.room, 0);
}

void sgc_beside_marked(size_t bytes)
{
    sgc_aw_store(&beside.marked, bytes);
}

void sgc_beside_round(unsigned n)
{
    sgc_assert(n != 0);
    sgc_aw_store(&beside.round, n);
}

bool sgc_beside_on(void)
{
    return sgc_aw_load(&beside.room) != 0;
}

static size_t since(size_t allocated)
{
    size_t from = sgc_aw_load(&beside.from);

    return allocated > from ? allocated - from : 0;
}

/* A mark that has found more than was expected may have to find all there is. */
static size_t to_be_marked(size_t marked, size_t allocated)
{
    size_t expected = sgc_aw_load(&beside.expected);

    return marked < expected ? expected : sgc_aw_load(&beside.live) + allocated;
}

static bool endo_behind(size_t allocated, size_t room, size_t marked)
{
    struct sgc_endo_pace pace = { sgc_aw_load(&beside.expected), room };

    return sgc_endo_step(&pace, allocated, SIZE_MAX) > marked;
}

bool sgc_beside_behind(size_t allocated)
{
    size_t room = sgc_aw_load(&beside.room), marked = sgc_aw_load(&beside.marked);
    unsigned round = (unsigned)sgc_aw_load(&beside.round);

    if (room == 0)
        return false;
    if (sgc_aw_load(&beside.endo) != 0)
        return round == 0 && endo_behind(since(allocated), room, marked);
    if (round != 0)
        return sgc_pause_round_behind(since(allocated), room, round);
    return sgc_pause_behind(since(allocated), room, marked, to_be_marked(marked, allocated));
}

bool sgc_beside_overdue(size_t allocated)
{
    size_t room = sgc_aw_load(&beside.room);

    return room != 0 && since(allocated) >= room;
}

static void raise_to(sgc_aw_t *most, uint64_t ns)
{
    uint64_t old = sgc_aw_load(most);

    while (ns > old && !sgc_aw_cas(most, old, ns))
        old = sgc_aw_load(most);
}

void sgc_beside_waited(enum sgc_wait which, uint64_t ns)
{
    struct waits *w = &beside.waits[which];

    sgc_assert((unsigned)which < SGC_WAITS);
    sgc_aw_add_relaxed(&w->times, 1);
    sgc_aw_add_relaxed(&w->ns, ns);
    raise_to(&w->longest_ns, ns);
}

void sgc_beside_fill(struct sgc_cycle_record *record)
{
    struct waits *a = &beside.waits[SGC_ASSIST], *s = &beside.waits[SGC_STALL];

    sgc_assert(sgc_cycle_ok(record));
    record->assists = sgc_aw_swap(&a->times, 0);
    record->assists_ns = sgc_aw_swap(&a->ns, 0);
    record->longest_assist_ns = sgc_aw_swap(&a->longest_ns, 0);
    record->stalls = sgc_aw_swap(&s->times, 0);
    record->stalls_ns = sgc_aw_swap(&s->ns, 0);
    record->longest_stall_ns = sgc_aw_swap(&s->longest_ns, 0);
}
