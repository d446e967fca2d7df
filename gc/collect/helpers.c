/* SPDX-License-Identifier: MIT */
/* See gc/collect/helpers.h. */
#include "gc/collect/helpers.h"

#include "platform/report.h"
#include "gc/threads/gc_lock.h"

/* What a helper has to know, handed over in one word: the argument's memory must outlive the call. */
struct helper {
    struct sgc_team *team;
    uint32_t number;
    sgc_a32_t taken;
};

static void body(void *argument)
{
    struct helper *helper = argument;
    struct sgc_team *team = helper->team;
    uint32_t number = helper->number;

    sgc_assert(number > 0 && number < team->made);
    sgc_a32_store_rel(&helper->taken, 1);
    sgc_wake(&helper->taken, 1);
    sgc_team_serve(team, number);
}

static bool start_one(struct sgc_team *team, struct sgc_section *self)
{
    struct helper helper = { .team = team, .number = sgc_team_add(team) };
    bool started;

    sgc_assert(self == NULL || sgc_section_mine(self));
    if (helper.number == 0)
        return false;
    if (self != NULL)
        sgc_guard_enter(self);
    started = sgc_thread_start_service(body, &helper, "sgc-marker");
    while (started && sgc_a32_load_acq(&helper.taken) == 0)
        sgc_wait(&helper.taken, 0, -1);
    if (self != NULL)
        sgc_guard_leave(self);
    if (!started)
        sgc_team_drop(team);
    return started;
}

void sgc_helpers_start(struct sgc_team *team, uint32_t want, struct sgc_section *self)
{
    sgc_assert(sgc_gc_lock_held() && !sgc_stopped_by_self());
    sgc_assert(team->made > 0 && want > 0);
    if (want > team->config.most)
        want = team->config.most;
    while (team->made < want)
        if (!start_one(team, self)) {
            sgc_warn("the system refuses marker thread %u of %u; the collector marks with %u. Raise the limit on threads "
                     "(ulimit -u, the cgroup's pids.max) or lower GC_MARKERS",
                     team->made, team->config.most - 1, team->made);
            team->config.most = team->made;
            return;
        }
}
