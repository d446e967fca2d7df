/* SPDX-License-Identifier: MIT */
/*
 * Blocked regions, the way back out of them, and stacks that clients switch.  Each function runs on
 * the thread it is about; GC_set_stackbottom with a handle needs the GC lock.
 */
#include "gc/api/api.h"

#include "gc/config/public_vars.h"
#include "gc/collect/collect.h"
#include "gc/collect/start_state.h"
#include "gc/collect/write_watch.h"
#include "gc/roots/roots.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

/* ---- blocking ---- */

struct region {
    struct sgc_mutator *self;
    uintptr_t sp;               /* of the region around */
    GC_fn_type fn;
    void *arg, *result;
};

static void leave_region(void *raw)
{
    struct region *r = raw;

    sgc_assert(sgc_mutator_mine(r->self));
    sgc_world_leave_blocked(r->self);
    sgc_upper_active(r->self);
}

static void enter_again(void *raw)
{
    struct region *r = raw;

    sgc_assert(sgc_mutator_mine(r->self) && r->sp != 0);
    sgc_upper_blocks(r->self);
    sgc_world_enter_blocked(r->self, r->sp);
}

/* The thread may be cancelled inside: then the region is left, too. */
static void run_blocked(void *raw, uintptr_t sp)
{
    struct region *r = raw;

    sgc_assert(sgc_mutator_mine(r->self) && sp != 0);
    sgc_upper_blocks(r->self);
    sgc_world_enter_blocked(r->self, sp);
    pthread_cleanup_push(leave_region, r);
    r->result = r->fn(r->arg);
    pthread_cleanup_pop(1);
}

void *GC_do_blocking(GC_fn_type fn, void *arg)
{
    struct region r = { .self = sgc_mutator_self(), .fn = fn, .arg = arg };

    if (r.self == NULL || sgc_world_is_blocked(r.self))
        return fn(arg);
    sgc_with_registers(run_blocked, &r);
    return r.result;
}

static void run_active(struct region *r)
{
    sgc_assert(sgc_world_is_blocked(r->self) && r->sp != 0);
    sgc_world_leave_blocked(r->self);
    sgc_upper_active(r->self);
    pthread_cleanup_push(enter_again, r);
    r->result = r->fn(r->arg);
    pthread_cleanup_pop(1);
}

void *GC_call_with_gc_active(GC_fn_type fn, void *arg)
{
    struct region r = { .self = sgc_mutator_self(), .fn = fn, .arg = arg };

    if (r.self == NULL || !sgc_world_is_blocked(r.self))
        return fn(arg);
    r.sp = r.self->sp;
    run_active(&r);
    return r.result;
}

/* ---- where a stack begins ---- */

int GC_get_stack_base(struct GC_stack_base *base)
{
    struct sgc_stack_bounds bounds;

    if (!sgc_stack_bounds_self(&bounds))
        return GC_UNIMPLEMENTED;
    base->mem_base = (void *)bounds.high;
    return GC_SUCCESS;
}

__attribute__((noinline))
void *GC_call_with_stack_base(GC_stack_base_func fn, void *arg)
{
    struct GC_stack_base base = { __builtin_frame_address(0) };
    void *result = fn(&base, arg);

    GC_reachable_here(&base);           /* the frame stays: no tail call */
    return result;
}

void *GC_get_my_stackbottom(struct GC_stack_base *base)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL)
        sgc_fatal("GC_get_my_stackbottom: the calling thread cannot be registered, for the reason given above");
    sgc_assert(sgc_mutator_mine(self));
    base->mem_base = (void *)self->bottom;
    return self;
}

/* Is it a handle of a registered thread? */
static bool is_handle(const struct sgc_mutator *m, const void *handle)
{
    return m == handle;
}

/* Its pages must not be watched in a way that keeps the kernel from writing a signal's frame
 * there. */
static void switch_stack(struct sgc_mutator *of, uintptr_t bottom)
{
    sgc_assert(sgc_mutator_ok(of));
    sgc_aw_store_rel(&of->reported_bottom[1], sgc_aw_load(&of->reported_bottom[0]));
    sgc_aw_store_rel(&of->reported_bottom[0], bottom);
    of->bottom = bottom;
    sgc_watch_keep_open(bottom - 1);
}

void GC_set_stackbottom(void *thread, const struct GC_stack_base *base)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_mutator *of = thread != NULL ? thread : self;

    if (!sgc_init_begun() && thread == NULL)
        sgc_aw_store(&sgc_client_stackbottom, (uintptr_t)base->mem_base);
    else if (of == NULL || (of != self && !sgc_registry_any(is_handle, of)))
        sgc_warn("GC_set_stackbottom(%p): no registered thread has this handle; nothing is changed. Pass what "
                 "GC_get_my_stackbottom returned, or NULL on a registered thread", thread);
    else
        switch_stack(of, (uintptr_t)base->mem_base);
}

void GC_set_sp_corrector(GC_sp_corrector_proc hook)
{
    sgc_aw_store_rel(&sgc_stack_corrector, (uintptr_t)hook);
}

GC_sp_corrector_proc GC_get_sp_corrector(void)
{
    return (GC_sp_corrector_proc)sgc_aw_load_acq(&sgc_stack_corrector);
}

/* ---- a stack for a marker of the client's ---- */

struct pushed {
    GC_custom_push_proc fn;
    void *arg;
    uintptr_t base;
};

static void push_stack(void *raw, uintptr_t sp)
{
    const struct pushed *p = raw;
    uintptr_t low = sgc_round_up(sp, sizeof low), high = sgc_round_down(p->base, sizeof high);

    if (low <= high)
        p->fn((void **)low, (void **)high, p->arg, GC_CUSTOM_PUSH_HINT_EAGER);
    else
        sgc_warn("GC_custom_push_regs_and_stack: the base %p lies below the calling frame at %p; nothing is pushed. Pass the "
                 "base of the stack that the thread is on", (void *)p->base, (void *)sp);
}

/* The registers are stored above `sp`, so one call has both. */
void GC_custom_push_regs_and_stack(GC_custom_push_proc fn, void *arg, const struct GC_stack_base *base, void *cold_frame)
{
    struct pushed p = { fn, arg, (uintptr_t)base->mem_base };

    (void)cold_frame;
    sgc_with_registers(push_stack, &p);
}
