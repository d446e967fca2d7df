/* SPDX-License-Identifier: MIT */
/*
 * shortterm/verify.c: each place where dates are given is told, with how many objects of it were found, however many others
 * there are; and what was told is looked at again as long as it lasts.
 */
#include "tests/lib/findings.h"

enum { PLACES = 20, NOISE = 10 };

static struct node *volatile table[PLACES][PLACES];
static char *volatile inside[NOISE];

/* ---- many places: each its own call ---- */

#define AT(n)                                                                                       \
    TEST_NOINLINE static void at_##n(struct node *node)                                            \
    {                                                                                               \
        SGC_refresh(node, 0);                                                                       \
        __asm__ volatile("" : : "r"(node), "i"(n));         /* none is like another */               \
    }
AT(0) AT(1) AT(2) AT(3) AT(4) AT(5) AT(6) AT(7) AT(8) AT(9)
AT(10) AT(11) AT(12) AT(13) AT(14) AT(15) AT(16) AT(17) AT(18) AT(19)
static void (*const at[PLACES])(struct node *) = {
    at_0, at_1, at_2, at_3, at_4, at_5, at_6, at_7, at_8, at_9,
    at_10, at_11, at_12, at_13, at_14, at_15, at_16, at_17, at_18, at_19
};

/* One object at the first place, two at the second, ... */
static void make_places(TEST_UNUSED void *unused)
{
    for (int p = 0; p < PLACES; p++)
        for (int i = 0; i <= p; i++) {
            table[p][i] = make_node(NULL, NULL);
            at[p](table[p][i]);
        }
    SGC_tick();
}

static int all_places(void)
{
    size_t objects = 0;
    int places = 0;

    elsewhere(make_places, NULL);
    if (check() != PLACES * (PLACES + 1) / 2 || finds != PLACES)
        return 1;
    for (int i = 0; i < finds; i++) {
        objects += found[i].objects;
        places |= found[i].certainty == SGC_FINDING_CERTAIN && found[i].objects <= PLACES ? 1 << (found[i].objects - 1) : 0;
    }
    return objects == PLACES * (PLACES + 1) / 2 && places == (1 << PLACES) - 1 && check() == 0 ? 0 : 2;
}

/* ---- noise in each period ---- */

TEST_NOINLINE static void make_noise(TEST_UNUSED void *unused)
{
    for (int i = 0; i < NOISE; i++) {
        struct node *n = make_node(NULL, NULL);

        inside[i] = n->text;
        SGC_refresh(n, 0);
    }
    SGC_tick();
}

TEST_NOINLINE static void make_quiet(TEST_UNUSED void *unused)
{
    struct node *n = make_node(NULL, NULL);

    root = n;
    SGC_refresh(n, 0);
    SGC_tick();
}

/* The one is told in its period, though ten others are in each. */
static int noisy(void)
{
    for (int period = 0; period < 30; period++) {
        elsewhere(make_noise, NULL);
        if (period == 20)
            elsewhere(make_quiet, NULL);
        check();
        if (with_certainty(SGC_FINDING_CERTAIN) != (period == 20) || finds > 2 || finds == 0)
            return 1 + period;
    }
    return 0;
}

/* ---- judged anew ---- */

static int finds_once(int certainty)
{
    check();
    return finds == 1 && found[0].kind == SGC_FINDING_PREMATURE && found[0].certainty == certainty ? 0 : 1;
}

/* A word on the stack, then one that points into it, then a variable. */
static int surer(void)
{
    volatile uintptr_t decoy;
    uintptr_t secret;

    elsewhere(make_one, &root);
    expire(&root);
    decoy = (uintptr_t)root;
    secret = ~(uintptr_t)root;
    root = NULL;
    if (finds_once(SGC_FINDING_POSSIBLE) != 0 || check() != 0 || check() != 0)
        return 1;
    inside[0] = (char *)~secret + 16;
    if (finds_once(SGC_FINDING_LIKELY) != 0 || check() != 0)
        return 2;
    root = (struct node *)~secret;
    if (finds_once(SGC_FINDING_CERTAIN) != 0 || check() != 0)
        return 3;
    return decoy != 0 ? 0 : 4;
}

static int needed_first(void)
{
    elsewhere(make_pair, NULL);
    date_pair();
    check();
    if (finds != 1 || found[0].kind != SGC_FINDING_NEEDED)
        return 1;
    root = ((struct node *)~hidden)->left;
    return finds_once(SGC_FINDING_CERTAIN) != 0 || check() != 0 ? 2 : 0;
}

/* ---- what ends it: nothing is said of another object at that place ---- */

static int refreshed_again(void)
{
    elsewhere(make_one, &root);
    expire(&root);
    check();
    SGC_refresh(root, 3);
    if (check() != 0)
        return 1;
    for (int i = 0; i < 4; i++)
        SGC_tick();
    return finds_once(SGC_FINDING_CERTAIN);
}

static void make_in_places(TEST_UNUSED void *unused)
{
    for (int i = 0; i < 2000; i++)
        root = make_node(root, NULL);
}

static int freed_by_hand(void)
{
    for (int i = 0; i < 100; i++) {
        volatile uintptr_t decoy;

        elsewhere(make_one, &root);
        expire(&root);
        decoy = (uintptr_t)root;
        root = NULL;
        check();
        GC_free((void *)decoy);
    }
    elsewhere(make_in_places, NULL);
    check();
    return with_certainty(SGC_FINDING_CERTAIN) == 0 ? 0 : 1;
}

static int reclaimed(void)
{
    for (int i = 0; i < 100; i++) {
        elsewhere(make_noise, NULL);
        check();
        memset((void *)inside, 0, sizeof inside);
    }
    GC_gcollect();
    elsewhere(make_in_places, NULL);
    check();
    return with_certainty(SGC_FINDING_CERTAIN) == 0 ? 0 : 1;
}

int main(void)
{
    if (JUMPS)
        finding_ok(all_places, "each of many places is told, with how many there are");
    else
        tap_skip("without optimization, all refreshes are of one place, and ours");
    finding_ok(noisy, "noise does not hide another place, in any period");
    finding_ok(needed_first, "what another object needs, and then a variable leads to, is told again");
    finding_ok(refreshed_again, "with a date it has not expired, and when that is over it is told again");
    finding_ok(freed_by_hand, "what comes to the place of an object that was freed is told of by nobody");
    finding_ok(reclaimed, "nor what comes to that of one that was reclaimed");
    if (TEST_SANITIZED)
        tap_skip("sanitizers keep old words on stacks");
    else
        finding_ok(surer, "an object is told again if it can be reached more surely");
    return tap_done();
}
