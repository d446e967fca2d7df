/* SPDX-License-Identifier: MIT */
/*
 * shortterm/dates/count.c, shortterm/dates/count_rules.h: the two bytes that say how many dates an
 * object has.  Each order in which dates can be taken off, numbers that have no room, and threads
 * that take their dates off at once: exactly one has the object to itself.
 */
#include "shortterm/dates/count.h"
#include "tests/lib/random.h"
#include "tests/lib/threads.h"

/* ---- one thread, as if it were the owner or others ---- */

static void add(struct sgc_count *c, bool other)
{
    if (other)
        sgc_count_add_other(c);
    else
        sgc_count_add_own(c);
}

static bool stuck;

static bool take(struct sgc_count *c, bool other)
{
    return other ? sgc_count_take_other(c) : sgc_count_take_own(c, &stuck);
}

static bool is_zero(const struct sgc_count *c)
{
    return sgc_a8_load(&c->own) == 0 && sgc_a8_load(&c->others) == 0;
}

static void check_easy(void)
{
    struct sgc_count c = { 0 }, full = { .own = SGC_ATOMIC_INIT(SGC_COUNT_STUCK) };
    uint8_t own;

    add(&c, false);
    add(&c, false);
    add(&c, true);
    tap_ok(sgc_count_easy(&c, &own) && !sgc_count_take_easily(&c, own) && sgc_count_dates(&c) == 2,
           "the owner has more: easily taken");
    tap_ok(!sgc_count_easy(&c, &own) && !take(&c, true) && sgc_count_easy(&c, &own) && sgc_count_take_easily(&c, own) &&
           is_zero(&c), "its last one, when nobody else has any");
    tap_ok(!stuck && !sgc_count_easy(&full, &own) && !take(&full, false) && sgc_count_dates(&full) == SGC_COUNT_STUCK && stuck,
           "a number that has no room stays, and that is told");
}

static void check_both_sides(void)
{
    struct sgc_count c = { 0 };

    add(&c, false);
    add(&c, true);
    tap_ok(!take(&c, true) && sgc_a8_load(&c.others) == 0 && take(&c, false) && is_zero(&c), "the owner's last of both");
    add(&c, true);
    add(&c, false);
    tap_ok(!take(&c, false) && sgc_a8_load(&c.others) == (SGC_COUNT_ALONE | 1) && take(&c, true) && is_zero(&c),
           "the others are told that they are alone");
    add(&c, true);
    add(&c, false);
    take(&c, false);
    add(&c, false);
    tap_ok(sgc_a8_load(&c.others) == 1 && !take(&c, true) && take(&c, false) && is_zero(&c),
           "and that the owner is back");
}

/* Between two steps of a thread that takes off the last date of the others. */
static void check_looking(void)
{
    struct sgc_count c = { .others = SGC_ATOMIC_INIT(SGC_COUNT_LOOKING) };
    bool last;

    tap_ok(sgc_count_others_taken(1, 0, &last) == SGC_COUNT_LOOKING && !last && sgc_count_dates(&c) == 1,
           "whose owner seems to have none is looked at once more");
    tap_ok(sgc_count_others_taken(SGC_COUNT_LOOKING, 0, &last) == 0 && last &&
           sgc_count_others_taken(SGC_COUNT_LOOKING, 1, &last) == 0 && !last, "and then it is decided");
    add(&c, true);
    tap_ok(sgc_a8_load(&c.others) == 2, "a date of another thread comes in between");
    c = (struct sgc_count){ .others = SGC_ATOMIC_INIT(SGC_COUNT_LOOKING) };
    add(&c, false);
    tap_ok(sgc_a8_load(&c.others) == 1 && sgc_count_dates(&c) == 2, "or one of the owner");
    c = (struct sgc_count){ .own = SGC_ATOMIC_INIT(1), .others = SGC_ATOMIC_INIT(SGC_COUNT_LOOKING) };
    tap_ok(!take(&c, false) && sgc_a8_load(&c.others) == (SGC_COUNT_ALONE | 1), "or its last");
}

