/* SPDX-License-Identifier: MIT */
/*
 * Objects that have a date from the beginning, and figures.  On any mutator.
 */
#include "gc/api/api.h"

#include <errno.h>
#include <string.h>

#include "gc/collect/external_stop.h"
#include "gc/config/public_vars.h"
#include "shortterm/dates.h"
#include "shortterm/dates/counts.h"
#include "shortterm/global_time.h"
#include "shortterm/orphan_dates.h"
#include "shortterm/start.h"
#include "shortterm/verify.h"
#include "sgc_shortterm.h"

/* ---- objects ---- */

/* Before the first use of short-term memory the mode is not known. */
static int give_date(void *object, unsigned extension, bool global, uintptr_t caller)
{
    if (sgc_upper() == NULL || sgc_verifies())
        return sgc_refresh_for(object, extension, global, caller);
    return global ? SGC_refresh_global(object, extension) : SGC_refresh(object, extension);
}

/* It blocks, or has the world stopped: it may not even allocate. */
static bool is_busy(const struct sgc_mutator *self)
{
    const struct sgc_section *section = self != NULL ? &self->cache.section : NULL;

    return section != NULL && (section->held != 0 || (sgc_a32_load(&section->state) & SGC_STATE_BLOCKED) != 0);
}

/* The caller's frame has the object until it has its date. */
void *SGC_malloc_dated(size_t bytes, unsigned extension, int flags)
{
    void *object;
    int error;

    if (__builtin_expect(is_busy(sgc_mutator_self()), 0)) {
        errno = EBUSY;
        return NULL;
    }
    object = (flags & SGC_SHORTTERM_ATOMIC) != 0 ? GC_malloc_atomic(bytes) : GC_malloc(bytes);
    if (object == NULL)
        return NULL;
    error = give_date(object, extension, (flags & SGC_SHORTTERM_GLOBAL) != 0, (uintptr_t)__builtin_return_address(0));
    if (error == 0 && (flags & SGC_SHORTTERM_FREEABLE) != 0 && sgc_shortterm.mode == SGC_SHORTTERM_HYBRID)
        sgc_counts_set_freeable(sgc_granule_number((uintptr_t)object));
    if (error == 0)
        return object;
    GC_free(object);
    errno = error;
    return NULL;
}

/* ---- figures ---- */

static void add_stretch(void *arg, uintptr_t *from, uintptr_t *end)
{
    sgc_assert(from < end);
    *(uint64_t *)arg += (uint64_t)(end - from) / sgc_shortterm.words;
}

static void add_thread(struct SGC_shortterm_stats *s, const struct sgc_dates *d)
{
    sgc_assert(sgc_dates_ok(d));
    sgc_dates_visit_later(d, add_stretch, &s->dates);
    sgc_date_queue_visit(&d->expired, add_stretch, &s->expired);
    s->ticks += d->ticks;
    s->global_ticks += d->global_ticks;
    s->freed += d->freed;
    s->freed_bytes += d->freed_bytes;
}

/* Those of threads that are gone first. */
static void add_up(void *raw)
{
    struct SGC_shortterm_stats *s = raw;

    s->ticks = sgc_aw_load(&sgc_dates_gone.ticks);
    s->global_ticks = sgc_aw_load(&sgc_dates_gone.global_ticks);
    s->freed = sgc_aw_load(&sgc_dates_gone.freed);
    s->freed_bytes = sgc_aw_load(&sgc_dates_gone.freed_bytes);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_dates_of(m) != NULL)
            add_thread(s, sgc_dates_of(m));
    sgc_orphan_dates_visit(add_stretch, &s->dates);
}

size_t SGC_get_shortterm_stats(struct SGC_shortterm_stats *stats, size_t size)
{
    struct SGC_shortterm_stats s = { 0 };
    size_t known = size < sizeof s ? size : sizeof s;
    struct sgc_mutator *self = sgc_api_self();

    if (self != NULL && sgc_upper() != NULL) {
        sgc_with_world_stopped(self, add_up, &s);
        s.global_time = sgc_time_phase();
        s.active = sgc_time_threads();
        s.date_bytes = sgc_date_pages_bytes();
        s.kept_bytes = sgc_verify_kept_bytes();
    }
    memset(stats, 0, size);
    memcpy(stats, &s, known);
    return known;
}
