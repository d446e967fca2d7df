/* SPDX-License-Identifier: MIT */
/* Finalizers, toggle references, disclaim procedures.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

#include <string.h>

static unsigned called;
static bool all_at_once;                /* GC_finalize_all runs */

unsigned finalizers_called(void)
{
    return called;
}

/* ---- finalizers ---- */

/* What the object leads to is whole. */
static void check_around(int h)
{
    check_contents(h);
    for (int e = 0; e < EDGES; e++)
        if (has_edges(h) && follows(h, e) && handle[h].edge[e] >= 0)
            check_contents(handle[h].edge[e]);
}

/* What it leads to, and is reached again, may have been queued with it. */
static void revive(int h)
{
    bool before[HANDLES];

    memcpy(before, reached, sizeof before);
    handle[h].revives = false;
    set_place(h, IN_STATIC, 0);
    model_reach();
    for (int i = 0; i < HANDLES; i++)
        handle[i].queued = handle[i].queued || (reached[i] && !before[i] && handle[i].order != UNREGISTERED);
}

static void GC_CALLBACK finalize(void *object, void *data)
{
    int h = handle_at(object);

    if (h == NONE && has_strays())
        return;
    fuzz_expect(h != NONE, "a finalizer is called for %p, where no object is", object);
    fuzz_expect(handle[h].order != UNREGISTERED, "the finalizer of object %d is called, and none is registered", h);
    model_reach();
    fuzz_expect(!reached[h] || all_at_once || handle[h].queued, "the finalizer of object %d is called, which can be reached",
                h);
    fuzz_expect(data == (handle[h].data == NONE ? NULL : (void *)address_of(handle[h].data)),
                "object %d: the finalizer's data is %p", h, data);
    check_around(h);
    note_cleared_links();
    handle[h].order = UNREGISTERED;
    handle[h].data = NONE;
    called++;
    handle[h].queued = false;
    if (handle[h].revives)
        revive(h);
    void **garbage = GC_malloc(3008);
    if (garbage == NULL)
        return;
    forget_before(garbage);
    *garbage = garbage;
}

typedef void (*register_fn)(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);

/* Those of objects with guards take what the program has of them, and so do the others of others. */
static register_fn register_of(enum order order, bool debug)
{
    static const register_fn plain[] = { GC_register_finalizer, GC_register_finalizer, GC_register_finalizer_ignore_self,
                                         GC_register_finalizer_no_order, GC_register_finalizer_unreachable };
    static const register_fn guarded[] = { GC_debug_register_finalizer, GC_debug_register_finalizer,
                                           GC_debug_register_finalizer_ignore_self, GC_debug_register_finalizer_no_order,
                                           GC_debug_register_finalizer_unreachable };

    return debug ? guarded[order] : plain[order];
}

static void GC_CALLBACK untouched(void *object, void *data)
{
    fuzz_found("nobody has registered this: %p, %p", object, data);
}

static void register_for(int h, enum order order, int data)
{
    GC_finalization_proc old_fn = untouched;
    void *old_data = NULL, *wanted = handle[h].data == NONE ? NULL : address_of(handle[h].data);
    bool was = handle[h].order != UNREGISTERED;

    register_of(order, is_debug(handle[h].how))(address_of(h), order == UNREGISTERED ? NULL : finalize,
                                                data == NONE ? NULL : address_of(data), &old_fn, &old_data);
    if (old_fn == untouched && limited)
        return;                         /* no memory to remember it */
    fuzz_expect(old_fn == (was ? finalize : NULL) && old_data == (was ? wanted : NULL),
                "object %d: another finalizer was registered", h);
    handle[h].order = order;
    handle[h].data = order == UNREGISTERED ? NONE : data;
}

void op_finalizer(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in)), data = used_handle(fuzz_byte(in));
    unsigned code = fuzz_byte(in);

    if (h == NONE || is_disclaimed(handle[h].how) || handle[h].queued)
        return;
    register_for(h, (enum order)(code % 5), code % 3 == 0 ? data : NONE);
    handle[h].revives = code >= 224;
}

