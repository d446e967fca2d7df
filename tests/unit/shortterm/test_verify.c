/* SPDX-License-Identifier: MIT */
/*
 * shortterm/verify.c, shortterm/findings.c, shortterm/check.c: mistakes with dates that are planted are found, with the class that
 * they have, and where none is nothing certain is found.
 */
#include "shortterm/verify.h"

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>

#include "shortterm/findings.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"
#include "sgc_shortterm.h"

enum { MOST = 40 };

/* ---- what was found ---- */

static struct SGC_finding found[MOST];
static uintptr_t last_word[MOST];       /* where the last pointer of the way is, hidden: it may be in an object */
static int finds;

static void record(const struct SGC_finding *f, void *unused)
{
    (void)unused;
    if (finds == MOST)
        return;
    found[finds] = *f;
    found[finds].object = NULL;         /* no pointer to it */
    if (f->steps != 0 && f->steps <= SGC_FINDING_STEPS && f->step != NULL)
        last_word[finds] = ~(uintptr_t)f->step[f->steps - 1].word;
    finds++;
}

static size_t check(void)
{
    finds = 0;
    scrub_stack();
    return SGC_shortterm_check(record, NULL);
}

/* One finding of that sort, of an object, and that is all. */
static bool one(int kind, int certainty, SGC_held_t held, size_t steps)
{
    const struct SGC_finding *f = &found[0];
    bool right = finds == 1 && f->kind == kind && f->certainty == certainty && f->held == held && f->steps == steps;

    for (int i = 0; i < finds && !right; i++)
        fprintf(stderr, "# found %d: kind %d, certainty %d, held %d, steps %zu\n", i, found[i].kind, found[i].certainty,
                (int)found[i].held, found[i].steps);
    return right && f->bytes >= sizeof(void *) && f->refreshed_at != NULL;
}

static int with_certainty(int certainty)
{
    int n = 0;

    for (int i = 0; i < finds; i++)
        n += found[i].kind != SGC_FINDING_STILL && found[i].certainty == certainty;
    return n;
}

static void begin(void)
{
    setenv("SGC_SHORTTERM", "verify", 1);
    setenv("SGC_MODE", "stop", 1);
    GC_INIT();
}

/* ---- objects, made by other threads, so that no word of theirs is left on ours ---- */

struct node {
    struct node *left, *right;
    char text[48];
};

static struct node *root;
static _Thread_local struct node *in_thread;

static struct node *make_node(struct node *left, struct node *right)
{
    struct node *n = GC_MALLOC(sizeof *n);

    n->left = left;
    n->right = right;
    return n;
}

static void elsewhere(void (*fn)(void *arg), void *arg)
{
    white_join(white_start(fn, arg));
}

/* Of this thread: its date is over at the next tick. */
WHITE_NOINLINE static void expire(struct node **place)
{
    SGC_refresh(*place, 0);
    SGC_tick();
}

/* ---- planted: in static data, a list, a tree, a thread-local variable ---- */

static void make_one(void *place)
{
    *(struct node **)place = make_node(NULL, NULL);
}

static int in_static(void)
{
    begin();
    elsewhere(make_one, &root);
    expire(&root);
    if (check() != 1 || !one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_STATIC, 1))
        return 1;
    if (last_word[0] != ~(uintptr_t)&root || found[0].thread != sgc_thread_id() || SGC_dates(root) != 0)
        return 2;
    return check() == 0 && root->left == NULL ? 0 : 3;
}

static void make_list(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10; i++)
        root = make_node(root, NULL);
}

static int in_list(void)
{
    begin();
    elsewhere(make_list, NULL);
    expire(&root->left->left);
    return check() == 1 && one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_STATIC, 3) ? 0 : 1;
}

static void make_tree(void *depth)
{
    int levels = *(int *)depth;
    struct node *level[1 << 5];

    for (int i = 0; i < 1 << levels; i++)
        level[i] = make_node(NULL, NULL);
    for (int l = levels - 1; l >= 0; l--)
        for (int i = 0; i < 1 << l; i++)
            level[i] = make_node(level[2 * i], level[2 * i + 1]);
    root = level[0];
}

static int in_tree(void)
{
    int depth = 5;

    begin();
    elsewhere(make_tree, &depth);
    expire(&root->right->left->right->right);
    return check() == 1 && one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_STATIC, 5) ? 0 : 1;
}

static int in_thread_local(void)
{
    begin();
    elsewhere(make_one, &in_thread);
    expire(&in_thread);
    return check() == 1 && one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_THREAD_LOCAL, 1) ? 0 : 1;
}

/* ---- planted where it is less certain ---- */

static sgc_a32_t ready, done;
static sgc_tid_t holder;

static void hold_on_stack(void *unused)
{
    struct node *volatile mine = make_node(NULL, NULL);

    (void)unused;
    holder = sgc_thread_id();
    SGC_refresh(mine, 0);
    SGC_tick();
    sgc_a32_store_rel(&ready, 1);
    white_reached(&done, 1);
    GC_reachable_here(mine);
}

