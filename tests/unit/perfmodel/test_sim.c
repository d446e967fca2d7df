/* SPDX-License-Identifier: MIT */
/*
 * Simulated marks of simple graphs: what is marked, and how long it takes.  Also: perfmodel/sim/sim.c, memory.c, schedule.c,
 * restore.c, endo_marker.c.
 */
#include "perfmodel/sim/sim.h"

#include <string.h>

#include "perfmodel/machine/machine_file.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/shapes.h"

static struct sgc_sim_machine o2k, e10k;

/* Memory takes no time. */
static const struct sgc_sim_machine ideal = {
    .nodes = 1, .per_node = SGC_SIM_MARKERS_MAX, .line_bytes = 64, .os_page_bytes = 4096, .cache_bytes = 1 << 20, .ways = 16,
    .in_flight = 1, .near = 1,
    .costs = { .word = 2, .edge = 10, .test = 1, .mark = 1, .mark_shared = 8, .read = 1, .write = 1, .update = 15, .ask = 1,
               .pause = 20, .yield = 200 },
};

static struct sgc_sim_heap heap;
static struct sgc_graph graph;

/* The machine files of the thesis. */
static struct sgc_sim_machine machine_of(const char *name)
{
    static struct sgc_machine files[2];
    static int read;
    struct sgc_sim_machine machine;
    char path[1024], message[SGC_MACHINE_MESSAGE];
    const char *root = getenv("SGC_SRCDIR");

    snprintf(path, sizeof path, "%s/perfmodel/machines/%s.machine", root != NULL ? root : ".", name);
    if (!sgc_machine_read(&files[read], path, message))
        tap_bail("%s", message);
    sgc_sim_machine_of(&files[read++], false, &machine);
    if (sgc_sim_machine_check(&machine) != NULL)
        tap_bail("%s: %s", name, sgc_sim_machine_check(&machine));
    return machine;
}

static void restore(struct sgc_graph g, uint32_t markers)
{
    const char *problem;

    sgc_graph_release(&graph);
    sgc_sim_release(&heap);
    graph = g;
    problem = sgc_sim_restore(&graph, markers, &heap);
    if (problem != NULL)
        tap_bail("the graph of the test cannot be restored: %s", problem);
}

static struct sgc_sim_result run(const char *preset, uint32_t markers, const struct sgc_sim_machine *machine)
{
    struct sgc_sim_options options = { .machine = machine, .preset = preset, .markers = markers, .homes = SGC_SIM_IN_TURN };
    struct sgc_sim_result result;

    if (!sgc_simulate(&heap, &options, &result))
        tap_bail("no memory to simulate %u markers", markers);
    return result;
}

/* ---- what is marked ---- */

/* Objects that are marked and cannot be reached, or the other way round; and what the markers have counted, twice or not. */
static uint64_t wrong_marks(const struct sgc_sim_result *result)
{
    struct sgc_graph_reach reach;
    uint64_t wrong = 0;

    if (!sgc_graph_reach(&graph, SGC_GRAPH_MARK_ROOTS, &reach))
        tap_bail("no memory to find what can be reached");
    for (uint32_t i = 0; i < graph.objects; i++)
        wrong += sgc_sim_is_marked(&graph, i) != sgc_graph_seen(&reach, i);
    wrong += result->objects != reach.objects;
    wrong += result->bytes != reach.bytes;
    wrong += sgc_sim_count_marks() != reach.objects;
    sgc_graph_reach_release(&reach);
    return wrong;
}

static void marks_each_object_once(void)
{
    static const uint32_t markers[] = { 1, 2, 7, 64, 128 };

    restore(shape_random(3000, 5), 128);
    for (unsigned p = 0; sgc_sim_preset_name(p) != NULL; p++) {
        uint64_t wrong = 0;

        for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
            struct sgc_sim_result result = run(sgc_sim_preset_name(p), markers[i], &o2k);

            wrong += wrong_marks(&result);
        }
        tap_ok(wrong == 0, "%s: 1, 2, 7, 64 and 128 markers mark each object once", sgc_sim_preset_name(p));
    }
}

