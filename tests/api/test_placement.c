/* SPDX-License-Identifier: MIT */
/*
 * SGC_NUMA, SGC_print_placement and SGC_NUMA_REPORT on made-up machines with several memory nodes: what is printed, what is
 * said when the system refuses, and that a machine with one node is told nothing.  Each case in a child.
 */
#include <errno.h>
#include <pthread.h>

#include "alloc/pages/homes.h"
#include "gc/collect/start_state.h"
#include "platform/nodes/topology.h"
#include "tests/lib/child.h"
#include "tests/lib/fake_nodes.h"

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include "gc.h"
#include "sgc.h"

enum { NODES = 4, OBJECTS = 3000 };

static void *volatile keep[NODES][OBJECTS];

/* The collector finds the nodes of this machine, if it has several, in place of the made-up ones. */
static bool can_make_up(void)
{
    return !sgc_topology_several("/sys");
}

/* A program whose thread wanders over all nodes, 12 MB on each. */
static void run(const char *numa)
{
    unsetenv("SGC_NUMA");
    if (numa != NULL)
        setenv("SGC_NUMA", numa, 1);
    fake_nodes_begin(NODES);
    GC_INIT();
    for (int node = 0; node < NODES; node++) {
        fake_nodes.here = node;
        for (int i = 0; i < OBJECTS; i++)
            keep[node][i] = GC_malloc(4096);
    }
}

static const char *report(void)
{
    capture_begin();
    SGC_print_placement();
    return capture_end();
}

/* The number in front of `unit` in the first line that begins so, after `from`; -1: there is none. */
static long number(const char *from, const char *line, const char *unit)
{
    const char *at = from == NULL ? NULL : strstr(from, line), *end;

    if (at == NULL)
        return -1;
    end = strstr(at + strlen(line), unit);
    if (end == NULL)
        return -1;
    while (end > at && end[-1] != ' ')
        end--;
    return atol(end);
}

/* ---- what is printed ---- */

static int one_node(void)
{
    GC_INIT();
    if (!can_make_up())
        return CHILD_SKIPS;
    return strcmp(report(), "SGC: 1 memory node\n") == 0 ? 0 : 1;
}

/* Of a part: what was found and meant on the nodes adds up to what the first line says, and their numbers are the system's. */
static bool adds_up(const char *text, const char *part, bool meant)
{
    const char *at = strstr(text, part);
    long total = number(text, part, " KB found"), found = 0, wanted = 0;

    for (int node = 0; node < NODES && at != NULL; node++) {
        char line[32];

        snprintf(line, sizeof line, "SGC:   node %d: ", fake_os_number(node));
        found += number(at, line, " KB found");
        wanted += meant ? number(at, line, " KB meant") : 0;
    }
    return total > 0 && found == total && (!meant || wanted == total);
}

static int balanced(void)
{
    const char *text;

    run(NULL);
    text = report();
    if (strncmp(text, "SGC: 4 memory nodes, SGC_NUMA=balanced\nSGC: heap: ", 48) != 0)
        return 1;
    if (!adds_up(text, "SGC: heap: ", true) || number(text, "SGC: heap: ", " percent where") != 100)
        return 2;
    if (!adds_up(text, "SGC: bitmaps: ", true) || !adds_up(text, "SGC: tables: ", true))
        return 3;
    return number(strstr(text, "SGC: heap: "), "SGC:   node 4: ", " KB found") >= 12000 ? 0 : 4;
}

static int local(void)
{
    const char *text;

    run("local");
    text = report();
    if (strstr(text, "SGC_NUMA=local\n") == NULL || sgc_heap.config.numa != SGC_NUMA_LOCAL)
        return 1;
    return number(text, "SGC: bitmaps: ", " percent where") == 100 && adds_up(text, "SGC: bitmaps: ", true) ? 0 : 2;
}

static int interleaved(void)
{
    const char *text;

    run("interleave-heap");
    text = report();
    if (strstr(text, "SGC_NUMA=interleave-heap\n") == NULL || sgc_heap.homes != 1)
        return 1;
    return number(text, "SGC: heap: ", " percent where") >= 99 && adds_up(text, "SGC: heap: ", true) ? 0 : 2;
}

static int on_second(TEST_UNUSED const char *page)
{
    return 1;
}

