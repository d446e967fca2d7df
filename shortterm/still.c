/* SPDX-License-Identifier: MIT */
/* Clocks that stand still: shortterm/still.h. */
#include "shortterm/still.h"

#include "alloc/object.h"
#include "shortterm/findings.h"
#include "shortterm/global_time.h"
#include "shortterm/orphan_dates.h"

enum {
    STILL_CYCLES = 8,                   /* a clock that has not gone on in so many collections stands still, */
    STILL_BYTES = 64 << 10,             /* if it keeps so much */
};

SGC_STATE static struct { uint32_t phase, cycles; } still;      /* global time */

static void add_bytes(void *arg, uintptr_t *from, uintptr_t *end)
{
    struct sgc_object o;

    for (; from < end; from += 2)
        if (sgc_object_find(*from, &o))
            *(size_t *)arg += o.bytes;
}

static size_t bytes_of(const struct sgc_date_buffer *buffer)
{
    size_t bytes = 0;

    sgc_date_buffer_visit(buffer, add_bytes, &bytes);
    return bytes;
}

static void add_still(const struct sgc_mutator *m, bool global, size_t bytes)
{
    struct sgc_finding *f = sgc_findings_add(SGC_FINDING_STILL);

    sgc_assert(bytes >= STILL_BYTES);
    if (f == NULL)
        return;
    f->of.objects = 1;
    f->of.global = global;
    f->of.bytes = bytes;
    f->of.steps = STILL_CYCLES;
    f->of.thread = m->tid;
}

/* Said once, until it goes on. */
static void check_clock(struct sgc_dates *d)
{
    d->still = d->ticks == d->ticks_seen ? d->still + 1 : 0;
    d->ticks_seen = d->ticks;
    if (d->still == STILL_CYCLES && bytes_of(&d->local) >= STILL_BYTES)
        add_still(d->owner, false, bytes_of(&d->local));
}

static void check_global_time(void)
{
    size_t bytes = 0;

    still.cycles = sgc_time_threads() != 0 && sgc_time_phase() == still.phase ? still.cycles + 1 : 0;
    still.phase = sgc_time_phase();
    if (still.cycles != STILL_CYCLES)
        return;
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            bytes += bytes_of(&sgc_dates_of(m)->global);
    sgc_orphan_dates_visit_objects(add_bytes, &bytes);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL && bytes >= STILL_BYTES; m = m->next)
        if (sgc_dates_of(m) != NULL && sgc_dates_of(m)->in_time && sgc_dates_of(m)->phase == still.phase)
            add_still(m, true, bytes);
}

void sgc_still_find(void)
{
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            check_clock(sgc_dates_of(m));
    check_global_time();
}
