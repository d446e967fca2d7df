/* SPDX-License-Identifier: MIT */
/*
 * Settings that are one word each: how often to collect, markers, and what exists for
 * compatibility.  Most live in the public variables (gc/config/public_vars.h), the others here.
 * Any thread, no locks.
 */
#include "gc/api/api.h"

#include "gc/config/public_vars.h"
#include "gc/collect/stops.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/collect.h"
#include "gc/collect/start.h"
#include "gc/collect/write_watch.h"
#include "gc/config/options.h"
#include "gc/pacing/pacing.h"
#include "gc/collect/start_state.h"

/* Keeps the value if it is at least `min`; otherwise a message. */
static void set_min(const char *function, sgc_a32_t *setting, int value, int min)
{
    sgc_assert(min >= 0);
    if (value < min)
        sgc_warn("%s(%d): expected at least %d; nothing is changed", function, value, min);
    else
        sgc_a32_store(setting, (uint32_t)value);
}

/* GC_set_NAME and GC_get_NAME of a setting that is `min` or more. */
#define MIN_NUMBER(name, min, word) \
    void GC_set_##name(int number) { set_min("GC_set_" #name, &(word), number, min); } \
    int GC_get_##name(void) { return (int)sgc_a32_load(&(word)); }

/* ---- how often ---- */

void GC_set_free_space_divisor(GC_word divisor)
{
    if (divisor == 0) {
        sgc_warn("GC_set_free_space_divisor(0): expected at least 1; nothing is changed");
        return;
    }
    sgc_aw_store(&sgc_client_free_space_divisor, divisor);
    sgc_pacing_reconsider();
}

GC_word GC_get_free_space_divisor(void)
{
    return sgc_aw_load(&sgc_client_free_space_divisor);
}

void GC_set_min_bytes_allocd(size_t bytes)
{
    if (bytes == 0)
        sgc_warn("GC_set_min_bytes_allocd(0): expected at least 1; nothing is changed");
    else
        sgc_pacing_set_minimum(bytes);
}

size_t GC_get_min_bytes_allocd(void)
{
    return sgc_pacing_minimum();
}

void GC_set_dont_expand(int on)
{
    sgc_a32_store(&sgc_client_dont_expand, on != 0);
    sgc_pacing_reconsider();
}

int GC_get_dont_expand(void)
{
    return (int)sgc_a32_load(&sgc_client_dont_expand);
}

SGC_API_NUMBER(max_retries, GC_word, sgc_client_max_retries)
SGC_API_NUMBER(non_gc_bytes, GC_word, sgc_client_non_gc_bytes)
SGC_API_SWITCH(dont_precollect, sgc_client_dont_precollect)

void GC_set_pages_executable(int on)
{
    if (on != 0)
        sgc_warn("GC_set_pages_executable(%d): the heap is never executable; use mmap with PROT_EXEC for code", on);
}

int GC_get_pages_executable(void)
{
    return 0;
}

/* ---- markers ---- */

void GC_set_markers_count(unsigned count)
{
    if (count != 0 && !sgc_api_too_late("GC_set_markers_count", count == (unsigned)sgc_options.markers))
        sgc_api_set_option("GC_MARKERS", (long)count);
}

int GC_get_parallel(void)
{
    return (int)sgc_a32_load(&sgc_client_parallel);
}

void GC_start_mark_threads(void)
{
    if (!sgc_init_now())
        return;
    sgc_assert(sgc_init_done());
    sgc_gc_lock_recover(sgc_mutator_self(), sgc_callers_stack_pointer());
    sgc_collect_start_markers(sgc_mutator_self());
}

/* ---- the incremental mode, which is the concurrent one here ---- */

/* Each is one word that stands for itself: relaxed. */
struct incremental {
    sgc_a32_t manual_vdb, rate;
};

SGC_STATE static struct incremental incremental = { .rate = SGC_ATOMIC_INIT(10) };

/* Several threads may ask at once. */
static void enable(struct sgc_mutator *self)
{
    bool closed = sgc_gc_lock_enter(self);

    sgc_assert(sgc_init_done());
    sgc_concurrent_enable();
    sgc_gc_lock_leave(closed);
}

