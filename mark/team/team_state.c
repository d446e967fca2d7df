/* SPDX-License-Identifier: MIT */
/* See mark/team/team_state.h. */
#include "mark/team/team_state.h"

#include <limits.h>

#include "platform/nodes/placement.h"
#include "platform/platform.h"

enum { SPINS_UNTIL_YIELD = 1000 };

/* ---- coming in and going out: helpers ---- */

void sgc_team_keep_off(struct sgc_team *team, uint32_t core)
{
    sgc_a32_store(&team->off, core);
}

static bool keeps_off(const struct sgc_team *team, const struct sgc_marker *m)
{
    uint32_t core = sgc_a32_load(&team->off);

    return core != SGC_NO_CORE && (m->beyond || m->core == core);
}

bool sgc_team_enter(struct sgc_team *team, struct sgc_marker *m)
{
    uint32_t state = sgc_a32_load_acq(&team->state);

    sgc_assert(m->team == team && m->index != 0 && !m->inside);
    while ((state & SGC_TEAM_OPEN) != 0 && (state & SGC_TEAM_HELPERS) < sgc_a32_load(&team->places) && !keeps_off(team, m)) {
        if (sgc_a32_cas(&team->state, state, state + 1)) {
            m->inside = true;
            sgc_a32_store(&m->node, (uint32_t)sgc_node_here());
            sgc_stay_begin(team, m);
            return true;
        }
        state = sgc_a32_load_acq(&team->state);
    }
    return false;
}

/* ---- opening and closing: the collecting thread ---- */

/* Helpers that may be woken for nothing. */
static uint32_t who_stay_out(const struct sgc_team *team)
{
    uint32_t count = 1;

    if (sgc_a32_load(&team->off) == SGC_NO_CORE)
        return 0;
    for (uint32_t i = 1; i < team->made; i++)
        count += team->marker[i]->beyond;
    return count;
}

static void call_helpers(struct sgc_team *team, uint32_t helpers)
{
    helpers += who_stay_out(team);
    sgc_a32_add(&team->call, 1);
    sgc_wake(&team->call, helpers < INT_MAX ? (int)helpers : INT_MAX);
}

/* Places for more than are called: somebody may be slow to wake, and another be awake.  Not where
 * each is to have a core. */
static uint32_t places_for(const struct sgc_team *team, uint32_t helpers)
{
    uint32_t max = team->config.max_markers - 1 - team->config.stay_out;

    if (sgc_a32_load(&team->off) == SGC_NO_CORE)
        helpers = team->markers - 1;
    return helpers < max ? helpers : max;
}

/* From the first call on marker 0 is one of several. */
void sgc_team_open(struct sgc_team *team, uint32_t helpers)
{
    sgc_assert(sgc_team_ok(team) && helpers >= 1 && helpers < team->markers);
    sgc_assert(team->config.markbit != SGC_MARKBIT_PLAIN);
    for (uint32_t i = 0; !team->called && i < team->markers; i++)
        team->marker[i]->how = team->config.markbit;
    team->called = true;
    sgc_a32_store(&team->places, places_for(team, helpers));
    sgc_a32_or(&team->state, SGC_TEAM_OPEN);
    call_helpers(team, helpers);
}

void sgc_team_open_concurrent(struct sgc_team *team, uint32_t helpers)
{
    sgc_assert(sgc_team_ok(team) && team->several && !team->called && helpers < team->markers);
    sgc_assert(team->config.markbit != SGC_MARKBIT_PLAIN && sgc_a32_load(&team->state) == 0);
    team->called = true;
    sgc_a32_store(&team->places, helpers);
    sgc_a32_or(&team->state, team->spares != 0 ? SGC_TEAM_OPEN | SGC_TEAM_OPEN_BRIEFLY : SGC_TEAM_OPEN);
    if (helpers != 0)
        call_helpers(team, helpers);
}

void sgc_team_close(struct sgc_team *team)
{
    uint32_t spins = 0;

    sgc_assert(sgc_team_ok(team) && team->called);
    sgc_a32_and(&team->state, ~(SGC_TEAM_OPEN | SGC_TEAM_OPEN_BRIEFLY));
    while (sgc_a32_load_acq(&team->state) != 0)
        if (++spins < SPINS_UNTIL_YIELD)
            sgc_spin_hint();
        else
            sgc_yield();
}

void sgc_team_begin_round(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0);
    sgc_a32_store(&team->arena, 0);
    sgc_a32_store(&team->marker[0]->node, (uint32_t)sgc_node_here());
    sgc_termination_begin(&team->termination, team->config.termination, team->several ? team->slots : team->markers);
}

void sgc_team_mark_again(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0);
    for (uint32_t i = 0; i < team->markers; i++)
        team->marker[i]->again = true;
}

void sgc_team_ask_to_stop(struct sgc_team *team)
{
    const struct sgc_interruption *i = &team->interruption;

    sgc_assert(sgc_team_ok(team));
    if (sgc_team_is_concurrent(team) && i->stop != NULL && i->stop(i->arg))
        sgc_termination_interrupt(&team->termination);
    else if (!sgc_team_is_concurrent(team) && team->stop != NULL && team->stop())
        sgc_termination_abandon(&team->termination);
}
