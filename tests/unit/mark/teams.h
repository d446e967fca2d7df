/* SPDX-License-Identifier: MIT */
/*
 * What tests of teams of markers share: helpers, which never end; the beginning of a mark beside the
 * program; and what a team has marked.
 */
#ifndef TESTS_UNIT_MARK_TEAMS_H
#define TESTS_UNIT_MARK_TEAMS_H

#include "tests/lib/random_graph.h"
#include "tests/lib/sanitized.h"

static void *serve(void *raw)
{
    const struct sgc_marker *m = raw;

    sgc_team_serve(m->team, m->index);
    return NULL;
}

/* The marker of a helper that has not started. */
static struct sgc_marker *make_helper(struct sgc_team *team)
{
    uint32_t number = sgc_team_add(team);

    if (number == 0 || !sgc_team_make(team, number, SGC_NO_CORE, false))
        tap_bail("no marker");
    return team->marker[number];
}

static void start_helper(struct sgc_team *team)
{
    thread_start(serve, make_helper(team));
}

static void start_team(struct sgc_team *team, const struct sgc_team_config *config, int helpers)
{
    if (!sgc_team_init(team, config))
        tap_bail("no team");
    for (; helpers > 0; helpers--)
        start_helper(team);
}

TEST_UNUSED static void push_roots(struct sgc_team *team, const void *words, size_t count)
{
    sgc_mark_roots(sgc_team_first(team), words, (const char *)words + count * sizeof(uintptr_t));
    sgc_mark_uncollectable(sgc_team_first(team));
}

TEST_UNUSED static void begin(struct sgc_team *team, const void *words, size_t count)
{
    heap_retire();
    sgc_clear_finish();
    sgc_team_begin_concurrent(team);
    push_roots(team, words, count);
}

static struct sgc_team_totals totals_of(const struct sgc_team *team)
{
    struct sgc_team_totals totals;

    sgc_team_totals(team, &totals);
    return totals;
}

/* Of a graph's nodes. */
static int wrong_marks(const struct sgc_team *team)
{
    struct sgc_team_totals totals = totals_of(team);

    return differences(totals.objects, totals.bytes, totals.pointer_free);
}

/* The mark is given up, and its marks are forgotten. */
TEST_UNUSED static void drop_mark(struct sgc_team *team)
{
    sgc_team_abandon(team);
    sgc_team_check(team);
    heap_unmark();
}

/* ---- stopping ---- */

struct stops {
    const struct sgc_team *team;
    int every;                  /* yes each so many times that it is asked; 0: never */
    bool others;                /* yes when somebody else is inside */
    int asked, said;
};

TEST_UNUSED static bool stop(void *raw)
{
    struct stops *s = raw;
    bool yes = s->others ? (sgc_a32_load(&s->team->state) & ~(UINT32_C(3) << 30)) != 0
                         : s->every != 0 && (s->asked + 1) % s->every == 0;

    s->asked++;
    s->said += yes;
    return yes;
}

#endif