static void check_stuck(void)
{
    struct sgc_count c = { 0 };
    int last = 0;

    for (int i = 0; i < 400; i++)
        add(&c, i % 2 == 0);
    tap_ok(sgc_count_is_stuck(sgc_a8_load(&c.own)) && sgc_count_is_stuck(sgc_a8_load(&c.others)) &&
           sgc_count_dates(&c) == SGC_COUNT_STUCK, "both numbers end at 127");
    for (int i = 0; i < 400; i++)
        last += take(&c, i % 2 == 0);
    tap_ok(last == 0 && sgc_count_dates(&c) == SGC_COUNT_STUCK, "and of more the last is never taken off");
    c = (struct sgc_count){ 0 };
    for (int i = 0; i < SGC_COUNT_STUCK - 1; i++)
        add(&c, false);
    for (int i = 0; i < SGC_COUNT_STUCK - 1; i++)
        last += take(&c, false);
    tap_ok(last == 1 && is_zero(&c), "but of 126 it is");
}

static void check_freeable(void)
{
    struct sgc_count c = { .own = SGC_ATOMIC_INIT(SGC_COUNT_FREEABLE) };
    bool owners, others;

    add(&c, false);
    tap_ok(sgc_count_dates(&c) == 1, "that an object may be freed is no date");
    owners = take(&c, false);
    add(&c, true);
    others = take(&c, true);
    tap_ok(owners && others && sgc_a8_load(&c.own) == SGC_COUNT_FREEABLE, "stays, and changes nothing for either side");
}

/* A wrong program: nothing is written down below 0, which would make an object immortal. */
static void check_none(void)
{
    struct sgc_count c = { 0 };

    tap_ok(!take(&c, false) && !take(&c, true) && is_zero(&c), "dates that are not there are not taken off");
}

/* ---- many orders ---- */

enum { HISTORIES = 20000, STEPS = 40 };

/* Both sides at random, until all dates are gone: true if that was told by the last one, and by no other. */
static bool history(uint64_t *random)
{
    struct sgc_count c = { 0 };
    int dates[2] = { 0 }, wrong = 0;

    for (int step = 0; step < STEPS || dates[0] + dates[1] > 0; step++) {
        int side = (int)random_below(random, 2);

        if (step < STEPS && random_below(random, 2) == 0) {
            add(&c, side != 0);
            dates[side]++;
        } else if (dates[side] > 0) {
            dates[side]--;
            wrong += take(&c, side != 0) != (dates[0] + dates[1] == 0);
        }
        wrong += sgc_count_dates(&c) != dates[0] + dates[1];
    }
    return wrong == 0 && is_zero(&c);
}

static void check_histories(void)
{
    uint64_t random = 1;
    int right = 0;

    for (int i = 0; i < HISTORIES; i++)
        right += history(&random);
    tap_ok(right == HISTORIES, "the last of all dates is told, in whatever order both sides come (%d of %d)", right, HISTORIES);
}

/* ---- threads ---- */

enum { THREADS = 4, OBJECTS = 4096, ROUNDS = 60 };

static struct sgc_count count[OBJECTS];
static sgc_a32_t lasts[OBJECTS];
static pthread_barrier_t barrier;

/* Thread 0 is the owner of all.  Each has one to three dates of each object, and takes them off when all have theirs. */
static void *refresh_and_take(void *raw)
{
    bool other = (intptr_t)raw != 0;
    uint64_t random = (uint64_t)(intptr_t)raw + 7;

    for (int round = 0; round < ROUNDS; round++) {
        uint32_t from = random_below(&random, 64), times = 1 + random_below(&random, 3);

        for (size_t i = 0; i < OBJECTS * times; i++)
            add(&count[i % OBJECTS], other);
        pthread_barrier_wait(&barrier);
        for (size_t i = from; i < OBJECTS * times + from; i++)
            if (take(&count[i % OBJECTS], other))
                sgc_a32_add(&lasts[i % OBJECTS], 1);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void check_threads(void)
{
    pthread_t thread[THREADS];
    int wrong = 0;

    pthread_barrier_init(&barrier, NULL, THREADS);
    threads_start(thread, THREADS, refresh_and_take);
    threads_join(thread, THREADS);
    for (int i = 0; i < OBJECTS; i++)
        wrong += sgc_a32_load(&lasts[i]) != ROUNDS || !is_zero(&count[i]);
    tap_ok(wrong == 0, "of threads that take off their dates at once one has the object to itself (%d of %d wrong)", wrong,
           OBJECTS);
}

int main(void)
{
    tap_plan(19);
    return tap_all(check_easy, check_both_sides, check_looking, check_stuck, check_freeable, check_none, check_histories,
                   check_threads);
}
