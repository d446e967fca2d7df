/* SPDX-License-Identifier: MIT */
/*
 * A mark beside the program, see mark/team/team.h; and the answers to what markers ask of their
 * team, in this mark and in others.
 *
 * A marker comes out of its loop when it is told to, and its work is on its stack then: the objects
 * that waited in a batch were put back.  Where there was no room its page is flagged, as when a
 * mark's stack overflows.  How long it takes to come out is how long a piece of work takes; so
 * pieces are split here even if a stopped mark has them whole.
 *
 * Others than marker 0 are in the team only while sgc_team_go_on runs.  Marker 0 begins it alone,
 * with plain marks, and opens the team when there is more to do than a few microseconds' work.
 * Before it returns it closes the team, waits until all are out, and takes over whatever lies on
 * their stacks.
 */
#include "mark/team/team.h"

#include "mark/marker.h"
#include "platform/platform.h"

enum {
    SPLIT_MAX = 32 << 10,       /* bytes of a piece of a large object: some microseconds */
    CALL_AFTER = 16,            /* breaks of marker 0 after which it calls helpers although they
                                 * were not expected */
};

/* Does any piece on the stack name roots?  The whole stack is looked at. */
__attribute__((unused))        /* without assertions */
static bool holds_roots(const struct sgc_deque *d)
{
    const struct sgc_deque_entry *end = sgc_deque_end(d), *place = end - sgc_deque_private(d);
    bool any = false;

    for (; place != end && !any; place++) {
        uintptr_t start = sgc_aw_load(&place->start);

        any = (start & SGC_WORK_KINDS) != SGC_WORK_PAGES && !sgc_heap_contains(start);
    }
    return any;
}

__attribute__((unused))        /* without assertions */
static bool is_concurrent(const struct sgc_team *team)
{
    return sgc_team_ok(team) && sgc_team_is_concurrent(team) && sgc_marker_marks(team->marker[0]);
}

struct sgc_marker *sgc_team_begin_concurrent(struct sgc_team *team)
{
    struct sgc_marker *m = sgc_team_first(team);

    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0 && !sgc_team_is_concurrent(team));
    team->markers = 1;
    team->called = team->rescanning = false;
    team->source = NULL;
    sgc_a32_store(&team->wanted, 0);
    sgc_aw_store(&team->assisted, 0);
    team->split_bytes = m->split_bytes;
    sgc_marker_begin(m);
    m->how = SGC_MARKBIT_PLAIN;
    m->mode = (struct sgc_mark_mode){ SGC_MARK_PAUSED, true };
    if (m->split_bytes == 0 || m->split_bytes > SPLIT_MAX)
        m->split_bytes = SPLIT_MAX;
    return m;
}

void sgc_team_program_runs(struct sgc_team *team)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team) && m->mode.program == SGC_MARK_PAUSED && !holds_roots(&m->stack));
    m->mode.program = SGC_MARK_CONCURRENT;
}

void sgc_team_program_stopped(struct sgc_team *team)
{
    sgc_assert(is_concurrent(team) && team->marker[0]->mode.program == SGC_MARK_CONCURRENT);
    team->marker[0]->mode.program = SGC_MARK_PAUSED;
    sgc_marker_renew(team->marker[0]);
}

/* ---- going on ---- */

static uint32_t concurrent_helpers(const struct sgc_team *team)
{
    uint32_t markers = team->config.concurrent_markers < team->made ? team->config.concurrent_markers : team->made;

    return markers > 1 ? markers - 1 : 0;
}

/* Everybody's markers are as marker 0 then, whose marks are plain no more. */
static void open_up(struct sgc_team *team)
{
    struct sgc_marker *first = team->marker[0];

    sgc_assert(team->several && !team->called && first->how == SGC_MARKBIT_PLAIN);
    first->how = team->config.markbit;
    for (uint32_t i = 1; i < team->markers; i++)
        sgc_marker_join(team->marker[i], first);
    for (uint32_t i = 0; i < team->spares; i++)
        sgc_marker_join(team->spare[i].marker, first);
    sgc_team_open_concurrent(team, concurrent_helpers(team));
}

static void take_over(struct sgc_team *team, struct sgc_marker *from)
{
    sgc_assert(from->team == team && !from->inside);
    sgc_marker_take_over(team->marker[0], from);
    from->mode.program = SGC_MARK_STOPPED;
    from->split_bytes = team->split_bytes;
}

/* When it is alone again marker 0 has everything. */
static void shut(struct sgc_team *team)
{
    sgc_team_close(team);
    team->called = false;
    for (uint32_t i = 1; i < team->markers; i++)
        take_over(team, team->marker[i]);
    for (uint32_t i = 0; i < team->spares; i++) {
        take_over(team, team->spare[i].marker);
        sgc_a32_store(&team->spare[i].state, SGC_SPARE_FREE);
    }
    sgc_aw_store(&team->assisted, 0);
    team->marker[0]->how = SGC_MARKBIT_PLAIN;
}

