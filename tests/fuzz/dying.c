/* SPDX-License-Identifier: MIT */
/* Finalizers, links, toggle references, disclaim procedures.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

static unsigned called;

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

/* Links that were cleared, to objects that may come back now. */
static void note_cleared(void)
{
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered && link_word[i] == NULL && !(links[i].target != NONE && reached[links[i].target]))
            links[i] = (struct link){ .target = NONE };
}

static void GC_CALLBACK finalize(void *object, void *data)
{
    int h = handle_at(object);

    fuzz_expect(h != NONE, "a finalizer is called for %p, where no object is", object);
    fuzz_expect(handle[h].order != UNREGISTERED, "the finalizer of object %d is called, and none is registered", h);
    model_reach();
    fuzz_expect(!reached[h], "the finalizer of object %d is called, which can be reached", h);
    fuzz_expect(data == (handle[h].data == NONE ? NULL : (void *)address_of(handle[h].data)),
                "object %d: the finalizer's data is %p", h, data);
    check_around(h);
    note_cleared();
    handle[h].order = UNREGISTERED;
    handle[h].data = NONE;
    called++;
    if (handle[h].revives)
        set_place(h, IN_STATIC, 0);
    handle[h].revives = false;
    void **garbage = GC_malloc(3008);
    if (garbage != NULL)
        *garbage = garbage;
}

static void register_as(enum order order, void *p, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn,
                        void **old_data)
{
    switch (order) {
    case IGNORE_SELF: GC_register_finalizer_ignore_self(p, fn, data, old_fn, old_data); break;
    case NO_ORDER: GC_register_finalizer_no_order(p, fn, data, old_fn, old_data); break;
    case UNREACHABLE: GC_register_finalizer_unreachable(p, fn, data, old_fn, old_data); break;
    default: GC_register_finalizer(p, fn, data, old_fn, old_data); break;
    }
}

static void register_for(int h, enum order order, int data)
{
    GC_finalization_proc old_fn = NULL;
    void *old_data = NULL, *wanted = handle[h].data == NONE ? NULL : address_of(handle[h].data);
    bool was = handle[h].order != UNREGISTERED;

    register_as(order == UNREGISTERED ? ORDERED : order, address_of(h), order == UNREGISTERED ? NULL : finalize,
                data == NONE ? NULL : address_of(data), &old_fn, &old_data);
    fuzz_expect(old_fn == (was ? finalize : NULL) && old_data == (was ? wanted : NULL),
                "object %d: another finalizer was registered", h);
    handle[h].order = order;
    handle[h].data = order == UNREGISTERED ? NONE : data;
}

void op_finalizer(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in)), data = used_handle(fuzz_byte(in));
    unsigned code = fuzz_byte(in);

    if (h == NONE || handle[h].how == DISCLAIMED)
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
    if (handle[h].order != UNREGISTERED)
        register_for(h, UNREGISTERED, NONE);
    forget(h);
}

/* It was freed. */
void lose_registrations(int h)
{
    handle[h].order = UNREGISTERED;
    handle[h].data = NONE;
    handle[h].toggled = handle[h].strong = handle[h].revives = false;
}

/* ---- links ---- */

void links_lose_target(int h)
{
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered && links[i].target == h)
            links[i].target = NONE;
}

static bool is_certain(int i)
{
    model_reach();
    return links[i].target != NONE && reached[links[i].target];
}

void op_link(struct fuzz_input *in)
{
    int i = (int)fuzz_below(in, LINKS), h = used_handle(fuzz_byte(in)), answer;
    bool is_long = fuzz_byte(in) % 2 != 0, was = links[i].registered, certain = was && is_certain(i);

    if (h == NONE || (was && links[i].is_long != is_long))
        return;
    uintptr_t hidden = handle[h].hidden;
    void *before = link_word[i];
    link_word[i] = (void *)hidden;
    answer = is_long ? GC_register_long_link(&link_word[i], address_of(h))
                     : GC_general_register_disappearing_link(&link_word[i], address_of(h));
    if (!was)
        fuzz_expect(answer == GC_SUCCESS, "link %d is registered: %d", i, answer);
    else
        fuzz_expect(answer == GC_DUPLICATE || (!certain && answer == GC_SUCCESS),
                    "link %d, which was %p, is registered again: %d", i, before, answer);
    links[i] = (struct link){ .target = h, .registered = true, .is_long = is_long, .hidden = hidden };
    link_word[i] = (void *)hidden;
}