void forget_data(int h)
{
    if (handle[h].order != UNREGISTERED)
        register_for(h, handle[h].order, NONE);
}

void leave_alone(int h)
{
    GC_finalization_proc old_fn;
    void *old_data;

    /* It may have been queued just now. */
    register_of(UNREGISTERED, is_debug(handle[h].how))(address_of(h), NULL, NULL, &old_fn, &old_data);
    forget(h);
}

/* It was freed. */
void lose_registrations(int h)
{
    handle[h].order = UNREGISTERED;
    handle[h].data = NONE;
    handle[h].toggled = handle[h].strong = handle[h].revives = handle[h].queued = false;
}

/* ---- toggle references ---- */

static GC_ToggleRefStatus GC_CALLBACK toggled(void *object)
{
    int h = handle_of_base(object);

    if (h == NONE && has_strays())
        return GC_TOGGLE_REF_DROP;
    fuzz_expect(h != NONE, "a toggle reference is asked about at %p, where no object is", object);
    return !handle[h].toggled ? GC_TOGGLE_REF_DROP : handle[h].strong ? GC_TOGGLE_REF_STRONG : GC_TOGGLE_REF_WEAK;
}

void op_toggle(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));
    unsigned code = fuzz_byte(in);

    if (h == NONE)
        return;
    handle[h].stays_once = handle[h].how == DISCLAIMED && code % 4 == 0;
    if (!handle[h].toggled) {
        handle[h].toggled = true;
        handle[h].strong = code % 2 != 0;
        fuzz_expect(GC_toggleref_add(base_of(h), handle[h].strong) == GC_SUCCESS, "object %d gets no toggle reference", h);
    } else if (code >= 192) {
        handle[h].toggled = false;
    } else {
        handle[h].strong = code % 2 != 0;
    }
}

/* ---- disclaim procedures ---- */

/* True: it is over. */
static bool is_dead(void *object, enum how how)
{
    int h = handle_at(object);

    if (h == NONE && has_strays())
        return true;
    fuzz_expect(h != NONE, "a disclaim procedure is called for %p, where no object is", object);
    fuzz_expect(handle[h].how == how, "a disclaim procedure is called for object %d of kind %d", h, (int)handle[h].how);
    model_reach();
    fuzz_expect(!reached[h], "a disclaim procedure is called for object %d, which can be reached", h);
    check_contents(h);
    called++;
    if (how == FINALIZED)
        check_around(h);
    if (handle[h].stays_once) {
        handle[h].stays_once = false;
        return false;
    }
    forget(h);
    return true;
}

int GC_CALLBACK disclaim(void *object)
{
    return !is_dead(object, DISCLAIMED);
}

void GC_CALLBACK finalize_dead(void *object, void *data)
{
    fuzz_expect(data == NULL, "the data of a closure is %p", data);
    is_dead(object, FINALIZED);
}

void op_finalize_all(struct fuzz_input *in)
{
    (void)in;
    all_at_once = true;
    GC_finalize_all();
    all_at_once = false;
    for (int h = 0; h < HANDLES; h++)
        fuzz_expect(handle[h].order == UNREGISTERED, "GC_finalize_all: object %d still has a finalizer", h);
}

/* ---- settings ---- */

void op_settings(struct fuzz_input *in)
{
    unsigned which = fuzz_below(in, 6), value = fuzz_byte(in);

    switch (which) {
    case 0: GC_set_finalize_on_demand((int)(value % 2)); break;
    case 1: GC_set_java_finalization((int)(value % 2)); break;
    case 2: GC_set_free_space_divisor(1 + value % 20); break;
    case 3: GC_set_force_unmap_on_gcollect((int)(value % 2)); break;
    case 4: GC_set_min_bytes_allocd(1 + (size_t)value * 1000); break;
    default: GC_set_dont_expand((int)(value % 2)); break;
    }
}

void prepare_dying(void)
{
    prepare_links();
    GC_set_toggleref_func(toggled);
}