static int on_other_stack(void)
{
    pthread_t other;
    bool right;

    begin();
    other = white_start(hold_on_stack, NULL);
    white_reached(&ready, 1);
    check();
    right = one(SGC_FINDING_PREMATURE, SGC_FINDING_LIKELY, SGC_HELD_BY_STACK, 1) && found[0].thread == holder;
    sgc_a32_store_rel(&done, 1);
    white_join(other);
    return right ? 0 : 1;
}

static int by_interior_word(void)
{
    static char *volatile inside;

    begin();
    elsewhere(make_one, &root);
    expire(&root);
    inside = root->text;
    root = NULL;
    check();
    return one(SGC_FINDING_PREMATURE, SGC_FINDING_LIKELY, SGC_HELD_BY_STATIC, 1) && inside != NULL ? 0 : 1;
}

/* A pointer, or an integer that looks like one: it may be an old word, and is never called certain. */
static int on_own_stack(void)
{
    volatile uintptr_t decoy;

    begin();
    elsewhere(make_one, &root);
    expire(&root);
    decoy = (uintptr_t)root;
    root = NULL;
    check();
    return one(SGC_FINDING_PREMATURE, SGC_FINDING_POSSIBLE, SGC_HELD_BY_OWN_STACK, 1) && decoy != 0 ? 0 : 1;
}

static int in_register(void)
{
    register struct node *held;

    begin();
    elsewhere(make_one, &root);
    expire(&root);
    held = root;
    __asm__ volatile("" : "+r"(held));
    root = NULL;
    check();
    __asm__ volatile("" : "+r"(held));
    return one(SGC_FINDING_PREMATURE, SGC_FINDING_POSSIBLE, SGC_HELD_BY_OWN_STACK, 1) && held != NULL ? 0 : 1;
}

/* ---- needed by what has a date ---- */

static void make_pair(void *unused)
{
    (void)unused;
    root = make_node(make_node(NULL, NULL), NULL);
}

static uintptr_t hidden;

WHITE_NOINLINE static void date_pair(void)
{
    SGC_refresh(root, 5);
    SGC_refresh(root->left, 0);
    hidden = ~(uintptr_t)root;
    root = NULL;
    SGC_tick();
}

static int needed(void)
{
    begin();
    elsewhere(make_pair, NULL);
    date_pair();
    check();
    if (!one(SGC_FINDING_NEEDED, SGC_FINDING_LIKELY, SGC_HELD_BY_DATE, 2) || sgc_verify_kept_bytes() < 2 * sizeof(struct node))
        return 1;
    for (int i = 0; i < 6; i++)
        SGC_tick();
    check();
    return white_lives(hidden) ? 2 : 0;
}

/* ---- a thread that has ended ---- */

static void make_and_end(void *unused)
{
    (void)unused;
    root = make_node(NULL, NULL);
    SGC_refresh(root, 7);
}

static int of_ended_thread(void)
{
    begin();
    SGC_tick();
    elsewhere(make_and_end, NULL);
    check();
    return one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_STATIC, 1) && found[0].thread == 0 ? 0 : 1;
}

/* ---- right programs ---- */

static void **weak;

/* A table whose objects are refreshed as long as they are in it. */
static void run_right(void *unused)
{
    enum { SLOTS = 64, ROUNDS = 60 };
    static struct node *table[SLOTS];

    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 8; i++)
            table[(round * 8 + i) % SLOTS] = make_node(NULL, NULL);
        for (int i = 0; i < SLOTS; i++)
            if (table[i] != NULL && (i + round) % 16 != 0)
                SGC_refresh(table[i], 1);
            else
                table[i] = NULL;
        SGC_tick();
    }
    for (int i = 0; i < SLOTS; i++)
        table[i] = NULL;
}

static int right_program(void)
{
    setenv("SGC_SHORTTERM_CHECK", "1", 1);
    begin();
    elsewhere(run_right, NULL);
    check();
    return with_certainty(SGC_FINDING_CERTAIN) == 0 && with_certainty(SGC_FINDING_LIKELY) == 0 ? 0 : 1;
}

static void make_garbage(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        weak[i] = make_node(NULL, NULL);
        GC_general_register_disappearing_link(&weak[i], weak[i]);
        SGC_refresh(weak[i], (unsigned)i % 5);
    }
    for (int i = 0; i < 5; i++)
        SGC_tick();
}

/* What nothing reaches is reclaimed. */
static int reclaims(void)
{
    int left = 0;

    begin();
    weak = GC_MALLOC_ATOMIC(1000 * sizeof *weak);
    elsewhere(make_garbage, NULL);
    check();
    for (int i = 0; i < 1000; i++)
        left += weak[i] != NULL;
    return left <= 5 && with_certainty(SGC_FINDING_CERTAIN) == 0 ? 0 : 1;
}

/* ---- more than are told ---- */

static struct node *table[30];

static void make_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < 30; i++) {
        table[i] = make_node(NULL, NULL);
        SGC_refresh(table[i], 0);
        SGC_refresh(table[i], 0);
    }
    SGC_tick();
}

