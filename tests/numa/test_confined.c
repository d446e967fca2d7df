/* SPDX-License-Identifier: MIT */
/*
 * Processes that may use less than the machine has, as in containers: one processor, one node, no calls that place memory.  The
 * heap then lies where it can, and the program is right.
 */
#include <sys/stat.h>

#include "tests/lib/refuse.h"
#include "tests/numa/filled.h"

enum { MB = 24 };

static int last_node(void)
{
    int last = nodes.count - 1;

    while (nodes.node[last].processor < 0 || !nodes_roomy(last))
        last--;
    return last;
}

/* ---- the group of processes that this one is put into ------------------------------------------------ */

static bool put(const char *file, const char *text)
{
    char path[128];
    FILE *to;
    bool put;

    snprintf(path, sizeof path, "/sys/fs/cgroup/%s", file);
    to = fopen(path, "w");
    put = to != NULL && fputs(text, to) >= 0;
    return to != NULL && fclose(to) == 0 && put;
}

/* Processor and nodes of the group, as lists.  Only root may, where the system has such groups. */
static bool join_group(int processor, const char *memory)
{
    char text[16];
    bool joined;

    mkdir("/sys/fs/cgroup/sgc-test", 0755);
    snprintf(text, sizeof text, "%d", processor);
    joined = put("cgroup.subtree_control", "+cpuset") && put("sgc-test/cpuset.cpus", text) &&
             put("sgc-test/cpuset.mems", memory);
    snprintf(text, sizeof text, "%d", (int)getpid());
    return joined && put("sgc-test/cgroup.procs", text);
}

/* ---- ways to be confined --------------------------------------------------------------------------- */

static bool one_processor(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(nodes.node[last_node()].processor, &set);
    filled_stay(MB);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

static bool one_processor_of_group(void)
{
    filled_stay(MB);
    return join_group(nodes.node[last_node()].processor, "");
}

static bool one_node_of_group(void)
{
    char node[16];

    filled_stay(MB);
    snprintf(node, sizeof node, "%d", last_node());
    return join_group(nodes.node[last_node()].processor, node);
}

static bool no_mbind(void)
{
    filled_stay(MB);
    return refuse_call(SYS_mbind);
}

static bool no_mbind_though_asked(void)
{
    return setenv("SGC_NUMA", "balanced", 1) == 0 && no_mbind();
}

static bool no_placement(void)
{
    filled_stay(MB);
    return refuse_calls(SYS_mbind, SYS_getcpu, SYS_sched_setaffinity);
}

/* ---- what comes of it -------------------------------------------------------------------------------- */

static const struct filled *right(bool (*way)(void), const char *what)
{
    const struct filled *found = filled_in_child(way);

    if (found == NULL) {
        tap_skip("%s: cannot be tried here", what);
        return NULL;
    }
    tap_ok(found->ended && found->wrong == 0, "%s: nothing is lost (%d wrong)", what, found->wrong);
    nodes_show(&found->heap, "heap");
    nodes_show(&found->bits, "bitmaps");
    return found;
}

static void silent(const struct filled *found)
{
    if (!tap_ok(filled_complaints(found) == 0, "and nothing is complained of"))
        tap_diag("%.600s", found->said);
}

static void test_one_processor(bool (*way)(void), const char *what)
{
    const struct filled *found = right(way, what);
    int node = last_node();

    if (found == NULL)
        return;
    silent(found);
    tap_ok(found->heap.there > 0 && found->heap.on[node] * 100 >= found->heap.there * 98, "the heap is on its node");
    if (nodes_all_roomy())
        tap_ok(nodes_even(&found->bits, 10), "bitmaps are on all");
}

static void test_one_node(void)
{
    const struct filled *found = right(one_node_of_group, "a group with one node");
    int node = last_node();

    if (found == NULL)
        return;
    silent(found);
    tap_ok(found->heap.on[node] == found->heap.there && found->bits.on[node] == found->bits.there, "all is on that node");
    tap_ok(found->heap_homes == 0, "and counts as a machine with one");
}

int main(void)
{
    const struct filled *found;

    nodes_need_several();
    test_one_processor(one_processor, "one processor");
    test_one_processor(one_processor_of_group, "a group with one processor");
    test_one_node();
    silent(right(no_mbind, "no mbind"));
    silent(right(no_placement, "no call that places anything"));
    found = right(no_mbind_though_asked, "no mbind, but SGC_NUMA=balanced");
    tap_ok(filled_complaints(found) == 1 && strstr(found->said, "SGC_NUMA=balanced: the system refuses to bind memory") != NULL,
           "that is said, once");
    return tap_done();
}