/* So many objects of eight words; object 0 leads to those from 2 to 17 by four words and twelve edges that are in none, of
 * which four have room in it; likewise 18, which nothing leads to, to those from 20. */
static struct sgc_graph surplus(void)
{
    enum { OBJECTS = 36, EACH = 16, PLACED = 4 };
    struct shape s = shape_objects(OBJECTS, 64, 2 * EACH, 1);
    struct sgc_graph g;

    for (uint32_t i = 0; i < 2 * EACH; i++)
        shape_edge(&s, i / 8 + (i < EACH ? 0 : 16), i + (i < EACH ? 2 : 4));
    shape_root(&s, 0);
    g = shape_graph(&s);
    g.object[1].first_edge = EACH;
    g.object[19].first_edge = 2 * EACH;
    for (uint32_t i = 0; i < 2 * EACH; i++)
        if (i % EACH >= PLACED)
            g.edge[i].word = SGC_GRAPH_NO_WORD;
    g.procedure_edges = 2 * (EACH - PLACED);
    return g;
}

static void marks_what_procedures_find(void)
{
    struct sgc_graph g = surplus();
    struct sgc_sim_result result;

    tap_ok(sgc_graph_check(&g) == NULL, "objects lead to more than they have words");
    restore(g, 4);
    result = run("sgc", 4, &o2k);
    tap_ok(wrong_marks(&result) == 0 && result.objects == 17, "what procedures have found is marked, if their objects are");
}

/* With SGC_END_BYTE=roots a word between two objects is a root to both. */
static void marks_both_ends(void)
{
    struct shape s = shape_objects(5, 64, 0, 4);
    struct sgc_graph g;
    struct sgc_sim_result result;

    for (uint32_t i = 0; i < 4; i++)
        shape_root(&s, i);
    g = shape_graph(&s);
    for (uint32_t i = 0; i < 4; i++)
        g.root[i].word = i / 2;
    tap_ok(sgc_graph_check(&g) == NULL, "words lead to two objects each");
    restore(g, 2);
    result = run("sgc", 2, &o2k);
    tap_ok(wrong_marks(&result) == 0 && result.objects == 4, "and both are marked");
}

/* ---- how long it takes ---- */

static bool near(double a, double b, double part)
{
    return a > b * (1 - part) && a < b * (1 + part);
}

/* What the requests of one marker take by themselves: it meets nobody. */
static void adds_up_alone(void)
{
    const char *const names[] = { "sgc", "endo-opt" };

    for (int i = 0; i < 2; i++) {
        struct sgc_sim_result free_memory = run(names[i], 1, &ideal), paid;
        struct sgc_sim_machine machine = ideal;
        double expected;

        machine.memory[SGC_SIM_REQUEST_READ] = (struct sgc_sim_memory){ 100, 100, 30 };
        machine.memory[SGC_SIM_REQUEST_UPDATE] = (struct sgc_sim_memory){ 170, 170, 50 };
        paid = run(names[i], 1, &machine);
        expected = (double)free_memory.ps + 1e5 * (double)paid.misses[SGC_SIM_REQUEST_READ] +
                   1.7e5 * (double)paid.misses[SGC_SIM_REQUEST_UPDATE];
        tap_ok(near((double)paid.ps, expected, 0.01), "%s: one marker takes what it computes, and what its misses take",
               names[i]);
        tap_ok(paid.ps > free_memory.ps && paid.waited == 0, "%s: and waits for nobody", names[i]);
        tap_diag("%.3f ms of computing, %.3f ms with %llu misses", (double)free_memory.ps / 1e9, (double)paid.ps / 1e9,
                 (unsigned long long)paid.misses[SGC_SIM_REQUEST_READ]);
    }
}

static double gain(const char *preset, uint32_t markers, const struct sgc_sim_machine *machine)
{
    return (double)run(preset, 1, machine).ps / (double)run(preset, markers, machine).ps;
}

