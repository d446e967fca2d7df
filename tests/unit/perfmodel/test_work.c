/* SPDX-License-Identifier: MIT */
/*
 * perfmodel/model/work.c: work and depth of shapes for which they can be written down; that a way around does not count; what
 * is not reached; and objects in pieces.
 */
#include "tests/unit/perfmodel/model.h"

static struct sgc_graph graph;
static struct sgc_work work;
static struct sgc_machine machine;
static double node_bytes[4];

static void measure(uint32_t split_bytes)
{
    struct sgc_homes homes = { &graph, &machine, true };

    if (!sgc_work_measure(&work, &homes, split_bytes, node_bytes))
        tap_bail("no memory");
    sgc_graph_release(&graph);
}

static void test_chain(void)
{
    graph = shape_list(1000, OBJECT_BYTES);
    measure(256);
    tap_ok(near(work.work_ns, 1000 * OBJECT_NS + 999 * EDGE_NS), "chain: the work is that of all objects and edges");
    tap_ok(near(work.depth_ns, work.work_ns), "and so is the depth");
    tap_ok(work.objects == 1000 && work.bytes == 64000 && work.words == 8000 && work.edges == 999 && work.pieces == 1000,
           "what is counted");
}

static void test_tree(void)
{
    graph = shape_tree((1 << 12) - 1, 2, OBJECT_BYTES);
    measure(256);
    tap_ok(near(work.work_ns, 4095 * OBJECT_NS + 4094 * EDGE_NS), "tree: the work is that of all objects and edges");
    tap_ok(near(work.depth_ns, 11 * (OBJECT_NS + 2 * EDGE_NS) + OBJECT_NS), "the depth is a way from the root to a leaf");
    tap_ok(near(node_bytes[0], 4095 * 64) && near(node_bytes[1], 0), "a graph that nobody's threads made is on the first node");
}

/* 2^k pieces of 32 words: 2^(k+1) - 1 turns at the stack in all, and k + 1 on the way to each. */
static void test_star(void)
{
    graph = shape_star(4096);
    measure(0);
    tap_ok(near(work.depth_ns, 10 + 1 + 2 + 4096 * (1 + EDGE_NS) + OBJECT_NS), "star: the array as a whole, then a point");
    graph = shape_star(4096);
    measure(256);
    tap_ok(near(work.depth_ns, 10 + 1 + 8 * 2 + 32 * (1 + EDGE_NS) + OBJECT_NS),
           "in pieces: seven halvings, then one piece and a point");
    tap_ok(near(work.work_ns, 10 + 1 + 255 * 2 + 4096 * (1 + EDGE_NS) + 4096.0 * OBJECT_NS), "splitting costs work");
    tap_ok(work.pieces == 128 + 4096 && work.largest == 32768, "128 pieces, and the points");
}

static void make_pushed_star(void)
{
    graph = shape_star(4096);
    for (uint64_t e = 0; e < graph.edges; e++)
        graph.edge[e].word = SGC_GRAPH_NO_WORD;
}

static void test_procedure(void)
{
    make_pushed_star();
    measure(256);
    tap_ok(near(work.work_ns, 10 + 1 + 2 + 4096 * (1 + EDGE_NS) + 4096.0 * OBJECT_NS) && work.pieces == 1 + 4096,
           "a procedure looks at all of its object at once");
    machine.cost.procedure_ns = 100;
    machine.cost.procedure_edge_ns = 7;
    make_pushed_star();
    measure(256);
    tap_ok(near(work.work_ns, 10 + 1 + 2 + 4096 * (1 + 7) + 100 + 4096.0 * OBJECT_NS) &&
               near(work.depth_ns, 10 + 1 + 2 + 4096 * (1 + 7) + 100 + OBJECT_NS),
           "and has its own costs, a call and each pointer that it pushes");
    graph = shape_star(4096);
    measure(0);
    tap_ok(near(work.work_ns, 10 + 1 + 2 + 4096 * (1 + EDGE_NS) + 4096.0 * OBJECT_NS), "which others do not have");
    machine = plain_machine;
}

/* 0 leads to a chain of ten and, beside it, straight to its end. */
static void test_shortest(void)
{
    struct shape s = shape_objects(12, OBJECT_BYTES, 12, 2);

    shape_edge(&s, 0, 1);
    shape_edge(&s, 0, 10);
    for (uint32_t i = 1; i < 10; i++)
        shape_edge(&s, i, i + 1);
    shape_edge(&s, 10, 11);
    shape_root(&s, 0);
    graph = shape_graph(&s);
    measure(256);
    tap_ok(near(work.depth_ns, (OBJECT_NS + 2 * EDGE_NS) + 9 * (OBJECT_NS + EDGE_NS)),
           "the end of a chain is reached by the straight way: what is deepest is its last but one");
}

static void test_unreached(void)
{
    struct shape s = shape_objects(4, OBJECT_BYTES, 4, 2);

    shape_edge(&s, 0, 1);
    shape_edge(&s, 1, 0);
    shape_edge(&s, 2, 0);
    shape_edge(&s, 2, 3);
    shape_root(&s, 0);
    shape_root(&s, 0);
    graph = shape_graph(&s);
    measure(256);
    tap_ok(work.objects == 2 && work.edges == 2 && near(work.work_ns, 2 * OBJECT_NS + 2 * EDGE_NS),
           "what no root leads to is no work, and nothing is marked twice");
}

/* Of an object of so many bytes without pointers. */
static struct sgc_object_cost cost_of(uint64_t bytes, bool has_words, uint32_t split_bytes)
{
    return sgc_object_cost(&machine.cost, (struct sgc_object_form){ bytes, 0, 8, has_words, false }, split_bytes);
}

static void test_pointer_free(void)
{
    graph = shape_list(1, OBJECT_BYTES);
    graph.kind[1].scan = SGC_GRAPH_SCAN_NOTHING;
    measure(256);
    tap_ok(work.objects == 1 && work.words == 0 && work.pieces == 0 && near(work.work_ns, 11),
           "an object without words is no piece of work");
    tap_ok(near(cost_of(1024, false, 256).all_ns, 11), "such an object is marked only");
    tap_ok(cost_of(256, true, 256).pieces == 1 && cost_of(257, true, 256).pieces == 2 && cost_of(1 << 20, true, 0).pieces == 1,
           "what is above the size is halved");
}

int main(void)
{
    machine = plain_machine;
    return tap_all(test_chain, test_tree, test_star, test_procedure, test_shortest, test_unreached,
                   test_pointer_free);
}
