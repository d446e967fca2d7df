/* SPDX-License-Identifier: MIT */
/*
 * Objects by kind and lists of them: the functions, and the macros of gc_inline.h in this program.  With API_PEER it
 * runs on bdwgc's library; compiled against bdwgc's headers and linked with ours it shows that old objects work.
 */
#include "api.h"

#include <gc/gc_inline.h>

static void *lists[2][GC_TINY_FREELISTS];

/* The length of a list; -1 if an address is no object's, or a word is not zero. */
static int length(void **list, size_t size, bool zeroed)
{
    int count = 0;

    for (void **p = list; p != NULL; p = GC_NEXT(p), count++) {
        if (GC_base(p) != p || GC_size(p) < size)
            return -1;
        for (size_t i = 1; zeroed && i < size / sizeof *p; i++)
            if (p[i] != NULL)
                return -1;
    }
    return count;
}

static bool ascending(void **list)
{
    for (void **p = list; p != NULL && GC_NEXT(p) != NULL; p = GC_NEXT(p))
        if ((uintptr_t)GC_NEXT(p) <= (uintptr_t)p)
            return false;
    return true;
}

static void check_many(void)
{
    static void *list;

    for (int kind = 0; kind < 4; kind++) {
        GC_generic_malloc_many(48, kind, &list);
        tap_ok(length(list, 48, kind == 1 || kind == 2) > 1, "kind %d: a list of objects", kind);
        if (api_on_sgc)
            tap_ok(ascending(list), "kind %d: in ascending addresses", kind);
        tap_ok(GC_get_kind_and_size(list, NULL) == kind, "kind %d: of that kind", kind);
    }
    GC_generic_malloc_many(16, 1, &list);
    tap_ok(GC_size(list) == 16, "nothing is added to the size");
    GC_generic_malloc_many(100000, 0, &list);
    tap_ok(length(list, 100000, false) == 1, "a large object is a list of one");
}

static void check_counted(void)
{
    static const size_t sizes[] = { 48, 100000 };
    static void *list;

    for (int kind = 2; api_on_sgc && kind < 4; kind++)
        for (int i = 0; i < 2; i++) {
            GC_word before = GC_get_non_gc_bytes(), between;
            void *next;

            GC_generic_malloc_many(sizes[i], kind, &list);
            between = GC_get_non_gc_bytes();
            before += (GC_word)length(list, sizes[i], false) * GC_size(list);
            tap_ok(between == before, "kind %d: %zu bytes each count as no collected ones", kind, sizes[i]);
            before = between;
            for (; list != NULL; list = next) {
                next = GC_NEXT(list);
                before -= GC_size(list);
                GC_free(list);
            }
            tap_ok(GC_get_non_gc_bytes() == before, "and do not when they are freed");
        }
}

static void check_list_lives(void)
{
    static void *list;
    int before;

    GC_generic_malloc_many(64, 1, &list);
    before = length(list, 64, true);
    api_collect();
    tap_ok(before > 0 && length(list, 64, true) == before, "a list of %d lives while its head does", before);
}

static void check_by_kind(void)
{
    size_t size = 0;

    for (int kind = 0; kind < 4; kind++)
        tap_ok(GC_get_kind_and_size(GC_malloc_kind(40, kind), &size) == kind && size >= 40 &&
               GC_get_kind_and_size(GC_generic_or_special_malloc(40, kind), NULL) == kind &&
               GC_get_kind_and_size(GC_malloc_kind_global(40, kind), NULL) == kind, "objects of kind %d", kind);
    tap_ok(GC_get_kind_and_size(GC_generic_malloc(40, 1), NULL) == 1 &&
           GC_get_kind_and_size(GC_generic_malloc_uncollectable(40, 2), NULL) == 2 &&
           GC_get_kind_and_size(GC_generic_malloc_ignore_off_page(40000, 0), NULL) == 0, "and the others");
}

/* ---- the macros ---- */

static void check_words(void)
{
    void **p, **before = NULL;
    bool good = true;

    for (int i = 0; i < 1000; i++) {
        GC_MALLOC_WORDS(p, 5, lists[GC_I_NORMAL]);
        for (int w = 0; w < 6; w++)
            good = good && p[w] == NULL;
        p[0] = before;
        p[5] = p;
        before = p;
    }
    api_collect();
    for (int i = 0; i < 1000; i++, p = p[0])
        good = good && GC_base(p) == p && p[5] == p && GC_size(p) == 48;
    tap_ok(good && p == NULL, "GC_MALLOC_WORDS: zeroed objects of 6 words, which live on");
    GC_MALLOC_ATOMIC_WORDS(p, 4, lists[GC_I_PTRFREE]);
    tap_ok(GC_get_kind_and_size(p, NULL) == GC_I_PTRFREE, "GC_MALLOC_ATOMIC_WORDS: pointer-free ones");
    GC_MALLOC_WORDS(p, 2 * GC_TINY_FREELISTS, lists[GC_I_NORMAL]);
    tap_ok(GC_size(p) >= 16 * GC_TINY_FREELISTS, "sizes beyond the lists are allocated one by one");
    GC_MALLOC_WORDS(p, 0, lists[GC_I_NORMAL]);
    tap_ok(GC_size(p) == 16, "no words are one granule");
}

static void check_cons(void)
{
    void *list = NULL;
    int count = 0;
    static int items[100];

    for (int i = 0; i < 100; i++) {
        void **cell;

        GC_CONS(cell, &items[i], list, lists[GC_I_NORMAL]);
        list = cell;
    }
    for (void **p = list; p != NULL; p = p[1])
        count += p[0] == &items[99 - count];
    tap_ok(count == 100, "GC_CONS builds lists");
}

/* With a number of granules to take directly: these are asked one by one, the next make a list. */
static void check_direct(void)
{
    static void *own[GC_TINY_FREELISTS];
    int direct = 0;
    void *p;

    for (int i = 0; i < GC_TINY_FREELISTS; i++)
        own[i] = (void *)1;
    for (int i = 0; i < 10; i++)
        GC_FAST_MALLOC_GRANS(p, 2, own, 8, GC_I_NORMAL, (direct++, GC_malloc(32)), *(void **)p = NULL);
    tap_ok(direct == 3 && length(own[2], 32, true) > 0, "8 granules directly are %d objects of 2, then a list", direct);
}

#ifndef API_PEER
static void check_bad(void)
{
    void *list = &list;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_generic_malloc_many(16, 99, &list);
    tap_ok(list == NULL && GC_malloc_kind(16, -1) == NULL && GC_get_kind_and_size(&list, NULL) == -1,
           "a kind that does not exist, and an address without object, are refused");
    GC_generic_malloc_many((size_t)-1, 1, &list);
    tap_ok(list == NULL, "so is a size that cannot be");
}
#else
static void check_bad(void) { }
#endif

int main(void)
{
    GC_INIT();
    return tap_all(check_many, check_counted, check_list_lives, check_by_kind, check_words, check_cons, check_direct,
                   check_bad);
}
