/* SPDX-License-Identifier: MIT */
/* Starting the collector: a fixed order of small steps, on the starting thread. */
#include "gc/collect/start.h"

#include <unistd.h>

#include "alloc/pages/homes.h"
#include "alloc/pages/survival.h"
#include "alloc/whole_heap.h"
#include "gc/collect/client_hooks.h"
#include "gc/config/public_vars.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/cycle.h"
#include "gc/collect/helpers.h"
#include "gc/collect/start_state.h"
#include "gc/finalize/disclaim.h"
#include "gc/pacing/heap_size.h"
#include "gc/events/json_log.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/pacing/pacing.h"
#include "gc/profile/profile.h"
#include "gc/roots/roots.h"
#include "gc/threads/binding.h"
#include "gc/threads/gc_lock.h"
#include "gc/events/stats.h"
#include "gc/events/trace.h"
#include "gc/collect/torture.h"
#include "gc/threads/world.h"
#include "mark/marker.h"
#include "platform/nodes/placement.h"

enum { SPARE_PAGES = 128 };     /* a thread keeps up to 8 MB in dead spans for its next ones */
enum { MARKERS_MAX = 4096 };    /* as many as GC_MARKERS may ask for */

static void start_checks(void)
{
    if (sgc_options.verify == SGC_VERIFY_NOTHING && sgc_options.torture <= 0)
        return;
    if (!sgc_survival_init())
        sgc_warn("the system refuses address space for a copy of the marks; what sweeping leaves is not checked. Raise the "
                 "limit (ulimit -v)");
}

/* Nobody is told of nodes who has not asked for them. */
static void say_if_unbound(void)
{
    char word[SGC_OPTION_WORDS];

    if (sgc_options.numa != SGC_NUMA_AUTO && sgc_homes_refused() != 0)
        sgc_warn("SGC_NUMA=%s: the system refuses to bind memory to nodes (error %d), so it is where the thread runs that "
                 "touches it first. Allow mbind, or leave SGC_NUMA out",
                 sgc_option_current(&sgc_option_table[SGC_OPT_SGC_NUMA], word, sizeof word), sgc_homes_refused());
}

/* Fewer addresses than were asked for: the option says how many there are. */
static void say_if_cut(void)
{
    if (sgc_heap.reserved < sgc_options.reserve)
        sgc_option_clamp(SGC_OPT_SGC_RESERVE, (int64_t)sgc_heap.reserved, "the system has no more addresses in one piece");
}

static bool start_heap(void)
{
    struct sgc_heap_config config = {
        .reserve = sgc_options.reserve,
        .limit = sgc_heap_limit(sgc_options.maximum_heap),
        .interior_pointers = sgc_options.all_interior_pointers,
        .end_byte = sgc_options.all_interior_pointers && sgc_options.end_byte == SGC_END_BYTE_ALL,
        .poison = sgc_options.torture > 0,
        .names = sgc_options.name_mappings,
        .huge_pages = (enum sgc_huge_pages)sgc_options.huge_pages,
        .spare_pages = sgc_options.torture > 0 ? 0 : SPARE_PAGES,
        .cache_bytes = sgc_cache_bytes("/sys", 3),
        .page_rule = sgc_page_rule_from_options(),
        .numa = sgc_options.numa == SGC_NUMA_AUTO ? SGC_NUMA_BALANCED : (enum sgc_numa)sgc_options.numa,
    };

    sgc_assert(sgc_init_mine());
    if (!sgc_heap_init(&config))
        return false;
    sgc_sanitizer_root((const void *)sgc_heap.base, sgc_heap.reserved);
    say_if_cut();
    say_if_unbound();
    start_checks();
    sgc_group_limit_set(sgc_options.maximum_heap);
    sgc_aw_store(&sgc_client_least_plausible_heap_addr, sgc_heap.base);
    sgc_aw_store(&sgc_client_greatest_plausible_heap_addr, sgc_heap.base + sgc_heap.reserved);
    sgc_assert(sgc_heap.base % SGC_PAGE == 0 && sgc_heap.base + sgc_heap.reserved > sgc_heap.base);
    return true;
}

enum { CONCURRENT_SHARE = 4 };          /* of so many markers one marks beside the program, which
                                           has the other processors */

