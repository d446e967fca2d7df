/* SPDX-License-Identifier: MIT */
/* The costs of collections, and the markers worth paying for.  gc/pacing/costs.h says which thread
 * writes each cost. */
#include "gc/pacing/costs.h"

#include "alloc/pages/homes.h"
#include "alloc/pages/pool.h"
#include "gc/config/options.h"
#include "gc/pacing/marker_rules.h"
#include "platform/faults.h"
#include "platform/report.h"

/* The last two samples.  The smaller one counts: the system's scheduler only ever adds, and a real
 * change is followed after two. */
struct cost {
    sgc_aw_t value, last;
};

struct costs {
    struct cost cycle_ns, mutator_ps;           /* see struct sgc_pace_costs */
    struct cost marker_ps;                      /* of marking a byte, if it were done by one
                                                 * marker */
    sgc_aw_t roots, finalizable, pointer_free;  /* bytes of the last cycle */
    sgc_aw_t kept, kept_before;                 /* of what is allocated, in 256ths: how much stayed
                                                 * alive at last, and the time before */
    sgc_aw_t last_end_ns, last_cycle_ns;
    sgc_aw_t lost;                              /* see sgc_pace_lost */
    sgc_a32_t useless;                          /* cycles at the limit in a row */
};

SGC_STATE static struct costs costs;

enum { KEPT_ALL = 256 };

static const size_t WORTH_MEASURING = (size_t)256 << 10;       /* less says nothing about the cost
                                                                * of a byte */

/* ---- learning: on the collecting thread, world running ---- */

static void guess(struct cost *cost, uint64_t value)
{
    sgc_aw_store(&cost->value, value);
    sgc_aw_store(&cost->last, SIZE_MAX);
}

static void learn(struct cost *cost, uint64_t sample)
{
    uint64_t last = sgc_aw_load(&cost->last);

    sgc_assert(sgc_aw_load(&cost->value) <= last || last == SIZE_MAX);
    sgc_aw_store(&cost->value, sample < last ? sample : last);
    sgc_aw_store(&cost->last, sample);
}

/* The time for finalization is no price of the cycle: what dies is found dead once, whenever that
 * is. */
static void learn_cycle(const struct sgc_cycle_record *r)
{
    uint64_t all = sgc_cycle_pause_ns(r) + r->times.clear_ns + r->concurrent.earlier_stops_ns + r->concurrent.marking_ns;

    sgc_assert(r->times.phase_ns[SGC_PHASE_FINALIZE] <= all);
    learn(&costs.cycle_ns, all - r->times.phase_ns[SGC_PHASE_FINALIZE]);
    sgc_aw_store(&costs.last_cycle_ns, all);
    sgc_aw_store(&costs.roots, r->marked.root_bytes);
    sgc_aw_store(&costs.finalizable, r->marked.finalizable_bytes);
    sgc_aw_store(&costs.pointer_free, r->marked.pointer_free_bytes);
}

static void learn_marking(const struct sgc_cycle_record *r)
{
    const uint64_t *part = r->times.phase_ns;
    uint64_t ns = part[SGC_PHASE_ROOTS] + part[SGC_PHASE_MARK] + part[SGC_PHASE_RESCAN] + r->concurrent.marking_ns;
    uint64_t bytes = r->marked.bytes - r->marked.finalizable_bytes + r->marked.root_bytes;

    if (bytes >= WORTH_MEASURING)
        learn(&costs.marker_ps, ns * 1000 / bytes * (r->marked.markers != 0 ? r->marked.markers : 1));
}

static uint64_t freed_by(const struct sgc_cycle_record *r)
{
    return sgc_pace_less(r->heap.live_bytes_before, r->heap.live_bytes_after);
}

/* Beside a mark the program is slowed down: what it did before tells how fast it allocates.  Before
 * each mark that pacing calls for that is worth measuring, with the smallest budget, too. */
void sgc_pacing_costs_learn_mutator(size_t allocated)
{
    uint64_t ns = sgc_pace_less(sgc_clock_ns(), sgc_aw_load(&costs.last_end_ns));

    if (allocated >= (size_t)SGC_PACE_MIN * SGC_PACE_EARLY / 100)
        learn(&costs.mutator_ps, ns * 1000 / allocated);
}

static void learn_mutator(const struct sgc_cycle_record *r)
{
    uint64_t since = sgc_aw_load(&costs.last_end_ns);

    sgc_aw_store(&costs.last_end_ns, r->times.resumed_ns);
    if (r->heap.allocated_bytes < WORTH_MEASURING)
        return;
    sgc_aw_store(&costs.kept_before, sgc_aw_load(&costs.kept));
    sgc_aw_store(&costs.kept, sgc_pace_less(r->heap.allocated_bytes, freed_by(r)) * KEPT_ALL / r->heap.allocated_bytes);
    if (r->times.request_ns > since && r->concurrent.earlier_stops == 0)
        learn(&costs.mutator_ps, (r->times.request_ns - since) * 1000 / r->heap.allocated_bytes);
}

