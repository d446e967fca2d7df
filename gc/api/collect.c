/* SPDX-License-Identifier: MIT */
/*
 * Collecting on request, whether to collect, and how large the heap is.  On any mutator, outside
 * hooks unless the header says otherwise.
 */
#include "gc/api/api.h"

#include <errno.h>

#include "alloc/pages/pool.h"
#include "gc/collect/allocate.h"
#include "gc/collect/collect.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/queue.h"
#include "gc/pacing/heap_size.h"
#include "gc/collect/start_state.h"
#include "gc/collect/lead.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/pacing/pacing.h"
#include "gc/snapshot/snapshot.h"
#include "gc/collect/background.h"

SGC_STATE static sgc_a32_t force_unmap;     /* 0: as the option says; otherwise 1 + what the client
                                             * said */

/* ---- collect ---- */

static void unmap(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    sgc_pacing_grant(0, 0);
    sgc_service_do_all(self);
    sgc_heap_watch(self);
}

struct wanted {
    int (*stop)(void);
    struct sgc_snapshot_request *snapshot;  /* NULL: none */
    uintptr_t entry;
    bool give_back;
    int error;                  /* why it has not even been tried, an errno: there is no memory for
                                 * the thread, or another one waits for a snapshot */
    enum sgc_collect_result result;
};

static void collect_with_snapshot(struct sgc_mutator *self, struct wanted *w, uintptr_t sp)
{
    w->error = w->snapshot == NULL || sgc_snapshot_ask(w->snapshot) ? 0 : EBUSY;
    if (w->error != 0)
        return;
    w->result = sgc_collect_from(self, SGC_REASON_EXPLICIT, w->stop, sp);
    if (w->snapshot != NULL)
        sgc_snapshot_forget(self, w->snapshot);
}

/* The client's frames are above `sp`, with its registers. */
static void collect_from(void *arg, uintptr_t sp)
{
    struct wanted *w = arg;
    struct sgc_mutator *self = sgc_api_self();

    sgc_assert(sp != 0 && w->entry != 0);
    if (self == NULL)
        return;
    sgc_gc_lock_recover(self, w->entry);
    collect_with_snapshot(self, w, sp);
    sgc_stack_clear_deep();
    if (w->give_back && w->result == SGC_COLLECTED)
        unmap(self);
    sgc_finalizers_poll(self, w->entry);
    sgc_disclaim_run(self, SIZE_MAX, w->entry);
}

static enum sgc_collect_result collect(int (*stop)(void), bool give_back, uintptr_t entry)
{
    struct wanted wanted = { .stop = stop, .entry = entry, .give_back = give_back, .result = SGC_COLLECT_DISABLED };

    sgc_with_registers(collect_from, &wanted);
    sgc_assert((unsigned)wanted.result <= SGC_COLLECT_NESTED);
    return wanted.result;
}

void GC_gcollect(void)
{
    collect(sgc_allocate_stop(), GC_get_force_unmap_on_gcollect(), sgc_callers_stack_pointer());
}

void GC_gcollect_and_unmap(void)
{
    collect(NULL, true, sgc_callers_stack_pointer());
}

int GC_try_to_collect(GC_stop_func stop)
{
    return collect(stop, GC_get_force_unmap_on_gcollect(), sgc_callers_stack_pointer()) == SGC_COLLECTED;
}

enum {
    UNIT = 4096,            /* bytes of a page of GC_set_rate */
    NAP_NS = 50000,
};

/* In a concurrent cycle another thread collects.  A caller that finds no more to mark for it sleeps
 * for a moment: the collecting thread may want the GC lock, which a caller that comes again at once
 * would never leave to it. */
static void collect_a_little(struct sgc_mutator *self)
{
    enum sgc_due due;

    if (sgc_turn_offered())
        sgc_turn_take(self, 0);
    due = sgc_pacing_poll(self, 0);
    if (!sgc_concurrent_busy())
        sgc_collect_as_due(self, due, sgc_allocate_stop(), 0);
    else if (sgc_gc_lock_held() || !sgc_assist_bytes(self, (size_t)GC_get_rate() * UNIT))
        sgc_sleep_ns(NAP_NS);
}

int GC_collect_a_little(void)
{
    uintptr_t entry = sgc_callers_stack_pointer();
    struct sgc_mutator *self = sgc_api_self();

    sgc_gc_lock_recover(self, entry);
    if (self != NULL && !GC_get_disable_automatic_collection())
        collect_a_little(self);
    sgc_finalizers_poll(self, entry);
    sgc_disclaim_poll(self, entry);
    return sgc_concurrent_busy();
}

static int never(void)
{
    return 0;
}

