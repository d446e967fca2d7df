/* SPDX-License-Identifier: MIT */
/*
 * perfmodel/model/serial_mark.c and homes.c: the order of a mark by hand; that each object is marked once and each of its words
 * read once, whole and in pieces; and on which node that is.
 */
#include "perfmodel/model/serial_mark.h"
#include "tests/unit/perfmodel/model.h"

static struct sgc_graph graph;
static struct sgc_machine machine;
static struct sgc_homes homes = { &graph, &machine, true };

/* ---- the order, as text: "M3" marks object 3, "s3" sees its mark, "r3" reads one of its words, which is said once in a row
 * ---- */

static char order[4096];
static uint32_t last_read;

static void note(TEST_UNUSED void *arg, const struct sgc_access *access)
{
    char *end = order + strlen(order);
    uint64_t base = graph.geometry.base;
    uint32_t object = SGC_GRAPH_NONE;

    for (uint32_t i = 0; i < graph.objects; i++)
        if (access->address < base || access->address >= base + graph.geometry.limit) {
            if (sgc_mark_bit_address(&homes, i) == access->address && object == SGC_GRAPH_NONE)
                object = i;
        } else if (sgc_graph_address(&graph, i) <= access->address) {
            object = i;
        }
    if (access->address < base || access->address >= base + graph.geometry.limit)
        snprintf(end, 16, "%c%u ", access->class == SGC_MISS_RMW ? 'M' : 's', object);
    else if (object != last_read)
        snprintf(end, 16, "r%u ", last_read = object);
}

/* Objects of 128 bytes, so that each has a byte of mark bits of its own. */
static void test_order(void)
{
    struct shape s = shape_objects(6, 128, 6, 2);

    shape_edge(&s, 0, 1);
    shape_edge(&s, 0, 2);
    shape_edge(&s, 1, 3);
    shape_edge(&s, 2, 4);
    shape_edge(&s, 2, 1);
    shape_edge(&s, 4, 0);
    shape_root(&s, 0);
    shape_root(&s, 5);
    graph = shape_graph(&s);
    last_read = SGC_GRAPH_NONE;
    sgc_serial_mark(&homes, 0, note, NULL);
    if (!tap_ok(strcmp(order, "M0 M5 r5 r0 M1 M2 r2 M4 s1 r4 s0 r1 M3 r3 ") == 0,
                "the last object that was found is the next, and its words are read in their order"))
        tap_diag("%s", order);
    /* In pieces an object's second half, and what is in no word, waits until all that the first leads to is marked. */
    graph.edge[1].word = graph.edge[4].word = SGC_GRAPH_NO_WORD;
    for (uint32_t split = 0; split <= 64; split += 64) {
        order[0] = '\0';
        last_read = SGC_GRAPH_NONE;
        sgc_serial_mark(&homes, split, note, NULL);
        if (!tap_ok(strcmp(order, split == 0 ? "M0 M5 r5 r0 M1 M2 r2 M4 s1 r4 s0 r1 M3 r3 "
                                             : "M0 M5 r5 r0 M1 r1 M3 r3 r1 r0 M2 r2 M4 r4 s0 r2 s1 ") == 0,
                    "what is in no word comes behind the words, in pieces of %u bytes", split))
            tap_diag("%s", order);
    }
    sgc_graph_release(&graph);
}

/* ---- how much ---- */

struct counts {
    uint64_t words, marks, seen, on_node[4], marks_on_node[4];
};

static void count(void *arg, const struct sgc_access *access)
{
    struct counts *c = arg;
    bool is_word = access->address >= graph.geometry.base && access->address < graph.geometry.base + graph.geometry.limit;

    c->words += is_word;
    c->marks += access->class == SGC_MISS_RMW;
    c->seen += !is_word && access->class == SGC_MISS_READ;
    if (is_word)
        c->on_node[access->node]++;
    else
        c->marks_on_node[access->node]++;
}

static struct counts counted(uint32_t split_bytes)
{
    struct counts c = { 0 };

    if (!sgc_serial_mark(&homes, split_bytes, count, &c))
        tap_bail("no memory");
    return c;
}

static void test_once(void)
{
    struct counts c;

    graph = shape_tree((1 << 10) - 1, 2, OBJECT_BYTES);
    c = counted(0);
    tap_ok(c.marks == 1023 && c.words == 1023 * 8 && c.seen == 0, "tree: each object is marked once, and its words read once");
    sgc_graph_release(&graph);
    graph = shape_star(5000);
    c = counted(256);
    tap_ok(c.marks == 5001 && c.words == 5000 + 5000 * 8, "star: the same in pieces");
    sgc_graph_release(&graph);
}

/* ---- where ---- */

static void test_first_touch(void)
{
    struct counts c;

    graph = shape_tree((1 << 12) - 1, 2, OBJECT_BYTES);
    for (uint32_t page = 0; page < graph.pages; page++)
        graph.page[page].home = (uint16_t)(page % 2 == 0 ? 3 : 8); /* the third thread and the eighth */
    homes.balanced = false;
    c = counted(0);
    tap_ok(c.on_node[0] == 0 && c.on_node[2] == 0 && c.on_node[1] > 0 && c.on_node[3] > 0,
           "pages are on the nodes of the threads that touched them first");
    tap_ok(c.marks_on_node[1] * 8 == c.on_node[1] && c.marks_on_node[3] * 8 == c.on_node[3], "and their mark bits with them");
    sgc_graph_release(&graph);
    graph = shape_star(100000);
    homes.balanced = true;
    c = counted(0);
    tap_ok(c.on_node[0] == c.words && c.marks_on_node[1] > 10000 && c.marks_on_node[3] > 10000,
           "balanced bits are on all nodes in turn");
    sgc_graph_release(&graph);
}

static void test_interleaved(void)
{
    struct counts c;

    machine.placement = SGC_PLACED_INTERLEAVED;
    graph = shape_star(100000);
    c = counted(0);
    for (int i = 0; i < 4; i++)
        tap_ok(c.on_node[i] > c.words / 4 - c.words / 100 && c.on_node[i] < c.words / 4 + c.words / 100,
               "a machine that spreads memory has a quarter of it on node %d", i);
    sgc_graph_release(&graph);
    machine.placement = SGC_PLACED_FIRST_TOUCH;
}

/* A snapshot from a machine with several nodes says where its arenas are. */
static void test_nodes(void)
{
    int16_t node[16];
    struct counts c;

    graph = shape_star(100000); /* 7 MB: two arenas */
    for (int i = 0; i < 16; i++)
        node[i] = (int16_t)(i == 0 ? 2 : -1);
    graph.nodes = 3;
    graph.node = node;
    c = counted(0);
    graph.node = NULL;
    tap_ok(graph.arenas == 2 && c.on_node[2] > 0 && c.on_node[0] > 0 && c.on_node[2] + c.on_node[0] == c.words,
           "arenas are on their nodes, and what is nowhere in particular is on the first");
    sgc_graph_release(&graph);
}

int main(void)
{
    machine = plain_machine;
    return tap_all(test_order, test_once, test_first_touch, test_interleaved, test_nodes);
}
