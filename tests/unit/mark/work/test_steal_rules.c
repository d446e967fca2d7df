/* SPDX-License-Identifier: MIT */
/*
 * mark/work/steal_rules.h: whom a thief steals from.  Nobody on another node while somebody on its own shows work; all that
 * show work are found; where there is one node the order is a rotation of the markers, and then the spare ones.
 */
#include "mark/work/steal_rules.h"

#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { MOST = 12, TRIES = 20000 };

static struct {
    bool works[MOST];
    uint32_t node[MOST];
    uint32_t looked[4 * MOST], looks;           /* whom at, in order */
} all;

static bool shows_work(TEST_UNUSED const void *unused, uint32_t which)
{
    all.looked[all.looks++] = which;
    return all.works[which];
}

static uint32_t node(TEST_UNUSED const void *unused, uint32_t which)
{
    return all.node[which];
}

static uint64_t state = 1;
static const struct sgc_others others = { shows_work, node, NULL };

/* How many show work; near: on that node. */
static uint32_t count(uint32_t n, bool near, uint32_t here)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += all.works[i] && (!near || all.node[i] == here);
    return sum;
}

static void test_random(void)
{
    int wrong = 0, far_early = 0, far = 0, none = 0;

    for (int i = 0; i < TRIES; i++) {
        uint32_t markers = 1 + random_below(&state, 8), spares = random_below(&state, 5), here = random_below(&state, 3), which;

        for (uint32_t k = 0; k < markers + spares; k++) {
            all.works[k] = random_below(&state, 4) == 0;
            all.node[k] = random_below(&state, 3);
        }
        all.looks = 0;
        which = sgc_choose_victim(markers, spares, random_below(&state, markers), here, &others);
        if (which == SGC_NO_VICTIM) {
            none++;
            wrong += count(markers + spares, false, here) != 0 || all.looks != markers + spares;
            continue;
        }
        wrong += which >= markers + spares || !all.works[which] || all.looks > markers + spares;
        far += all.node[which] != here;
        far_early += all.node[which] != here && count(markers + spares, true, here) != 0;
    }
    tap_ok(wrong == 0 && none > 0, "of %d searches none misses one that shows work, or looks at one twice (%d wrong)", TRIES,
           wrong);
    tap_ok(far_early == 0 && far > 0, "%d thieves go to another node, none of them while a near one shows work (%d)", far,
           far_early);
}

/* Three markers on the thief's node, five and two spare ones on another: each of those three is chosen as often. */
static void test_spread(void)
{
    uint32_t chosen[MOST] = { 0 }, wrong = 0;

    for (uint32_t k = 0; k < 10; k++) {
        all.works[k] = true;
        all.node[k] = k == 1 || k == 4 || k == 6;
    }
    for (uint32_t from = 0; from < 8; from++) {
        all.looks = 0;
        chosen[sgc_choose_victim(8, 2, from, 1, &others)]++;
    }
    for (uint32_t k = 0; k < 10; k++)
        wrong += (chosen[k] != 0) != (all.node[k] == 1);
    tap_ok(wrong == 0, "which of the near ones depends on where the search begins");
}

/* As it was before there were nodes. */
static void test_one_node(void)
{
    int wrong = 0;

    for (uint32_t k = 0; k < MOST; k++)
        all.works[k] = false, all.node[k] = 0;
    for (uint32_t from = 0; from < 5; from++) {
        static const uint32_t spare[] = { 5, 6, 7 };

        all.looks = 0;
        wrong += sgc_choose_victim(5, 3, from, 0, &others) != SGC_NO_VICTIM || all.looks != 8;
        for (uint32_t i = 0; i < 5; i++)
            wrong += all.looked[i] != (from + i) % 5;
        for (uint32_t i = 0; i < 3; i++)
            wrong += all.looked[5 + i] != spare[i];
    }
    tap_ok(wrong == 0, "one node: the markers in rotation, then the spare ones (%d wrong)", wrong);
    all.works[2] = all.works[6] = true;
    all.looks = 0;
    tap_ok(sgc_choose_victim(5, 3, 0, 0, &others) == 2 && all.looks == 3,
           "one node: the first that shows work ends the search");
}

int main(void)
{
    return tap_all(test_random, test_spread, test_one_node);
}