/* A user may have said no. */
void GC_enable_incremental(void)
{
    struct sgc_mutator *self;

    GC_init();
    self = sgc_api_self();
    if (self != NULL && !sgc_options.disable_incremental && !sgc_collect_disabled() && !sgc_concurrent_enabled())
        enable(self);
}

int GC_is_incremental_mode(void)
{
    return sgc_concurrent_enabled();
}

void GC_start_incremental_collection(void)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL || !sgc_concurrent_enabled())
        return;
    sgc_gc_lock_recover(self, sgc_callers_stack_pointer());
    if (!sgc_gc_lock_held())
        sgc_concurrent_ask(self);
}

int GC_incremental_protection_needs(void)
{
    return sgc_watch_kernel_writes() ? GC_PROTECTS_NONE : GC_PROTECTS_POINTER_HEAP;
}

void GC_set_manual_vdb_allowed(int on)
{
    sgc_a32_store(&incremental.manual_vdb, on != 0);
    sgc_watch_set_manual(on != 0);
}

int GC_get_manual_vdb_allowed(void)
{
    return (int)sgc_a32_load(&incremental.manual_vdb);
}

void GC_set_mprotect_vdb_allowed(int on)
{
    sgc_watch_allow_mprotect(on != 0);
}

int GC_get_mprotect_vdb_allowed(void)
{
    return sgc_watch_allows_mprotect();
}

unsigned GC_get_supported_vdbs(void)
{
    return GC_VDB_UFFDWP | GC_VDB_SOFT | GC_VDB_MPROTECT | GC_VDB_MANUAL;
}

unsigned GC_get_actual_vdb(void)
{
    static const unsigned vdb[] = {
        [SGC_DIRTY_AUTO] = GC_VDB_NONE, [SGC_DIRTY_ASYNC] = GC_VDB_UFFDWP, [SGC_DIRTY_SOFT] = GC_VDB_SOFT,
        [SGC_DIRTY_MPROTECT] = GC_VDB_MPROTECT, [SGC_DIRTY_NONE] = GC_VDB_DEFAULT, [SGC_DIRTY_SOFTWARE] = GC_VDB_MANUAL,
    };
    int dirty = sgc_watch_source();

    sgc_assert(dirty >= 0 && (size_t)dirty < sizeof vdb / sizeof *vdb);
    return sgc_concurrent_enabled() ? vdb[dirty] : GC_VDB_NONE;
}

MIN_NUMBER(full_freq, 0, sgc_client_full_freq)
MIN_NUMBER(rate, 1, incremental.rate)
MIN_NUMBER(max_prior_attempts, 0, sgc_attempts_max)

static void set_time_limit(unsigned long ms, unsigned long ns)
{
    sgc_aw_store(&sgc_client_time_limit, ms);
    sgc_aw_store(&sgc_time_limit_ns, ns);
    if (sgc_concurrent_enabled())
        sgc_pacing_concurrent(sgc_pause_target_ns());
}

void GC_set_time_limit(unsigned long ms)
{
    set_time_limit(ms, sgc_aw_load(&sgc_time_limit_ns));
}

unsigned long GC_get_time_limit(void)
{
    return sgc_aw_load(&sgc_client_time_limit);
}

void GC_set_time_limit_tv(struct GC_timeval_s limit)
{
    if (limit.tv_ms == GC_TIME_UNLIMITED)
        limit.tv_nsec = 0;
    if (limit.tv_nsec >= 1000000) {
        sgc_warn("GC_set_time_limit_tv: tv_nsec is %lu; expected less than 1000000, a millisecond; nothing is "
                 "changed", limit.tv_nsec);
        return;
    }
    set_time_limit(limit.tv_ms, limit.tv_nsec);
}

struct GC_timeval_s GC_get_time_limit_tv(void)
{
    sgc_assert(sgc_aw_load(&sgc_time_limit_ns) < 1000000);
    return (struct GC_timeval_s){ .tv_ms = sgc_aw_load(&sgc_client_time_limit),
                                  .tv_nsec = sgc_aw_load(&sgc_time_limit_ns) };
}