/* Without a stop function nobody is asked, which is cheaper than asking one that never stops. */
void GC_set_stop_func(GC_stop_func stop)
{
    sgc_aw_store_rel(&sgc_allocate_settings.stop, stop == never ? 0 : (uintptr_t)stop);
}

GC_stop_func GC_get_stop_func(void)
{
    GC_stop_func stop = sgc_allocate_stop();

    sgc_assert(stop != never);              /* it is kept as none */
    return stop != NULL ? stop : never;
}

/* ---- with a snapshot ---- */

/* Collects as GC_gcollect does, without a function that may stop it, and has a snapshot written.
 * 0, with the result; or an errno: why that was not tried.  `entry`: the stack pointer of the
 * client's call. */
static int collect_for(struct sgc_snapshot_request *snapshot, uintptr_t entry, enum sgc_collect_result *result)
{
    struct wanted wanted = {
        .snapshot = snapshot, .entry = entry, .give_back = GC_get_force_unmap_on_gcollect(), .error = ENOMEM,
    };

    sgc_with_registers(collect_from, &wanted);
    sgc_assert(wanted.error == 0 || !snapshot->done);
    *result = wanted.result;
    return wanted.error;
}

static int error_of(enum sgc_collect_result result)
{
    sgc_assert((unsigned)result <= SGC_COLLECT_NESTED);
    return result == SGC_COLLECT_DISABLED ? EPERM : result == SGC_COLLECT_NESTED ? EDEADLK : EAGAIN;
}

/* The collection that it asks for writes the snapshot, if no other is sooner. */
int SGC_write_heap_snapshot(const char *path)
{
    struct sgc_snapshot_request request = { .path = path, .done = false };
    enum sgc_collect_result result;
    int error;

    if (path == NULL || path[0] == '\0')
        return EINVAL;
    error = collect_for(&request, sgc_callers_stack_pointer(), &result);
    sgc_assert(request.error == 0 || request.done);
    if (request.done)
        return request.error;
    return error != 0 ? error : error_of(result);
}

/* ---- whether ---- */

void GC_disable(void)
{
    sgc_collect_disable();
}

/* The client's frames are above `sp`.  Within a callback there is nothing to finish, or it is being
 * finished. */
static void finish_and_disable_from(void *arg, uintptr_t sp)
{
    uintptr_t entry = *(uintptr_t *)arg;
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL || sgc_gc_lock_recover(self, entry)) {
        sgc_collect_disable();
        return;
    }
    sgc_collect_finish_and_disable(self, sp);
    sgc_stack_clear_deep();
    sgc_finalizers_poll(self, entry);
    sgc_disclaim_run(self, SIZE_MAX, entry);
}

void GC_finish_and_disable(void)
{
    uintptr_t entry = sgc_callers_stack_pointer();

    sgc_assert(entry != 0);
    sgc_with_registers(finish_and_disable_from, &entry);
}

void GC_enable(void)
{
    if (!sgc_collect_enable())
        sgc_warn("GC_enable: collections are not disabled; nothing is changed. Call it once for each GC_disable");
}

int GC_is_disabled(void)
{
    return sgc_collect_disabled();
}

SGC_API_SWITCH(disable_automatic_collection, sgc_allocate_settings.manual)

/* ---- how large ---- */

int GC_expand_hp(size_t bytes)
{
    struct sgc_mutator *self = sgc_api_self();

    return self != NULL && sgc_heap_expand(bytes, self);
}

/* Before the start it is an option like others, so GC_MAXIMUM_HEAP_SIZE in the environment wins. */
void GC_set_max_heap_size(GC_word bytes)
{
    if (bytes != 0 && bytes < SGC_PAGE)
        bytes = SGC_PAGE;
    if (bytes > PTRDIFF_MAX)
        sgc_warn("GC_set_max_heap_size(%zu): expected at most %zu, or 0 for no limit; nothing is changed",
                 (size_t)bytes, (size_t)PTRDIFF_MAX);
    else if (!sgc_init_begun())
        sgc_api_set_option("GC_MAXIMUM_HEAP_SIZE", (long)bytes);
    else {
        sgc_group_limit_set(bytes);
        sgc_pacing_reconsider();
    }
}

void GC_set_force_unmap_on_gcollect(int on)
{
    sgc_a32_store(&force_unmap, on != 0 ? 2 : 1);
}

int GC_get_force_unmap_on_gcollect(void)
{
    uint32_t requested = sgc_a32_load(&force_unmap);

    sgc_assert(requested <= 2);
    if (requested == 0 || sgc_option_origin(SGC_OPT_GC_FORCE_UNMAP_ON_GCOLLECT) == SGC_ORIGIN_ENVIRONMENT)
        return sgc_options.force_unmap_on_gcollect;
    return requested == 2;
}