static void gains_where_there_is_something_to_gain(void)
{
    double array, list, alone;

    restore(shape_array(8 << 20, 1 << 20, 16), 64);
    alone = (double)run("sgc", 1, &ideal).ps;
    for (uint32_t markers = 16; markers <= 64; markers *= 4) {
        array = alone / (double)run("sgc", markers, &ideal).ps;
        tap_ok(array >= 0.9 * markers && array <= 1.02 * markers, "an array: %u markers are %.1f times as fast", markers,
               array);
    }
    restore(shape_array(391 * 4096, 200000, 16), 64);
    array = gain("endo-opt", 16, &ideal);
    tap_ok(array >= 0.9 * 16 && array < 16.5, "an array, the marker of the thesis: 16 are %.1f times as fast", array);
    array = gain("endo-simple", 64, &ideal);
    tap_ok(array <= 1.1, "who does not share gains nothing: %.2f", array);
    restore(shape_list(20000, 32), 64);
    list = gain("sgc", 64, &ideal);
    tap_ok(list <= 1.05, "a list: 64 markers are %.2f times as fast", list);
    list = gain("endo-opt", 16, &ideal);
    tap_ok(list <= 1.05, "a list, the marker of the thesis: 16 are %.2f times as fast", list);
}

static void contention_costs(void)
{
    struct sgc_sim_options options = { .machine = &o2k, .preset = "endo-opt", .markers = 32, .homes = SGC_SIM_ONE_NODE };
    struct sgc_sim_result with, without;
    int slower = 0;

    restore(shape_tree(30000, 3, 48), 64);
    for (unsigned p = 0; p < 2; p++) {
        options.preset = p == 0 ? "endo-opt" : "sgc";
        options.no_contention = false;
        sgc_simulate(&heap, &options, &with);
        options.no_contention = true;
        sgc_simulate(&heap, &options, &without);
        slower += without.ps > with.ps;
        tap_diag("%s: %.3f ms, without contention %.3f ms", options.preset, (double)with.ps / 1e9, (double)without.ps / 1e9);
    }
    tap_ok(slower == 0, "without contention it is never slower");
    tap_ok(with.waited > 0 && without.waited == 0, "and nobody waits at memory nodes");
}

static void repeats(void)
{
    struct sgc_sim_result one = run("sgc", 32, &e10k), other = run("sgc", 32, &e10k), sown;
    struct sgc_sim_options options = { .machine = &e10k, .preset = "sgc", .markers = 32, .seed = 7 };

    tap_ok(memcmp(&one, &other, sizeof one) == 0, "the same simulation gives the same result");
    sgc_simulate(&heap, &options, &sown);
    tap_ok(sown.ps != one.ps && sown.objects == one.objects, "another seed gives another time, and the same marks");
}

/* ---- the serial stream ---- */

struct stream {
    uint64_t accesses, words, updates;
    bool other;
};

static void watch(void *arg, uint32_t marker, uint64_t offset, enum sgc_sim_op op)
{
    struct stream *stream = arg;

    stream->accesses++;
    stream->words += op == SGC_SIM_WORD && offset < heap.layout.objects;
    stream->updates += op == SGC_SIM_UPDATE;
    stream->other |= marker != 0;
}

static void tells_of_accesses(void)
{
    struct stream stream = { 0, 0, 0, false };
    struct sgc_sim_options options = { .machine = &ideal, .preset = "sgc", .markers = 1, .watch = watch, .arg = &stream };
    struct sgc_sim_result result;

    sgc_simulate(&heap, &options, &result);
    tap_ok(stream.accesses == result.accesses && !stream.other, "one marker's accesses are told one by one");
    tap_ok(stream.words >= graph.objects, "each object's words are looked at");
    tap_ok(stream.updates < 100, "who is alone sets bits plainly");
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("stacks that are changed and left behind confuse a sanitizer");
    o2k = machine_of("o2k");
    e10k = machine_of("e10k");
    tap_each(marks_each_object_once, adds_up_alone, gains_where_there_is_something_to_gain, contention_costs,
             repeats, tells_of_accesses, marks_what_procedures_find, marks_both_ends);
    sgc_graph_release(&graph);
    sgc_sim_release(&heap);
    return tap_done();
}
