/* SPDX-License-Identifier: MIT */
/*
 * The simulator runs the rules of mark/work/steal_rules.h: with another number of pieces that are shared at a time, marks take
 * another time.  mark/work/deque.c is compiled here instead of being taken from the library.
 */
#include "mark/work/steal_rules.h"

static bool changed;

static inline size_t share_count(size_t private_pieces)
{
    return changed ? 1 : sgc_share_count(private_pieces);
}

#define sgc_share_count share_count
#include "mark/work/deque.c"

#include "perfmodel/sim/sim.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/shapes.h"

static struct sgc_sim_heap heap;
static struct sgc_sim_machine machine = {
    .nodes = 2, .per_node = 8, .line_bytes = 64, .os_page_bytes = 4096, .cache_bytes = 1 << 18, .ways = 8, .in_flight = 1,
    .near = 1, .memory = { { 100, 150, 10 }, { 150, 200, 20 } },
    .costs = { .word = 1, .edge = 5, .mark = 1, .mark_shared = 5, .read = 1, .write = 1, .update = 10, .pause = 20 },
};

static struct sgc_sim_result run(bool other_rule, const char *preset)
{
    struct sgc_sim_options options = { .machine = &machine, .preset = preset, .markers = 16 };
    struct sgc_sim_result result;

    changed = other_rule;
    if (!sgc_simulate(&heap, &options, &result))
        tap_bail("no memory to simulate");
    return result;
}

int main(void)
{
    struct sgc_graph graph;
    const char *const presets[] = { "sgc", "endo-opt" };

    if (TEST_SANITIZED)
        tap_skip_all("stacks that are changed and left behind confuse a sanitizer");
    tap_plan(6);
    graph = shape_tree(20000, 3, 48);
    if (sgc_sim_restore(&graph, 16, &heap) != NULL)
        tap_bail("the graph of the test cannot be restored");
    for (int i = 0; i < 2; i++) {
        struct sgc_sim_result own = run(false, presets[i]), other = run(true, presets[i]), again = run(false, presets[i]);

        tap_ok(other.ps != own.ps && other.steals != own.steals, "%s: another rule of sharing, another time and other thefts",
               presets[i]);
        tap_ok(other.objects == own.objects && own.objects == graph.objects, "%s: and the same marks", presets[i]);
        tap_ok(again.ps == own.ps, "%s: with the own rule again the time is as before", presets[i]);
    }
    sgc_sim_release(&heap);
    sgc_graph_release(&graph);
    return tap_done();
}
