/* SPDX-License-Identifier: MIT */
/*
 * The helper markers' threads.  They sleep between marks, and are no mutators: they write nothing
 * into the heap, and no stop waits for them, since the thread whose mark it is has them out
 * first.
 */
#include "gc/collect/helpers.h"

#include "gc/config/options.h"
#include "gc/events/trace_buffer.h"
#include "gc/threads/binding.h"
#include "gc/threads/gc_lock.h"

enum { HELPER_SERVES = 1, HELPER_GOES };

/* The argument of a helper's thread, and its answer.  The memory must last until `taken` is set. */
struct helper {
    struct sgc_team *team;
    uint32_t number;
    int error;                  /* it was to be bound, and the system refused */
    sgc_a32_t taken;            /* 0, or HELPER_SERVES, or HELPER_GOES: there is no memory for its
                                   marker */
};

/* Bound first, so that the memory of its marker comes from where it is going to run. */
static void help(void *argument)
{
    struct helper *helper = argument;
    struct sgc_team *team = helper->team;
    uint32_t number = helper->number;
    struct sgc_bound bound = sgc_binding_apply(number);
    bool made = sgc_team_make(team, number, bound.core, bound.beyond);

    sgc_assert(number > 0 && number < team->made);
    helper->error = bound.error;
    sgc_trace_name();
    sgc_a32_store_rel(&helper->taken, made ? HELPER_SERVES : HELPER_GOES);
    sgc_wake(&helper->taken, 1);
    if (made)
        sgc_team_serve(team, number);
}

/* The helper that was to be last could not be started, or made no marker. */
static void drop_last(struct sgc_team *team)
{
    sgc_assert(team->made > 1);
    team->made--;
}

static bool start_one(struct sgc_team *team)
{
    struct sgc_section *self = sgc_section_self();
    struct helper helper = { .team = team, .number = sgc_team_add(team) };
    bool started;

    if (helper.number == 0)
        return false;
    if (self != NULL)
        sgc_guard_enter(self);
    started = sgc_thread_start_service(help, &helper, "sgc-marker");
    while (started && sgc_a32_load_acq(&helper.taken) == 0)
        sgc_wait(&helper.taken, 0, -1);
    if (self != NULL)
        sgc_guard_leave(self);
    if (helper.error != 0)
        sgc_binding_refused(helper.error);
    started = started && sgc_a32_load(&helper.taken) == HELPER_SERVES;
    if (!started)
        drop_last(team);
    return started;
}

/* Where each marker is to have a core there is a helper more than marks: whichever shares the
 * collecting thread's stays out.  With fewer cores than markers that one is not needed. */
static void settle_cores(struct sgc_team *team, uint32_t cores)
{
    uint32_t together = team->config.max_markers - team->config.stay_out;

    if (cores >= together || team->made > together)
        return;
    team->config.max_markers = together;
    team->config.stay_out = 0;
}

static void keep_off(struct sgc_team *team, uint32_t want, uint32_t cores)
{
    bool may_keep = want <= cores && team->config.balance;

    sgc_team_keep_off(team, may_keep ? sgc_binding_core_here() : SGC_NO_CORE);
}

/* Cores that helpers are bound to; the topology is read before the first helper is created. */
static uint32_t cores_for(uint32_t want)
{
    sgc_assert(sgc_gc_lock_held());
    if (want > 1)
        sgc_binding_prepare((uint32_t)sgc_options.markers);
    return sgc_binding_cores();
}

/* With the GC lock for the reason that sgc_service_start gives. */
void sgc_helpers_start(struct sgc_team *team, uint32_t want)
{
    uint32_t cores = cores_for(want);

    sgc_assert(sgc_gc_lock_held() && !sgc_stopped_by_self());
    sgc_assert(team->made > 0 && want > 0);
    keep_off(team, want, cores);
    if (want > 1) {
        settle_cores(team, cores);
        want += team->config.stay_out;
    }
    if (want > team->config.max_markers)
        want = team->config.max_markers;
    while (team->made < want)
        if (!start_one(team)) {
            sgc_warn("the system refuses marker thread %u of %u; the collector marks with %u. Raise the limit on threads "
                     "(ulimit -u, the cgroup's pids.max) or lower GC_MARKERS",
                     team->made, team->config.max_markers - 1, team->made);
            team->config.max_markers = team->made;
            team->config.stay_out = 0;
            return;
        }
}

/* ---- the timeline ---- */

static void trace_stay(const struct sgc_marker *m)
{
    const struct sgc_stay *stay = &m->stay;
    struct sgc_trace_entry entry = {
        .what = SGC_TRACE_MARKED, .tid = sgc_thread_id(), .from_ns = stay->began_ns, .to_ns = sgc_clock_ns(),
        .arg = { m->objects - stay->objects, m->bytes - stay->bytes, m->steals - stay->steals },
    };

    sgc_trace_put(&entry);
}

void sgc_helpers_trace(struct sgc_team *team)
{
    sgc_assert(team->made == 1);
    team->stayed = trace_stay;
}

/* ---- start ---- */

bool sgc_helpers_init(struct sgc_team *team)
{
    uint32_t stay_out = sgc_binding_one_more();
    struct sgc_team_config config = {
        .mark = {
            .interior_pointers = sgc_options.all_interior_pointers,
            .end_word = sgc_options.end_byte == SGC_END_BYTE_ROOTS,
            .split_bytes = sgc_options.split_bytes,
            .edges = (uint32_t)sgc_options.prefetch,
            .stack_bytes = sgc_options.mark_stack_limit,
            .stack_form = (enum sgc_stack_form)sgc_options.stack_form,
        },
        .max_markers = (uint32_t)sgc_options.markers + stay_out,
        .stay_out = stay_out,
        .balance = sgc_options.balance,
        .steal = (enum sgc_steal)sgc_options.steal,
        .termination = (enum sgc_termination_form)sgc_options.termination,
        .markbit = (enum sgc_markbit)sgc_options.markbit,
        .concurrent_markers = (uint32_t)sgc_options.concurrent_markers,
    };

    if (sgc_team_init(team, &config))
        return true;
    sgc_error("the system refuses address space for a mark stack; raise the limit (ulimit -v)");
    return false;
}
