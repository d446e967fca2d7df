/* SPDX-License-Identifier: MIT */
/*
 * What bdwgc 8.3 has added for objects: cleared as they are freed, freed as they cannot grow; with guards and without.
 *
 * Also: gc/api/free.c, gc/inspect/debug.c.
 */
#define GC_DEBUG
#include "api.h"

enum { SIZE = 200, TOO_MUCH_LOG = 62 };

#define TOO_MUCH ((size_t)1 << TOO_MUCH_LOG)

static bool all(const char *memory, size_t size, char value)
{
    bool good = true;

    for (size_t i = 0; i < size; i++)
        good = good && memory[i] == value;
    return good;
}

/* Is so much cleared, and the rest of the object as it was?  Its memory stays where it is.  Under torture all of it has been
 * overwritten since. */
static bool cleared(char *object, size_t cleared_bytes, size_t bytes)
{
    bool rest = getenv("SGC_TORTURE") != NULL || all(object + cleared_bytes, bytes - cleared_bytes, 'x');

    return rest && (getenv("SGC_TORTURE") != NULL ? memchr(object, 'x', cleared_bytes) == NULL : all(object, cleared_bytes, 0));
}

static char *filled(void *object, size_t bytes)
{
    return memset(object, 'x', bytes);
}

static bool is_free(void *object)
{
    return GC_base(object) != object;
}

static void check_freezero(void)
{
    char *part = filled(GC_malloc(SIZE), SIZE), *whole = filled(GC_malloc_atomic(SIZE), SIZE);
    char *uncollectable = filled(GC_malloc_uncollectable(SIZE), SIZE);
    size_t had = GC_get_non_gc_bytes();

    GC_freezero(part, 50);
    tap_ok(cleared(part, 50, SIZE), "GC_freezero clears what it was asked for, and no more");
    GC_freezero(whole, SIZE_MAX);
    tap_ok(cleared(whole, SIZE, SIZE), "and at most the whole object");
    tap_ok(is_free(part) && is_free(whole), "and frees them");
    GC_freezero(uncollectable, SIZE_MAX);
    tap_ok(is_free(uncollectable) && GC_get_non_gc_bytes() < had && cleared(uncollectable, SIZE, SIZE),
           "an uncollectable one, too");
    GC_freezero(NULL, 100);
}

static void of_inside(void)
{
    char *object = filled(GC_malloc(SIZE), SIZE);

    GC_freezero(object + 16, 100);
    API_CHILD(cleared(object, 0, SIZE) && !is_free(object));
}

static void of_stack(void)
{
    char local[100];

    GC_freezero(filled(local, sizeof local), SIZE_MAX);
    API_CHILD(cleared(local, 0, sizeof local));
}

static void check_freezero_wrong(void)
{
    api_check_started(of_inside, "bytes inside the object", "an address inside an object is reported, and nothing cleared");
    api_check_started(of_stack, "on this thread's stack", "so is one on the stack");
}

static void with_guards(void)
{
    char *object = filled(GC_MALLOC(SIZE), SIZE), *part = filled(GC_MALLOC_ATOMIC(SIZE), SIZE);

    GC_FREEZEROALL(object);
    GC_FREEZERO(part, 50);
    API_CHILD(cleared(object, SIZE, SIZE) && cleared(part, 50, SIZE));
    API_CHILD(GC_base(object) == NULL && GC_base(part) == NULL);
    GC_FREEZERO(NULL, 5);
}

static void twice(void)
{
    char *object = GC_MALLOC(SIZE);

    GC_FREE(object);
    filled(object, SIZE);
    GC_FREEZEROALL(object);
    API_CHILD(cleared(object, 0, SIZE));
}

static void check_guards(void)
{
    api_check_started(with_guards, NULL, "GC_FREEZERO clears what the program has, and no guards");
    api_check_started(twice, "GC_debug_free", "an object that has been freed is reported, and left alone");
}

static void check_reallocf(void)
{
    char *object = filled(GC_malloc(API_LARGE), API_LARGE), *larger;

    GC_set_oom_fn(api_refuse);
    tap_ok(GC_realloc(object, TOO_MUCH) == NULL && !is_free(object), "GC_realloc leaves alone what cannot grow");
    larger = GC_reallocf(object, 2 * API_LARGE);
    tap_ok(larger != NULL && cleared(larger, 0, API_LARGE), "GC_reallocf does the same where it can");
    tap_ok(GC_reallocf(larger, TOO_MUCH) == NULL && is_free(larger), "and frees what it cannot");
    object = GC_reallocf(NULL, 10);
    tap_ok(object != NULL && GC_reallocf(object, 0) == NULL && is_free(object), "NULL and size 0 are as for GC_realloc");
    tap_ok(GC_reallocf(NULL, TOO_MUCH) == NULL, "or both at once");
}

