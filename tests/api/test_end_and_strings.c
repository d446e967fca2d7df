/* SPDX-License-Identifier: MIT */
/*
 * What belongs to no larger subject: the end of the collector, page-aligned and wide strings, dumps, old names.
 *
 * Also: gc/inspect/dump.c.
 */
#define GC_REQUIRE_WCSDUP
#define GC_ATTR_DEPRECATED
#include "api.h"

/* ---- the end: in a child -------------------------------------------------------------------------------- */

static char *old;

static void *cannot_allocate(TEST_UNUSED void *unused)
{
    int refused = 0;

    for (int i = 0; i < 1000; i++)
        refused += GC_malloc(16) == NULL;
    return (void *)(intptr_t)refused;
}

static void end(void)
{
    GC_word before;

    GC_INIT();
    GC_set_warn_proc(GC_ignore_warn_proc);
    old = GC_strdup("still readable");
    for (int i = 0; i < 100; i++)
        GC_free(GC_malloc(16));
    before = GC_get_gc_no();
    GC_deinit();
    API_CHILD((intptr_t)cannot_allocate(NULL) == 1000 && GC_malloc(100000) == NULL && GC_malloc_many(16) == NULL);
    API_CHILD(strcmp(old, "still readable") == 0 && GC_base(old) == old);
    GC_free(old + 0);
    API_CHILD(GC_malloc(16) == NULL);
    GC_gcollect();
    API_CHILD(GC_get_gc_no() == before);
    GC_deinit();
    GC_INIT();
    API_CHILD(GC_malloc(16) == NULL && GC_is_init_called());
}

/* ---- allocation ------------------------------------------------------------------------------------------- */

static void check_pages(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *object = GC_valloc(100), *whole = GC_pvalloc(page + 1);

    tap_ok(object != NULL && (uintptr_t)object % page == 0 && GC_size(object) > 100, "GC_valloc");
    tap_ok(whole != NULL && (uintptr_t)whole % page == 0 && GC_size(whole) >= 2 * page, "GC_pvalloc rounds up");
    tap_ok((whole = GC_pvalloc(0)) != NULL && (uintptr_t)whole % page == 0, "even nothing");
}

static void check_wide(void)
{
    wchar_t *copy = GC_wcsdup(L"gr\u00fc\u00dfe");

    tap_ok(copy != NULL && wcscmp(copy, L"gr\u00fc\u00dfe") == 0, "GC_wcsdup copies");
    tap_ok(GC_wcsdup(L"")[0] == L'\0', "even nothing");
}

static void check_old_names(void)
{
    void **object = GC_malloc_stubborn(100);

    tap_ok(object != NULL && GC_size(object) > 100, "GC_malloc_stubborn is like GC_malloc");
    GC_change_stubborn(object);
    GC_ptr_store_and_dirty(object, &object);
    GC_end_stubborn_change(object);
    tap_ok(object[0] == (void *)&object, "GC_ptr_store_and_dirty stores");
    GC_noop1((GC_word)object);
    GC_start_mark_threads();
    tap_ok(GC_malloc(10) != NULL, "what does nothing harms nothing");
}

/* ---- dumps: in children ---------------------------------------------------------------------------------------- */

static void *dump_under_lock(void *name)
{
    GC_dump_named(name);
    return name;
}

static void *extra[4];

static void dump_named(void)
{
    extra[0] = GC_malloc_uncollectable(100);
    GC_add_roots(extra, extra + 4);
    GC_call_with_alloc_lock(dump_under_lock, (void *)(uintptr_t)"wanted");
}

static void dump_numbered(void)
{
    GC_gcollect();
    GC_gcollect();
    GC_dump_named(NULL);
}

static void dump_regions(void)
{
    GC_dump_regions();
    API_CHILD(GC_malloc(10) != NULL);
}

int main(void)
{
    api_check_child(end, NULL, "after GC_deinit objects stay, and nothing is allocated or collected, GC_INIT or not");
    api_check_started(dump_named, "dump wanted: heap", "GC_dump_named has the name, under the lock too");
    api_check_started(dump_named, "uncollectable", "and the pages by kind");
    api_check_started(dump_named, "added roots", "and the roots");
    api_check_started(dump_numbered, "dump 2: heap", "or the number of the last collection");
    api_check_started(dump_regions, "pages free", "GC_dump_regions lists regions");
    GC_INIT();
    return tap_all(check_pages, check_wide, check_old_names);
}
