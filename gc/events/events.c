/* SPDX-License-Identifier: MIT */
/*
 * The array of listeners and the clock of a cycle record.  Runs on any thread without a lock; the
 * table above struct sgc_listeners says what orders what.
 */
#include "gc/events/events.h"

#include "gc/events/trace_buffer.h"
#include "platform/probe.h"

struct sgc_listeners sgc_listeners SGC_STATE;

SGC_STATE static sgc_aw_t finished;

static const char *const reason_names[SGC_REASONS] = {
    [SGC_REASON_EXPLICIT] = "explicit", [SGC_REASON_ALLOCATION] = "allocation",
    [SGC_REASON_LIMIT] = "limit",       [SGC_REASON_TORTURE] = "torture",
};

static const char *const stopped_for_names[SGC_STOPPED_FOR] = {
    [SGC_FOR_NOTHING] = "nothing", [SGC_FOR_MODE] = "mode",         [SGC_FOR_CLIENT] = "client",
    [SGC_FOR_REQUEST] = "request", [SGC_FOR_SHORT] = "short",       [SGC_FOR_ATTEMPTS] = "attempts",
    [SGC_FOR_MEMORY] = "memory",   [SGC_FOR_LATE] = "late",         [SGC_FOR_TORTURE] = "torture",
};

static const char *const phase_names[SGC_PHASES] = {
#define SGC_PHASE(constant, name) #name,
#include "gc/events/phases.def"
#undef SGC_PHASE
};

const char *sgc_reason_name(enum sgc_reason reason)
{
    sgc_assert((unsigned)reason < SGC_REASONS);
    sgc_assert(reason_names[reason] != NULL);
    return reason_names[reason];
}

const char *sgc_stopped_for_name(enum sgc_stopped_for what)
{
    sgc_assert((unsigned)what < SGC_STOPPED_FOR);
    sgc_assert(stopped_for_names[what] != NULL);
    return stopped_for_names[what];
}

const char *sgc_phase_name(enum sgc_phase phase)
{
    sgc_assert((unsigned)phase < SGC_PHASES);
    sgc_assert(phase_names[phase] != NULL);
    return phase_names[phase];
}

bool sgc_listener_add(const struct sgc_listener *listener)
{
    sgc_assert(listener != NULL);
    for (int i = 0; i < SGC_LISTENERS_MAX; i++) {
        if (sgc_aw_cas(&sgc_listeners.slot[i], 0, (uintptr_t)listener)) {
            sgc_a32_or(&sgc_listeners.used, UINT32_C(1) << i);
            return true;
        }
    }
    return false;
}

void sgc_listener_remove(const struct sgc_listener *listener)
{
    sgc_assert(listener != NULL);
    for (int i = 0; i < SGC_LISTENERS_MAX; i++) {
        if (sgc_aw_load_acq(&sgc_listeners.slot[i]) != (uintptr_t)listener)
            continue;
        /* The bit first: while it is clear nobody looks into the slot, so it can be given away. */
        sgc_a32_and(&sgc_listeners.used, ~(UINT32_C(1) << i));
        sgc_aw_store_rel(&sgc_listeners.slot[i], 0);
    }
}

const struct sgc_listener *sgc_listener_next(uint32_t *walk)
{
    sgc_assert(*walk != 0);
    int i = __builtin_ctz(*walk);
    sgc_assert(i < SGC_LISTENERS_MAX);
    *walk &= *walk - 1;
    return (const struct sgc_listener *)sgc_aw_load_acq(&sgc_listeners.slot[i]);
}

/* The others are in sgc_cycle_phase_at. */
static void probe(const struct sgc_cycle_record *record, enum sgc_cycle_event event)
{
    if (event == SGC_ON_CYCLE_START)
        SGC_PROBE(cycle__begin, record->cycle, record->reason);
    else if (event == SGC_ON_STOP_REQUESTED)
        SGC_PROBE(stop__begin, record->cycle);
    else if (event == SGC_ON_RESUMED && record->concurrent.another_stop && record->concurrent.earlier_stops == 0)
        SGC_PROBE(concurrent__begin, record->cycle);
    else if (event == SGC_ON_CYCLE_END)
        SGC_PROBE(cycle__end, record->cycle, sgc_cycle_pause_ns(record), record->heap.live_bytes_after, record->heap.bytes);
}

