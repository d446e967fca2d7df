/* SPDX-License-Identifier: MIT */
/*
 * Many finalizers and links, so that all markers look through them: each dead object is finalized once, no live one is,
 * and links are cleared to the dead only.  In children, with different numbers of markers, and under torture.
 *
 * Also: gc/finalize/enumerate.c, gc/finalize/queue.c, gc/finalize/register.c, gc/finalize/rounds.c.
 */
#define GC_THREADS
#include "gc.h"

#include "gc/finalize/register.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"

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

static void ignore(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
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

/* The object lives, the link does not. */
static void link_in_garbage(struct node *n)
{
    GC_general_register_disappearing_link(GC_malloc_atomic(sizeof(void *)), n);
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
        if (lives(i)) {
            keep[i] = n;
            link_in_garbage(n);
        }
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

/* Links of live objects, but those in garbage. */
static bool garbage_dropped(void)
{
    struct sgc_finalization_counts c;

    sgc_finalization_count(&c);
    return (long)c.links[0] <= nodes / 6 + 5;
}

static int scenario(void)
{
    runs = calloc((size_t)nodes, 1);
    words = calloc((size_t)nodes, sizeof *words);
    GC_INIT();
    keep = GC_malloc_uncollectable((size_t)nodes * sizeof *keep);
    for (int round = 0; round < 2; round++) {
        for (long i = 0; i < nodes; i++)
            runs[i] = 0;
        thread_result(make, NULL);
        collect(4);
        if (wrong_runs(false) > 2 || wrong_links(false) > 2)        /* stale words on the stack */
            return 3;
        if (!garbage_dropped())
            return 7;
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

/* ---- what the table of links keeps ---- */

enum { LINKS = 8192, LIVING = 6000, APART = 16 };      /* words of a leaf */

/* A link to a dead object in every n-th word; no collection looks on. */
static void *make_dead(void *every)
{
    GC_disable();
    for (size_t i = 0; i < LINKS; i += (size_t)(uintptr_t)every)
        GC_general_register_disappearing_link((void **)&words[i], GC_malloc(32));
    GC_enable();
    return NULL;
}

static size_t links(void)
{
    struct sgc_finalization_counts c;

    sgc_finalization_count(&c);
    return c.links[0];
}

/* All are cleared but those that a stale word on the stack keeps. */
static bool died(uintptr_t every)
{
    thread_result(make_dead, (void *)every);
    GC_gcollect();
    return links() <= 2;
}

static bool leaves_left(void)
{
    return !sgc_tree_empty(&sgc_finalization.links[0]);
}

/* Leaves that were full of links stay for a cycle more, others do not. */
static int leaves(void)
{
    words = calloc(LINKS, sizeof *words);
    GC_INIT();
    for (int i = 0; i < 5; i++)
        if (!died(1) || !leaves_left())
            return 2;
    for (int i = 0; i < 2; i++) {
        if (!leaves_left())
            return 5;
        GC_gcollect();
    }
    if (links() == 0 && leaves_left())
        return 3;
    return !died(APART) || (links() == 0 && leaves_left()) ? 4 : 0;
}

static void *make_live(void *unused)
{
    for (size_t i = 0; i < LINKS; i++) {
        keep[i] = GC_malloc(sizeof(struct node));
        GC_general_register_disappearing_link((void **)&words[i], keep[i]);
        words[i] = GC_HIDE_POINTER(keep[i]);
    }
    return unused;
}

static size_t words_left(void)
{
    size_t left = 0;

    for (size_t i = 0; i < LINKS; i++)
        left += words[i] != 0;
    return left;
}

/* Links to live objects are spared a look; the one that is dead is cleared, and when all are unregistered nothing stays. */
static int spared(void)
{
    size_t left = LINKS;

    words = calloc(LINKS, sizeof *words);
    GC_INIT();
    keep = GC_malloc_uncollectable(LINKS * sizeof *keep);
    thread_result(make_live, NULL);
    for (size_t i = 0; i < 30; i++) {
        if (i % 3 == 2)
            keep[i * 97] = NULL;
        left -= i % 3 == 2;
        GC_gcollect();
        if (words_left() != left || links() != left)
            return 3;
    }
    for (size_t i = 0; i < LINKS; i++)
        GC_unregister_disappearing_link((void **)&words[i]);
    for (int i = 0; i < 11; i++)        /* the ninth looks at them, and so do the next two */
        GC_gcollect();
    return leaves_left() ? 4 : 0;
}

static void *make_finalized(void *unused)
{
    for (long i = 0; i < LIVING; i++) {
        keep[i] = GC_malloc(i % 500 == 0 ? 100000 : sizeof(struct node) << i % 3);
        keep[i]->id = i;
        register_one(keep[i]);
    }
    return unused;
}

static bool ended(long dropped)
{
    long right = 0, all = 0;

    for (long i = 0; i < LIVING; i++) {
        all += runs[i];
        right += runs[i] == (keep[i] == NULL);
    }
    return all == dropped && right == LIVING;
}

/* Of many that live some die, beside others and far from them; new ones are made meanwhile. */
static int living(void)
{
    long dropped = 0;

    runs = calloc(LIVING, 1);
    GC_INIT();
    keep = GC_malloc_uncollectable(LIVING * sizeof *keep);
    thread_result(make_finalized, NULL);
    for (long i = 0; i < 30; i++) {
        for (long k = 0; k < i % 3; k++, dropped++)
            keep[i * 97 + k * (k + i)] = NULL;
        for (long k = 0; k < 1000; k++)
            GC_register_finalizer_no_order(GC_malloc(100), ignore, NULL, NULL, NULL);
        GC_gcollect();
        GC_invoke_finalizers();
        if (!ended(dropped))
            return 3;
    }
    return too_early == 0 ? 0 : 4;
}

static const char *option, *value, *markers;
static int (*work)(void);

static int with_options(void)
{
    alarm(100);
    setenv("GC_MARKERS", markers, 1);
    setenv(option, value, 1);
    return work();
}

static void check(int (*run)(void), const char *name, const char *setting, long count, const char *what)
{
    work = run;
    option = name;
    value = setting;
    nodes = count;
    child_ok(with_options, "%s, with %s markers", what, markers);
}

int main(void)
{
    static const char *const numbers[] = { "1", "2", "8" };

    tap_plan(13);
    for (int i = 0; i < 3; i++) {
        markers = numbers[i];
        check(scenario, "SGC_TORTURE", "0", TEST_SANITIZED ? 20000 : 60000, "many objects");
        check(scenario, "SGC_TORTURE", "300", TEST_SANITIZED ? 400 : 1200, "some objects under torture");
        if (i == 1)
            check(scenario, "SGC_STEALING", "off", 20000, "no stealing");
        if (i < 2) {
            check(leaves, "SGC_TORTURE", "0", 0, "leaves of links");
            check(spared, "SGC_TORTURE", "0", 0, "links to what lives");
            check(living, "SGC_TORTURE", "0", 0, "finalizers of what lives");
        }
    }
    return tap_done();
}