static void settle_concurrent_markers(void)
{
    int *concurrent = &sgc_options.concurrent_markers;

    if (*concurrent == 0)
        *concurrent = sgc_options.markers / CONCURRENT_SHARE;
    if (*concurrent == 0)
        *concurrent = 1;
    if (*concurrent > sgc_options.markers)
        *concurrent = sgc_options.markers;
}

static void settle_markers(void)
{
    if (sgc_options.markers == 0)
        sgc_options.markers = sgc_options.processors != 0 ? sgc_options.processors : sgc_limit_cpus();
    if (sgc_options.markers > MARKERS_MAX)
        sgc_options.markers = MARKERS_MAX;
    sgc_assert(sgc_options.markers > 0);
    settle_concurrent_markers();
    sgc_preset_apply();
}

static bool start_all(void)
{
    sgc_assert(sgc_init_mine() && sgc_self == NULL);
    sgc_platform_init();
    sgc_client_hooks.start_threads();
    sgc_thread_hooks.ends = sgc_disclaim_thread_over;
    sgc_client_vars_to_options();
    sgc_options_read();
    settle_markers();
    sgc_placement_start();
    sgc_binding_start();
    sgc_client_vars_from_options();
    if (!start_heap() || !sgc_world_init() || !sgc_helpers_init(&sgc_cycle.team))
        return false;
    sgc_torture_init();
    sgc_pacing_init();
    sgc_stats_start();
    sgc_client_hooks.start_listening();
    sgc_log_start();
    sgc_stats_print_start();
    if (sgc_trace_start())
        sgc_helpers_trace(&sgc_cycle.team);
    sgc_client_hooks.start_snapshots();
    sgc_profile_start();
    if (!sgc_tls_layout_verified())
        sgc_warn("this C library lays thread vectors out in an unknown way: thread-local variables of "
                 "dlopened modules are not scanned. Keep such pointers reachable otherwise");
    sgc_roots_find_other_collector();
    if (sgc_options.print_options)
        sgc_options_print();
    return true;
}

/* GC_stackbottom speaks of the main thread, and is answered if the client left it open. */
static bool register_starter(void)
{
    bool main_thread = sgc_thread_id() == (sgc_tid_t)getpid();
    uintptr_t bottom = main_thread ? sgc_aw_load(&sgc_client_stackbottom) : 0;
    struct sgc_mutator *self = sgc_mutator_register(bottom);

    sgc_assert(sgc_init_done());
    if (self != NULL && main_thread && bottom == 0)
        sgc_aw_store(&sgc_client_stackbottom, self->bottom);
    return self != NULL;
}

bool sgc_init_now(void)
{
    if (sgc_init_mine())
        return false;
    sgc_fork_init();
    if (!sgc_init_claim())
        return sgc_init_done();
    if (!start_all()) {
        sgc_init_finish(false);
        return false;
    }
    sgc_init_finish(true);
    if (!register_starter())
        return false;
    if (sgc_options.mode == SGC_MODE_CONCURRENT)
        sgc_concurrent_enable();
    return true;
}

/* ---- threads that come without being registered: each function runs on the thread it is about ---- */

struct sgc_mutator *sgc_mutator_admit(void)
{
    sgc_assert(sgc_self == NULL);
    return sgc_init_done() || sgc_init_now() ? sgc_mutator_register(0) : NULL;
}

struct sgc_mutator *sgc_mutator_adopt(void)
{
    static SGC_STATE sgc_a32_t reported;

    if (sgc_mutator_registering() || (!sgc_init_done() && !sgc_init_now()))
        return NULL;
    if (sgc_self == NULL && sgc_a32_swap(&reported, 1) == 0)
        sgc_warn("thread %d allocates without being registered; it is registered from now on. Create "
                 "threads with GC_pthread_create (define GC_THREADS before including gc.h), call "
                 "GC_register_my_thread first, or start the program with sgc-run",
                 sgc_thread_id());
    sgc_assert(sgc_init_done());
    return sgc_mutator_register(0);
}

/* ---- a layer on top ---- */

void sgc_upper_start(struct sgc_mutator *self, const struct sgc_upper *upper)
{
    bool closed = sgc_gc_lock_enter(self);

    sgc_assert(sgc_mutator_mine(self) && upper != NULL && sgc_upper() == NULL);
    if (upper->mark != NULL)
        sgc_concurrent_rule_out(self);
    sgc_aw_store_rel(&sgc_upper_now, (uintptr_t)upper);
    sgc_gc_lock_leave(closed);
}
