/* SPDX-License-Identifier: MIT */
/*
 * perfmodel/model/predict.c: each form of the prediction from numbers that were made up, against the thesis' equations by
 * hand; what grows with what; and shapes whose speed-up is known.
 */
#include <math.h>

#include "perfmodel/model/serial_mark.h"
#include "tests/unit/perfmodel/model.h"

static struct sgc_machine machine;
static struct sgc_work work;
static struct sgc_node_misses node[4];
static struct sgc_misses misses;
static double node_bytes[4];
static struct sgc_prediction_of of = { &machine, &work, &misses, node_bytes, true, SGC_DEPTH_LARGER, SGC_STEALS_BY_PIECES, -1 };
static struct sgc_prediction p;

/* Reads at the first node only. */
static void set_up(void)
{
    machine = plain_machine;
    work = (struct sgc_work){ .objects = 1000,
                              .bytes = 64000,
                              .words = 8000,
                              .edges = 2000,
                              .pieces = 1000,
                              .largest = 64,
                              .work_ns = 1e6,
                              .depth_ns = 1e3 };
    memset(node, 0, sizeof node);
    node[0].misses[SGC_MISS_READ] = 2000;
    misses = (struct sgc_misses){ .misses = { 2000, 0 }, .live_lines = 6, .nodes = 4, .node = node };
    memset(node_bytes, 0, sizeof node_bytes);
    node_bytes[0] = 64000;
    of.depth = SGC_DEPTH_LARGER;
    of.unit = SGC_STEALS_BY_PIECES;
    of.steals = -1;
}

static const struct sgc_prediction *predict(uint32_t processors)
{
    if (!sgc_predict(&of, processors, &p))
        tap_bail("no memory");
    return &p;
}

static void test_thesis(void)
{
    double rho, miss;

    set_up();
    predict(8);
    tap_ok(near(p.steals, 8 * log(1000)), "N_S = P ln T_1, with T_1 in pieces");
    tap_ok(near(p.misses, 2000 + 8 * log(1000) * 6), "Q_P = Q_1 + N_S L");
    tap_ok(near(p.computing_ns, 1e6 / 8), "T_P = T_1 / P");
    rho = 20 * p.misses / p.time_ns;
    miss = (100 * 2 + 200 * 6) / 8.0 + 20 * rho / (1 - rho);
    tap_ok(near(p.busiest, rho) && near(p.miss_ns, miss),
           "M_P = M_1 + S_O rho / (1 - rho), M_1 being the mean over the processors");
    tap_ok(near(p.time_ns, 1e6 / 8 + p.misses * miss / 8), "T = T_P + Q_P M_P / P");
    tap_ok(near(p.no_contention_ns, 1e6 / 8 + p.misses * 175 / 8), "without contention");
    of.steals = 0;
    tap_ok(near(predict(8)->time_ns, p.no_extra_ns) && near(p.misses, 2000), "without extra misses it is as without steals");
}

/* The first cache has eight lines. */
static void test_bounds(void)
{
    double one;

    set_up();
    machine.occupancy_ns[SGC_MISS_READ] = machine.occupancy_ns[SGC_MISS_RMW] = 0;
    machine.cache[0].bytes = 64e6;
    misses.live_lines = 1e6;
    one = predict(1)->time_ns;
    tap_ok(near(predict(2)->misses, 2 * 2000) && p.time_ns < one,
           "no processor misses more than the one that marks all: a second one makes no mark slower by its steals");
    tap_ok(near(predict(8)->misses, 8 * 2000) && p.time_ns < one, "nor do eight");
    set_up();
    machine.caches = 2;
    machine.cache[1] = (struct sgc_machine_cache){ 64e6, 4, 64, 8, 1 };
    misses.live_lines = 1e6;
    misses.answered[1] = 100;
    of.steals = 3;
    tap_ok(near(predict(8)->misses, 2000 + 100 + 3 * 8), "steals add no more misses than caches have answered");
    of.steals = 0;
    tap_ok(near(predict(8)->misses, 2000), "and none if there are none");
}

/* Eight processors, of which some share a cache. */
static void test_shared_cache(void)
{
    double shared, own;

    set_up();
    machine.cache[0].bytes = 64e6;
    misses.live_lines = 1e6;
    own = predict(8)->overlap_ns;
    machine.cache[0].shared_by = 8;
    shared = predict(8)->overlap_ns;
    tap_ok(near(shared, p.no_extra_ns), "what is stolen from who has the same last cache is not missed");
    machine.cache[0].shared_by = 4;
    tap_ok(predict(8)->overlap_ns > shared && p.overlap_ns < own, "of two caches a part is");
    predict(4);
    tap_ok(near(p.overlap_ns, p.no_extra_ns), "and nothing as long as one is enough");
}

