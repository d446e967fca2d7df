/* SPDX-License-Identifier: MIT */
/* What collections cost.  Who writes what: gc/pacing/costs.h. */
#include "gc/pacing/costs.h"

#include "alloc/pages/pool.h"
#include "gc/events/events.h"
#include "gc/threads/spin_wait.h"

struct samples {
    struct sgc_pace_samples fixed_ns, mark_ps, mutator_ps, marker_ps, root_ns;
};

struct costs {
    sgc_aw_t fixed_ns, mark_ps, mutator_ps;     /* medians: see struct sgc_pace_costs */
    sgc_aw_t marker_ps;                         /* of marking a byte, if it were done by one marker */
    sgc_aw_t root_ns;                           /* of scanning the roots */
    sgc_aw_t root_bytes;                        /* of the last cycle */
    sgc_aw_t finalizable, pointer_free;         /* bytes of the last cycle */
    sgc_aw_t kept;                              /* of what is allocated, in 256ths: how much stayed alive at last */
    sgc_aw_t last_end_ns, last_cycle_ns;
    sgc_a32_t useless;                          /* cycles at the limit in a row */
};

SGC_STATE static struct samples samples;
SGC_STATE static struct costs costs;

/* Until something is known: a common machine, and a program that allocates as fast as it can. */
static const struct sgc_pace_costs UNKNOWN = { .fixed_ns = 50000, .mark_ps = 500, .mutator_ps = 250 };

static const size_t WORTH_MEASURING = (size_t)256 << 10;       /* less says nothing about the cost of a byte */

/* ---- learning: on the collecting thread, world running ---- */

static void learn(struct sgc_pace_samples *s, sgc_aw_t *median, uint64_t sample)
{
    sgc_pace_sample(s, sample);
    sgc_aw_store(median, sgc_pace_median(s, sample));
}

static uint64_t per_byte_ps(uint64_t ns, uint64_t bytes)
{
    return ns * 1000 / bytes;
}

static void learn_marking(uint64_t ns, uint64_t bytes, uint64_t markers)
{
    learn(&samples.mark_ps, &costs.mark_ps, per_byte_ps(ns, bytes));
    learn(&samples.marker_ps, &costs.marker_ps, per_byte_ps(ns, bytes) * (markers != 0 ? markers : 1));
}

/* Of the time for finalization, what is spent on registrations that stay.  The rest is no price of a cycle: what dies is found
 * dead once, whenever that is. */
static uint64_t finalizing_ns(const struct sgc_cycle_record *r)
{
    return r->phase_ns[SGC_PHASE_FINALIZE] * r->registrations_stay / 256;
}

static void learn_cycle(const struct sgc_cycle_record *r)
{
    uint64_t all = sgc_cycle_pause_ns(r) - r->phase_ns[SGC_PHASE_FINALIZE] + finalizing_ns(r) + r->clear_ns +
                   sgc_patience_late_ns();
    uint64_t marking = r->phase_ns[SGC_PHASE_MARK] + r->phase_ns[SGC_PHASE_RESCAN];
    uint64_t staying = r->marked_bytes - r->finalizable_bytes;

    if (staying >= WORTH_MEASURING) {
        learn_marking(marking, staying, r->markers);
        all -= marking;
    }
    learn(&samples.fixed_ns, &costs.fixed_ns, all);
    sgc_aw_store(&costs.finalizable, r->finalizable_bytes);
    sgc_aw_store(&costs.pointer_free, r->pointer_free_bytes);
    sgc_aw_store(&costs.last_cycle_ns, sgc_cycle_pause_ns(r) + r->clear_ns);
    sgc_aw_store(&costs.root_bytes, r->root_bytes);
    learn(&samples.root_ns, &costs.root_ns, r->phase_ns[SGC_PHASE_ROOTS]);
}

static void learn_mutator(const struct sgc_cycle_record *r)
{
    uint64_t since = sgc_aw_load(&costs.last_end_ns);

    if (since != 0 && r->request_ns > since && r->allocated_bytes >= WORTH_MEASURING)
        learn(&samples.mutator_ps, &costs.mutator_ps, per_byte_ps(r->request_ns - since, r->allocated_bytes));
    sgc_aw_store(&costs.last_end_ns, r->resumed_ns);
}

static uint64_t freed_by(const struct sgc_cycle_record *r)
{
    return r->live_bytes_before > r->live_bytes_after ? r->live_bytes_before - r->live_bytes_after : 0;
}

static void learn_survival(const struct sgc_cycle_record *r)
{
    uint64_t kept = sgc_pace_less(r->allocated_bytes, freed_by(r));

    if (r->allocated_bytes >= WORTH_MEASURING)
        sgc_aw_store(&costs.kept, kept * 256 / r->allocated_bytes);
}

/* If it is the system that refuses memory, the heap as it is is the limit. */
static void learn_use(const struct sgc_cycle_record *r)
{
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t size = limit <= r->heap_bytes / SGC_PAGE ? limit * SGC_PAGE : r->heap_bytes;

    if (!sgc_pace_useless(freed_by(r), size))
        sgc_a32_store(&costs.useless, 0);
    else if (r->reason == SGC_REASON_LIMIT)
        sgc_a32_add(&costs.useless, 1);
}

void sgc_pacing_costs_learn(const struct sgc_cycle_record *record)
{
    learn_cycle(record);
    learn_mutator(record);
    learn_survival(record);
    learn_use(record);
}

void sgc_pacing_costs_start(void)
{
    sgc_aw_store(&costs.fixed_ns, UNKNOWN.fixed_ns);
    sgc_aw_store(&costs.mark_ps, UNKNOWN.mark_ps);
    sgc_aw_store(&costs.marker_ps, UNKNOWN.mark_ps);
    sgc_aw_store(&costs.mutator_ps, UNKNOWN.mutator_ps);
    sgc_aw_store(&costs.last_end_ns, sgc_clock_ns());
}

/* ---- asking: any thread ---- */

void sgc_pacing_costs(struct sgc_pace_costs *c)
{
    c->fixed_ns = sgc_aw_load(&costs.fixed_ns);
    c->mark_ps = sgc_aw_load(&costs.mark_ps);
    c->mutator_ps = sgc_aw_load(&costs.mutator_ps);
}

size_t sgc_pacing_finalizable(void)
{
    return sgc_aw_load(&costs.finalizable);
}

size_t sgc_pacing_pointer_free(void)
{
    return sgc_aw_load(&costs.pointer_free);
}

size_t sgc_pacing_kept(void)
{
    return sgc_aw_load(&costs.kept);
}

size_t sgc_pacing_roots(void)
{
    return sgc_aw_load(&costs.root_bytes);
}

bool sgc_pacing_limit_pays(void)
{
    uint64_t end = sgc_aw_load(&costs.last_end_ns);
    uint64_t now = sgc_clock_ns();

    return sgc_pace_try(sgc_a32_load(&costs.useless), now > end ? now - end : 0, sgc_aw_load(&costs.last_cycle_ns));
}

void sgc_pacing_limit_paid(void)
{
    sgc_a32_store(&costs.useless, 0);
}

double sgc_pacing_marking_ns(double bytes)
{
    return (double)sgc_aw_load(&costs.root_ns) + bytes * (double)sgc_aw_load(&costs.marker_ps) / 1000;
}
