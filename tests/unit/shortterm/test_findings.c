/* SPDX-License-Identifier: MIT */
/*
 * shortterm/findings.c: what verify has found is told once, with all that is known of it; more than can be told is counted.
 * Also: shortterm/check.c.
 */
#include "shortterm/findings.h"

#include "tests/lib/findings.h"

/* ---- more than are told ---- */

static struct node *table[30];

static void make_many(TEST_UNUSED void *unused)
{
    for (int i = 0; i < 30; i++) {
        table[i] = make_node(NULL, NULL);
        SGC_refresh(table[i], 0);
        SGC_refresh(table[i], 0);
    }
    SGC_tick();
}

static int many(void)
{
    elsewhere(make_many, NULL);
    return check() == 30 && finds == 1 && found[0].objects == 30 && with_certainty(SGC_FINDING_CERTAIN) == 1 ? 0 : 1;
}

static char *volatile inside[30];       /* words that lead to them less certainly */

/* The certain ones are told first, though they have expired last. */
static void make_less_certain(TEST_UNUSED void *unused)
{
    for (int i = 0; i < 30; i++) {
        struct node *n = make_node(NULL, NULL);

        inside[i] = n->text;
        SGC_refresh(n, 0);
    }
    SGC_tick();
    for (int i = 0; i < 3; i++)
        SGC_refresh(table[i] = make_node(NULL, NULL), 0);
    SGC_tick();
}

static int surest(void)
{
    elsewhere(make_less_certain, NULL);
    return check() == 33 && finds == 2 && found[0].certainty == SGC_FINDING_CERTAIN && found[0].objects == 3 &&
           found[1].certainty == SGC_FINDING_LIKELY && found[1].objects == 30 ? 0 : 1;
}

/* ---- where a date was given ---- */

static SGC_clock_t *rhythm;

/* Each calls one function, and not as its last deed. */
TEST_NOINLINE static void by_refresh(void) { SGC_refresh(root, 0); root->left = NULL; }
TEST_NOINLINE static void by_refresh_global(void) { SGC_refresh_global(root, 0); root->left = NULL; }
TEST_NOINLINE static void by_clock(void) { SGC_refresh_clock(root, 0, rhythm); root->left = NULL; }
TEST_NOINLINE static void by_no_clock(void) { SGC_refresh_clock(root, 0, NULL); root->left = NULL; }
TEST_NOINLINE static void by_unhold(void) { SGC_hold(root); SGC_unhold(root); root->left = NULL; }
TEST_NOINLINE static void by_malloc(void) { root = SGC_malloc_dated(64, 0, 0); root->left = NULL; }
TEST_NOINLINE static void by_malloc_global(void) { root = SGC_malloc_dated(64, 0, SGC_SHORTTERM_GLOBAL); root->left = NULL; }

static const struct site {
    void (*dates)(void);
    const char *name;
} sites[] = {
    { by_malloc, "SGC_malloc_dated" },
    { by_malloc_global, "SGC_malloc_dated, by global time" },
    { by_refresh, "SGC_refresh" },
    { by_refresh_global, "SGC_refresh_global" },
    { by_clock, "SGC_refresh_clock" },
    { by_no_clock, "SGC_refresh_clock without a clock" },
    { by_unhold, "SGC_unhold" },
};
enum { SHORT = 512 };                   /* so long at most is each of these functions */

static const struct site *site;

/* Once as the first call of all, and once later. */
static int dated_there(void)
{
    if (site->dates != by_malloc && site->dates != by_malloc_global)
        elsewhere(make_one, &root);
    for (int round = 0; round < 2; round++) {
        if (site->dates == by_clock)
            rhythm = SGC_clock_new();
        site->dates();
        for (int i = 0; i < 4; i++)
            if (SGC_tick() != 0 || SGC_tick_global() != 0 || (rhythm != NULL && SGC_tick_clock(rhythm) != 0))
                return 1;
        if (!finds_static() || (uintptr_t)found[0].refreshed_at - (uintptr_t)site->dates >= SHORT)
            return 2 + round;
    }
    return 0;
}

/* ---- time that stands still ---- */

static sgc_a32_t ready, done;
static sgc_tid_t holder;

static bool stands_still(bool global, sgc_tid_t thread)
{
    for (int i = 0; i < finds; i++)
        if (found[i].kind == SGC_FINDING_STILL && (found[i].global != 0) == global && found[i].thread == thread)
            return found[i].bytes >= 100000;
    return false;
}

static int still_clock(void)
{
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

static void wait_in_time(TEST_UNUSED void *unused)
{
    SGC_join_time();
    holder = sgc_thread_id();
    sgc_a32_store_rel(&ready, 1);
    white_reached(&done, 1);
}

static int still_time(void)
{
    pthread_t other = white_start(wait_in_time, NULL);
    bool right = false;

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
    findings_begin();
    root = GC_debug_malloc(40, "here.c", 7);
    expire(&root);
    SGC_tick();
    return 0;
}

static int says_needed(void)
{
    elsewhere(make_pair, NULL);
    date_pair();
    scrub_stack();
    return SGC_shortterm_check(NULL, NULL) == 1 ? 0 : 1;
}

static int says_still(void)
{
    SGC_refresh(GC_MALLOC(100000), 3);
    for (int i = 0; i < 9; i++)
        SGC_shortterm_check(NULL, NULL);
    return 0;
}

static int says_many(void)
{
    elsewhere(make_many, NULL);
    return SGC_shortterm_check(NULL, NULL) == 30 ? 0 : 1;
}

static int says_of_free(void)
{
    elsewhere(make_one, &root);
    SGC_refresh(root, 3);
    GC_free(root);
    return SGC_dates(root) == 1 ? 0 : 1;
}

int main(void)
{
    finding_ok(many, "many of one place are told as one, and counted");
    if (JUMPS)
        finding_ok(surest, "those that are certain are told first");
    else
        tap_skip("without optimization, all refreshes are of one place, and ours");
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        site = &sites[i];
        if (!JUMPS && (site->dates == by_refresh || site->dates == by_refresh_global))
            tap_skip("the program's call of %s: without optimization, it is ours", site->name);
        else
            finding_ok(dated_there, "the program's call of %s is the place of the date", site->name);
    }
    finding_ok(still_clock, "a clock that stands still is found, once until it goes on");
    finding_ok(still_time, "so is global time, and for whom it waits");
    child_says(says, 0, "certainly expired too early: 40 bytes at", "a check at each tick says what was found");
    child_says(says, 0, "allocated at here.c:7. Its last date", "and where the object was allocated");
    finding_says(says_needed, 0, "expired before an object that leads to it and has a date", "of one that another needs, too");
    finding_says(says_still, 0, "clock has stood still for 8 collections", "and of a clock");
    finding_says(says_many, 0, ", as those of 29 more. With free", "and how many more there are");
    finding_says(says_of_free, 0, "has 1 expiration dates", "an object with a date is not freed");
    return tap_done();
}