static bool go_on_with_others(struct sgc_team *team)
{
    sgc_assert(!team->several && !team->called);
    team->several = true;
    team->markers = concurrent_helpers(team) != 0 ? team->made : 1;
    sgc_team_begin_round(team);
    sgc_stay_begin(team, team->marker[0]);
    sgc_team_work(team, team->marker[0]);
    sgc_stay_end(team, team->marker[0]);
    if (team->called)
        shut(team);
    team->markers = 1;
    team->several = false;
    sgc_assert(!sgc_termination_complete(&team->termination) || sgc_marker_idle(team->marker[0]));
    return sgc_termination_complete(&team->termination);
}

bool sgc_team_go_on(struct sgc_team *team, bool (*stop)(void *arg), void *arg)
{
    struct sgc_marker *first = team->marker[0];
    bool done;

    sgc_assert(is_concurrent(team) && !team->several);
    team->interruption = (struct sgc_interruption){ stop, arg };
    if (first->mode.program == SGC_MARK_CONCURRENT && team->config.balance &&
        (concurrent_helpers(team) != 0 || team->spares != 0))
        return go_on_with_others(team);
    sgc_stay_begin(team, first);
    done = sgc_mark_drain(first);
    sgc_stay_end(team, first);
    return done;
}

size_t sgc_team_marked(const struct sgc_team *team)
{
    return team->marker[0]->bytes + sgc_aw_load(&team->assisted);
}

void sgc_team_nudge(struct sgc_team *team)
{
    sgc_idle_wake_all(&team->idle);
}

/* ---- in stops ---- */

/* Ends: a page is flagged for want of room only when an object of it was marked for the first
 * time. */
bool sgc_team_go_on_flagged(struct sgc_team *team, bool (*stop)(void *arg), void *arg)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team) && m->mode.program == SGC_MARK_PAUSED);
    if (!sgc_team_go_on(team, stop, arg))
        return false;
    do {
        m->overflowed = false;
        for (uint32_t a = 0; a < sgc_marker_arenas(m); a++)
            if (!sgc_pages_rescan_paused(m, a))
                return false;
    } while (m->overflowed);
    return true;
}

void sgc_team_concurrent_end(struct sgc_team *team)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team));
    m->split_bytes = team->split_bytes;
    m->mode.program = SGC_MARK_STOPPED;
}

/* Objects that lie on a stack may lie on a written page, too, and be pushed twice. */
void sgc_team_finish_begin(struct sgc_team *team, uint32_t want)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team) && m->mode.program == SGC_MARK_PAUSED);
    sgc_team_concurrent_end(team);
    sgc_marker_renew(m);
    m->overflowed = sgc_pages_flagged();
    m->interrupted = false;
    team->markers = team->made;
    team->next_root = 0;
    for (uint32_t i = 1; i < team->markers; i++) {
        sgc_marker_begin(team->marker[i]);
        team->marker[i]->mode.since_run = true;
    }
    sgc_team_mark_again(team);
    sgc_team_begin_round(team);
    sgc_team_call(team, want);
}

/* ---- for markers ---- */

static bool has(const struct sgc_marker *m)
{
    return sgc_team_has(m->team, m);
}

/* Marker 0 asks whether to stop; the others are told by the termination. */
static bool pause_concurrent(struct sgc_marker *m)
{
    struct sgc_team *team = m->team;
    const struct sgc_interruption *i = &team->interruption;

    sgc_assert(!team->called || m->how != SGC_MARKBIT_PLAIN);
    if (!team->several)
        return i->stop == NULL || !i->stop(i->arg);
    if (m->index == 0)
        sgc_team_ask_to_stop(team);
    if (sgc_termination_finished(&team->termination))
        return false;
    if (m->index == 0 && !team->called && (concurrent_helpers(team) != 0 || sgc_a32_load(&team->wanted) != 0))
        open_up(team);
    return m->until_ns == 0 || sgc_clock_ns() < m->until_ns;
}

static bool pause_marker(struct sgc_marker *m)
{
    struct sgc_team *team = m->team;

    sgc_assert(sgc_team_ok(team) && sgc_team_has(team, m));
    if (m->mode.program != SGC_MARK_STOPPED)
        return pause_concurrent(m);
    if (m->index == 0)
        sgc_team_ask_to_stop(team);
    if (m->index == 0 && !team->called && team->markers > 1 && ++m->breaks == CALL_AFTER)
        sgc_team_open(team, team->markers - 1);
    return !sgc_termination_abandoned(&team->termination);
}

static bool wants_roots(const struct sgc_marker *m, size_t bytes)
{
    const struct sgc_team *team = m->team;

    sgc_assert(sgc_team_ok(team) && sgc_team_has(team, m));
    return team->markers > 1 && (!team->config.balance || (m->split_bytes != 0 && bytes > m->split_bytes));
}

static bool give_roots(struct sgc_marker *m, uintptr_t start, size_t bytes)
{
    struct sgc_team *team = m->team;
    struct sgc_marker *to = m;

    sgc_assert(sgc_team_has(team, m));
    sgc_assert(m->mode.program == SGC_MARK_STOPPED || (start & SGC_WORK_KINDS) == SGC_WORK_PAGES);
    if (!team->config.balance)
        to = team->marker[team->next_root++ % team->markers];
    return sgc_deque_push(&to->stack, start, bytes);
}

const struct sgc_team_answers sgc_team_answers = {
    .has = has, .pause = pause_marker, .wants_roots = wants_roots, .give_roots = give_roots,
};
