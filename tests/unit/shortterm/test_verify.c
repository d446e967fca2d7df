/* SPDX-License-Identifier: MIT */
/*
 * shortterm/verify.c: mistakes with dates that are planted are found, with the certainty that they have; in right programs
 * none.  Whatever else may lead to what has expired: test_verify_places.c.
 */
#include "shortterm/verify.h"

#include "tests/lib/findings.h"
#include "tests/lib/refuse.h"
#include "tests/unit/shortterm/shortterm.h"

/* ---- planted in static data ---- */

static int in_static(void)
{
    elsewhere(make_one, &root);
    expire(&root);
    if (check() != 1 || !one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_STATIC, 1))
        return 1;
    if (last_word[0] != ~(uintptr_t)&root || found[0].thread != sgc_thread_id() || SGC_dates(root) != 0)
        return 2;
    return check() == 0 && root->left == NULL ? 0 : 3;
}

static int by_clock(void)
{
    SGC_clock_t *clock = SGC_clock_new();

    elsewhere(make_one, &root);
    SGC_refresh_clock(root, 0, clock);
    SGC_refresh(root, 2);
    SGC_tick_clock(clock);
    if (check() != 0 || SGC_dates(root) != 1)
        return 1;
    SGC_refresh_clock(root, 0, clock);
    for (int i = 0; i < 3; i++)
        SGC_tick();
    if (check() != 0 || SGC_dates(root) != 1)
        return 2;
    SGC_clock_release(clock);
    return finds_static() ? 0 : 3;
}

static int without_allocating(void)
{
    elsewhere(make_one, &root);
    for (int tick = 0; tick < 100000; tick++) {
        for (int i = 0; i < 25; i++)
            SGC_refresh(root, 1);
        SGC_tick();
    }
    return GC_get_gc_no() > 0 && figures().expired < 2000000 && figures().date_bytes < 20000000 ? 0 : 1;
}

static int by_hold(void)
{
    elsewhere(make_one, &root);
    SGC_hold(root);
    SGC_hold(root);
    SGC_unhold(root);
    if (check() != 0 || SGC_dates(root) != 1)
        return 1;
    SGC_refresh(root, 0);
    SGC_unhold(root);
    if (check() != 0 || SGC_dates(root) != 1)
        return 2;
    for (int i = 0; i < 600; i++)
        SGC_hold(root);
    SGC_tick();
    for (int i = 0; i < 600; i++)
        SGC_unhold(root);
    if (!finds_static() || found[0].thread != sgc_thread_id())
        return 3;
    SGC_hold(root);
    SGC_unhold(root);
    return finds_static() && found[0].thread == 0 ? 0 : 4;
}

/* More of them than a page has room for. */
static int by_holds(void)
{
    for (int i = 0; i < 600; i++) {
        elsewhere(link_one, NULL);
        SGC_hold(root);
    }
    for (struct node *n = root; n != NULL; n = n->left)
        SGC_unhold(n);
    return check() == 600 && finds == 1 && with_certainty(SGC_FINDING_CERTAIN) == 1 && check() == 0 ? 0 : 1;
}

static int goes_on(void)
{
    elsewhere(make_one, &root);
    expire(&root);
    for (int i = 0; i < 20; i++) {
        SGC_refresh(GC_MALLOC(100), 0);
        SGC_tick();
        SGC_expire(1);
    }
    return finds_static() ? 0 : 1;
}

/* ---- planted where it is less certain ---- */

static sgc_a32_t ready, done;
static sgc_tid_t holder;

static void hold_on_stack(TEST_UNUSED void *unused)
{
    struct node *volatile mine = make_node(NULL, NULL);

    holder = sgc_thread_id();
    SGC_refresh(mine, 0);
    SGC_tick();
    sgc_a32_store_rel(&ready, 1);
    white_reached(&done, 1);
    GC_reachable_here(mine);
}

