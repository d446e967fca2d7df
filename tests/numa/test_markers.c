/* SPDX-License-Identifier: MIT */
/*
 * Markers on real nodes: where helper threads may run with each value of SGC_BIND, that nobody else's threads are touched, and
 * from whom markers steal.  Each way is tried in a child, since options are read once.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <dirent.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/numa/nodes.h"

enum { TASKS = 256 };

/* ---- threads and where they may run ------------------------------------------------------------------ */

struct task {
    pid_t id;
    cpu_set_t set;
};

static int tasks_read(struct task *task)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    int n = 0;

    while (folder != NULL && n < TASKS && (entry = readdir(folder)) != NULL) {
        task[n].id = (pid_t)atoi(entry->d_name);
        if (task[n].id > 0 && sched_getaffinity(task[n].id, sizeof task[n].set, &task[n].set) == 0)
            n++;
    }
    if (folder != NULL)
        closedir(folder);
    return n;
}

/* The tasks that there were not before. */
static int tasks_new(struct task *task, const struct task *before, int known)
{
    int n = tasks_read(task), kept = 0;

    for (int i = 0; i < n; i++) {
        bool old = false;

        for (int k = 0; k < known; k++)
            old = old || before[k].id == task[i].id;
        if (!old)
            task[kept++] = task[i];
    }
    return kept;
}

/* The processors that count as of that node with memory: its own, and those of nodes without to which it is nearest. */
static cpu_set_t processors_of(int node)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < nodes.count; i++)
        for (int p = 0; nodes_nearest(i) == node && p < nodes.node[i].processors; p++)
            CPU_SET(nodes.node[i].processor + p, &set);
    return set;
}

/* The node of which all processors of the set count; -1: none. */
static int node_of_set(const cpu_set_t *set)
{
    for (int i = 0; i < nodes.count; i++) {
        cpu_set_t of_node = processors_of(i), both;

        CPU_AND(&both, &of_node, set);
        if (CPU_COUNT(set) > 0 && CPU_EQUAL(&both, set))
            return i;
    }
    return -1;
}

static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/* ---- binding ----------------------------------------------------------------------------------------- */

static struct task helper[TASKS];

static void *wait_for_byte(void *pipe)
{
    char byte;

    if (read(((int *)pipe)[0], &byte, 1) != 1)
        return NULL;
    return pipe;
}

/* Helpers' tasks after a start with that value of SGC_BIND and so many markers; -1: a thread of ours may run elsewhere than
 * before. */
static int start_helpers(const char *bind, int markers)
{
    static struct task before[TASKS], after[TASKS];
    int known, n, wakes[2];
    char text[16];
    pthread_t client;

    snprintf(text, sizeof text, "%d", markers);
    setenv("GC_MARKERS", text, 1);
    setenv("SGC_BACKGROUND_THREAD", "off", 1);
    if (bind != NULL)
        setenv("SGC_BIND", bind, 1);
    GC_init();
    if (pipe(wakes) != 0 || GC_pthread_create(&client, NULL, wait_for_byte, wakes) != 0)
        return -1;
    known = tasks_read(before);
    GC_start_mark_threads();
    for (int i = 0; i < 5; i++)
        GC_gcollect();
    n = tasks_new(helper, before, known);
    tasks_read(after);
    for (int i = 0; i < known; i++)
        if (!CPU_EQUAL(&before[i].set, &after[i].set) || CPU_COUNT(&before[i].set) != processors())
            return -1;
    return n;
}

static int unbound(void)
{
    int n = start_helpers("off", processors());

    for (int i = 0; i < n; i++)
        if (CPU_COUNT(&helper[i].set) != processors())
            return 1;
    return n == processors() - 1 ? 0 : 2;
}

/* Each helper has all processors of one node, and each node has as many helpers as processors, or one less. */
static int by_node(const char *bind)
{
    int n = start_helpers(bind, processors()), on[NODES_MOST] = { 0 }, node;
    cpu_set_t set;

    for (int i = 0; i < n; i++) {
        node = node_of_set(&helper[i].set);
        if (node < 0)
            return 1;
        set = processors_of(node);
        if (!CPU_EQUAL(&helper[i].set, &set))
            return 1;
        on[node]++;
    }
    for (int i = 0; i < nodes.count; i++) {
        set = processors_of(i);
        if (on[i] > CPU_COUNT(&set) || on[i] < CPU_COUNT(&set) - 1)
            return 2;
    }
    return n == processors() - 1 ? 0 : 3;
}

static int bound_to_cores(void)
{
    int n = start_helpers("core", processors());

    for (int i = 0; i < n; i++) {
        if (CPU_COUNT(&helper[i].set) != 1)
            return 1;
        for (int k = 0; k < i; k++)
            if (CPU_EQUAL(&helper[i].set, &helper[k].set))
                return 2;
    }
    return n >= processors() - 1 ? 0 : 3;
}

static int confined(void)
{
    int last = nodes.count - 1, n;

    while (nodes.node[last].processor < 0)
        last--;
    nodes_go_to(last);
    n = start_helpers("node", 4);
    for (int i = 0; i < n; i++)
        if (node_of_set(&helper[i].set) != last)
            return 1;
    return n == 3 ? 0 : 2;
}

static int in_child_of_fork(void)
{
    pid_t child;

    if (by_node("node") != 0)
        return 1;
    child = fork();
    if (child == 0) {
        static struct task before[TASKS];
        int known = tasks_read(before), n;

        GC_start_mark_threads();
        n = tasks_new(helper, before, known);
        for (int i = 0; i < n; i++)
            if (node_of_set(&helper[i].set) < 0)
                _exit(1);
        _exit(n == processors() - 1 && CPU_COUNT(&before[0].set) == processors() ? 0 : 2);
    }
    return child_wait(child) == 0 ? 0 : 2;
}

int main(void)
{
    nodes_need_several();
    child_ok(unbound, "SGC_BIND=off: helpers run anywhere");
    child_ok_of(by_node(NULL), "by default helpers are bound to nodes in turn");
    child_ok_of(by_node("node"), "SGC_BIND=node: likewise");
    child_ok(bound_to_cores, "SGC_BIND=core: each helper has a processor of its own");
    child_ok(confined, "a process that may run on one node has its helpers there");
    child_ok(in_child_of_fork, "so it is in the child of a fork");
    return tap_done();
}