static void unlink_one(int i)
{
    bool certain = is_certain(i);
    int answer = links[i].is_long ? GC_unregister_long_link(&link_word[i]) : GC_unregister_disappearing_link(&link_word[i]);

    fuzz_expect(answer == 1 || !certain, "link %d, which was registered, is not", i);
    links[i] = (struct link){ .target = NONE };
    link_word[i] = NULL;
    answer = GC_unregister_disappearing_link(&link_word[i]) + GC_unregister_long_link(&link_word[i]);
    fuzz_expect(answer == 0, "link %d is still registered when it was unregistered", i);
}

static void move_one(int from, int to)
{
    bool certain = is_certain(from);
    int answer;

    if (links[to].registered)
        return;
    link_word[to] = link_word[from];
    answer = links[from].is_long ? GC_move_long_link(&link_word[from], &link_word[to])
                                 : GC_move_disappearing_link(&link_word[from], &link_word[to]);
    fuzz_expect(answer == GC_SUCCESS || (!certain && answer == GC_NOT_FOUND), "link %d is moved: %d", from, answer);
    if (answer == GC_SUCCESS)
        links[to] = links[from];
    links[from] = (struct link){ .target = NONE };
    link_word[from] = NULL;
    if (answer != GC_SUCCESS)
        link_word[to] = NULL;
}

void op_unlink(struct fuzz_input *in)
{
    int i = (int)fuzz_below(in, LINKS), to = (int)fuzz_below(in, 2 * LINKS);

    if (!links[i].registered)
        return;
    if (to < LINKS && to != i)
        move_one(i, to);
    else
        unlink_one(i);
}

void unlink_all(void)
{
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered)
            unlink_one(i);
}

/* A short link goes when roots do not reach its target any more, a long one when nothing does; `blamed`: a word on a stack
 * keeps something, so there may be a link less. */
static void check_link(int i, bool blamed)
{
    struct link *l = &links[i];
    bool lives = l->target != NONE && (l->is_long ? kept[l->target] : reached[l->target]);

    if (lives) {
        bool left = link_word[i] == (void *)l->hidden;

        fuzz_expect(left || (blamed && link_word[i] == NULL), "%s link %d to object %d, which lives, holds %p",
                    l->is_long ? "long" : "short", i, l->target, link_word[i]);
        if (!left)
            *l = (struct link){ .target = NONE };
    } else if (link_word[i] == NULL) {
        *l = (struct link){ .target = NONE };
    } else {
        fuzz_expect(blamed, "%s link %d is not cleared, and its object is gone", l->is_long ? "long" : "short", i);
    }
}

void check_links(void)
{
    bool blamed = false;

    for (int h = 0; h < HANDLES; h++)
        blamed = blamed || handle[h].blamed;
    model_reach();
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered)
            check_link(i, blamed);
}

/* ---- toggle references ---- */

static GC_ToggleRefStatus GC_CALLBACK toggled(void *object)
{
    int h = handle_at(object);

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
    if (!handle[h].toggled) {
        handle[h].toggled = true;
        handle[h].strong = code % 2 != 0;
        fuzz_expect(GC_toggleref_add(address_of(h), handle[h].strong) == GC_SUCCESS, "object %d gets no toggle reference", h);
    } else if (code >= 192) {
        handle[h].toggled = false;
    } else {
        handle[h].strong = code % 2 != 0;
    }
}

/* ---- disclaim procedures ---- */

int GC_CALLBACK disclaim(void *object)
{
    int h = handle_at(object);

    if (h == NONE && has_strays())
        return 0;
    fuzz_expect(h != NONE, "the disclaim procedure is called for %p, where no object is", object);
    fuzz_expect(handle[h].how == DISCLAIMED, "the disclaim procedure is called for object %d of kind %d", h,
                (int)handle[h].how);
    model_reach();
    fuzz_expect(!reached[h], "the disclaim procedure is called for object %d, which can be reached", h);
    check_contents(h);
    if (handle[h].stays_once) {
        handle[h].stays_once = false;
        return 1;
    }
    forget(h);
    return 0;
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
    GC_set_toggleref_func(toggled);
}