static int many(void)
{
    begin();
    elsewhere(make_many, NULL);
    return check() == 30 && finds == SGC_WAYS_MOST && with_certainty(SGC_FINDING_CERTAIN) == finds ? 0 : 1;
}

/* ---- time that stands still ---- */

static bool stands_still(bool global, sgc_tid_t thread)
{
    for (int i = 0; i < finds; i++)
        if (found[i].kind == SGC_FINDING_STILL && (found[i].global != 0) == global && found[i].thread == thread)
            return found[i].bytes >= 100000;
    return false;
}

static int still_clock(void)
{
    begin();
    SGC_refresh(GC_MALLOC(100000), 3);
    for (int i = 0; i < 7; i++)
        if (check() != 0)
            return 1;
    if (check() != 1 || !stands_still(false, sgc_thread_id()))
        return 2;
    for (int i = 0; i < 10; i++)
        if (check() != 0)
            return 3;
    SGC_tick();
    for (int i = 0; i < 8; i++)
        check();
    return check() == 1 && stands_still(false, sgc_thread_id()) ? 0 : 4;
}

static void wait_in_time(void *unused)
{
    (void)unused;
    SGC_join_time();
    holder = sgc_thread_id();
    sgc_a32_store_rel(&ready, 1);
    white_reached(&done, 1);
}

static int still_time(void)
{
    pthread_t other;
    bool right = false;

    begin();
    other = white_start(wait_in_time, NULL);
    white_reached(&ready, 1);
    SGC_refresh_global(GC_MALLOC(100000), 0);
    for (int i = 0; i < 12 && !right; i++) {
        SGC_tick_global();
        SGC_tick();
        check();
        right = stands_still(true, holder) && !stands_still(true, sgc_thread_id());
    }
    sgc_a32_store_rel(&done, 1);
    white_join(other);
    return right ? 0 : 1;
}

/* ---- messages ---- */

static int says(void)
{
    setenv("SGC_SHORTTERM_CHECK", "1", 1);
    begin();
    root = GC_debug_malloc(40, "here.c", 7);
    expire(&root);
    SGC_tick();
    return 0;
}

static int says_needed(void)
{
    begin();
    elsewhere(make_pair, NULL);
    date_pair();
    scrub_stack();
    return SGC_shortterm_check(NULL, NULL) == 1 ? 0 : 1;
}

static int says_still(void)
{
    begin();
    SGC_refresh(GC_MALLOC(100000), 3);
    for (int i = 0; i < 9; i++)
        SGC_shortterm_check(NULL, NULL);
    return 0;
}

static int says_lost(void)
{
    begin();
    elsewhere(make_many, NULL);
    return SGC_shortterm_check(NULL, NULL) == 30 ? 0 : 1;
}

static int says_of_free(void)
{
    begin();
    elsewhere(make_one, &root);
    SGC_refresh(root, 3);
    GC_free(root);
    return SGC_dates(root) == 1 ? 0 : 1;
}

static int other_mode(void)
{
    setenv("SGC_SHORTTERM", "pin", 1);
    GC_INIT();
    elsewhere(make_one, &root);
    expire(&root);
    return check() == 0 && finds == 0 ? 0 : 1;
}

int main(void)
{
    child_ok(in_static, "too early: an object that static data leads to, and that is said once");
    child_ok(in_list, "one in a list");
    child_ok(in_tree, "one in a tree");
    child_ok(in_thread_local, "one that a thread-local variable leads to");
    child_ok(of_ended_thread, "one whose date was of a thread that has ended");
    if (TEST_SANITIZED) {
        tap_skip("sanitizers keep old words on stacks");
    } else {
        child_ok(on_other_stack, "likely: on another thread's stack");
        child_ok(by_interior_word, "by a word that points into it");
        child_ok(on_own_stack, "possible: an integer on the stack of who checks");
        child_ok(in_register, "or in its registers");
        child_ok(needed, "an object that one with a date leads to");
        child_ok(reclaims, "what nothing leads to is reclaimed, and nothing is said");
    }
    child_ok(right_program, "nothing certain is found in a right program that checks at each tick");
    child_ok(many, "of many, the first are told, and all are counted");
    child_ok(still_clock, "a clock that stands still is found, once until it goes on");
    child_ok(still_time, "so is global time, and for whom it waits");
    child_says(says, 0, "certainly expired too early: 40 bytes at", "a check at each tick says what was found");
    child_says(says, 0, "allocated at here.c:7. Its last date", "and where the object was allocated");
    child_says(says_needed, 0, "expired before an object that leads to it and has a date", "of an object that another needs, too");
    child_says(says_still, 0, "clock has stood still for 8 collections", "and of a clock");
    child_says(says_lost, 0, "20 findings more are not told", "and how many are left out");
    child_says(says_of_free, 0, "has 1 expiration dates", "an object with a date is not freed");
    child_ok(other_mode, "in other modes there are none");
    return tap_done();
}
