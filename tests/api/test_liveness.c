/* SPDX-License-Identifier: MIT */
/*
 * What keeps an object alive and what does not, seen through the public interface: kinds, interior pointers, the
 * end byte, hidden pointers, lists.  Each case makes COUNT objects in a thread that is gone before the collection;
 * only static words (volatile: their stores matter) remain.
 */
#include "api.h"

enum { COUNT = 50 };

static GC_hidden_pointer hidden[COUNT];
static char *volatile word[COUNT];
static GC_hidden_pointer inner[COUNT];

static int alive(const GC_hidden_pointer *objects)
{
    return api_survive(objects, COUNT);
}

static bool all(int count)
{
    return count == COUNT;
}

/* Stale words exist in both collectors' worlds; many do not. */
static bool none(int count)
{
    return count <= 3;
}

static void forget(void)
{
    for (int i = 0; i < COUNT; i++)
        word[i] = NULL;
}

/* ---- pointers of all sorts into one object --------------------------------------------------- */

struct reach {
    const char *what;
    size_t size;
    ptrdiff_t offset;       /* of the word from the object's start */
    bool off_page;          /* only the object's first part must be pointed at */
};

static const struct reach *reach;

static void point(void)
{
    for (int i = 0; i < COUNT; i++) {
        char *object = reach->off_page ? GC_malloc_ignore_off_page(reach->size) : GC_malloc(reach->size);
        hidden[i] = GC_HIDE_POINTER(object);
        word[i] = object + reach->offset;
    }
}

static void check_pointers(void)
{
    static const struct reach cases[] = {
        { "its first byte", API_LARGE, 0, false },
        { "the middle", API_LARGE, 5003, false },
        { "the last byte", API_LARGE, API_LARGE - 1, false },
        { "the byte just past it", API_LARGE, API_LARGE, false },
        { "the middle of a large object", 1000000, 500001, false },
        { "the byte past a large object", 1000000, 1000000, false },
        { "the middle of a small object", 100, 50, false },
        { "the byte past a small object", 112, 112, false },
        { "the byte past an object of one granule less", 111, 111, false },
        { "byte 255 of an object off page", 400000, 255, true },
        { "a byte far inside one", 400000, 300000, true },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int count;

        reach = &cases[i];
        api_make(point);
        count = alive(hidden);
        tap_ok(reach->off_page && reach->offset > 255 ? none(count) : all(count), "a word with %s: %d of %d alive",
               reach->what, count, COUNT);
        forget();
        count = alive(hidden);
        /* bdwgc sees that a small object is gone only when its whole block is. */
        tap_ok((reach->size < API_LARGE && !api_on_sgc) || none(count), "without it they are gone (%d)", count);
    }
}

/* ---- pointers inside objects ----------------------------------------------------------------- */

static void *(*outer_kind)(size_t size);

static void point_from_object(void)
{
    for (int i = 0; i < COUNT; i++) {
        char **outer = outer_kind(API_LARGE);
        outer[100] = GC_malloc(API_LARGE);
        inner[i] = GC_HIDE_POINTER(outer[100]);
        hidden[i] = GC_HIDE_POINTER(outer);
        word[i] = (char *)outer;
    }
}

/* Nobody points at the outer objects any more. */
static void drop_outer(bool free_it, bool outlives, bool inner_outlives, const char *name)
{
    int outer_count, inner_count;

    forget();
    outer_count = alive(hidden);
    inner_count = api_alive(inner, COUNT);
    tap_ok(outlives ? all(outer_count) : none(outer_count), "%s without a pointer to it: %d alive", name, outer_count);
    tap_ok(inner_outlives ? all(inner_count) : none(inner_count), "%s: and %d of what it points at", name, inner_count);
    for (int i = 0; free_it && i < COUNT; i++)
        GC_free(GC_REVEAL_POINTER(hidden[i]));
}

static void check_kind(void *(*allocate)(size_t), const char *name, bool pointers, bool uncollectable)
{
    int count;

    outer_kind = allocate;
    api_make(point_from_object);
    count = alive(inner);
    tap_ok(all(api_alive(hidden, COUNT)), "%s is kept by a pointer", name);
    tap_ok(pointers ? all(count) : none(count), "%s %s what it points at (%d)", name,
           pointers ? "keeps" : "does not keep", count);
    drop_outer(uncollectable, uncollectable, uncollectable && pointers, name);
}

static void *resized(size_t size)
{
    return GC_realloc(GC_malloc_atomic(size / 2), size);
}

static void check_kinds(void)
{
    check_kind(GC_malloc, "GC_malloc", true, false);
    check_kind(GC_malloc_atomic, "GC_malloc_atomic", false, false);
    check_kind(GC_malloc_uncollectable, "GC_malloc_uncollectable", true, true);
    check_kind(GC_malloc_atomic_uncollectable, "GC_malloc_atomic_uncollectable", false, true);
    check_kind(GC_malloc_ignore_off_page, "GC_malloc_ignore_off_page", true, false);
    check_kind(resized, "a resized pointer-free object", false, false);
}

/* ---- structures ------------------------------------------------------------------------------ */

/* A list, a list reversed in memory, a cycle; each holds COUNT objects by one word. */
static void *make_list(void *cycle)
{
    char *last = NULL, *first = NULL;

    for (int i = 0; i < COUNT; i++) {
        char *object = GC_malloc(API_LARGE);
        *(char **)(void *)object = last;
        hidden[i] = GC_HIDE_POINTER(object);
        first = first == NULL ? object : first;
        last = object;
    }
    if (cycle != NULL)
        *(char **)(void *)first = last;
    word[0] = last;
    return NULL;
}

static void check_structures(void)
{
    api_make_in_thread(make_list, NULL);
    tap_ok(all(alive(hidden)), "a list hangs on one word");
    word[0] = NULL;
    tap_ok(none(alive(hidden)), "without it it is gone");
    api_make_in_thread(make_list, hidden);
    tap_ok(all(alive(hidden)), "so does a cycle");
    word[0] = NULL;
    tap_ok(none(alive(hidden)), "which does not keep itself");
}

static void take_many(void)
{
    char *object = GC_malloc_many(API_LARGE);

    word[0] = object;
    for (int i = 0; i < COUNT; i++) {
        hidden[i] = GC_HIDE_POINTER(object);
        if (GC_NEXT(object) == NULL)
            GC_NEXT(object) = GC_malloc_many(API_LARGE);
        object = GC_NEXT(object);
    }
}

static void check_many(void)
{
    api_make(take_many);
    tap_ok(all(alive(hidden)), "what GC_malloc_many gave is allocated, used or not");
    word[0] = NULL;
    tap_ok(none(alive(hidden)), "and collectable");
}

int main(void)
{
    GC_INIT();
    return tap_all(check_pointers, check_kinds, check_structures, check_many);
}