void sgc_cycle_event(const struct sgc_cycle_record *record, enum sgc_cycle_event event)
{
    sgc_assert(sgc_cycle_ok(record));
    probe(record, event);
    switch (event) {
    case SGC_ON_CYCLE_START: SGC_EVENT(cycle_start, record); break;
    case SGC_ON_STOP_REQUESTED: SGC_EVENT(stop_requested, record); break;
    case SGC_ON_STOP_FAILED: SGC_EVENT(stop_failed, record); break;
    case SGC_ON_STOPPED: SGC_EVENT(stopped, record); break;
    case SGC_ON_ROOTS_DONE: SGC_EVENT(roots_done, record); break;
    case SGC_ON_MARKED: SGC_EVENT(marked, record); break;
    case SGC_ON_FLIPPED: SGC_EVENT(flipped, record); break;
    case SGC_ON_RESUMED: SGC_EVENT(resumed, record); break;
    case SGC_ON_CYCLE_END: SGC_EVENT(cycle_end, record); break;
    case SGC_ON_GIVEN_UP: SGC_EVENT(given_up, record); break;
    }
}

void sgc_cycle_begin(struct sgc_cycle_record *record, uint64_t cycle, enum sgc_reason reason)
{
    sgc_assert((unsigned)reason < SGC_REASONS);
    memset(record, 0, sizeof *record);
    record->cycle = cycle;
    record->reason = reason;
    record->times.request_ns = sgc_clock_ns();
}

void sgc_cycle_phase_at(struct sgc_cycle_record *record, enum sgc_phase phase, uint64_t now)
{
    sgc_assert(sgc_cycle_ok(record) && (unsigned)phase < SGC_PHASES);
    sgc_assert(record->times.last_ns <= now);             /* the clock does not go back */
    sgc_assert(record->times.stop_begin_ns != 0);         /* the pause has begun */
    sgc_assert(record->times.resumed_ns == 0);            /* and is not over */
    SGC_PROBE(phase__end, phase, now - record->times.last_ns);
    record->times.phase_ns[phase] += now - record->times.last_ns;
    if (sgc_trace_wanted() && record->cycle != 0)
        sgc_trace_part(phase, phase == SGC_PHASE_STOP, record->times.last_ns, now);
    record->times.last_ns = now;
    if (phase == SGC_PHASE_STOP) {
        record->times.stopped_ns = now;
        SGC_PROBE(stopped, record->threads.stopped);
    }
    if (phase != SGC_PHASE_RESUME)
        return;
    record->times.resumed_ns = now;
    if (sgc_cycle_pause_ns(record) > record->concurrent.longest_stop_ns)
        record->concurrent.longest_stop_ns = sgc_cycle_pause_ns(record);
    SGC_PROBE(resumed, sgc_cycle_pause_ns(record));
}

void sgc_cycle_phase(struct sgc_cycle_record *record, enum sgc_phase phase)
{
    sgc_cycle_phase_at(record, phase, sgc_clock_ns());
}

bool sgc_cycle_check(const struct sgc_cycle_record *record)
{
    uint64_t sum = 0;

    for (int i = 0; i < SGC_PHASES; i++)
        sum += record->times.phase_ns[i];
    return (unsigned)record->reason < SGC_REASONS && record->times.request_ns <= record->times.stop_begin_ns &&
           record->times.stop_begin_ns <= record->times.stopped_ns && record->times.stopped_ns <= record->times.resumed_ns &&
           (record->concurrent.earlier_stops == 0 || sgc_cycle_pause_ns(record) <= record->concurrent.longest_stop_ns) &&
           sum == sgc_cycle_pause_ns(record);
}

uint64_t sgc_cycles_finished(void)
{
    return sgc_aw_load_acq(&finished);
}

void sgc_cycle_finish(const struct sgc_cycle_record *record)
{
    sgc_assert(sgc_cycle_ok(record));
    sgc_assert(record->cycle == sgc_aw_load(&finished) + 1);
    sgc_aw_store_rel(&finished, record->cycle);
}
