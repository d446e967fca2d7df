/* SPDX-License-Identifier: MIT */
/*
 * Fork: the child has one thread, goes on allocating and collecting, and finds its objects as they were; whatever
 * the parent's other threads were doing; with the collector's own handling and with the client's.
 */
#include "api.h"

#include <stdatomic.h>

enum { NODES = 20000, FORKS = 30, THREADS = 3 };

struct node {
    struct node *next;
    long value;
    char *text;
};

/* ---- a structure that shows damage ----------------------------------------------------------- */

static struct node *build(int nodes)
{
    struct node *list = NULL;

    for (int i = 0; i < nodes; i++) {
        struct node *node = GC_NEW(struct node);
        node->next = list;
        node->value = i;
        node->text = GC_malloc_atomic(20);
        snprintf(node->text, 20, "%d", i);
        list = node;
    }
    return list;
}

static bool intact(const struct node *node, int nodes)
{
    for (long i = nodes - 1; i >= 0; i--, node = node->next)
        if (node == NULL || node->value != i || atol(node->text) != i)
            return false;
    return node == NULL;
}

static struct node *list;

/* What a child does: 0 if all is well. */
static int child_work(void)
{
    struct node *own;

    alarm(20);
    GC_gcollect();
    own = build(NODES);
    if (!intact(list, NODES))
        return 1;
    GC_gcollect();
    GC_gcollect();
    if (!intact(list, NODES) || !intact(own, NODES))
        return 2;
    return 0;
}

static int child_status(pid_t child)
{
    int status = -1;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* ---- with threads in the parent -------------------------------------------------------------- */

static atomic_int stop;

/* Threads allocate and free here, and the first of them collects: a fork meets them in the middle
 * of it. */
static void *be_busy(void *number)
{
    unsigned turn = 0;

    while (!stop) {
        void *object = GC_malloc(turn % 3000);
        if (turn % 7 == 0)
            GC_free(object);
        if (++turn % 4000 == 0 && number == NULL)
            GC_gcollect();
    }
    return NULL;
}

static int fork_and_work(void)
{
    int good = 0;

    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(child_work());
        good += child > 0 && child_status(child) == 0;
    }
    return good;
}

static void check_threads(void)
{
    pthread_t thread[THREADS];
    int good;

    api_start_all(thread, THREADS, be_busy);
    good = fork_and_work();
    stop = 1;
    api_join_all(thread, THREADS);
    tap_ok(good == FORKS, "beside threads that allocate and collect (%d of %d)", good, FORKS);
    tap_ok(intact(list, NODES), "the parent's objects are intact");
}

/* ---- threads in the child -------------------------------------------------------------------- */

static void *thread_work(void *arg)
{
    struct node *own = build(1000);

    GC_gcollect();
    return intact(own, 1000) ? arg : NULL;
}

static void new_threads(void)
{
    pid_t child;

    list = build(NODES);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 5; i++)
            API_CHILD(api_in_thread(thread_work, &list) == &list);
        _exit(child_work());
    }
    API_CHILD(child_status(child) == 0);
}

static void grandchild(void)
{
    pid_t child;

    list = build(NODES);
    child = fork();
    if (child == 0) {
        pid_t next = fork();
        if (next == 0)
            _exit(child_work());
        _exit(child_status(next) != 0 ? 9 : child_work());
    }
    API_CHILD(child_status(child) == 0 && intact(list, NODES));
}

/* A fork from a thread other than the main one: its stack is the child's only stack. */
static void *fork_from_thread(void *arg)
{
    struct node *volatile own = build(NODES);
    pid_t child = fork();

    if (child == 0)
        _exit(!intact(own, NODES) ? 7 : child_work() != 0 || !intact(own, NODES) ? 8 : 0);
    return child_status(child) == 0 ? arg : NULL;
}

static void from_thread(void)
{
    list = build(NODES);
    API_CHILD(api_in_thread(fork_from_thread, &list) == &list);
}

/* ---- the client's own handling --------------------------------------------------------------- */

static void by_hand(void)
{
    pid_t child;

    GC_set_handle_fork(-1);
    GC_INIT();
    list = build(NODES);
    for (int i = 0; i < 5; i++) {
        GC_atfork_prepare();
        child = fork();
        if (child == 0) {
            GC_atfork_child();
            _exit(child_work());
        }
        GC_atfork_parent();
        API_CHILD(child_status(child) == 0);
    }
    API_CHILD(child_work() == 0);
}

int main(void)
{
    GC_set_handle_fork(1);
    api_check_started(new_threads, NULL, "the child can have threads");
    api_check_started(grandchild, NULL, "and children");
    api_check_started(from_thread, NULL, "a fork from another thread than the main one");
    api_check_child(by_hand, NULL, "GC_atfork_prepare, GC_atfork_parent and GC_atfork_child by hand");
    GC_INIT();
    list = build(NODES);
    tap_ok(fork_and_work() == FORKS, "a process with one thread");
    check_threads();
    return tap_done();
}
