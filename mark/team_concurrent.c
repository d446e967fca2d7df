/* SPDX-License-Identifier: MIT */
/*
 * A mark beside the program: see mark/team.h.
 *
 * Marker 0 comes out of its loop when it is told to and finds its work on its stack when it goes on: what waited in a batch
 * was put back.  Where there was no room its page is flagged, as when a mark's stack overflows.  How long it takes to come out
 * is how long a piece of work takes; so pieces are split here even if a stopped mark has them whole.
 */
#include "mark/team.h"

#include "mark/drain.h"

enum { SPLIT_MOST = 32 << 10 };         /* bytes of a piece of a large object: some microseconds */

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
    return sgc_team_ok(team) && team->concurrent && sgc_marker_marks(team->marker[0]);
}

void sgc_team_begin_concurrent(struct sgc_team *team)
{
    struct sgc_marker *m = sgc_team_first(team);

    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0 && !team->concurrent);
    team->markers = 1;
    team->called = team->rescanning = team->again = false;
    team->source = NULL;
    team->concurrent = true;
    team->split_bytes = m->split_bytes;
    sgc_marker_begin(m);
    m->how = SGC_MARKBIT_PLAIN;
    m->when = SGC_MARK_PAUSED;
    m->concurrent = true;
    if (m->split_bytes == 0 || m->split_bytes > SPLIT_MOST)
        m->split_bytes = SPLIT_MOST;
}

void sgc_team_program_runs(struct sgc_team *team)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team) && m->when == SGC_MARK_PAUSED && !holds_roots(&m->stack));
    m->when = SGC_MARK_BESIDE;
}

void sgc_team_program_stopped(struct sgc_team *team)
{
    sgc_assert(is_concurrent(team) && team->marker[0]->when == SGC_MARK_BESIDE);
    team->marker[0]->when = SGC_MARK_PAUSED;
}

bool sgc_team_go_on(struct sgc_team *team, bool (*stop)(void *arg), void *arg)
{
    sgc_assert(is_concurrent(team));
    team->interruption = (struct sgc_interruption){ stop, arg };
    return sgc_mark_drain(team->marker[0]);
}

/* Ends: a page is flagged for want of room only when an object of it was marked for the first time. */
bool sgc_team_go_on_flagged(struct sgc_team *team, bool (*stop)(void *arg), void *arg)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team) && m->when == SGC_MARK_PAUSED);
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

void sgc_team_renew(struct sgc_team *team)
{
    sgc_assert(is_concurrent(team));
    sgc_marker_renew(team->marker[0]);
}

void sgc_team_concurrent_end(struct sgc_team *team)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team));
    team->concurrent = false;
    m->split_bytes = team->split_bytes;
    m->when = SGC_MARK_STOPPED;
}

/* Objects that lie on a stack may lie on a written page, too, and be pushed twice: hence `again`. */
void sgc_team_finish_begin(struct sgc_team *team)
{
    struct sgc_marker *m = team->marker[0];

    sgc_assert(is_concurrent(team) && m->when == SGC_MARK_PAUSED);
    sgc_team_concurrent_end(team);
    sgc_marker_renew(m);
    m->overflowed = sgc_pages_flagged();
    m->interrupted = false;
    team->markers = team->made;
    team->again = true;
    team->next_root = 0;
    for (uint32_t i = 1; i < team->markers; i++) {
        sgc_marker_begin(team->marker[i]);
        team->marker[i]->concurrent = true;
    }
    sgc_team_begin_round(team);
}
