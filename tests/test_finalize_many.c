/* SPDX-License-Identifier: MIT */
/*
 * Many finalizers and links, so that all markers look through them: each dead object is finalized once, no live one is, and
 * links are cleared to the dead only.  In children, with different numbers of markers, and under torture.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc.h"

#include "gc/finalize.h"
#include "tests/tap.h"

struct node {
    struct node *next;
    long id;
    long rest[3];
};

static long nodes;
static unsigned char *runs;             /* of each object */
static GC_hidden_pointer *words;        /* links */
static struct node **keep;
static long too_early;

static void finalizer(void *object, void *data)
{
    const struct node *n = object;

    runs[n->id]++;
    too_early += (n->next != NULL && n->next->id != n->id - 1) || (data != NULL && (long)data != n->id);
}

static bool lives(long i)
{
    return i % 3 == 0;
}

static void register_one(struct node *n)
{
    switch (n->id % 4) {
    case 0: GC_register_finalizer(n, finalizer, (void *)n->id, NULL, NULL); break;
    case 1: GC_register_finalizer_ignore_self(n, finalizer, NULL, NULL, NULL); break;
    case 2: GC_register_finalizer_unreachable(n, finalizer, NULL, NULL, NULL); break;
    default: GC_register_finalizer_no_order(n, finalizer, NULL, NULL, NULL);
    }
}

/* Pairs: every second of the dead ones points at the one before. */
static void *make(void *unused)
{
    struct node *before = NULL;

    for (long i = 0; i < nodes; i++) {
        struct node *n = GC_malloc(i % 1000 == 7 ? 100000 : sizeof *n);

        n->id = i;
        if (i % 3 == 2)
            n->next = before;
        if (lives(i))
            keep[i] = n;
        register_one(n);
        words[i] = GC_HIDE_POINTER(n);
        if (i % 2 == 0)
            GC_general_register_disappearing_link((void **)&words[i], n);
        else
            GC_register_long_link((void **)&words[i], n);
        before = n;
    }
    return unused;
}

static void collect(int times)
{
    for (int i = 0; i < times; i++) {
        GC_gcollect();
        GC_invoke_finalizers();
    }
}

static long wrong_runs(bool all)
{
    long wrong = too_early;

    for (long i = 0; i < nodes; i++)
        wrong += runs[i] != (all || !lives(i));
    return wrong;
}

static long wrong_links(bool all)
{
    long wrong = 0;

    for (long i = 0; i < nodes; i++)
        wrong += (words[i] == 0) != (all || !lives(i));
    return wrong;
}

/* Nothing of what was registered is left. */
static bool tables_empty(void)
{
    struct sgc_finalization_counts c;

    sgc_finalization_count(&c);
    return c.finalizers == 0 && c.links[0] == 0 && c.links[1] == 0 && c.targets == 0 && c.waiting == 0;
}

static int scenario(void)
{
    pthread_t thread;

    runs = calloc((size_t)nodes, 1);
    words = calloc((size_t)nodes, sizeof *words);
    GC_INIT();
    keep = GC_malloc_uncollectable((size_t)nodes * sizeof *keep);
    for (int round = 0; round < 2; round++) {
        for (long i = 0; i < nodes; i++)
            runs[i] = 0;
        if (GC_pthread_create(&thread, NULL, make, NULL) != 0 || GC_pthread_join(thread, NULL) != 0)
            return 2;
        collect(4);
        if (wrong_runs(false) > 2 || wrong_links(false) > 2)        /* stale words on the stack */
            return 3;
        for (long i = 0; i < nodes; i++)
            keep[i] = NULL;
        collect(4);
        if (wrong_runs(true) > 2 || wrong_links(true) > 2)
            return 4;
    }
    GC_finalize_all();
    collect(3);
    return too_early != 0 ? 5 : wrong_links(true) == 0 && !tables_empty() ? 6 : 0;
}

static int in_child(const char *name, const char *value, const char *markers, long count)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        alarm(100);
        setenv("GC_MARKERS", markers, 1);
        setenv(name, value, 1);
        nodes = count;
        _exit(scenario());
    }
    waitpid(child, &status, 0);
    return status;
}

int main(void)
{
    static const char *const markers[] = { "1", "2", "8" };
    int status;

    tap_plan(7);
    for (int i = 0; i < 3; i++) {
        status = in_child("SGC_TORTURE", "0", markers[i], 60000);
        tap_ok(status == 0, "60000 objects with %s markers (status %#x)", markers[i], status);
        status = in_child("SGC_TORTURE", "300", markers[i], 1200);
        tap_ok(status == 0, "1200 objects with %s markers under torture (status %#x)", markers[i], status);
    }
    status = in_child("SGC_BALANCE", "off", "2", 20000);
    tap_ok(status == 0, "markers that do not steal (status %#x)", status);
    return tap_done();
}
