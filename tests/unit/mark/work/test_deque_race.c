/* SPDX-License-Identifier: MIT */
/*
 * mark/work/deque.c with threads: each piece is done exactly once, whoever does it, and what its maker wrote
 * before is seen by whoever takes it.
 *
 * Two plays.  In the first every thread owns a deque, does pieces, makes new ones and steals; in the second one thread
 * owns a deque that it fills, shares, empties and resets over and over, and the others only steal.  Both for a
 * fixed time, in rounds.
 */
#include "mark/work/deque.h"

#include <string.h>

#include "platform/platform.h"
#include "tests/lib/random.h"
#include "tests/lib/threads.h"

enum { THREADS = 4, PIECES = 20000, KEY = 0x5A5A5 };

static const uint64_t PLAY_NS = 350 * UINT64_C(1000000);
static const uint64_t WAIT_SPIN_NS = 20 * UINT64_C(1000000000);

static struct sgc_deque deques[THREADS];
static uint32_t note[PIECES];           /* written before a piece is pushed, by whoever makes it: not atomic */
static sgc_a8_t times_done[PIECES];
static sgc_aw_t made, done, dropped, wrong, stolen, shared, late;
static sgc_a32_t over;                  /* the second play's owner is through */
static enum sgc_steal how;
static uint64_t deadline;
static size_t rounds;

/* Makes a piece; false if there were enough. */
static bool make(struct sgc_deque *d)
{
    size_t number = sgc_aw_add_relaxed(&made, 1);

    if (number >= PIECES)
        return false;
    note[number] = (uint32_t)number + 1;
    if (!sgc_deque_push(d, number * 8, number ^ KEY))
        sgc_aw_add_relaxed(&wrong, 1);
    return true;
}

static void do_piece(struct sgc_work work)
{
    size_t number = work.start / 8;

    if (number >= PIECES || work.bytes != (number ^ KEY) || note[number] != number + 1 ||
        sgc_a8_add(&times_done[number], 1) != 0)
        sgc_aw_add_relaxed(&wrong, 1);
    sgc_aw_add(&done, 1);
}

static bool is_late(void)
{
    if (sgc_clock_ns() < deadline)
        return false;
    sgc_aw_store(&late, 1);
    return true;
}

/* Tries each of the others once. */
static bool steal(size_t self, uint64_t *random)
{
    size_t from = random_word(random) % THREADS;

    for (size_t i = 0; i < THREADS; i++) {
        struct sgc_deque *victim = &deques[(from + i) % THREADS];
        size_t got;

        if (victim == &deques[self] || sgc_deque_seems_empty(victim))
            continue;
        got = sgc_deque_steal(victim, &deques[self], how);
        sgc_aw_add_relaxed(&stolen, got);
        if (got != 0)
            return true;
    }
    return false;
}

/* ---- all own, all steal ---- */

/* A piece makes none, one or two, so stacks run dry time and again; the first thread sees to it that it goes on. */
static void *play_team(void *arg)
{
    size_t self = (size_t)(uintptr_t)arg;
    uint64_t random = (self + 1) * UINT64_C(2654435761) + rounds;
    struct sgc_deque *d = &deques[self];
    struct sgc_work work;

    while (sgc_aw_load_acq(&done) < PIECES && !is_late()) {
        if (!sgc_deque_pop(d, &work)) {
            if (!steal(self, &random) && (self != 0 || !make(d)))
                sgc_yield();
            continue;
        }
        for (uint32_t n = random_below(&random, 3); n > 0 && make(d); n--)
            continue;
        do_piece(work);
        sgc_aw_add_relaxed(&shared, sgc_deque_share(d));
    }
    return NULL;
}

/* ---- one owns ---- */

static void pop_some(struct sgc_deque *d, size_t most)
{
    struct sgc_work work;

    while (most-- > 0 && sgc_deque_pop(d, &work))
        do_piece(work);
}

/* What a reset forgets is what has not been taken. */
static void drop(struct sgc_deque *d)
{
    struct sgc_work work;

    for (int i = 0; i < 3; i++)
        make(d);
    sgc_deque_share(d);
    for (int i = 0; i < 2; i++)
        if (sgc_deque_pop(d, &work))
            do_piece(work);
    sgc_deque_reset(d);
}

