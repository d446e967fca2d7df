/* SPDX-License-Identifier: MIT */
/* Teams of markers: making them, giving them back, checking them.  Outside pauses, while the team is closed. */
#include "mark/team.h"

#include "platform/platform.h"
#include "platform/report.h"

static struct sgc_marker *make_marker(struct sgc_team *team, uint32_t i)
{
    struct sgc_marker *m = sgc_mem_obtain(sizeof *m);

    sgc_assert(i < team->config.most);
    if (m == NULL)
        return NULL;
    if (!sgc_marker_init(m, &team->config.mark)) {
        sgc_mem_release(m, sizeof *m);
        return NULL;
    }
    m->team = team;
    m->index = i;
    m->random = i * UINT32_C(2654435761) + 1;
    return m;
}

bool sgc_team_init(struct sgc_team *team, const struct sgc_team_config *config)
{
    sgc_assert(config->most > 0);
    *team = (struct sgc_team){ .config = *config };
    team->marker = sgc_mem_obtain(config->most * sizeof(struct sgc_marker *));
    if (team->marker == NULL || !sgc_termination_init(&team->termination, config->most))
        return false;
    sgc_idle_init(&team->idle);
    team->marker[0] = make_marker(team, 0);
    team->made = team->markers = 1;
    return team->marker[0] != NULL;
}

void sgc_team_release(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0);
    for (uint32_t i = 0; i < team->config.most && team->marker[i] != NULL; i++) {
        sgc_deque_release(&team->marker[i]->stack);
        sgc_mem_release(team->marker[i], sizeof(struct sgc_marker));
    }
    sgc_termination_release(&team->termination);
    sgc_mem_release(team->marker, team->config.most * sizeof(struct sgc_marker *));
    team->marker = NULL;
}

struct sgc_marker *sgc_team_first(struct sgc_team *team)
{
    sgc_assert(team->marker != NULL && team->marker[0] != NULL);
    return team->marker[0];
}

/* A marker whose thread is gone (after a fork) serves another. */
uint32_t sgc_team_add(struct sgc_team *team)
{
    uint32_t i = team->made;

    sgc_assert(sgc_team_ok(team));
    if (i == team->config.most)
        return 0;
    if (team->marker[i] == NULL)
        team->marker[i] = make_marker(team, i);
    if (team->marker[i] == NULL)
        return 0;
    team->made++;
    return i;
}

void sgc_team_drop(struct sgc_team *team)
{
    sgc_assert(team->made > 1);
    team->made--;
}

void sgc_team_trim(struct sgc_team *team)
{
    sgc_assert(sgc_team_ok(team));
    for (uint32_t i = 0; i < team->markers; i++)
        sgc_deque_trim(&team->marker[i]->stack);
}

size_t sgc_team_stacks_resident(const struct sgc_team *team)
{
    size_t bytes = 0;

    sgc_assert(sgc_team_ok(team));
    for (uint32_t i = 0; i < team->made; i++)
        bytes += sgc_deque_resident(&team->marker[i]->stack);
    return bytes;
}

void sgc_team_check(const struct sgc_team *team)
{
    sgc_assert(sgc_a32_load(&team->state) == 0 && !team->concurrent);
    sgc_assert(team->made >= 1 && team->made <= team->config.most && team->markers <= team->made);
    for (uint32_t i = 0; i < team->made; i++) {
        sgc_assert(team->marker[i]->index == i && sgc_marker_idle(team->marker[i]));
        sgc_assert(sgc_deque_sound(&team->marker[i]->stack));
    }
}

void sgc_team_after_fork(struct sgc_team *team)
{
    sgc_assert(team->marker != NULL && !team->concurrent);
    team->made = team->markers = 1;
    sgc_a32_store(&team->state, 0);
    sgc_idle_init(&team->idle);
}
