/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/concurrent_pace.c and its rules: who has to help a mark, what is counted; and a program that is simulated beside a
 * mark, which has to be over before its memory is used up.
 */
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/pacing_rules.h"
#include "gc/pacing/pause_rules.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

#define MB ((size_t)1 << 20)

static uint64_t state = 1;

static bool is_on(void)
{
    return sgc_concurrent_pace_is(0) != SGC_PACE_OFF;
}

static bool is_behind(size_t allocated)
{
    return sgc_concurrent_pace_is(allocated) >= SGC_PACE_BEHIND;
}

static bool is_overdue(size_t allocated)
{
    return sgc_concurrent_pace_is(allocated) == SGC_PACE_OVERDUE;
}

/* ---- the rules ---- */

enum { CASES = 20000 };

/* Who has allocated more, or for whom less is marked, is behind, too. */
static bool is_monotonic(void)
{
    for (int i = 0; i < CASES; i++) {
        size_t room = 1 + random_word(&state) % (1000 * MB), expected = 1 + random_word(&state) % (1000 * MB);
        size_t allocated = random_word(&state) % (2 * room), marked = random_word(&state) % (2 * expected);
        size_t more = allocated + random_word(&state) % room, less = marked / (1 + random_word(&state) % 4);

        if (sgc_pause_behind(allocated, room, marked, expected) && !sgc_pause_behind(more, room, less, expected))
            return false;
    }
    return true;
}

/* Whoever is not behind while less than all is marked has the rounds' part of the room left, but for the slack. */
static bool leaves_room(void)
{
    for (int i = 0; i < CASES; i++) {
        size_t room = 1000 + random_word(&state) % (1000 * MB), expected = 1 + random_word(&state) % (1000 * MB);
        size_t allocated = random_word(&state) % (2 * room), marked = random_word(&state) % expected;

        if (!sgc_pause_behind(allocated, room, marked, expected) &&
            allocated > room / 100 * SGC_MARK_PART + room / SGC_ASSIST_SLACK + 1)
            return false;
    }
    return true;
}

static bool rounds_get_less(void)
{
    size_t room = 1000 * MB, before = room / 100 * SGC_MARK_PART;

    for (unsigned round = 1; round < 100; round++) {
        if (sgc_pause_round_behind(before, room, round) || !sgc_pause_round_behind(room + 1, room, round))
            return false;
        before = room - (room / 100 * (100 - SGC_MARK_PART) >> (round < 64 ? round : 63));
    }
    return true;
}

/* ---- a simulated program ---- */

struct program {
    size_t live, from, room, survives;  /* it allocates, of which `survives` percent is found by the mark */
    size_t allocates, marks;            /* bytes in a fifth of a millisecond each */
};

/* What it has allocated when all is marked. */
static size_t run(const struct program *p, size_t expected, unsigned *assists)
{
    struct sgc_concurrent_pace_plan plan = { p->from, p->room, p->live, expected, 0, false };
    size_t allocated = 0, marked = 0;

    *assists = 0;
    sgc_concurrent_pace_begin(&plan);
    while (marked < p->live + (p->from + allocated) / 100 * p->survives) {
        marked += p->marks;
        sgc_concurrent_pace_marked(marked);
        for (size_t now = 0; now < p->allocates; now += p->room / 1024) {
            if (is_behind(p->from + allocated)) {
                ++*assists;
                break;
            }
            allocated += p->room / 1024;
        }
    }
    sgc_concurrent_pace_end();
    return allocated;
}

static void check_program(const struct program *p, size_t expected, bool helps, const char *what)
{
    unsigned assists;
    size_t allocated = run(p, expected, &assists);

    tap_ok(allocated <= p->room / 100 * SGC_MARK_PART + p->room / SGC_ASSIST_SLACK + p->allocates && (assists != 0) == helps,
           "%s: the mark leaves room (%zu of %zu MB allocated, %u assists)", what, allocated / MB, p->room / MB, assists);
}

static void check_programs(void)
{
    struct program slow = { 128 * MB, 0, 90 * MB, 0, MB / 50, MB / 3 };
    struct program fast = { 128 * MB, 0, 90 * MB, 0, MB / 2, MB / 3 };
    struct program grows = { 128 * MB, 40 * MB, 90 * MB, 90, MB / 4, MB / 2 };

    check_program(&slow, slow.live, false, "a program that allocates little");
    check_program(&fast, fast.live, true, "one that allocates faster than can be marked");
    check_program(&fast, fast.live / 2, true, "one whose live bytes were underestimated");
    check_program(&grows, grows.live, true, "one that keeps what it makes");
}

