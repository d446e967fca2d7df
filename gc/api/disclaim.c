/* SPDX-License-Identifier: MIT */
/*
 * Disclaim procedures, and objects with a finalizer of which the collector keeps no record.  On any
 * mutator; registering takes the GC lock.
 */
#define GC_ATTR_NONNULL(n)              /* NULL is noticed here */
#include "gc/api/api.h"
#include "gc/gc_disclaim.h"

#include "gc/api/objects.h"
#include "gc/collect/allocate.h"
#include "gc/finalize/disclaim.h"
#include "mark/displacements.h"

/* ---- procedures ---- */

static bool set(uint32_t kind, GC_disclaim_proc proc, bool from_all)
{
    bool closed = sgc_gc_lock_enter(sgc_mutator_self());
    bool done = sgc_disclaim_set(kind, proc, from_all);

    sgc_assert(kind < sgc_kind_count() && sgc_gc_lock_held());
    sgc_gc_lock_leave(closed);
    return done;
}

void GC_register_disclaim_proc(int kind, GC_disclaim_proc proc, int mark_from_all)
{
    if (sgc_api_self() == NULL)
        return;
    if (kind < SGC_KINDS_BUILT_IN || (uint32_t)kind >= sgc_kind_count())
        sgc_warn("GC_register_disclaim_proc: kind %d is not one that GC_new_kind returned; nothing is registered. Make a kind "
                 "for these objects", kind);
    else if (!set((uint32_t)kind, proc, mark_from_all != 0))
        sgc_warn(
            "GC_register_disclaim_proc: the system refuses address space; nothing is registered. Raise the limit (ulimit -v)");
}

/* ---- objects with a closure: its address is in the first word ---- */

SGC_STATE static sgc_a32_t made_kind;           /* GC lock held */
SGC_STATE static sgc_a32_t finalized_kind;      /* the same, when it has its procedure.  0: not yet.
                                                 * Release / acquire */

/* One that was not set up has no closure, and afterwards it has none any more: if the slot is
 * claimed again, and that is left by a jump before it is zeroed, the next cycle finds an object
 * there.  Before the procedure, since that may free the object. */
static int finalize(void *object)
{
    const struct GC_finalizer_closure **word = object, *closure = *word;

    sgc_assert((uintptr_t)object % SGC_GRANULE == 0 && sgc_heap_contains((uintptr_t)object));
    *word = NULL;
    if (closure != NULL)
        closure->proc((void **)object + 1, closure->cd);
    return 0;
}

/* GC lock held.  The number is published last: an object without the procedure would never be
 * finalized. */
static void make_kind(void)
{
    static const struct sgc_kind kind = { .clear = true, .scan = SGC_SCAN_WORDS };
    uint32_t number = sgc_api_own_kind(&made_kind, &kind, "objects with a finalizer of their own");

    sgc_assert(sgc_gc_lock_held() && sgc_a32_load(&finalized_kind) == 0);
    if (number == SGC_KIND_CONSERVATIVE)
        return;
    sgc_mark_displacement(sizeof(void *));
    if (sgc_disclaim_set(number, finalize, true))
        sgc_a32_store_rel(&finalized_kind, number);
    else
        sgc_warn("GC_init_finalized_malloc: the system refuses address space; objects are not finalized. Raise the limit "
                 "(ulimit -v)");
}

void GC_init_finalized_malloc(void)
{
    bool closed;

    if (sgc_a32_load_acq(&finalized_kind) != 0 || sgc_api_self() == NULL)
        return;
    closed = sgc_gc_lock_enter(sgc_mutator_self());
    if (sgc_a32_load(&finalized_kind) == 0)
        make_kind();
    sgc_gc_lock_leave(closed);
}

/* 0 if the object cannot be finalized. */
static uint32_t kind_for(const struct GC_finalizer_closure *closure)
{
    if (closure == NULL || closure->proc == NULL) {
        sgc_warn("GC_finalized_malloc: there is no %s; the object is not finalized. Pass a closure with a procedure",
                 closure == NULL ? "closure" : "procedure in the closure");
        return 0;
    }
    if (sgc_a32_load_acq(&finalized_kind) == 0) {
        sgc_warn("GC_finalized_malloc: called before GC_init_finalized_malloc, which is done now. Call that first");
        GC_init_finalized_malloc();
    }
    return sgc_a32_load_acq(&finalized_kind);
}

void *GC_finalized_malloc(size_t size, const struct GC_finalizer_closure *closure)
{
    uint32_t kind = kind_for(closure);
    const void *volatile *object;

    if (size > PTRDIFF_MAX - SGC_PAGE)
        return sgc_out_of_memory(size);
    object = sgc_allocate_or_null(size + sizeof *object, kind != 0 ? kind : SGC_KIND_CONSERVATIVE);
    if (object == NULL)
        return sgc_out_of_memory(size);
    sgc_assert(kind == 0 || closure->proc != NULL);
    if (kind == 0)
        sgc_mark_displacement(sizeof *object);  /* make_kind does so for the others */
    object[0] = kind != 0 ? closure : NULL;
    return (void *)(uintptr_t)(object + 1);
}
