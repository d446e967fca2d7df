/* SPDX-License-Identifier: MIT */
/*
 * Finalizers of objects with guards: they are registered for the object with its header, and called with what the client
 * has of it.  On any mutator.
 *
 * What the client registers is kept in an object of its own, the data of the finalizer that SGC calls.
 */
#include "gc/api/internal.h"

#include "gc/api/guards.h"
#include "gc/config/public_vars.h"

struct closure {
    GC_finalization_proc fn;
    void *data;
};

typedef void (*register_fn)(void *object, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn,
                            void **old_data);

static void call(void *base, void *data)
{
    struct closure *closure = data;
    enum sgc_debug_state state = sgc_debug_look(base, GC_size(base));
    char text[SGC_DEBUG_TEXT];

    sgc_assert(sgc_heap_contains((uintptr_t)base) && closure->fn != NULL);
    if (state == SGC_DEBUG_BAD_FRONT || state == SGC_DEBUG_BAD_BACK) {
        sgc_debug_describe(base, base, text);
        sgc_debug_report("finalization", state, text);
    }
    closure->fn((struct sgc_debug_header *)base + 1, closure->data);
}

static void answer(GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn, void **old_data)
{
    const struct closure *closure = fn == call ? data : NULL;

    sgc_assert(fn != call || (closure != NULL && closure->fn != NULL));
    if (old_fn != NULL)
        *old_fn = closure != NULL ? closure->fn : fn;
    if (old_data != NULL)
        *old_data = closure != NULL ? closure->data : data;
}

/* Without memory nothing is registered; the out-of-memory hook has been asked. */
static struct closure *make_closure(GC_finalization_proc fn, void *data)
{
    struct closure *closure = sgc_api_allocate_or_null(sizeof *closure, SGC_KIND_CONSERVATIVE);

    sgc_assert(fn != NULL);
    if (closure != NULL)
        *closure = (struct closure){ fn, data };
    else
        sgc_warn("%s(%p): no memory to remember it; nothing is changed. Free memory or raise the limit (ulimit -v), and "
                 "register it again", "GC_debug_register_finalizer", data);
    return closure;
}

static void register_by(register_fn plain, void *object, GC_finalization_proc fn, void *data,
                        GC_finalization_proc *old_fn, void **old_data)
{
    GC_finalization_proc was_fn = NULL;
    struct closure *closure = NULL;
    void *was_data = NULL;

    if (sgc_debug_around(object) == SGC_DEBUG_NONE || sgc_finding_leaks()) {
        plain(object, fn, data, old_fn, old_data);
        return;
    }
    if (fn != NULL && (closure = make_closure(fn, data)) == NULL)
        return;
    sgc_assert((fn == NULL) == (closure == NULL));
    plain(sgc_debug_header_of(object), fn != NULL ? call : NULL, closure, &was_fn, &was_data);
    answer(was_fn, was_data, old_fn, old_data);
    GC_reachable_here(closure);
}

#define REGISTER(debug, plain) \
    void debug(void *object, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn, void **old_data) \
    { \
        register_by(plain, object, fn, data, old_fn, old_data); \
    }

REGISTER(GC_debug_register_finalizer, GC_register_finalizer)
REGISTER(GC_debug_register_finalizer_ignore_self, GC_register_finalizer_ignore_self)
REGISTER(GC_debug_register_finalizer_no_order, GC_register_finalizer_no_order)
REGISTER(GC_debug_register_finalizer_unreachable, GC_register_finalizer_unreachable)