static void own(struct sgc_deque *d)
{
    uint64_t random = rounds * UINT64_C(2654435761) + 1;

    while (sgc_aw_load(&made) < PIECES) {
        for (uint32_t n = random_below(&random, 8); n > 0; n--)
            make(d);
        sgc_aw_add_relaxed(&shared, sgc_deque_share(d));
        pop_some(d, random_below(&random, 10));
        if (random % 64 == 0)
            drop(d);
    }
    pop_some(d, PIECES);
    sgc_a32_store_rel(&over, 1);
}

static void *play_thieves(void *arg)
{
    size_t self = (size_t)(uintptr_t)arg;
    struct sgc_work work;

    if (self == 0) {
        own(&deques[0]);
        return NULL;
    }
    do {
        if (sgc_deque_steal(&deques[0], &deques[self], how) == 0)
            sgc_spin_hint();
        while (sgc_deque_pop(&deques[self], &work)) {
            sgc_aw_add_relaxed(&stolen, 1);
            do_piece(work);
        }
    } while (sgc_a32_load_acq(&over) == 0 && !is_late());
    return NULL;
}

/* ---- rounds ---- */

static void begin_round(void)
{
    memset(times_done, 0, sizeof times_done);
    memset(note, 0, sizeof note);
    sgc_aw_store(&made, 0);
    sgc_aw_store(&done, 0);
    sgc_a32_store(&over, 0);
    deadline = sgc_clock_ns() + WAIT_SPIN_NS;
}

static void run_round(void *(*play)(void *))
{
    pthread_t thread[THREADS];

    begin_round();
    threads_start(thread, THREADS, play);
    threads_join(thread, THREADS);
    for (size_t i = 0; i < PIECES; i++)
        if (sgc_a8_load(&times_done[i]) == 0)
            sgc_aw_add_relaxed(&dropped, 1);
    for (size_t i = 0; i < THREADS; i++)
        if (!sgc_deque_empty(&deques[i]) || !sgc_deque_sound(&deques[i]))
            sgc_aw_add_relaxed(&wrong, 1);
    rounds++;
}

static void run(void *(*play)(void *), enum sgc_stack_form form)
{
    uint64_t until = sgc_clock_ns() + PLAY_NS;

    for (size_t i = 0; i < THREADS; i++)
        if (!sgc_deque_init(&deques[i], 16 << 20, form))
            tap_bail("no deque");
    for (rounds = 0; (rounds < 2 || sgc_clock_ns() < until) && sgc_aw_load(&late) == 0;) {
        how = rounds % 2 == 0 ? SGC_STEAL_HALF : SGC_STEAL_ONE;
        run_round(play);
    }
    for (size_t i = 0; i < THREADS; i++)
        sgc_deque_release(&deques[i]);
}

static uintptr_t taken(sgc_aw_t *counter)
{
    return sgc_aw_swap(counter, 0);
}

static void test_play(const char *name, void *(*play)(void *), enum sgc_stack_form form, bool may_drop)
{
    run(play, form);
    tap_ok(taken(&late) == 0, "%s: every piece of %zu rounds was done in time", name, rounds);
    tap_ok(taken(&wrong) == 0, "none was done twice, damaged or seen too early");
    uintptr_t lost = taken(&dropped);
    tap_ok(may_drop ? lost < rounds * PIECES / 16 : lost == 0, "none was lost (%lu by resets)", (unsigned long)lost);
    uintptr_t shares = taken(&shared), thefts = taken(&stolen);
    tap_ok(shares != 0 && thefts != 0, "%lu times pieces were shared, %lu stolen", (unsigned long)shares,
           (unsigned long)thefts);
}

int main(void)
{
    sgc_platform_init();
    test_play("split, a team", play_team, SGC_STACK_SPLIT, false);
    test_play("split, thieves", play_thieves, SGC_STACK_SPLIT, true);
    test_play("locked, a team", play_team, SGC_STACK_LOCKED, false);
    test_play("locked, thieves", play_thieves, SGC_STACK_LOCKED, true);
    return tap_done();
}