static void test_one(void)
{
    set_up();
    predict(1);
    tap_ok(p.steals == 0 && near(p.misses, 2000), "one processor steals from nobody");
    tap_ok(near(p.no_contention_ns, 1e6 + 2000 * 100), "and is near the first node");
    of.steals = 50;
    tap_ok(predict(2)->steals == 50 && predict(1)->steals == 0, "a number of steals can be given");
}

static void test_rules(void)
{
    set_up();
    work.depth_ns = 3e5;
    tap_ok(near(predict(2)->computing_ns, 5e5) && near(predict(8)->computing_ns, 3e5),
           "T_P is the larger of T_1 / P and T_inf");
    of.depth = SGC_DEPTH_SMALLER;
    tap_ok(near(predict(2)->computing_ns, 3e5) && near(predict(8)->computing_ns, 1.25e5), "the smaller, as it is printed");
    of.depth = SGC_DEPTH_SUM;
    tap_ok(near(predict(8)->computing_ns, 4.25e5), "or the sum");
    of.unit = SGC_STEALS_BY_WORDS;
    tap_ok(near(predict(8)->steals, 8 * log(8000)), "T_1 in words");
    of.unit = SGC_STEALS_BY_NS;
    tap_ok(near(predict(8)->steals, 8 * log(1e6)), "or in nanoseconds");
}

/* ---- classes and nodes ---- */

static void test_classes(void)
{
    double one, two;

    set_up();
    of.steals = 0;
    one = predict(8)->time_ns;
    node[0].misses[SGC_MISS_READ] = 1000;
    node[3].misses[SGC_MISS_READ] = 1000;
    two = predict(8)->time_ns;
    tap_ok(two < one && near(p.no_contention_ns, 1e6 / 8 + 2000.0 * 175 / 8), "two nodes make shorter queues than one");
    node[3].misses[SGC_MISS_READ] = 0;
    node[3].misses[SGC_MISS_RMW] = 1000;
    misses.misses[SGC_MISS_READ] = misses.misses[SGC_MISS_RMW] = 1000;
    tap_ok(near(predict(8)->no_contention_ns, 1e6 / 8 + 1000.0 * (175 + (150 * 2 + 300 * 6) / 8.0) / 8),
           "read-modify-writes have latencies of their own");
    tap_ok(p.time_ns > two, "and keep a node busy for longer");
}

/* ---- the form for today ---- */

static void test_overlap(void)
{
    set_up();
    predict(8);
    tap_ok(near(p.overlap_ns, p.time_ns), "with one miss under way, one cache and no streams it is the thesis' form");
    machine.misses_in_flight = 10;
    predict(8);
    tap_ok(p.overlap_ns < p.time_ns && p.overlap_ns > p.computing_ns, "misses that overlap take less");
    tap_ok(p.overlap_ns >= 20 * p.misses, "but not less than the busiest node needs");
    machine.occupancy_ns[SGC_MISS_READ] = machine.occupancy_ns[SGC_MISS_RMW] = 0;
    tap_ok(near(predict(8)->overlap_ns, 1e6 / 8 + p.misses * 175 / 80 / 10),
           "without contention it is the part of a miss, and that is hidden but for a tenth");
    work.work_ns = 1e4;
    tap_ok(near(predict(8)->overlap_ns, 1e4 / 8 / 10 + p.misses * 175 / 80), "or computing is, if that is less");
    work.work_ns = 1e6;
    machine.stream_mb_s = 64 * 1000 / 5.0;
    node[0].in_sequence[SGC_MISS_READ] = 1000;
    tap_ok(near(predict(8)->overlap_ns, 1e6 / 8 + p.misses * (175 + 50) / 2 / 80 / 10),
           "lines in sequence come as they stream");
    machine.caches = 2;
    machine.cache[1] = (struct sgc_machine_cache){ 4096, 4, 64, 8, 1 };
    misses.answered[1] = 1000;
    misses.walks = 100;
    machine.tlb.walk_ns = 30;
    tap_ok(near(predict(8)->overlap_ns, 1e6 / 8 + ((8000 + 3000) / 80.0 + p.misses * (175 + 50) / 2 / 80) / 10),
           "answers of the second cache and walks overlap, too");
    machine.cost.mark_rmw_ns = 30;
    machine.cost.mark_ns = 10;
    tap_ok(near(predict(1)->overlap_ns,
                1e6 - 20 * (double)work.objects + (8000 + 3000 + 2000 * (100 + 50) / 2) / 10.0 / 10),
           "a processor that is alone marks by plain writes");
}

/* ---- the fast form ---- */