/* ---- what is counted ---- */

static void check_states(void)
{
    struct sgc_concurrent_pace_plan plan = { 10 * MB, 50 * MB, 100 * MB, 100 * MB, 1000000, false };

    tap_ok(!is_on() && !is_behind(SIZE_MAX) && !is_overdue(SIZE_MAX),
           "without a mark nobody waits");
    sgc_concurrent_pace_begin(&plan);
    tap_ok(is_on() && !is_behind(10 * MB) && is_behind(20 * MB),
           "what is allocated since then counts");
    tap_ok(!is_overdue(59 * MB) && is_overdue(60 * MB), "and the room");
    tap_ok(!is_behind(5 * MB), "less than at the beginning, after frees, is nothing");
    sgc_concurrent_pace_round(1);
    tap_ok(!is_behind(20 * MB) && is_behind(58 * MB), "in a round half of the rest counts");
    sgc_concurrent_pace_end();
}

/* The program cannot be stopped for the end, and then it can; and a thread is not to end the cycle by a stop yet. */
static void check_no_end(void)
{
    struct sgc_concurrent_pace_plan plan = { 10 * MB, 50 * MB, 100 * MB, 100 * MB, 1000000, false };
    size_t hopeless = 10 * MB + (SGC_PACE_ROOMS + 1) * 50 * MB;

    sgc_concurrent_pace_begin(&plan);
    sgc_concurrent_pace_room_from(SGC_PACE_NEVER);
    tap_ok(is_on() && !is_behind(hopeless), "while the end fails nobody waits");
    sgc_concurrent_pace_room_from(0);
    tap_ok(is_behind(20 * MB) && !is_overdue(59 * MB) && is_overdue(60 * MB), "when it works the room is as before");
    for (size_t n = 0; n < 100; n++, hopeless += (SGC_PACE_ROOMS + 1) * 50 * MB) {
        if (is_behind(hopeless) && (is_overdue(hopeless) || !is_overdue(hopeless - 1)))
            break;
        sgc_concurrent_pace_room_from(hopeless);
    }
    tap_ok(hopeless == 10 * MB + 101 * (SGC_PACE_ROOMS + 1) * 50 * MB,
           "who is not to end it now is asked again as many rooms later, each time");
    sgc_concurrent_pace_end();
    sgc_concurrent_pace_room_from(100 * MB);
    tap_ok(!is_on(), "without a mark there is no room");
}

/* A byte allocated asks for two marked ones, and there is no slack. */
static void check_endo(void)
{
    struct sgc_concurrent_pace_plan plan = { 10 * MB, 50 * MB, 100 * MB, 100 * MB, 1000000, true };

    sgc_concurrent_pace_begin(&plan);
    sgc_concurrent_pace_marked(20 * MB);
    tap_ok(!is_behind(20 * MB) && is_behind(20 * MB + 1), "[Endo]'s pace");
    sgc_concurrent_pace_round(1);
    tap_ok(!is_behind(59 * MB) && is_overdue(60 * MB),
           "and when all is marked only the end counts");
    sgc_concurrent_pace_end();
}

static void check_waits(void)
{
    struct sgc_cycle_record record;
    const struct sgc_waits *a = &record.concurrent.waits[SGC_ASSIST], *s = &record.concurrent.waits[SGC_STALL];

    sgc_concurrent_pace_waited(SGC_ASSIST, 200, 250);
    sgc_concurrent_pace_waited(SGC_ASSIST, 300, 260);
    sgc_concurrent_pace_waited(SGC_STALL, 7000, 7000);
    sgc_cycle_begin(&record, 1, SGC_REASON_ALLOCATION);
    sgc_concurrent_pace_fill(&record);
    tap_ok(a->times == 2 && a->ns == 500 && a->longest_ns == 300, "assists are counted");
    tap_ok(a->worth_ns == 510 && a->over_ns == 40, "with what they were worth, and by how much one was longer");
    tap_ok(s->times == 1 && s->ns == 7000 && s->longest_ns == 7000 && s->over_ns == 0, "and stalls");
    sgc_concurrent_pace_fill(&record);
    tap_ok(a->times == 0 && a->longest_ns == 0 && a->worth_ns == 0 && a->over_ns == 0 && s->ns == 0, "for one cycle each");
}

int main(void)
{
    tap_plan(22);
    tap_ok(is_monotonic(), "who has allocated more is not less behind");
    tap_ok(leaves_room(), "who is not behind leaves room for rounds");
    tap_ok(rounds_get_less(), "each round may use a part of the room");
    return tap_all(check_programs, check_states, check_no_end, check_endo, check_waits);
}