static int off(void)
{
    const char *text;

    run("off");
    fake_nodes.found = on_second;
    text = report();
    if (strncmp(text, "SGC: 4 memory nodes, SGC_NUMA=off\nSGC: heap: ", 45) != 0)
        return 1;
    if (capture_count(text, " KB found, left to the system\n") != 3)
        return 2;
    return adds_up(text, "SGC: heap: ", false) && fake_nodes.bindings == 0 ? 0 : 3;
}

/* All of it on one node: a fourth is right. */
static int astray(void)
{
    long percent;

    run("balanced");
    fake_nodes.found = on_second;
    percent = number(report(), "SGC: heap: ", " percent where");
    return percent > 10 && percent < 50 ? 0 : 1;
}

/* The stack of the only marker, which marks on the second node, and then on the third. */
static int stacks(void)
{
    setenv("GC_MARKERS", "1", 1);
    run("balanced");
    fake_nodes.found = on_second;
    fake_nodes.here = 1;
    GC_gcollect();
    if (number(report(), "SGC: mark stacks: ", " percent where") != 100 || !adds_up(report(), "SGC: mark stacks: ", true))
        return 1;
    fake_nodes.here = 2;
    GC_gcollect();
    return number(report(), "SGC: mark stacks: ", " percent where") == 0 ? 0 : 2;
}

static void *unregistered(TEST_UNUSED void *arg)
{
    return (void *)report();
}

/* It waits for no lock, and is not registered for it. */
static int by_stranger(void)
{
    pthread_t thread;
    void *text;

    run("balanced");
    if (pthread_create(&thread, NULL, unregistered, NULL) != 0 || pthread_join(thread, &text) != 0)
        return 1;
    return strstr(text, "SGC: tables: ") != NULL && strstr(text, "SGC: mark stacks: ") == NULL ? 0 : 2;
}

static int unsaid(void)
{
    run("balanced");
    fake_nodes.refusal = -EPERM;
    errno = 4711;
    return strcmp(report(), "SGC: 4 memory nodes, SGC_NUMA=balanced\n"
                            "SGC: heap: the system does not say where it is (error 1)\n") == 0 && errno == 4711 ? 0 : 1;
}

/* ---- at exit ---- */

static int at_exit_on_fakes(void)
{
    setenv("SGC_NUMA_REPORT", "1", 1);
    run("balanced");
    exit(0);
}

static int quiet_at_exit(void)
{
    run("balanced");
    exit(0);
}

/* ---- refusals ---- */

static int refused_asked(void)
{
    fake_nodes.refusal = -EPERM;
    run("balanced");
    return GC_get_heap_size() > 40 << 20 && fake_nodes.bindings == 0 ? 0 : 1;
}

static int refused_unasked(void)
{
    fake_nodes.refusal = -EPERM;
    run(NULL);
    return sgc_homes_refused() == EPERM ? 0 : 1;
}

static void test_made_up(void)
{
    child_ok(balanced, "balanced without being asked: heap at home, tables in turn, the system's numbers");
    child_ok(local, "local: the bitmaps are at home, too");
    child_ok(interleaved, "interleave-heap: all is in turn");
    child_ok(off, "off: what was found");
    child_ok(astray, "what is not where it was meant to be shows");
    child_ok(stacks, "mark stacks are meant to be where their markers run");
    child_ok(by_stranger, "a thread that is not registered is shown all else");
    child_ok(unsaid, "a system that does not say where memory is");
    child_says(at_exit_on_fakes, 0, "SGC: 4 memory nodes, SGC_NUMA=balanced\nSGC: heap: ",
               "SGC_NUMA_REPORT=1 prints it at exit");
    child_says(quiet_at_exit, 0, NULL, "without it nothing is printed");
    child_says(refused_asked, 0,
               "SGC_NUMA=balanced: the system refuses to bind memory to nodes (error 1), so it is where the thread runs that "
               "touches it first. Allow mbind, or leave SGC_NUMA out", "SGC_NUMA=balanced, refused: said once");
    child_says(refused_unasked, 0, NULL, "refused without having been asked for: nothing is said");
}

int main(void)
{
    unsetenv("SGC_NUMA_REPORT");
    setenv("SGC_MODE", "stop", 1);          /* there are no stacks of spare markers then */
    child_ok_of(strcmp(report(), "SGC: memory nodes: the collector has not been started\n") == 0 && !sgc_init_done() ? 0 : 1,
                "before the start there is nothing to say, and nothing is started");
    child_ok(one_node, "one node");
    if (can_make_up())
        test_made_up();
    return tap_done();
}
