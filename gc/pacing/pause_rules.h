/* SPDX-License-Identifier: MIT */
/*
 * When a concurrent cycle stops the program for the last time: pure functions, so that tests and
 * simulators can use them.
 *
 * A stop takes a fixed time, for the threads and their roots, and some for each OS page that was
 * written since it was last looked at.  A round looks at written pages beside the program; the next
 * one finds those that were written during it.
 */
#ifndef SGC_GC_PACING_PAUSE_RULES_H
#define SGC_GC_PACING_PAUSE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SGC_ROUNDS_MAX = 8,         /* of looking at written pages before an attempt */
    SGC_ROUND_GAIN = 70,        /* percent of the pages of the round before; with more, rounds do
                                   not help */
    SGC_ASSIST_SLACK = 16,      /* the part of the room that is allocated without looking at the
                                   mark */
    SGC_MARK_PART = 70,         /* percent of the room within which all is to be marked once */
    SGC_ATTEMPTS_MAX = 3,       /* stops that keep to the target, unless the program says how
                                   many */
};

struct sgc_pause_costs {
    uint64_t target_ns;         /* of a stop */
    uint64_t fixed_ns;          /* of a stop that finds no page written */
    uint64_t page_ns;           /* for each that was */
    unsigned attempts;          /* that keep to the target; then one takes as long as it needs */
};

static inline uint64_t sgc_pause_expected(const struct sgc_pause_costs *c, size_t pages)
{
    return c->fixed_ns + pages * c->page_ns;
}

/* Is another round worth while, after `rounds` of which the last found so many pages and the one
 * before so many? */
static inline bool sgc_pause_round_pays(const struct sgc_pause_costs *c, unsigned rounds, size_t last, size_t before)
{
    if (rounds == 0)
        return true;
    if (rounds >= SGC_ROUNDS_MAX || sgc_pause_expected(c, last) <= c->target_ns)
        return false;
    return rounds == 1 || last < before / 100 * SGC_ROUND_GAIN;
}

/* How long the attempt after so many may take; UINT64_MAX: as long as it needs. */
static inline uint64_t sgc_pause_allowed(const struct sgc_pause_costs *c, unsigned attempts)
{
    return attempts < c->attempts ? c->target_ns : UINT64_MAX;
}

/* The program has allocated so many bytes of the `room` there is until a cycle has to be over, and
 * of about `expected` bytes so many are marked: is the mark behind?  It has a part of the room; the
 * rest is for the rounds. */
static inline bool sgc_pause_behind(size_t allocated, size_t room, size_t marked, size_t expected)
{
    size_t slack = room / SGC_ASSIST_SLACK, part = room / 100 * SGC_MARK_PART;

    if (allocated <= slack || marked >= expected)
        return false;
    return (unsigned __int128)(allocated - slack) * expected > (unsigned __int128)marked * part;
}

/* Is the cycle behind when all is marked and so many rounds have begun?  Each round may take half
 * of the room that the one before left. */
static inline bool sgc_pause_round_behind(size_t allocated, size_t room, unsigned rounds)
{
    size_t rest = room / 100 * (100 - SGC_MARK_PART);

    return allocated > room - (rounds < 64 ? rest >> rounds : 0);
}

/* Half of the way to a sample: one slow stop is no rule. */
static inline uint64_t sgc_pause_learn(uint64_t value, uint64_t sample)
{
    return value / 2 + sample / 2;
}

#endif
