/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/concurrent.c with several markers beside the program: helpers, and threads that assist by SGC_mark_some.  A tree
 * whose parts change places all the time stays whole; SGC_VERIFY=marks looks at each mark once more.  Explicit collections,
 * forks and statistics in the middle find everybody out of the heap.
 */
#include "gc/collect/concurrent.h"

#define GC_THREADS 1
#include <gc/gc.h>
#include <sgc.h>

#include "gc/collect/cycle.h"
#include "gc/collect/lead.h"
#include "gc/collect/write_watch.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/white.h"
#include "tests/lib/world.h"

enum {
    DEPTH = TEST_SANITIZED ? 13 : 17, CYCLES = TEST_SANITIZED ? 2 : 4, LOOKS = TEST_SANITIZED ? 50 : 300,
    ASSISTANTS = 2, INSIDE = (1 << 16) - 1,
};

struct node {
    struct node *child[2];
    uintptr_t id;
};

static struct node *root;
static uint64_t seed = 1;
static uintptr_t ids;
static sgc_a32_t ending, assists;

static struct node *make(int depth)
{
    struct node *n = GC_malloc(sizeof *n);

    n->id = ++ids;
    for (int i = 0; depth > 0 && i < 2; i++)
        n->child[i] = make(depth - 1);
    return n;
}

/* The numbers of nodes, and the sum of their ids. */
static void count(const struct node *n, size_t *nodes, uintptr_t *sum)
{
    for (; n != NULL; n = n->child[1]) {
        ++*nodes;
        *sum += n->id;
        count(n->child[0], nodes, sum);
    }
}

static bool right(void)
{
    size_t nodes = 0;
    uintptr_t sum = 0;

    count(root, &nodes, &sum);
    return nodes == ids && sum == ids * (ids + 1) / 2;
}

/* A place of a child, in one half of the tree, so far down. */
static struct node **place(int half, uint32_t depth)
{
    struct node **at = &root->child[half];

    for (; depth > 0; depth--)
        at = &(*at)->child[random_below(&seed, 2)];
    return at;
}

static void change(void)
{
    uint32_t depth = random_below(&seed, DEPTH - 1);
    struct node **one = place(0, depth), **other = place(1, depth), *n = *one;

    *one = *other;
    *other = n;
    *(uintptr_t *)GC_malloc(64 + random_below(&seed, 500)) = 1;
}

static void change_often(int times)
{
    while (times-- > 0)
        change();
}

static bool begin(void)
{
    GC_INIT();
    root = make(DEPTH);
    return sgc_concurrent_enabled();
}

/* Has another marker than the lead been seen at work? */
static bool helper_is_inside(void)
{
    return sgc_concurrent_marks() && (sgc_a32_load(&sgc_cycle.team.state) & INSIDE) != 0;
}

/* ---- children ---- */

/* Some cycles, and more until somebody is seen, if somebody has to be. */
static bool is_seen(bool expected)
{
    uint64_t until = world_patience();
    uint32_t seen = 0;

    while ((sgc_cycles_finished() < CYCLES || (expected && seen == 0)) && sgc_clock_ns() < until)
        for (int i = 0; i < 100; i++) {
            change();
            seen += helper_is_inside();
        }
    return seen != 0;
}

static int helpers(void)
{
    if (!begin())
        return CHILD_SKIPS;
    return !is_seen(true) ? 1 : !right() ? 2 : 0;
}

static int one_is_enough(void)
{
    setenv("SGC_CONCURRENT_MARKERS", "1", 1);
    if (!begin())
        return CHILD_SKIPS;
    return is_seen(false) ? 1 : !right() ? 2 : 0;
}

static void *assist(void *arg)
{
    while (sgc_a32_load_acq(&ending) == 0)
        if (SGC_mark_some(100000))
            sgc_a32_add(&assists, 1);
        else
            sgc_sleep_ns(50000);
    return arg;
}

