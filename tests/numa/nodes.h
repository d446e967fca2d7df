/* SPDX-License-Identifier: MIT */
/*
 * Memory nodes as a test sees them: by its own reading of /sys and its own system calls, apart from the library's.  A node is
 * the system's number here.
 */
#ifndef TESTS_NUMA_NODES_H
#define TESTS_NUMA_NODES_H

#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/threads.h"

enum { NODES_MOST = 64, NODES_PAGE = 4096, NODES_MB = 1 << 20, NODES_ASKED = 1024 };

struct nodes_one {
    int processor;          /* the first of it; -1: none */
    int processors;
    long kilobytes;         /* 0: no memory */
};

static struct {
    int count;              /* one more than the highest number */
    int with_memory;
    struct nodes_one node[NODES_MOST];
} nodes;

/* ---- /sys ---------------------------------------------------------------------------------------- */

/* The first line of a file of a node; false if there is none. */
static bool nodes_line(int node, const char *file, char *line, int bytes)
{
    char path[128];
    FILE *from;
    bool read;

    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/%s", node, file);
    from = fopen(path, "r");
    read = from != NULL && fgets(line, bytes, from) != NULL;
    if (from != NULL)
        fclose(from);
    return read;
}

/* As the firmware says; 10 is a node's distance from itself. */
TEST_UNUSED static int nodes_distance(int from, int to)
{
    char line[512];
    const char *at = line;
    int value = -1, length;

    if (!nodes_line(from, "distance", line, sizeof line))
        return -1;
    for (int i = 0; i <= to && sscanf(at, "%d%n", &value, &length) == 1; i++)
        at += length;
    return value;
}

/* "0-3,8": the processors of a node. */
static void nodes_count_processors(const char *list, struct nodes_one *node)
{
    int first, last, length;

    node->processor = -1;
    for (; sscanf(list, "%d%n", &first, &length) == 1; list += *list == ',') {
        list += length;
        last = first;
        if (sscanf(list, "-%d%n", &last, &length) == 1)
            list += length;
        node->processor = node->processor < 0 ? first : node->processor;
        node->processors += last - first + 1;
    }
}

static void nodes_read(void)
{
    char line[256];

    for (int i = 0; i < NODES_MOST; i++) {
        nodes.node[i].processor = -1;
        if (!nodes_line(i, "meminfo", line, sizeof line))
            continue;
        nodes.count = i + 1;
        sscanf(line, "Node %*d MemTotal: %ld", &nodes.node[i].kilobytes);
        nodes.with_memory += nodes.node[i].kilobytes > 0;
        if (nodes_line(i, "cpulist", line, sizeof line))
            nodes_count_processors(line, &nodes.node[i]);
    }
}

/* Reads the nodes, and ends the test where there are not several with memory. */
TEST_UNUSED static void nodes_need_several(void)
{
    nodes_read();
    if (nodes.with_memory < 2)
        tap_skip_all("this machine has one memory node; tests/numa/run makes one with several");
}

/* The node itself, or if it has no memory the nearest that has. */
TEST_UNUSED static int nodes_nearest(int node)
{
    int nearest = -1;

    for (int i = 0; i < nodes.count; i++)
        if (nodes.node[i].kilobytes > 0 && (nearest < 0 || nodes_distance(node, i) < nodes_distance(node, nearest)))
            nearest = i;
    return nearest;
}

/* Can a node give some megabytes, and not be full? */
TEST_UNUSED static bool nodes_roomy(int node)
{
    return nodes.node[node].kilobytes > 64 * 1024;
}

/* Can each that has memory at all? */
TEST_UNUSED static bool nodes_all_roomy(void)
{
    for (int i = 0; i < nodes.count; i++)
        if (nodes.node[i].kilobytes > 0 && !nodes_roomy(i))
            return false;
    return true;
}

/* ---- where pages are ------------------------------------------------------------------------------- */

/* How the pages of a range are spread. */
struct nodes_spread {
    long on[NODES_MOST];
    long there;             /* in all */
    long absent;            /* never touched, or given back */
};

/* Adds where the OS pages that begin in the range are. */
TEST_UNUSED static void nodes_add_range(struct nodes_spread *spread, const void *start, size_t bytes)
{
    void *page[NODES_ASKED];
    int status[NODES_ASKED];
    uintptr_t at = ((uintptr_t)start + NODES_PAGE - 1) & ~(uintptr_t)(NODES_PAGE - 1), end = (uintptr_t)start + bytes;

    while (at < end) {
        unsigned long pages = 0;

        for (; pages < NODES_ASKED && at < end; at += NODES_PAGE)
            page[pages++] = (void *)at;
        if (syscall(SYS_move_pages, 0, pages, page, NULL, status, 0) != 0)
            tap_bail("move_pages does not say where pages are");
        for (unsigned long i = 0; i < pages; i++)
            if (status[i] >= 0 && status[i] < NODES_MOST)
                spread->on[status[i]]++, spread->there++;
            else
                spread->absent++;
    }
}

TEST_UNUSED static struct nodes_spread nodes_of_range(const void *start, size_t bytes)
{
    struct nodes_spread spread = { { 0 }, 0, 0 };

    nodes_add_range(&spread, start, bytes);
    return spread;
}

TEST_UNUSED static void nodes_show(const struct nodes_spread *spread, const char *what)
{
    char text[512] = "";

    for (int i = 0; i < nodes.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%ld", i == 0 ? "" : " ", spread->on[i]);
    tap_diag("%s: OS pages on each node: %s; not there: %ld", what, text, spread->absent);
}

/* Do nodes with memory have equal shares, each within so many percent of that? */
TEST_UNUSED static bool nodes_even(const struct nodes_spread *spread, int percent)
{
    bool even = spread->there > 0;

    for (int i = 0; i < nodes.count; i++) {
        double share = (double)spread->on[i] * nodes.with_memory / (double)spread->there;
        bool in_turn = nodes.node[i].kilobytes > 0;

        even = even && (in_turn ? share > 1 - percent / 100. && share < 1 + percent / 100. : spread->on[i] == 0);
    }
    return even;
}

/* ---- threads and memory ------------------------------------------------------------------------------ */

/* From now on the calling thread runs on the node. */
TEST_UNUSED static void nodes_go_to(int node)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < nodes.node[node].processors; i++)
        CPU_SET(nodes.node[node].processor + i, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        tap_bail("no thread can be put on node %d", node);
}

struct nodes_task {
    int node;
    void (*fn)(void *arg);
    void *arg;
};

static void *nodes_run_task(void *given)
{
    struct nodes_task *task = given;

    nodes_go_to(task->node);
    task->fn(task->arg);
    return NULL;
}

/* fn(arg) on a thread that runs on the node. */
TEST_UNUSED static void nodes_run_on(int node, void (*fn)(void *arg), void *arg)
{
    struct nodes_task task = { node, fn, arg };

    pthread_join(thread_start(nodes_run_task, &task), NULL);
}

/* Memory that nobody has touched, aligned to 2 MB. */
TEST_UNUSED static char *nodes_memory(size_t bytes)
{
    char *memory = mmap(NULL, bytes + 2 * NODES_MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        tap_bail("no memory");
    return (char *)(((uintptr_t)memory + 2 * NODES_MB - 1) & ~(uintptr_t)(2 * NODES_MB - 1));
}

#endif
