/* SPDX-License-Identifier: MIT */
/*
 * A collection comes between two steps of a function of short-term memory, at the worst moment.
 *
 * The test is linked with some functions wrapped (tests/list.txt): it can collect just before
 * sgc_shortterm_lock, after each instruction of sgc_tree_value (on x86-64), and has other threads do something after
 * sgc_with_world_stopped.
 *
 * Also: shortterm/verify.c, shortterm/layer.c, shortterm/holds.c, shortterm/expire.c, shortterm/refresh_reachable.c.
 */
#include "tests/lib/findings.h"

#include <signal.h>
#include <ucontext.h>

#include "gc/finalize/address_tree.h"
#include "shortterm/dates/date_pages.h"
#include "tests/lib/trap.h"
#include "tests/unit/shortterm/shortterm.h"

/* ---- before the lock of the pages of dates ---- */

static void (*before_lock)(void);       /* once */

void __real_sgc_shortterm_lock(struct sgc_section *self);
void __wrap_sgc_shortterm_lock(struct sgc_section *self);

void __wrap_sgc_shortterm_lock(struct sgc_section *self)
{
    void (*due)(void) = before_lock;

    before_lock = NULL;
    if (due != NULL)
        due();
    __real_sgc_shortterm_lock(self);
}

/* ---- threads that end with dates that are over ---- */

static struct node *other;

/* Without a tick of the own clock, which would tell what has been found so far. */
static void let_expire(void *place)
{
    SGC_clock_t *clock = SGC_clock_new();

    make_one(place);
    SGC_refresh_clock(*(struct node **)place, 0, clock);
    SGC_clock_release(clock);
}

/* The collection takes the date off that the thread is about to leave to all, and another thread leaves one before it does. */
static void collect_and_leave(void)
{
    GC_gcollect();
    elsewhere(let_expire, &other);
}

static void let_expire_and_leave(void *place)
{
    let_expire(place);
    before_lock = collect_and_leave;
}

static int two_leave(void)
{
    elsewhere(let_expire_and_leave, &root);
    if (before_lock != NULL || root == NULL || other == NULL)
        return 1;
    return check() == 2 && with_certainty(SGC_FINDING_CERTAIN) == 2 ? 0 : 2;
}

/* ---- holds are asked for ---- */

static bool stepped;                    /* where there are single steps */

uintptr_t __real_sgc_tree_value(const struct sgc_tree *tree, uintptr_t address);
uintptr_t __wrap_sgc_tree_value(const struct sgc_tree *tree, uintptr_t address);

uintptr_t __wrap_sgc_tree_value(const struct sgc_tree *tree, uintptr_t address)
{
    uintptr_t value;

    if (!stepped)
        return __real_sgc_tree_value(tree, address);
    trap_on();
    value = __real_sgc_tree_value(tree, address);
    trap_off();
    return value;
}

#if defined(__x86_64__)

enum { BYTES = 48, STEPS = 100 };

static void *volatile freed;            /* what is freed, and was held */
static volatile int step, collect_at;

static uintptr_t place_in_leaf(const void *object)
{
    return (uintptr_t)object / SGC_GRANULE % (1 << SGC_TREE_LEAF_LOG);
}

/* The collection takes away the leaf of the tree in which the other object had its hold; the first hold that a new thread
 * makes gets that leaf, and its own place in it. */
static void collect_and_hold(TEST_UNUSED void *unused)
{
    void *object;

    GC_gcollect();
    do
        object = GC_MALLOC_ATOMIC(BYTES);
    while (place_in_leaf(object) != place_in_leaf(freed));
    if (SGC_hold(object) != 0)
        abort();
}

static void on_trap(TEST_UNUSED int signal)
{
    if (!sgc_section_inside(&sgc_self->section) && step++ == collect_at)
        elsewhere(collect_and_hold, NULL);
}

static int free_held_before(void)
{
    struct sigaction action = { .sa_handler = on_trap };

    GC_INIT();
    sigaction(SIGTRAP, &action, NULL);
    freed = GC_MALLOC_UNCOLLECTABLE(BYTES);
    if (SGC_hold(freed) != 0 || SGC_unhold(freed) != 0)
        return 1;
    stepped = true;
    GC_free(freed);
    stepped = false;
    return GC_base(freed) == NULL ? 0 : 2;
}

/* ---- dates are taken off ---- */

enum { EXPIRE_STEPS = 400, MOST_CALLS = 50 };

static int calls;

static void collect(TEST_UNUSED void *unused)
{
    GC_gcollect();
}