static int on_other_stack(void)
{
    pthread_t other = white_start(hold_on_stack, NULL);
    bool right;

    white_reached(&ready, 1);
    check();
    right = one(SGC_FINDING_PREMATURE, SGC_FINDING_LIKELY, SGC_HELD_BY_STACK, 1) && found[0].thread == holder;
    sgc_a32_store_rel(&done, 1);
    white_join(other);
    return right ? 0 : 1;
}

/* ---- the system has no memory: what has expired waits for the next check ---- */

static int without_memory(void)
{
    size_t before;

    elsewhere(make_one, &root);
    hidden = white_hidden(root);
    expire(&root);
    root = NULL;
    if (TEST_SANITIZED || !limit_memory(LIMIT_NOTHING))
        return CHILD_SKIPS;
    GC_gcollect();
    GC_gcollect();
    before = finds;
    if (!limit_memory(RLIM_INFINITY) || before != 0 || !white_lives(hidden))
        return 1;
    root = (struct node *)~hidden;
    return finds_static() ? 0 : 2;
}

/* ---- needed by what has a date ---- */

static int needed(void)
{
    elsewhere(make_pair, NULL);
    date_pair();
    check();
    if (!one(SGC_FINDING_NEEDED, SGC_FINDING_LIKELY, SGC_HELD_BY_DATE, 2) || figures().kept_bytes < 2 * sizeof(struct node))
        return 1;
    for (int i = 0; i < 6; i++)
        SGC_tick();
    check();
    return white_lives(hidden) ? 2 : 0;
}

/* ---- a fork: the other threads, and their clocks, have ended ---- */

static void wait_with_date(TEST_UNUSED void *unused)
{
    root = make_node(NULL, NULL);
    SGC_refresh(root, 0);
    SGC_tick();
    sgc_a32_store_rel(&ready, 1);
    white_reached(&done, 1);
}

static int in_child(void)
{
    if (!finds_static() || found[0].thread != 0)
        return 1;
    expire(&root);
    return finds_static() ? 0 : 2;
}

static int forked(void)
{
    pthread_t other = white_start(wait_with_date, NULL);
    int result;

    white_reached(&ready, 1);
    result = run_in_child(in_child);
    check();
    sgc_a32_store_rel(&done, 1);
    white_join(other);
    return result != 0 ? result : one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_STATIC, 1) ? 0 : 3;
}

/* ---- a thread that has ended ---- */

static struct node *shared;

enum { TURN = 10 + 4 };                 /* of the only thread's ticks: then its dates are over */

static void end_with_global_dates(TEST_UNUSED void *unused)
{
    SGC_refresh_global(shared, 0);
    SGC_refresh_global(shared, 5);
}

static int counts_again(void)
{
    elsewhere(make_one, &shared);
    SGC_join_time();
    elsewhere(end_with_global_dates, NULL);
    if (SGC_dates(shared) != 2 || check() != 0 || SGC_dates(shared) != 2)
        return 1;
    for (int i = 0; i < TURN; i++)
        SGC_tick_global();
    if (!finds_static() || found[0].thread != 0)
        return 3;
    SGC_refresh(shared, 0);
    elsewhere(end_with_global_dates, NULL);
    for (int i = 0; i < TURN; i++)
        SGC_tick_global();
    SGC_tick();
    return finds_static() && found[0].thread != 0 ? 0 : 2;
}

static void make_and_end(TEST_UNUSED void *unused)
{
    root = make_node(NULL, NULL);
    SGC_refresh(root, 7);
}

static int of_ended_thread(void)
{
    SGC_tick();
    elsewhere(make_and_end, NULL);
    return finds_static() && found[0].thread == 0 ? 0 : 1;
}

/* ---- right programs ---- */

static void **weak;

static bool forgets;                    /* to refresh one of them */
static _Thread_local struct node **table;

