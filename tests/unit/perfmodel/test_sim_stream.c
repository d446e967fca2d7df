/* SPDX-License-Identifier: MIT */
/*
 * The serial stream of accesses: the predictor's caches, fed with it, miss exactly what the simulator's do.  They are two
 * programs with nothing in common.
 */
#include "perfmodel/sim/stream.h"

#include "perfmodel/model/cache.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/shapes.h"

/* One cache of 32 KB. */
static const struct sgc_machine machine = {
    .processors = 4, .nodes = 2, .latency_ns = { { 100, 150 }, { 120, 180 } }, .occupancy_ns = { 10, 20 }, .caches = 1,
    .cache = { { .bytes = 32768, .ways = 4, .line_bytes = 64, .shared_by = 1 } }, .misses_in_flight = 1,
    .tlb = { .page_bytes = 4096 }, .cost = { .word_ns = 1, .edge_ns = 5, .mark_rmw_ns = 5 },
};

static struct sgc_sim_heap heap;

static void compare(const char *preset)
{
    struct sgc_cache_model model;
    const struct sgc_misses *misses;
    struct sgc_sim_machine simulated;
    struct sgc_sim_options options = { .machine = &simulated, .preset = preset, .homes = SGC_SIM_IN_TURN };
    struct sgc_sim_result result;

    sgc_sim_machine_of(&machine, false, &simulated);
    if (!sgc_cache_model_make(&model, &machine) || !sgc_sim_stream(&heap, &options, sgc_cache_model_access, &model, &result))
        tap_bail("no memory for caches");
    misses = sgc_cache_model_end(&model);
    tap_diag("%s: %llu of %llu reads, %llu of %llu updates miss", preset, (unsigned long long)misses->misses[SGC_MISS_READ],
             (unsigned long long)misses->accesses[SGC_MISS_READ], (unsigned long long)misses->misses[SGC_MISS_RMW],
             (unsigned long long)misses->accesses[SGC_MISS_RMW]);
    tap_ok(misses->misses[SGC_MISS_READ] == result.misses[SGC_SIM_REQUEST_READ] && result.misses[SGC_SIM_REQUEST_READ] > 1000,
           "%s: as many reads miss", preset);
    tap_ok(misses->misses[SGC_MISS_RMW] == result.misses[SGC_SIM_REQUEST_UPDATE], "%s: and updates", preset);
    for (uint32_t i = 0; i < 2; i++)
        tap_ok(misses->node[i].misses[SGC_MISS_READ] == result.server[i].requests[SGC_SIM_REQUEST_READ] &&
               misses->node[i].misses[SGC_MISS_RMW] == result.server[i].requests[SGC_SIM_REQUEST_UPDATE],
               "%s: as many at node %u", preset, i);
    sgc_cache_model_release(&model);
}

int main(void)
{
    struct sgc_graph graph;

    if (TEST_SANITIZED)
        tap_skip_all("stacks that are changed and left behind confuse a sanitizer");
    tap_plan(8);
    graph = shape_random(5000, 9);
    if (sgc_sim_restore(&graph, 1, &heap) != NULL)
        tap_bail("the graph of the test cannot be restored");
    compare("endo-opt");
    compare("sgc");
    sgc_sim_release(&heap);
    sgc_graph_release(&graph);
    return tap_done();
}
