/* SPDX-License-Identifier: MIT */
/*
 * Checks of pointer arithmetic.  On any mutator; only GC_is_visible takes locks.
 */
#include "gc/api/api.h"

#include "gc/api/objects.h"
#include "gc/config/public_vars.h"
#include "gc/roots/roots.h"
#include "mark/displacements.h"

/* ---- what happens when a check fails ---- */

static void different_objects(void *p, void *q)
{
    sgc_fatal("GC_same_obj(%p, %p): the addresses are not in the same object; pointer arithmetic went out of "
              "bounds, or the object is gone", p, q);
}

static void not_visible(void *p)
{
    sgc_fatal("GC_is_visible(%p): the collector does not look there; keep pointers on stacks, in static data, in "
              "objects that are scanned, or in memory added with GC_add_roots", p);
}

static void not_valid(void *p)
{
    sgc_fatal("GC_is_valid_displacement(%p): the address keeps no object alive; register the displacement with "
              "GC_register_displacement, or the object is gone", p);
}

void (*GC_same_obj_print_proc)(void *p, void *q) = different_objects;
void (*GC_is_visible_print_proc)(void *p) = not_visible;
void (*GC_is_valid_displacement_print_proc)(void *p) = not_valid;

#define PRINT_PROC(name, type) \
    void GC_set_##name(type proc) { GC_##name = proc; } \
    type GC_get_##name(void) { return GC_##name; }

PRINT_PROC(same_obj_print_proc, GC_same_obj_print_proc_t)
PRINT_PROC(is_visible_print_proc, GC_valid_ptr_print_proc_t)
PRINT_PROC(is_valid_displacement_print_proc, GC_valid_ptr_print_proc_t)

/* ---- the checks ---- */

static bool same_object(uintptr_t p, uintptr_t q)
{
    struct sgc_object o;

    if (sgc_object_find(q, &o)) {
        sgc_assert(sgc_api_object_ok(&o) && q - o.start < o.bytes);
        return p - o.start < o.bytes;
    }
    return !sgc_heap_contains(p) && !sgc_heap_contains(q);
}

void *GC_same_obj(void *p, void *q)
{
    if (!same_object((uintptr_t)p, (uintptr_t)q))
        GC_same_obj_print_proc(p, q);
    return p;
}

void *GC_pre_incr(void **p, ptrdiff_t bytes)
{
    void *old = *p;

    *p = GC_same_obj((void *)((uintptr_t)old + (uintptr_t)bytes), old);
    return *p;
}

void *GC_post_incr(void **p, ptrdiff_t bytes)
{
    void *old = *p;

    *p = GC_same_obj((void *)((uintptr_t)old + (uintptr_t)bytes), old);
    return old;
}

static bool is_visible(uintptr_t p)
{
    struct sgc_object o;

    if (sgc_object_find(p, &o))
        return sgc_kind_has_pointers(o.kind);
    return !sgc_heap_contains(p) && sgc_roots_visible(p, sgc_api_self());
}

void *GC_is_visible(void *p)
{
    if (!is_visible((uintptr_t)p))
        GC_is_visible_print_proc(p);
    return p;
}

static bool is_valid(uintptr_t p)
{
    struct sgc_object o;

    if (!sgc_heap_contains(p))
        return true;
    return sgc_object_find(p, &o) && (sgc_a32_load(&sgc_client_all_interior_pointers) != 0 ||
                                      sgc_mark_distance_valid(o.start, p - o.start));
}

void *GC_is_valid_displacement(void *p)
{
    if (!is_valid((uintptr_t)p))
        GC_is_valid_displacement_print_proc(p);
    return p;
}
