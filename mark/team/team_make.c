/* SPDX-License-Identifier: MIT */
/* Teams of markers: making them, giving them back, checking them.  Outside pauses, while the team
 * is closed. */
#include "mark/team/team.h"

#include <limits.h>

#include "platform/platform.h"
#include "platform/report.h"

static struct sgc_marker *make_marker(struct sgc_team *team, uint32_t i)
{
    struct sgc_marker *m = sgc_mem_obtain(sizeof *m);

    sgc_assert(i < team->slots);
    if (m == NULL)
        return NULL;
    if (!sgc_marker_init(m, &team->config.mark)) {
        sgc_mem_release(m, sizeof *m);
        return NULL;
    }
    m->team = team;
    m->ask = &sgc_team_answers;
    m->idle = &team->idle;
    m->index = i;
    m->random = i * UINT32_C(2654435761) + 1;
    m->core = SGC_NO_CORE;
    return m;
}

bool sgc_team_init(struct sgc_team *team, const struct sgc_team_config *config)
{
    sgc_assert(config->max_markers > config->stay_out);
    *team = (struct sgc_team){ .config = *config, .slots = config->max_markers + SGC_TEAM_SPARES };
    team->marker = sgc_mem_obtain(config->max_markers * sizeof(struct sgc_marker *));
    if (team->marker == NULL || !sgc_termination_init(&team->termination, team->slots))
        return false;
    sgc_idle_init(&team->idle);
    sgc_team_keep_off(team, SGC_NO_CORE);
    team->marker[0] = make_marker(team, 0);
    team->made = team->markers = 1;
    return team->marker[0] != NULL;
}

static void release_marker(struct sgc_marker *m)
{
    sgc_deque_release(&m->stack);
    sgc_mem_release(m, sizeof *m);
}

void sgc_team_release(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0);
    for (uint32_t i = 0; i < team->config.max_markers && team->marker[i] != NULL; i++)
        release_marker(team->marker[i]);
    for (; team->spares != 0; team->spares--)
        release_marker(team->spare[team->spares - 1].marker);
    sgc_termination_release(&team->termination);
    sgc_mem_release(team->marker, team->config.max_markers * sizeof(struct sgc_marker *));
    team->marker = NULL;
}

struct sgc_marker *sgc_team_first(struct sgc_team *team)
{
    sgc_assert(team->marker != NULL && team->marker[0] != NULL);
    return team->marker[0];
}

uint32_t sgc_team_add(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team));
    return team->made < team->config.max_markers ? team->made++ : 0;
}

/* A marker whose thread is gone (after a fork) serves another. */
bool sgc_team_make(struct sgc_team *team, uint32_t i, uint32_t core, bool beyond)
{
    sgc_assert(i > 0 && i + 1 == team->made && team->made <= team->config.max_markers);
    if (team->marker[i] == NULL)
        team->marker[i] = make_marker(team, i);
    if (team->marker[i] == NULL)
        return false;
    team->marker[i]->core = core;
    team->marker[i]->beyond = beyond;
    return true;
}

/* Their numbers lie behind those of all helpers there may be. */
void sgc_team_make_spares(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0);
    for (uint32_t i = team->spares; i < SGC_TEAM_SPARES; i++) {
        team->spare[i].marker = make_marker(team, team->slots - 1 - i);
        if (team->spare[i].marker == NULL)
            return;
        team->spares++;
    }
}

void sgc_team_dismiss(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0 && !sgc_team_is_concurrent(team));
    sgc_a32_store_rel(&team->leaving, team->made - 1);
    sgc_a32_add(&team->call, 1);
    sgc_wake(&team->call, INT_MAX);
    for (uint32_t left; (left = sgc_a32_load_acq(&team->leaving)) != 0;)
        sgc_wait(&team->leaving, left, -1);
    team->made = team->markers = 1;
}

void sgc_team_trim(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team));
    for (uint32_t i = 0; i < team->made; i++)
        sgc_deque_trim(&team->marker[i]->stack);
    for (uint32_t i = 0; i < team->spares; i++)
        sgc_deque_trim(&team->spare[i].marker->stack);
}

size_t sgc_team_stacks_resident(const struct sgc_team *team)
{
    size_t bytes = 0;

    sgc_assert(sgc_team_ok(team));
    for (uint32_t i = 0; i < team->made; i++)
        bytes += sgc_deque_resident(&team->marker[i]->stack);
    for (uint32_t i = 0; i < team->spares; i++)
        bytes += sgc_deque_resident(&team->spare[i].marker->stack);
    return bytes;
}

static bool visit_stack(const struct sgc_marker *m, sgc_visit_stack_t visit, void *arg)
{
    return visit(m->stack.memory.base, m->stack.memory.committed * sizeof(struct sgc_work), (int)sgc_a32_load(&m->node), arg);
}

bool sgc_team_visit_stacks(const struct sgc_team *team, sgc_visit_stack_t visit, void *arg)
{
    sgc_assert(sgc_team_ok(team));
    for (uint32_t i = 0; i < team->made; i++)
        if (!visit_stack(team->marker[i], visit, arg))
            return false;
    for (uint32_t i = 0; i < team->spares; i++)
        if (!visit_stack(team->spare[i].marker, visit, arg))
            return false;
    return true;
}

void sgc_team_check(const struct sgc_team *team)
{
    sgc_assert(sgc_a32_load(&team->state) == 0 && !sgc_team_is_concurrent(team));
    sgc_assert(team->made >= 1 && team->made <= team->config.max_markers && team->markers <= team->made);
    for (uint32_t i = 0; i < team->made; i++) {
        sgc_assert(team->marker[i]->index == i && sgc_marker_idle(team->marker[i]));
        sgc_assert(sgc_deque_sound(&team->marker[i]->stack));
    }
    for (uint32_t i = 0; i < team->spares; i++) {
        sgc_assert(sgc_a32_load(&team->spare[i].state) == SGC_SPARE_FREE && sgc_marker_idle(team->spare[i].marker));
        sgc_assert(sgc_deque_sound(&team->spare[i].marker->stack));
    }
}

void sgc_team_after_fork(struct sgc_team *team)
{
    sgc_assert(team->marker != NULL && !sgc_team_is_concurrent(team) && !team->several);
    team->made = team->markers = 1;
    sgc_a32_store(&team->state, 0);
    sgc_idle_init(&team->idle);
}