static int assistants(void)
{
    uint64_t until = world_patience();
    pthread_t thread[ASSISTANTS];

    setenv("SGC_CONCURRENT_MARKERS", "1", 1);
    if (!begin())
        return CHILD_SKIPS;
    GC_gcollect();                      /* what filling the heap may have begun is over */
    if (SGC_mark_some(1000))
        return 4;
    threads_start(thread, ASSISTANTS, assist);
    while ((sgc_cycles_finished() < CYCLES || sgc_a32_load(&assists) < 10) && sgc_clock_ns() < until)
        change_often(100);
    sgc_a32_store_rel(&ending, 1);
    threads_join(thread, ASSISTANTS);
    return !right() ? 1 : sgc_a32_load(&assists) < 10 ? 2 : 0;
}

/* Whoever has the cycle finds nobody in the heap. */
static bool all_are_out(void)
{
    bool out;

    sgc_gc_lock_acquire(sgc_mutator_self());
    sgc_lead_hold();
    out = sgc_a32_load_acq(&sgc_cycle.team.state) == 0;
    sgc_lead_release();
    sgc_gc_lock_release();
    return out;
}

static int held(void)
{
    uint64_t until = world_patience();
    int times = 0, wrong = 0;

    if (!begin())
        return CHILD_SKIPS;
    while (times < 30 && sgc_clock_ns() < until) {
        change_often(20);
        if (!helper_is_inside())
            continue;
        wrong += !all_are_out();
        if (++times % 10 == 0)
            GC_gcollect();
    }
    return wrong != 0 || !right() ? 1 : times < 3 ? 2 : 0;
}

static int collect_in_child(void)
{
    uint64_t until = world_patience(), now = sgc_cycles_finished();

    while (sgc_cycles_finished() < now + 2 && sgc_clock_ns() < until)
        change();
    return !right();
}

static int forks(void)
{
    uint64_t until = world_patience();
    int forked = 0;

    GC_set_handle_fork(1);
    if (TEST_SANITIZED || !begin())     /* sanitizers do not survive a fork beside other threads */
        return CHILD_SKIPS;
    while (forked < 3 && sgc_clock_ns() < until) {
        change_often(20);
        if (!helper_is_inside())
            continue;
        forked++;
        if (run_in_child(collect_in_child) != 0 || !right())
            return 1;
    }
    return forked != 0 ? 0 : 3;
}

/* The statistics look at the markers' stacks, which they own while they mark. */
static int statistics(void)
{
    uint64_t until = world_patience();
    int times = 0;

    if (!begin())
        return CHILD_SKIPS;
    while (times < LOOKS && sgc_clock_ns() < until) {
        struct SGC_stats stats;

        change_often(10);
        if (sgc_concurrent_marks() && SGC_get_stats(&stats, sizeof stats) == sizeof stats)
            times++;
    }
    return !right() ? 1 : times < 30 ? 2 : 0;
}

/* How many of so many markers mark beside the program, if it is said that so many shall; NULL: it is not said. */
static int chosen(const char *markers, const char *beside, int wanted)
{
    unsetenv("SGC_CONCURRENT_MARKERS");
    if (beside != NULL)
        setenv("SGC_CONCURRENT_MARKERS", beside, 1);
    setenv("GC_MARKERS", markers, 1);
    GC_INIT();
    return sgc_options.concurrent_markers == wanted && sgc_cycle.team.config.concurrent_markers == (uint32_t)wanted ? 0 : 1;
}

int main(void)
{
    static const char *const sources[] = { "none", "async" };

    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0", "SGC_VERIFY=marks", "GC_MARKERS=4",
                "SGC_CONCURRENT_MARKERS=3");
    child_ok_of(chosen("8", NULL, 2), "a quarter of the markers");
    child_ok_of(chosen("2", NULL, 1), "but at least one");
    child_ok_of(chosen("4", "100", 4), "and no more than there are");
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        setenv("SGC_DIRTY", sources[i], 1);
        child_ok(helpers, "%s: helpers mark beside the program", sources[i]);
        child_ok(assistants, "%s: so do threads that assist", sources[i]);
        child_ok(held, "%s: whoever takes the cycle finds all out", sources[i]);
        child_ok(forks, "%s: forks while helpers mark", sources[i]);
        child_ok(statistics, "%s: statistics while helpers mark", sources[i]);
    }
    setenv("SGC_DIRTY", "none", 1);
    child_ok(one_is_enough, "one marker needs no helper");
    return tap_done();
}
