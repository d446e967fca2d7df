/* SPDX-License-Identifier: MIT */
/*
 * shortterm/dates/time_rules.h: random histories of threads that come, tick, refresh and leave,
 * beside a simulation that knows sets of threads instead of numbers ([SCM] 3.2); and what these
 * histories do not come to.
 */
#include "shortterm/dates/time_rules.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

static bool is(uintptr_t word, uint32_t now, uint32_t active, uint32_t waiting)
{
    return word == sgc_time_word(now, active, waiting) && sgc_time_now(word) == now && sgc_time_active(word) == active &&
           sgc_time_waiting(word) == waiting;
}

/* ---- one by one ---- */

static void check_joins(void)
{
    uintptr_t full = sgc_time_word(5, SGC_TIME_THREADS, 1);

    tap_ok(!sgc_time_joinable(full) && sgc_time_joinable(sgc_time_leave(full, 6)), "more than 65535 are refused");
    tap_ok(is(sgc_time_tick(full), 6, SGC_TIME_THREADS, SGC_TIME_THREADS), "so many have room in the word");
}

static void check_leaves(void)
{
    tap_ok(is(sgc_time_leave(sgc_time_word(5, 1, 1), 6), 6, 0, 0) && is(sgc_time_leave(sgc_time_word(5, 2, 2), 6), 5, 1, 1),
           "one whose tick was left half way does not leave more waited for than there are");
}

static void check_recounts(void)
{
    tap_ok(is(sgc_time_recount(sgc_time_word(5, 9, 9), 3, 2), 5, 3, 2), "a recount puts the numbers right");
    tap_ok(is(sgc_time_recount(sgc_time_word(5, 3, 1), 3, 0), 6, 3, 3), "and starts a phase if all have ticked");
    tap_ok(is(sgc_time_recount(sgc_time_word(5, 3, 1), 0, 0), 5, 0, 0), "time stands still where nobody is active");
    tap_ok(sgc_time_ok(0) && !sgc_time_ok(sgc_time_word(5, 3, 0)) && sgc_time_ok(sgc_time_word(5, 3, 3)),
           "somebody is waited for as long as somebody is active");
}

/* ---- histories ---- */

enum { THREADS = 6, DATES = 8, HISTORIES = 600, STEPS = 400 };

struct date {
    uint32_t left;              /* ticks of its thread; 0: none */
    uint32_t bound;             /* threads active ever since the refresh that have not ticked since */
};

static struct history {
    uint64_t random;
    uint32_t later;             /* SGC_TIME_LATER, or a number that is wrong */
    uintptr_t word;
    uint32_t phase[THREADS];
    struct date date[THREADS][DATES];
    /* The simulation: */
    uint32_t now, active, ticked;
    /* What came of it: */
    long ended, early, different;
} h;

static void forget(uint32_t thread)
{
    for (int t = 0; t < THREADS; t++)
        for (int d = 0; d < DATES; d++)
            h.date[t][d].bound &= ~thread;
}

static void dates_tick(int t)
{
    for (struct date *d = h.date[t]; d < h.date[t] + DATES; d++)
        if (d->left != 0 && --d->left == 0) {
            h.ended++;
            h.early += (d->bound & ~(1u << t)) != 0;
        }
}

static void next_phase(void)
{
    if ((h.active & ~h.ticked) != 0)
        return;
    h.now++;
    h.ticked = 0;
}

static void tick(int t)
{
    uint32_t bit = 1u << t;

    h.different += sgc_time_ticked(h.word, h.phase[t]) != ((h.ticked & bit) != 0);
    if (sgc_time_ticked(h.word, h.phase[t]))
        return;
    h.phase[t] = sgc_time_after(h.word);
    h.word = sgc_time_tick(h.word);
    h.ticked |= bit;
    next_phase();
    forget(bit);
    dates_tick(t);
}

static void join(int t)
{
    h.phase[t] = sgc_time_joined(h.word);
    h.word = sgc_time_join(h.word);
    h.ticked = h.active == 0 ? 0 : h.ticked | 1u << t;
    h.active |= 1u << t;
}

static void leave(int t)
{
    h.word = sgc_time_leave(h.word, h.phase[t]);
    h.active &= ~(1u << t);
    h.ticked &= ~(1u << t);
    next_phase();
    forget(1u << t);
}

static void refresh(int t)
{
    uint32_t extension = random_below(&h.random, 3);

    for (struct date *d = h.date[t]; d < h.date[t] + DATES; d++)
        if (d->left == 0) {
            *d = (struct date){ extension + 1 + h.later, h.active };
            return;
        }
}

static void step(void)
{
    int t = (int)random_below(&h.random, THREADS);
    uint32_t what = random_below(&h.random, 16);

    if ((h.active & 1u << t) == 0)
        join(t);
    else if (what == 0)
        leave(t);
    else if (what < 8)
        refresh(t);
    else
        tick(t);
    h.different += !is(h.word, h.now, (uint32_t)__builtin_popcount(h.active),
                       (uint32_t)__builtin_popcount(h.active & ~h.ticked)) || !sgc_time_ok(h.word);
}

/* When each of them ticks, time goes on. */
static bool goes_on(void)
{
    uint32_t before = sgc_time_now(h.word);

    for (int t = 0; t < THREADS; t++)
        if ((h.active & 1u << t) != 0)
            tick(t);
    return h.active == 0 || sgc_time_now(h.word) - before - 1 < 2;
}

/* Histories that begin a little before time's end; how many dates ended, and how many of them too early. */
static bool run(uint32_t later, long *ended, long *early)
{
    long different = 0, stuck = 0;

    *ended = *early = 0;
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        uint32_t start = 0 - (uint32_t)seed % 8;

        h = (struct history){ .random = seed, .later = later, .word = sgc_time_word(start, 0, 0), .now = start };
        for (int i = 0; i < STEPS; i++)
            step();
        stuck += !goes_on();
        different += h.different;
        *ended += h.ended;
        *early += h.early;
    }
    return different == 0 && stuck == 0;
}

static void check_histories(void)
{
    long ended, early, wrong;
    bool same = run(SGC_TIME_LATER, &ended, &early), goes_on_too = run(SGC_TIME_LATER - 1, &(long){ 0 }, &wrong);

    tap_ok(same, "the word is what the simulation has, and time goes on when all tick");
    tap_ok(ended > HISTORIES && early == 0, "none of %ld dates ends before all that were active throughout have ticked", ended);
    tap_ok(goes_on_too && wrong > 0, "one tick less would end %ld dates too early", wrong);
}

int main(void)
{
    tap_plan(10);
    return tap_all(check_joins, check_leaves, check_recounts, check_histories);
}
