/* SPDX-License-Identifier: MIT */
/*
 * Allocation for debugging.  On any mutator; how the objects lie in memory: gc/api/guards.h.
 */
#include "gc/api/api.h"

#include <string.h>
#include <wchar.h>

#include "gc/api/objects.h"
#include "gc/collect/allocate.h"
#include "gc/config/public_vars.h"
#include "gc/api/guards.h"
#include "gc/config/options.h"
#include "gc/threads/upper.h"

const size_t GC_debug_header_size = sizeof(struct sgc_debug_header);

size_t GC_get_debug_header_size(void)
{
    return sizeof(struct sgc_debug_header);
}

/* ---- allocate ---- */

/* The object that the out-of-memory hook returns is somebody's: nothing is written there. */
static void *allocate(sgc_debug_allocate_fn *fn, size_t size, uint32_t kind, const char *file, int line)
{
    void *object = sgc_debug_allocate(fn, size, kind, file, line);

    return object != NULL ? object : sgc_out_of_memory(size);
}

#define DEBUG(name, fn, kind) \
    void *name(size_t size, const char *file, int line) { return allocate(fn, size, kind, file, line); }

DEBUG(GC_debug_malloc, sgc_api_allocate_or_null, SGC_KIND_CONSERVATIVE)
DEBUG(GC_debug_malloc_atomic, sgc_api_allocate_or_null, SGC_KIND_POINTER_FREE)
DEBUG(GC_debug_malloc_uncollectable, sgc_api_allocate_or_null, SGC_KIND_UNCOLLECTABLE)
DEBUG(GC_debug_malloc_atomic_uncollectable, sgc_api_allocate_or_null, SGC_KIND_POINTER_FREE_UNCOLLECTABLE)
DEBUG(GC_debug_malloc_ignore_off_page, sgc_api_near_start_or_null, SGC_KIND_CONSERVATIVE)
DEBUG(GC_debug_malloc_atomic_ignore_off_page, sgc_api_near_start_or_null, SGC_KIND_POINTER_FREE)
DEBUG(GC_debug_malloc_stubborn, sgc_api_allocate_or_null, SGC_KIND_CONSERVATIVE)