static void on_expire_trap(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *interrupted)
{
    if (step++ < collect_at || sgc_section_inside(&sgc_self->section))
        return;
    elsewhere(collect, NULL);
    trap_end(interrupted);
}

static int make_the_next(void *unused);

/* A collection leaves its date to the thread, since the program has something to do with it. */
static void make_with_proc(void)
{
    void *object = GC_MALLOC_UNCOLLECTABLE(BYTES);

    if (SGC_set_expiry_proc(object, make_the_next) != 0 || SGC_refresh(object, 0) != 0)
        abort();
}

static int make_the_next(TEST_UNUSED void *unused)
{
    if (++calls == MOST_CALLS)
        _exit(3);
    make_with_proc();
    return SGC_tick();
}

/* A page for each date, so that a collection gives one back. */
static int expire_what_is_over(void)
{
    struct sigaction action = { .sa_sigaction = on_expire_trap, .sa_flags = SA_SIGINFO };

    GC_INIT();
    sigaction(SIGTRAP, &action, NULL);
    choose(SGC_SHORTTERM_FREE, 2, SGC_SHORTTERM_LAZY, 0, 24);
    if (SGC_refresh(GC_MALLOC(BYTES), 0) != 0)
        return 1;
    make_with_proc();
    SGC_tick();
    trap_on();
    SGC_expire(SIZE_MAX);
    trap_off();
    return calls == 1 ? 0 : 2;
}

/* In a child each, where nobody has nodes of trees left over. */
static int wrong_at_steps(int steps, int (*body)(void))
{
    int wrong = 0;

    for (collect_at = 0; collect_at < steps; collect_at++)
        wrong += run_in_child(body) != 0;
    return wrong;
}

static void test_steps(void)
{
    int wrong = wrong_at_steps(STEPS, free_held_before);

    tap_ok(wrong == 0, "an object that is not held any more is freed, wherever a collection comes (%d were not)", wrong);
    wrong = wrong_at_steps(EXPIRE_STEPS, expire_what_is_over);
    tap_ok(wrong == 0, "what is over when it begins is taken off, and no more, wherever a collection comes (%d times more)",
           wrong);
}

#else

static void test_steps(void)
{
    for (int i = 0; i < 2; i++)
        tap_skip("it needs single steps");
}

#endif

/* ---- what an object leads to ---- */

enum { TRIES = 100000 };

static void (*after_look)(void);        /* once */

bool __real_sgc_with_world_stopped(struct sgc_mutator *self, void (*fn)(void *arg), void *arg);
bool __wrap_sgc_with_world_stopped(struct sgc_mutator *self, void (*fn)(void *arg), void *arg);

bool __wrap_sgc_with_world_stopped(struct sgc_mutator *self, void (*fn)(void *arg), void *arg)
{
    bool stopped = __real_sgc_with_world_stopped(self, fn, arg);
    void (*due)(void) = after_look;

    after_look = NULL;
    if (due != NULL)
        due();
    return stopped;
}

static sgc_a32_t linked, looked, replaced;

/* A thread lets its object expire, to which the root leads, and gets another one at its place, without a date. */
static void replace(TEST_UNUSED void *unused)
{
    struct node *expires = make_node(NULL, NULL);

    root->left = expires;
    if (SGC_refresh(expires, 0) != 0)
        abort();
    sgc_a32_store_rel(&linked, 1);
    white_reached(&looked, 1);
    SGC_tick();
    for (int i = 0; i < TRIES && other != expires; i++)
        other = make_node(NULL, NULL);
    if (other == expires)
        sgc_a32_store_rel(&replaced, 1);
}

static void let_it_be_replaced(void)
{
    sgc_a32_store_rel(&looked, 1);
    white_reached(&replaced, 1);
}

static int refresh_reachable(void)
{
    pthread_t thread;

    GC_INIT();
    choose(SGC_SHORTTERM_FREE, 2, -1, -1, -1);
    if (SGC_shortterm_mode() != SGC_SHORTTERM_FREE)
        return 4;
    root = make_node(NULL, NULL);
    thread = white_start(replace, NULL);
    white_reached(&linked, 1);
    after_look = let_it_be_replaced;
    if (SGC_refresh_reachable(root, 1, 0, 100) != 0 || SGC_dates(root) != 1)
        return 2;
    white_join(thread);
    return other == NULL || sgc_a32_load(&replaced) == 0 ? 3 : SGC_dates(other);
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip("a sanitizer has its own signals");
    else
        test_steps();
    child_ok(refresh_reachable, "what takes the place of an object that a structure led to gets no date with that");
    finding_ok(two_leave,
               "a collection takes off what a thread leaves as it ends: what others have left by then is found, too");
    return tap_done();
}