/* If it is the system that refuses memory, the heap as it is is the limit. */
static void learn_use(const struct sgc_cycle_record *r)
{
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t size = limit <= r->heap.bytes / SGC_PAGE ? limit * SGC_PAGE : r->heap.bytes;

    bool useless = sgc_pace_useless(freed_by(r), size), at_limit = r->reason == SGC_REASON_LIMIT;

    sgc_aw_store(&costs.lost, sgc_pace_lost(sgc_aw_load(&costs.lost), size, at_limit && !useless));
    if (!useless)
        sgc_a32_store(&costs.useless, 0);
    else if (at_limit)
        sgc_a32_add(&costs.useless, 1);
}

void sgc_pacing_costs_learn(const struct sgc_cycle_record *record)
{
    sgc_assert(record->marked.finalizable_bytes <= record->marked.bytes);
    learn_cycle(record);
    learn_marking(record);
    learn_mutator(record);
    learn_use(record);
}

/* Until something is known: a common machine, and a program that allocates as fast as it can, and
 * may keep all of it. */
void sgc_pacing_costs_start(void)
{
    sgc_assert(sgc_aw_load(&costs.last_end_ns) == 0);
    guess(&costs.cycle_ns, 50000);
    guess(&costs.marker_ps, 500);
    guess(&costs.mutator_ps, 250);
    sgc_aw_store(&costs.kept_before, sgc_fault(SGC_FAULT_ONE_STOP) ? 0 : KEPT_ALL);
    sgc_aw_store(&costs.last_end_ns, sgc_clock_ns());
}

/* ---- asking: any thread ---- */

void sgc_pacing_costs(struct sgc_pace_costs *c, struct sgc_pace_heap *h)
{
    sgc_assert(sgc_aw_load(&costs.last_end_ns) != 0);
    c->cycle_ns = sgc_aw_load(&costs.cycle_ns.value);
    c->mutator_ps = sgc_aw_load(&costs.mutator_ps.value);
    c->lost = sgc_aw_load(&costs.lost);
    h->roots = sgc_aw_load(&costs.roots);
    h->finalizable = sgc_aw_load(&costs.finalizable);
    h->pointer_free = sgc_aw_load(&costs.pointer_free);
}

size_t sgc_pacing_to_mark(size_t live, size_t allocated)
{
    sgc_assert(sgc_aw_load(&costs.kept) <= KEPT_ALL);
    return live + sgc_pace_scale(allocated, sgc_aw_load(&costs.kept), KEPT_ALL);
}

size_t sgc_pacing_may_mark(size_t live, size_t allocated)
{
    size_t kept = sgc_pace_larger(sgc_aw_load(&costs.kept), sgc_aw_load(&costs.kept_before));

    sgc_assert(kept <= KEPT_ALL);
    return live + sgc_pace_scale(allocated, kept, KEPT_ALL);
}

uint64_t sgc_pacing_marking_ns(size_t bytes)
{
    return sgc_pace_scale(bytes + sgc_aw_load(&costs.roots), sgc_aw_load(&costs.marker_ps.value), 1000);
}

bool sgc_pacing_limit_pays(void)
{
    uint64_t end = sgc_aw_load(&costs.last_end_ns);

    sgc_assert(end != 0);
    return sgc_pace_try(sgc_a32_load(&costs.useless), sgc_pace_less(sgc_clock_ns(), end), sgc_aw_load(&costs.last_cycle_ns));
}

void sgc_pacing_limit_paid(void)
{
    sgc_a32_store(&costs.useless, 0);
}

/* ---- markers: from options and the homes of arenas, which never change ---- */

/* The heap's arenas by node; one that has no home is on all of them.  Returns how many nodes there
 * are. */
static uint32_t count_homes(uint32_t *share)
{
    uint32_t nodes = sgc_heap.homes > 1 ? sgc_heap.homes : 1;
    uint32_t arenas = (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);

    sgc_assert(nodes <= SGC_MARK_NODES);
    for (uint32_t j = 0; j < nodes; j++)
        share[j] = nodes == 1 || arenas == 0;
    for (uint32_t a = 0; nodes > 1 && a < arenas; a++) {
        int node = sgc_arena_node(a);

        for (uint32_t j = 0; j < nodes; j++)
            share[j] += node < 0 || j == (uint32_t)node;
    }
    return nodes;
}

static uint32_t by_model(uint64_t marking_ns, size_t bytes, uint32_t max)
{
    uint32_t share[SGC_MARK_NODES];
    struct sgc_marking marking = { marking_ns, bytes, share, 0, (uint64_t)sgc_options.node_mb_s };

    if (marking.node_mb_s == 0)
        marking.node_mb_s = SGC_MARK_NODE_MB_S;
    marking.nodes = count_homes(share);
    return sgc_markers_by_model(&marking, max);
}

int sgc_marker_choice(uint64_t marking_ns, size_t bytes, int max)
{
    sgc_assert(max >= 1);
    if (sgc_options.marker_choice == SGC_MARKERS_ALL)
        return max;
    if (sgc_options.marker_choice == SGC_MARKERS_MODEL)
        return (int)by_model(marking_ns, bytes, (uint32_t)max);
    return (int)sgc_markers_by_cost(marking_ns, (uint32_t)max);
}