/* A table whose objects are refreshed as long as they are in it. */
static void run_right(TEST_UNUSED void *unused)
{
    enum { SLOTS = 64, ROUNDS = 60 };

    table = GC_MALLOC(SLOTS * sizeof *table);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 8; i++)
            table[(round * 8 + i) % SLOTS] = make_node(NULL, NULL);
        for (int i = 0; i < SLOTS; i++)
            if (table[i] == NULL || (i + round) % 16 == 0)
                table[i] = NULL;
            else if (!forgets || round != 20)
                SGC_refresh(table[i], 1);
        SGC_tick();
    }
    for (int i = 0; i < SLOTS; i++)
        table[i] = NULL;
}

static bool nothing_certain(void)
{
    check();
    return with_certainty(SGC_FINDING_CERTAIN) == 0;
}

/* Most is said at ticks.  There may be old words on stacks. */
static void check_right(int (*body)(void), bool right, const char *name)
{
    const char *said;
    int status;

    forgets = !right;
    capture_begin();
    status = run_in_child(body);
    said = capture_end();
    if (!tap_ok(status == 0 && (strstr(said, "certainly") == NULL) == right, "%s", name))
        tap_diag("status %d, said: %.600s", status, said);
}

static int right_program(void)
{
    setenv("SGC_SHORTTERM_CHECK", "1", 1);
    findings_begin();
    elsewhere(run_right, NULL);
    return nothing_certain() ? 0 : 1;
}

/* Each checks all at its ticks. */
static int right_threads(void)
{
    pthread_t thread[3];

    setenv("SGC_SHORTTERM_CHECK", "3", 1);
    findings_begin();
    white_start_all(thread, 3, run_right);
    white_join_all(thread, 3);
    return nothing_certain() ? 0 : 1;
}

static void make_garbage(TEST_UNUSED void *unused)
{
    for (int i = 0; i < 1000; i++) {
        weak[i] = make_node(NULL, NULL);
        GC_general_register_disappearing_link(&weak[i], weak[i]);
        SGC_refresh(weak[i], (unsigned)i % 5);
    }
    for (int i = 0; i < 5; i++)
        SGC_tick();
}

static int reclaims(void)
{
    int left = 0;

    weak = GC_MALLOC_ATOMIC(1000 * sizeof *weak);
    elsewhere(make_garbage, NULL);
    check();
    for (int i = 0; i < 1000; i++)
        left += weak[i] != NULL;
    return left <= 5 && with_certainty(SGC_FINDING_CERTAIN) == 0 ? 0 : 1;
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
    finding_ok(in_static, "too early: an object that static data leads to, and that is said once");
    finding_ok(goes_on, "it waits for the next collection, whatever the program does until then");
    finding_ok(by_clock, "an object has expired when the dates of all clocks are over");
    finding_ok(by_hold, "and the last hold was taken back");
    finding_ok(by_holds, "that is found of many objects");
    finding_ok(counts_again, "global dates of a thread that has ended count until time has gone on");
    finding_ok(of_ended_thread, "one whose date was of a thread that has ended");
    if (TEST_SANITIZED) {
        tap_skip("sanitizers keep old words on stacks");
    } else {
        finding_ok(on_other_stack, "likely: on another thread's stack");
        finding_ok(needed, "an object that one with a date leads to");
        finding_ok(reclaims, "what nothing leads to is reclaimed, and nothing is said");
    }
    check_right(right_program, true, "nothing certain is found in a right program that checks at each tick");
    check_right(right_threads, true, "nor in one with threads");
    check_right(right_program, false, "but if it forgets some dates once, that is found");
    check_right(right_threads, false, "with threads, too");
    finding_ok(without_allocating, "dates alone bring a collection, too");
    finding_ok(without_memory, "without memory for a list, what has expired waits, and is found later");
    finding_ok(forked, "in the child of a fork, too, what other threads have left is found");
    child_says(other_mode, 0, NULL, "in other modes there are none");
    child_says_of((setenv("SGC_SHORTTERM_CHECK", "1", 1), other_mode()), 0, "SGC_SHORTTERM_CHECK has no effect",
                  "who looks for some all the same is told");
    return tap_done();
}