static void test_fast(void)
{
    uint32_t enough;
    double bits = 64000 / 128.0 / 64, computing = 1000 * (10 + 1 + 1 + 1 + 4) + 8000, bits_ns = bits / 4 * (150 + 3 * 300);

    set_up();
    machine.occupancy_ns[SGC_MISS_READ] = machine.occupancy_ns[SGC_MISS_RMW] = 0;
    tap_ok(near(predict(1)->fast_ns, computing + 1000 * 100 + bits_ns),
           "it reads each line that lives, and writes each of the marks");
    set_up();
    predict(8);
    misses.live_lines = 1e6;
    work.work_ns = 1e9;
    tap_ok(p.fast_ns == predict(8)->fast_ns && p.fast_ns >= 1000 * 20,
           "and sees neither steals nor other work, but the busiest node");
    machine.occupancy_ns[SGC_MISS_READ] = machine.occupancy_ns[SGC_MISS_RMW] = 100;
    tap_ok(sgc_predict_enough(&of, 8, 5, &enough) && enough >= 2 && enough < 8,
           "with one busy node fewer processors are enough");
    tap_ok(sgc_predict_enough(&of, 8, 0, &enough) && predict(enough)->fast_ns <= predict(8)->fast_ns, "the best is the best");
    for (int j = 0; j < 4; j++)
        node_bytes[j] = 16000;
    work.bytes = 64000;
    machine.occupancy_ns[SGC_MISS_READ] = machine.occupancy_ns[SGC_MISS_RMW] = 0;
    tap_ok(sgc_predict_enough(&of, 8, 5, &enough) && enough == 8, "without queues all are of use");
}

/* ---- what grows with what ---- */

static void test_monotone(void)
{
    double time;

    set_up();
    time = predict(8)->time_ns;
    work.work_ns *= 1.1;
    tap_ok(predict(8)->time_ns > time, "more work takes longer");
    time = p.time_ns;
    misses.live_lines *= 2;
    tap_ok(predict(8)->time_ns > time, "so do more live lines");
    time = p.time_ns;
    of.steals = 1000;
    tap_ok(predict(8)->time_ns > time, "and more steals");
    time = p.time_ns;
    machine.occupancy_ns[SGC_MISS_READ] *= 2;
    tap_ok(predict(8)->time_ns > time, "and a slower node");
    time = p.time_ns;
    machine.latency_ns[SGC_MISS_READ][SGC_FAR] *= 2;
    tap_ok(predict(8)->time_ns > time, "and longer ways");
    time = p.time_ns;
    work.depth_ns = 5e6;
    tap_ok(predict(8)->time_ns > time && p.time_ns > 5e6, "and a deep graph");
}

/* ---- shapes, from graph to speed-up ---- */

static double speedup(struct sgc_graph *g, uint32_t processors)
{
    struct sgc_homes homes = { g, &machine, true };
    struct sgc_cache_model cache;
    double one, many;

    if (!sgc_work_measure(&work, &homes, 256, node_bytes) || !sgc_cache_model_make(&cache, &machine) ||
        !sgc_serial_mark(&homes, 256, sgc_cache_model_access, &cache))
        tap_bail("no memory");
    of.misses = sgc_cache_model_end(&cache);
    one = predict(1)->time_ns;
    many = predict(processors)->time_ns;
    of.misses = &misses;
    sgc_cache_model_release(&cache);
    sgc_graph_release(g);
    return one / many;
}

static void test_shapes(void)
{
    struct sgc_graph graph;
    double value;

    set_up();
    machine.placement = SGC_PLACED_INTERLEAVED;
    for (int far = SGC_NEAR; far <= SGC_FAR; far++)
        machine.latency_ns[SGC_MISS_READ][far] = machine.latency_ns[SGC_MISS_RMW][far] = 100;
    graph = shape_tree((1 << 16) - 1, 2, OBJECT_BYTES);
    value = speedup(&graph, 8);
    tap_ok(value > 7, "a tree on 8 processors and 4 nodes is marked more than 7 times as fast");
    graph = shape_list(60000, OBJECT_BYTES);
    machine.latency_ns[SGC_MISS_READ][SGC_NEAR] = machine.latency_ns[SGC_MISS_READ][SGC_FAR] = 0.1;
    machine.latency_ns[SGC_MISS_RMW][SGC_NEAR] = machine.latency_ns[SGC_MISS_RMW][SGC_FAR] = 0.1;
    machine.occupancy_ns[SGC_MISS_READ] = machine.occupancy_ns[SGC_MISS_RMW] = 0.01;
    tap_ok(speedup(&graph, 8) < 1.05, "a chain is not");
}

int main(void)
{
    return tap_all(test_thesis, test_bounds, test_shared_cache, test_one, test_rules, test_classes,
                   test_overlap, test_fast, test_monotone, test_shapes);
}
