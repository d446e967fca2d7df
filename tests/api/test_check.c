/* SPDX-License-Identifier: MIT */
/*
 * The checks of pointer arithmetic of gc.h: what passes, what fails, and which hook learns of it.
 *
 * Also: gc/api/objects.c, gc/inspect/pointer_checks.c.
 */
#define GC_DEBUG        /* the macros check then */
#include "api.h"

static int same, visible, displaced;
static void *seen[2];

static void not_same(void *p, void *q)
{
    same++;
    seen[0] = p;
    seen[1] = q;
}

static void not_visible(void *p)
{
    visible++;
    seen[0] = p;
}

static void not_valid(void *p)
{
    displaced++;
    seen[0] = p;
}

static void *static_word;

static void check_same(void)
{
    char *one = GC_malloc(100), *other = GC_malloc(100), local;

    tap_ok(GC_same_obj(one, one + 99) == one && GC_same_obj(one + 50, one) == one + 50, "GC_same_obj returns p");
    tap_ok(GC_same_obj(&local, &static_word) == &local && same == 0, "and passes in an object and outside the heap");
    GC_same_obj(one, other);
    tap_ok(same == 1 && seen[0] == one && seen[1] == other, "it fails for two objects, and says which");
    GC_same_obj(&local, other);
    tap_ok(same == 2, "and for an object and the stack");
}

static void check_arithmetic(void)
{
    long *numbers = GC_malloc(10 * sizeof(long)), *p = numbers;

    same = 0;
    tap_ok(GC_pre_incr((void **)&p, 8) == numbers + 1 && p == numbers + 1, "GC_pre_incr returns the new value");
    tap_ok(GC_post_incr((void **)&p, 8) == numbers + 1 && p == numbers + 2, "GC_post_incr the old one");
    tap_ok(GC_PTR_ADD(p, 3) == numbers + 5 && p == numbers + 2, "GC_PTR_ADD adds elements");
    tap_ok(GC_PRE_INCR(p, 2) == numbers + 4 && p == numbers + 4, "GC_PRE_INCR too");
    tap_ok(GC_POST_INCR(p) == numbers + 4 && p == numbers + 5, "GC_POST_INCR one");
    tap_ok(GC_POST_DECR(p) == numbers + 5 && p == numbers + 4 && same == 0, "GC_POST_DECR back");
    GC_pre_incr((void **)&p, 1 << 16);
    tap_ok(same == 1, "leaving the object fails");
}

/* bdwgc's answers are those of a program with one thread only; ours hold for all. */
static void check_invisible(void **blind)
{
    void **outside = api_outside(4096);

    tap_ok(GC_is_visible(blind) == blind && visible == 1 && seen[0] == blind, "pointer-free objects are not");
    tap_ok(GC_is_visible(outside) == outside && visible == 2, "nor is memory that is no root");
    GC_add_roots(outside, outside + 512);
    tap_ok(GC_is_visible(outside + 3) == outside + 3 && visible == 2, "until it is one");
    GC_remove_roots(outside, outside + 512);
}

static void check_visible(void)
{
    void **object = GC_malloc(100), **blind = GC_malloc_atomic(100);
    void *volatile local;

    tap_ok(GC_is_visible(object + 3) == object + 3 && GC_is_visible(&static_word) == &static_word
           && GC_is_visible((void *)(uintptr_t)&local) == (void *)(uintptr_t)&local && visible == 0,
           "objects, static data and the stack are visible");
    if (api_on_sgc)
        check_invisible(blind);
    GC_PTR_STORE(object, blind);
    tap_ok(*object == blind, "GC_PTR_STORE stores");
    GC_ptr_store_and_dirty(object + 1, object);
    tap_ok(object[1] == object, "so does GC_ptr_store_and_dirty");
    GC_end_stubborn_change(object);
}

static void check_displacement(void)
{
    char *object = GC_malloc(100);

    tap_ok(GC_is_valid_displacement(object + 50) == object + 50
           && GC_is_valid_displacement(&static_word) == &static_word && displaced == 0,
           "with interior pointers on every displacement is valid");
}

/* With interior pointers off: only registered displacements count. */
static GC_hidden_pointer hidden[3];
static char *volatile word[3];      /* volatile: the stores matter */

static void point_inside(void)
{
    for (int i = 0; i < 3; i++)
        hidden[i] = GC_HIDE_POINTER(word[i] = GC_malloc(API_LARGE));
    word[0] += 8;
    word[1] += 24;
}

static void no_interior_pointers(void)
{
    GC_set_all_interior_pointers(0);
    GC_INIT();
    API_CHILD(GC_get_all_interior_pointers() == 0);
    GC_register_displacement(8);
    GC_is_valid_displacement_print_proc = not_valid;
    api_run(point_inside);
    API_CHILD(api_survive(hidden, 1) == 1);           /* at a registered displacement */
    API_CHILD(api_alive(hidden + 1, 1) == 0);       /* at another one */
    API_CHILD(api_alive(hidden + 2, 1) == 1);       /* at the start */
    API_CHILD(GC_is_valid_displacement(word[0]) == word[0] && displaced == 0);
    API_CHILD(GC_is_valid_displacement(word[2] + 100) == word[2] + 100 && displaced == 1);
    API_CHILD(GC_size(GC_malloc(16)) == 16);        /* no end byte then */
}

int main(void)
{
    api_check_child(no_interior_pointers, NULL, "without interior pointers, registered displacements count");
    GC_INIT();
    GC_same_obj_print_proc = not_same;
    GC_is_visible_print_proc = not_visible;
    GC_is_valid_displacement_print_proc = not_valid;
    return tap_all(check_same, check_arithmetic, check_visible, check_displacement);
}