static void reallocf_with_guards(void)
{
    char *object = filled(GC_MALLOC(10), 10);

    GC_set_oom_fn(api_refuse);
    object = GC_REALLOCF(object, SIZE);
    API_CHILD(cleared(object, 0, 10) && GC_base(object) == object - GC_get_debug_header_size());
    object = GC_debug_reallocf_replacement(object, 2 * SIZE);
    API_CHILD(cleared(object, 0, 10) && GC_size(object) == 2 * SIZE);
    API_CHILD(GC_REALLOCF(object, TOO_MUCH) == NULL && GC_base(object) == NULL);
}

static void reallocf_of_inside(void)
{
    char *object = GC_malloc(SIZE);

    API_CHILD(GC_reallocf(object + 16, SIZE) == NULL && !is_free(object));
}

static void reallocf_damaged(void)
{
    char *volatile object = GC_MALLOC(SIZE);

    object[SIZE] = 1;
    API_CHILD(GC_REALLOCF(object, 10 * SIZE) != NULL);
}

static void check_reallocf_children(void)
{
    api_check_started(reallocf_with_guards, NULL, "GC_REALLOCF keeps guards, and frees what cannot grow");
    api_check_started(reallocf_of_inside, "bytes inside the object", "an address inside an object is reported, and it stays");
    api_check_started(reallocf_damaged, "past the end of an object", "damage is reported as by GC_REALLOC");
}

static void *made_generic;

static void make_generic(void)
{
    made_generic = GC_GENERIC_MALLOC(10, 3);
}

static void check_debug_kinds(void)
{
    char *kept = GC_debug_malloc_uncollectable_replacement(10);
    size_t header = GC_get_debug_header_size(), bytes;

    make_generic();
    tap_ok(GC_get_kind_and_size(GC_base(made_generic), &bytes) == 3 && bytes >= header + 10,
           "GC_debug_generic_malloc allocates of any kind, with guards");
    tap_ok(GC_get_kind_and_size(made_generic, &bytes) == 3 && bytes == 10, "which its own address says, too");
    tap_ok(GC_get_kind_and_size(GC_base(kept), NULL) == 2 && GC_size(kept) == 10, "the replacement is uncollectable");
    GC_FREE(kept);
    GC_FREE(made_generic);
}

static GC_hidden_pointer toggled, asked_about;

static GC_ToggleRefStatus strong(void *object)
{
    asked_about = GC_HIDE_POINTER(object);
    return GC_TOGGLE_REF_STRONG;
}

static void make_toggled(void)
{
    void *object = GC_MALLOC(API_LARGE);

    toggled = GC_HIDE_POINTER(GC_base(object));
    tap_ok(GC_TOGGLEREF_ADD(object, 1) == GC_SUCCESS, "GC_debug_toggleref_add takes what the program has");
}

static void check_toggles(void)
{
    GC_set_toggleref_func(strong);
    api_make(make_toggled);
    tap_ok(api_survive(&toggled, 1) == 1 && asked_about == toggled, "and asks about the object with its guards, which lives");
    GC_set_toggleref_func(NULL);
}

static void check_macros(void)
{
    int *array = GC_NEW_ARRAY(int, 5), *other = GC_NEW_ATOMIC_ARRAY(int, 5), *last = GC_NEW_UNCOLLECTABLE_ARRAY(int, 5);
    const char *inside = (const char *)array + 3;

    tap_ok(GC_size(array) == 20 && GC_size(other) == 20 && GC_size(last) == 20, "arrays have room for their elements");
    tap_ok(GC_base_C(inside) == GC_base(array), "GC_base_C takes pointers to const");
    tap_ok(GC_HIDE_NZ_POINTER(NULL) == 0 && GC_REVEAL_NZ_POINTER(GC_HIDE_NZ_POINTER(array)) == array &&
           GC_HIDE_NZ_POINTER(array) != (GC_word)array, "GC_HIDE_NZ_POINTER hides all but NULL");
    GC_noop1_ptr(array);
    GC_FREE(last);
}

int main(void)
{
    check_freezero_wrong();
    check_guards();
    check_reallocf_children();
    GC_INIT();
    return tap_all(check_freezero, check_reallocf, check_debug_kinds, check_toggles, check_macros);
}
