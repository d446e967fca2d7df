/* SPDX-License-Identifier: MIT */
/*
 * Assistants: threads that mark for a short time beside a mark that goes on; see sgc_team_assist in
 * mark/team/team.h.
 *
 * Each takes a spare marker and is a marker like others while it is inside.  It does not stay until
 * all is finished: when its time is over it leaves what it has on the spare marker's stack.  That
 * marker goes on being busy, so that nobody takes the mark for finished; thieves steal from it; and
 * the next who has nothing to do, a marker or another assistant, takes the rest.  Marker 0 at least
 * is always there to do that.
 */
#include "mark/team/team.h"

#include "mark/marker.h"
#include "platform/nodes/placement.h"
#include "platform/platform.h"

static bool change(struct sgc_spare *spare, uint32_t from, uint32_t to)
{
    return sgc_a32_load(&spare->state) == from && sgc_a32_cas(&spare->state, from, to);
}

/* ---- markers without work ---- */

bool sgc_team_spare_left(const struct sgc_team *team)
{
    bool any = false;

    sgc_assert(team->several && team->spares <= SGC_TEAM_SPARES);
    for (uint32_t i = 0; i < team->spares && !any; i++)
        any = sgc_a32_load(&team->spare[i].state) == SGC_SPARE_LEFT;
    return any;
}

/* The marker has become busy before; the spare one becomes idle when its stack has been found
 * empty. */
bool sgc_team_take_left(struct sgc_team *team, struct sgc_marker *m)
{
    sgc_assert(sgc_team_has(team, m));
    for (uint32_t i = 0; i < team->spares; i++) {
        struct sgc_spare *spare = &team->spare[i];

        if (spare->marker == m || !change(spare, SGC_SPARE_LEFT, SGC_SPARE_HELD))
            continue;
        sgc_aw_add_relaxed(&team->assisted, -spare->marker->bytes);
        sgc_marker_take_over(m, spare->marker);
        sgc_termination_idle(&team->termination, spare->marker->index);
        sgc_a32_store_rel(&spare->state, SGC_SPARE_FREE);
        return true;
    }
    return false;
}

/* ---- an assistant ---- */

/* One with work is better than one without.  NULL: none is to be had. */
static struct sgc_spare *hold_one(struct sgc_team *team, bool *has_work)
{
    sgc_assert(team->several && team->spares <= SGC_TEAM_SPARES);
    for (uint32_t i = 0; i < team->spares; i++)
        if ((*has_work = change(&team->spare[i], SGC_SPARE_LEFT, SGC_SPARE_HELD)))
            return &team->spare[i];
    for (uint32_t i = 0; i < team->spares; i++)
        if (change(&team->spare[i], SGC_SPARE_FREE, SGC_SPARE_HELD))
            return &team->spare[i];
    return NULL;
}

/* An idle one asks once more whether that was the last of the work, since nobody else may. */
static void release_one(struct sgc_team *team, struct sgc_spare *spare, bool has_work)
{
    struct sgc_marker *m = spare->marker;

    sgc_assert(has_work || sgc_marker_idle(m));
    if (!has_work)
        sgc_team_all_finished(team, m);
    m->inside = false;
    sgc_a32_store_rel(&spare->state, has_work ? SGC_SPARE_LEFT : SGC_SPARE_FREE);
    if (has_work)
        sgc_idle_wake(&team->idle, 1);
}

/* Of a busy marker: does what it has, and what it finds, until its time is over or it is told to
 * leave.  True if it leaves something. */
static bool mark_until(struct sgc_team *team, struct sgc_marker *m, uint64_t until_ns)
{
    do {
        if (!sgc_mark_drain(m) && !sgc_marker_idle(m))
            return true;
        sgc_termination_idle(&team->termination, m->index);
    } while (sgc_clock_ns() < until_ns && sgc_team_try_work(team, m));
    return false;
}

static bool assist(struct sgc_team *team, uint64_t until_ns)
{
    bool has_work = false, worked;
    struct sgc_spare *spare = hold_one(team, &has_work);
    size_t before;

    if (spare == NULL)
        return false;
    before = spare->marker->bytes;
    spare->marker->inside = true;
    sgc_a32_store(&spare->marker->node, (uint32_t)sgc_node_here());
    spare->marker->until_ns = until_ns != 0 ? until_ns : 1;
    sgc_stay_begin(team, spare->marker);
    worked = has_work || sgc_team_try_work(team, spare->marker);
    has_work = worked && mark_until(team, spare->marker, until_ns);
    sgc_stay_end(team, spare->marker);
    sgc_aw_add_relaxed(&team->assisted, spare->marker->bytes - before);
    release_one(team, spare, has_work);
    return worked;
}

/* False: the program does not run beside the mark, or marker 0 marks alone; then that is told. */
static bool enter(struct sgc_team *team)
{
    uint32_t state = sgc_a32_load(&team->state);

    while ((state & SGC_TEAM_OPEN_BRIEFLY) != 0) {
        if (sgc_a32_cas(&team->state, state, state + SGC_TEAM_ASSISTANT))
            return true;
        state = sgc_a32_load(&team->state);
    }
    if (sgc_a32_load(&team->wanted) == 0)
        sgc_a32_store(&team->wanted, 1);
    return false;
}

static void leave(struct sgc_team *team)
{
    sgc_assert(sgc_a32_load(&team->state) % SGC_TEAM_OPEN_BRIEFLY >= SGC_TEAM_ASSISTANT);
    sgc_a32_add(&team->state, (uint32_t)-SGC_TEAM_ASSISTANT);
}

bool sgc_team_assist(struct sgc_team *team, uint64_t until_ns)
{
    bool worked;

    if (!enter(team))
        return false;
    worked = assist(team, until_ns);
    leave(team);
    return worked;
}
