/* SPDX-License-Identifier: MIT */
/*
 * The interface of sgc.h.  On any mutator, outside hooks unless the header says otherwise.
 */
#include "gc/api/api.h"

#include <errno.h>
#include <string.h>

#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "gc/api/hooks.h"
#include "gc/collect/collect.h"
#include "gc/collect/lead.h"
#include "gc/pacing/heap_size.h"
#include "gc/collect/start_state.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/pacing/counts.h"
#include "gc/events/stats.h"
#include "gc/threads/world.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *SGC_version(void)
{
    return TEXT(SGC_VERSION_MAJOR) "." TEXT(SGC_VERSION_MINOR) "." TEXT(SGC_VERSION_MICRO);
}

/* ---- start and collect ---- */

int SGC_init(int markers, SGC_attr_t *attr)
{
    if (markers < 0 || attr != NULL) {
        sgc_warn("SGC_init(%d, %p): expected a number of markers, 0 for automatic, and NULL; nothing is started",
                 markers, (void *)attr);
        return EINVAL;
    }
    if (sgc_init_begun()) {
        sgc_warn("SGC_init: the collector has been started already, by SGC_init, GC_INIT or an allocation; call it "
                 "once, first");
        return EALREADY;
    }
    if (markers > 0)
        sgc_api_set_option("GC_MARKERS", markers);
    GC_init();
    return 0;
}

void GC_collect(void)
{
    GC_gcollect();
}

int SGC_mark_some(uint64_t budget_ns)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL || sgc_world_is_blocked(self))
        return 0;
    sgc_gc_lock_recover(self, sgc_callers_stack_pointer());
    return !sgc_gc_lock_held() && sgc_assist_for(self, budget_ns);
}

/* ---- statistics ---- */

/* The bytes that have been touched of a table with `entry` bytes per arena. */
static size_t touched(const void *table, size_t entry)
{
    size_t arenas = sgc_heap_committed() / SGC_ARENA;

    sgc_assert(entry > 0 && sgc_heap.os_page > 0);
    return sgc_mem_resident((void *)(uintptr_t)table, sgc_round_up(arenas * entry, sgc_heap.os_page));
}

static size_t tables_bytes(void)
{
    return touched(sgc_heap.bits, 2 * SGC_ARENA_BITMAP) + touched(sgc_heap.remote_bits, SGC_ARENA_BITMAP) +
           touched(sgc_heap.pages, SGC_ARENA_PAGES * sizeof *sgc_heap.pages) +
           touched(sgc_heap.records, SGC_ARENA_PAGES * sizeof *sgc_heap.records) +
           touched(sgc_heap.arenas, sizeof *sgc_heap.arenas);
}

static size_t records_bytes(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    struct sgc_registry_scope scope;
    size_t sum = 0;

    sgc_registry_enter(&scope);
    for (uint32_t id = 1; id < caches; id++) {
        const struct sgc_stretch *memory = &sgc_cache_of(id)->memory;

        sum += sgc_mem_resident(memory->start, memory->have);
    }
    sgc_registry_leave(&scope);
    return sum;
}

static size_t metadata_bytes(void)
{
    struct sgc_range own = sgc_own_data();

    sgc_assert(own.lo <= own.hi);

    return tables_bytes() + records_bytes() + sgc_lead_stacks_resident() + (own.hi - own.lo);
}

static uint64_t count_threads(void)
{
    struct sgc_registry_scope scope;
    uint64_t count = 0;

    sgc_registry_enter(&scope);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        count += !m->service;
    sgc_registry_leave(&scope);
    sgc_assert(sgc_self == NULL || count > 0);
    return count;
}

static void read_times(struct SGC_stats *s, const struct sgc_totals *t)
{
    for (int i = 0; i < SGC_PHASES; i++)
        s->pause_ns += t->cycle.phase_ns[i];
    s->stop_ns = t->cycle.phase_ns[SGC_PHASE_STOP];
    s->mark_ns = sgc_stats_mark_ns(t->cycle.phase_ns);
    sgc_assert(s->pause_ns >= s->stop_ns + s->mark_ns);
    s->other_ns = s->pause_ns - s->stop_ns - s->mark_ns;
    s->pause_max_ns = t->pause.max;
    s->stop_max_ns = t->stop.max;
}

static void read_pages(struct SGC_stats *s)
{
    struct sgc_page_figures f;

    sgc_policy_figures(&f);
    for (int source = 0; source < SGC_SOURCES; source++)
        s->pages_taken += f.taken[source];
    s->pages_consumed_max = f.max_consumed;
    s->pages_fresh = f.fresh;
    s->pages_foreign = f.foreign;
    s->pages_far = f.far;
}

static void read_stats(struct SGC_stats *s)
{
    struct sgc_totals t;

    sgc_assert(sgc_gc_lock_held());
    sgc_stats_get(&t);
    *s = (struct SGC_stats){
        .collections = t.cycle.cycles,
        .live_bytes = sgc_counts_live(),
        .live_objects = sgc_aw_load(&sgc_api_counters.live_objects),
        .allocated_bytes = GC_get_total_bytes(),
        .freed_bytes = sgc_counts_freed_total(),
        .heap_bytes = sgc_heap_size(),
        .heap_max_bytes = sgc_heap_max(),
        .free_bytes = sgc_api_free_bytes(),
        .metadata_bytes = metadata_bytes(),
        .returned_bytes = sgc_aw_load(&sgc_pool.returned),
        .threads = count_threads(),
        .markers = (uint64_t)GC_get_parallel() + 1,
    };
    read_times(s, &t);
    read_pages(s);
}

/* The GC lock keeps collections away, so that all is of one moment. */
size_t SGC_get_stats(struct SGC_stats *stats, size_t size)
{
    struct SGC_stats s = { 0 };
    size_t known = size < sizeof s ? size : sizeof s;
    bool closed;

    if (sgc_api_self() != NULL) {
        closed = sgc_gc_lock_enter(sgc_mutator_self());
        read_stats(&s);
        sgc_gc_lock_leave(closed);
    }
    memset(stats, 0, size);
    memcpy(stats, &s, known);
    return known;
}

/* ---- checks and listings ---- */

void SGC_print_options(void)
{
    sgc_options_read();
    sgc_options_print();
}