#define DEBUG_OF_KIND(name) \
    void *name(size_t size, int kind, const char *file, int line) \
    { \
        if (!sgc_api_good_kind(#name, kind)) \
            return NULL; \
        return allocate(sgc_api_allocate_or_null, size, (uint32_t)kind, file, line); \
    }

DEBUG_OF_KIND(GC_debug_generic_malloc)
DEBUG_OF_KIND(GC_debug_generic_or_special_malloc)

void *GC_debug_malloc_replacement(size_t size)
{
    return GC_debug_malloc(size, NULL, 0);
}

void *GC_debug_malloc_uncollectable_replacement(size_t size)
{
    return GC_debug_malloc_uncollectable(size, NULL, 0);
}

/* ---- copies of strings ---- */

static void *copy_of(const void *text, size_t bytes, size_t end, const char *file, int line)
{
    void *copy = sgc_debug_allocate(sgc_api_allocate_or_null, bytes + end, SGC_KIND_POINTER_FREE, file, line);

    return sgc_api_fill_copy(copy, text, bytes, end);
}

char *GC_debug_strdup(const char *string, const char *file, int line)
{
    return string == NULL ? NULL : copy_of(string, strlen(string), 1, file, line);
}

char *GC_debug_strndup(const char *string, size_t limit, const char *file, int line)
{
    return copy_of(string, strnlen(string, limit), 1, file, line);
}

wchar_t *GC_debug_wcsdup(const wchar_t *string, const char *file, int line)
{
    return copy_of(string, wcslen(string) * sizeof *string, sizeof *string, file, line);
}

/* ---- whose is this address? ---- */

/* Tells an object with guards, which begins at o->start, from one without, for a call that was
 * given `object`.  NONE for one without, and with o->start 0 for an address where no object begins:
 * that has been reported. */
static enum sgc_debug_state find(const char *function, void *object, struct sgc_object *o)
{
    enum sgc_debug_state state;

    if (!sgc_object_find((uintptr_t)object, o)) {
        sgc_warn("%s(%p): there is no object at this address (freed before, reclaimed, or not the collector's); nothing "
                 "is changed", function, object);
        o->start = 0;
        return SGC_DEBUG_NONE;
    }
    sgc_assert(sgc_api_object_ok(o));
    state = sgc_debug_state_of((void *)o->start, o->bytes);
    if (state != SGC_DEBUG_NONE && (uintptr_t)object == o->start + sizeof(struct sgc_debug_header))
        return state;
    if (state != SGC_DEBUG_NONE || (uintptr_t)object != o->start) {
        sgc_warn("%s(%p): the address lies inside the object at %p; nothing is changed. Pass what the allocation "
                 "returned%s", function, object, (void *)o->start,
                 state == SGC_DEBUG_NONE ? " (its guards may have been overwritten)" : "");
        o->start = 0;
    }
    return SGC_DEBUG_NONE;
}

/* Of an object with guards: is it as it was?  Says so if not; false if it has been freed
 * already. */
static bool check(const char *function, enum sgc_debug_state state, const struct sgc_object *o)
{
    bool freed = state == SGC_DEBUG_FREED || state == SGC_DEBUG_FREED_WRITTEN;
    char text[SGC_DEBUG_TEXT];

    sgc_assert(state != SGC_DEBUG_NONE && sgc_api_object_ok(o));
    if (state == SGC_DEBUG_GOOD)
        return true;
    sgc_debug_describe((void *)o->start, (void *)o->start, text);
    if (freed)
        sgc_warn("%s: freed already: %s; nothing is changed", function, text);
    else
        sgc_debug_report(function, state, text);
    return !freed;
}

static void without_guards(const char *function, const void *object, const char *instead)
{
    sgc_assert(instead[0] == 'f' || instead[0] == 'r');
    sgc_warn("%s(%p): the object was allocated without guards (by GC_malloc, not by GC_MALLOC with GC_DEBUG); it is "
             "%s all the same. Define GC_DEBUG everywhere, or use %s", function, object, instead,
             instead[0] == 'f' ? "GC_free" : "GC_realloc");
}

/* ---- free ---- */

/* With delayed freeing, the object stays until a collection finds that nothing points at it.
 * `freed`: not moved. */
static void discard(const struct sgc_object *o, bool freed)
{
    sgc_assert(sgc_api_object_ok(o));
    if (sgc_upper_keeps(sgc_mutator_self(), o->start, freed))
        return;
    if (sgc_options.findleak_delay_free && sgc_finding_leaks() &&
        !sgc_kind_uncollectable(o->kind)) {
        sgc_debug_bury((void *)o->start);
        return;
    }
    sgc_debug_take_down((void *)o->start);
    GC_free((void *)o->start);
}

void GC_debug_free(void *object)
{
    struct sgc_object o;
    enum sgc_debug_state state;

    if (object == NULL || sgc_api_self() == NULL)
        return;
    state = find("GC_debug_free", object, &o);
    if (o.start == 0)
        return;
    if (state == SGC_DEBUG_NONE) {
        without_guards("GC_debug_free", object, "freed");
        GC_free(object);
    } else if (check("GC_debug_free", state, &o)) {
        discard(&o, true);
    }
}

/* The bytes that the client has of the object at its address; 0: no object begins there, or it has
 * been freed already. */
static size_t client_bytes(const void *object)
{
    enum sgc_debug_state state = sgc_debug_around(object);
    struct sgc_object o;

    if (state == SGC_DEBUG_NONE)
        return sgc_object_find((uintptr_t)object, &o) && o.start == (uintptr_t)object ? sgc_api_usable(&o) : 0;
    return sgc_debug_in_use(state) ? sgc_debug_header_of((void *)(uintptr_t)object)->size : 0;
}

void GC_debug_freezero(void *object, size_t bytes)
{
    size_t had = object != NULL ? client_bytes(object) : 0;

    if (had != 0)
        memset(object, 0, bytes < had ? bytes : had);
    GC_debug_free(object);
}

/* ---- resize ---- */

static void *resize(void *object, size_t size, const char *file, int line)
{
    struct sgc_object o;
    enum sgc_debug_state state = find("GC_debug_realloc", object, &o);
    size_t had = state == SGC_DEBUG_NONE ? o.bytes : sgc_debug_header_of(object)->size;
    void *fresh;

    if (o.start == 0 || (state != SGC_DEBUG_NONE && !check("GC_debug_realloc", state, &o)))
        return NULL;
    if (state == SGC_DEBUG_NONE)
        without_guards("GC_debug_realloc", object, "resized");
    sgc_assert(had < o.bytes || state == SGC_DEBUG_NONE);
    fresh = sgc_debug_allocate(sgc_api_allocate_or_null, size, o.kind, file, line);
    if (fresh == NULL)
        return sgc_out_of_memory(size);
    sgc_api_copy(fresh, object, size < had ? size : had);
    if (state == SGC_DEBUG_NONE)
        sgc_api_free_moved(sgc_mutator_self(), object);
    else
        discard(&o, false);
    return fresh;
}

void *GC_debug_realloc(void *object, size_t size, const char *file, int line)
{
    if (object == NULL)
        return GC_debug_malloc(size, file, line);
    if (size != 0)
        return sgc_api_self() != NULL ? resize(object, size, file, line) : NULL;
    GC_debug_free(object);
    return NULL;
}

void *GC_debug_realloc_replacement(void *object, size_t size)
{
    return GC_debug_realloc(object, size, NULL, 0);
}

/* An object with which something is wrong has been reported, and stays. */
static bool may_be_freed(const void *object)
{
    enum sgc_debug_state state = sgc_debug_around(object);

    return state == SGC_DEBUG_GOOD || (state == SGC_DEBUG_NONE && GC_base((void *)(uintptr_t)object) == object);
}

void *GC_debug_reallocf(void *object, size_t size, const char *file, int line)
{
    void *result = GC_debug_realloc(object, size, file, line);

    if (result == NULL && size != 0 && object != NULL && may_be_freed(object))
        GC_debug_free(object);
    return result;
}

void *GC_debug_reallocf_replacement(void *object, size_t size)
{
    return GC_debug_reallocf(object, size, NULL, 0);
}

/* ---- the others ---- */

void GC_debug_register_displacement(size_t n)
{
    GC_register_displacement(n);
    GC_register_displacement(n + sizeof(struct sgc_debug_header));
}

void GC_debug_ptr_store_and_dirty(void *address, const void *value)
{
    GC_ptr_store_and_dirty(GC_is_visible(address), GC_is_valid_displacement((void *)(uintptr_t)value));
}

void GC_debug_end_stubborn_change(const void *object)
{
    struct sgc_object o;

    if (sgc_object_find((uintptr_t)object, &o))
        GC_end_stubborn_change((void *)o.start);
    else
        sgc_warn("GC_debug_end_stubborn_change(%p): there is no object at this address; nothing is done", object);
}

void GC_debug_change_stubborn(const void *object)
{
    (void)object;
}

/* Its state says whether something refers to the whole object, guards included. */
int GC_debug_toggleref_add(void *object, int is_strong)
{
    bool guarded = sgc_debug_around(object) != SGC_DEBUG_NONE;

    return GC_toggleref_add(guarded ? sgc_debug_header_of(object) : object, is_strong);
}

/* ---- leaks ---- */

SGC_API_SWITCH(find_leak, sgc_client_find_leak)

/* ---- finalizers: registered for the object with its header, and called with the client's address
 * of it.  The client's function and data are kept in an object of their own, the data of the
 * finalizer that SGC calls ---- */

struct closure {
    GC_finalization_proc fn;
    void *data;
};

typedef void (*register_fn)(void *object, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn,
                            void **old_data);

static void call(void *base, void *data)
{
    struct closure *closure = data;
    enum sgc_debug_state state = sgc_debug_state_of(base, GC_size(base));
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
        sgc_written_store(old_data, closure != NULL ? closure->data : data);
}

/* Without memory nothing is registered; the out-of-memory hook has been asked. */
static struct closure *make_closure(GC_finalization_proc fn, void *data)
{
    struct closure *closure = sgc_api_allocate_or_null(sizeof *closure, SGC_KIND_CONSERVATIVE);

    sgc_assert(fn != NULL);
    if (closure != NULL) {
        closure->fn = fn;
        sgc_written_store(&closure->data, data);
    } else
        sgc_warn("%s(%p): no memory to remember it; nothing is changed. Free memory or raise the limit (ulimit -v), and "
                 "register it again", "GC_debug_register_finalizer", data);
    return closure;
}

/* Its address stands for "not answered": nothing could be registered. */
static void unanswered(void *base, void *data)
{
    (void)base, (void)data;
}

static void register_by(register_fn plain, void *object, GC_finalization_proc fn, void *data,
                        GC_finalization_proc *old_fn, void **old_data)
{
    GC_finalization_proc was_fn = unanswered;
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
    if (was_fn != unanswered)
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
