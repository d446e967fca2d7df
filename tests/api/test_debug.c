/* SPDX-License-Identifier: MIT */
/*
 * Allocation for debugging: positions, guards, what goes wrong and what is said then; leaks; finalizers of objects with guards,
 * which get what the client has of the object.
 *
 * Also: gc/api/guards.c, gc/inspect/guards_check.c.
 */
#define GC_DEBUG
#define GC_REQUIRE_WCSDUP
#define GC_ATTR_DEPRECATED              /* the old variables are tested, too */
#include "api.h"

#include <sys/resource.h>
#include <wchar.h>

static char said[65536];

static void listen(char *format, GC_word argument)
{
    size_t length = strlen(said);

    snprintf(said + length, sizeof said - length, format, argument);
}

/* Runs fn with warnings written down; true if they have each of the words, which a "|" separates. */
static bool says(void (*fn)(void), const char *words)
{
    char list[256], *rest = list, *word;
    bool all = true;

    said[0] = '\0';
    GC_set_warn_proc(listen);
    fn();
    GC_set_warn_proc(GC_ignore_warn_proc);
    snprintf(list, sizeof list, "%s", words);
    while ((word = strsep(&rest, "|")) != NULL)
        all = all && strstr(said, word) != NULL;
    if (words[0] == '\0')
        all = said[0] == '\0';
    if (!all)
        tap_diag("said: %.300s", said);
    return all;
}

/* ---- objects ---- */

static void check_shape(void)
{
    size_t header = GC_get_debug_header_size();
    bool zero = true;
    char *p = GC_MALLOC(100), *empty = GC_MALLOC(0);

    for (int i = 0; i < 100; i++)
        zero = zero && p[i] == 0;
    tap_ok(zero && (uintptr_t)p % 16 == 0, "GC_MALLOC gives zeroed, aligned memory");
    tap_ok(GC_base(p) == p - header && GC_USR_PTR_FROM_BASE(GC_base(p)) == p && GC_debug_header_size == header,
           "its base is the header");
    tap_ok(GC_size(GC_base(p)) >= 100 + header, "and counts as part of it");
    tap_ok(empty != NULL && GC_base(empty) == empty - header, "an object of no bytes is one");
}

static GC_hidden_pointer asked;         /* hidden: it is to keep nothing alive later */
static size_t answer;

static void ask_size(void)
{
    answer = GC_size(GC_REVEAL_POINTER(asked));
}

/* The size of it, if these words are said about it. */
static size_t size_of(void *p, const char *words)
{
    asked = GC_HIDE_POINTER(p);
    return says(ask_size, words) ? answer : SIZE_MAX;
}

/* bdwgc counts the guards. */
static void check_size(void)
{
    char *p = GC_MALLOC(100), *empty = GC_MALLOC(0), *large = GC_MALLOC_ATOMIC(3000000), behind;
    volatile int end = 5000;        /* or the compiler finds the mistake */

    tap_ok(size_of(p, "") == 100 && size_of(empty, "") == 0 && size_of(large, "") == 3000000,
           "GC_size of what the client has is what it asked for");
    p = GC_REALLOC(p, (size_t)end);
    tap_ok(size_of(p, "") == 5000, "and after resizing, too");
    behind = p[end];
    p[end] = '\0';
    tap_ok(size_of(p, "") == 5000, "a write past the end does not change it");
    p[end] = behind;
    tap_ok(size_of(p + 16, "GC_size|inside the object|the answer is 0") == 0 &&
           size_of(p - 16, "GC_size|inside the object|the answer is 0") == 0, "other addresses inside are reported");
    GC_FREE(large);
    tap_ok(size_of(large, "GC_size|the answer is 0") == 0, "so is one that has been freed");
}

static void check_kinds(void)
{
    int kinds[] = {
        GC_get_kind_and_size(GC_base(GC_MALLOC(10)), NULL), GC_get_kind_and_size(GC_base(GC_MALLOC_ATOMIC(10)), NULL),
        GC_get_kind_and_size(GC_base(GC_MALLOC_UNCOLLECTABLE(10)), NULL),
        GC_get_kind_and_size(GC_base(GC_MALLOC_ATOMIC_UNCOLLECTABLE(10)), NULL),
        GC_get_kind_and_size(GC_base(GC_MALLOC_IGNORE_OFF_PAGE(100000)), NULL),
        GC_get_kind_and_size(GC_base(GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(100000)), NULL),
        GC_get_kind_and_size(GC_base(GC_GENERIC_OR_SPECIAL_MALLOC(10, 0)), NULL),
        GC_get_kind_and_size(GC_base(GC_MALLOC_STUBBORN(10)), NULL),
        GC_get_kind_and_size(GC_base(GC_debug_malloc_replacement(10)), NULL),
    };
    int wanted[] = { 1, 0, 2, 3, 1, 0, 0, 1, 1 };

    tap_ok(memcmp(kinds, wanted, sizeof kinds) == 0, "each function gives objects of its kind");
}

static void check_strings(void)
{
    wchar_t *wide = GC_WCSDUP(L"abc");

    tap_ok(strcmp(GC_STRDUP("abc"), "abc") == 0 && strcmp(GC_STRNDUP("abcdef", 3), "abc") == 0 &&
           wcscmp(wide, L"abc") == 0 && GC_base(wide) != wide, "copies of strings have guards");
    tap_ok(GC_debug_strdup(NULL, "here", 1) == NULL, "of NULL there is none");
}

static void check_realloc(void)
{
    char *p = GC_MALLOC_ATOMIC(10), *q;

    strcpy(p, "abcdefghi");
    q = GC_REALLOC(p, 1000);
    tap_ok(q != NULL && q != p && strcmp(q, "abcdefghi") == 0 && GC_get_kind_and_size(GC_base(q), NULL) == 0,
           "GC_REALLOC keeps contents and kind");
    q = GC_REALLOC(q, 4);
    tap_ok(memcmp(q, "abcd", 4) == 0, "also when it makes an object smaller");
    tap_ok(GC_REALLOC(NULL, 5) != NULL && GC_REALLOC(q, 0) == NULL && GC_base(q) == NULL,
           "NULL and 0 mean what they mean to realloc");
    q = GC_debug_realloc_replacement(GC_debug_malloc_replacement(5), 50);
    tap_ok(GC_base(q) != q, "replacements work on each other's objects");
}

/* ---- what goes wrong ---- */

static char *volatile object;             /* volatile: the compiler must not know its size */
static int outside;
static volatile size_t huge = (size_t)-10;

static void free_it(void) { GC_FREE(object); }
static void collect(void) { GC_gcollect(); }
static void grow_it(void) { object = GC_REALLOC(object, 100); }
static void free_by_position(void) { GC_FREE(object + 8); }

static void check_guards(void)
{
    object = GC_MALLOC(24);
    tap_ok(says(collect, "") && says(free_it, ""), "an object that is used well is freed in silence");
    object = GC_MALLOC(24);
    object[24] = 0;
    tap_ok(says(collect, "past the end|test_debug.c|24 bytes"), "a zero past the end is found by a collection");
    tap_ok(says(free_it, "past the end|test_debug.c") && GC_base(object) == NULL, "and when the object is freed");
    object = GC_debug_malloc(40, "somewhere.c", 4711);
    object[-1] = 1;
    tap_ok(says(collect, "just before|somewhere.c:4711|40 bytes"), "a byte before it, too");
    object[-1] = 0;
    tap_ok(says(grow_it, "just before"), "and when it is resized");
    object = GC_MALLOC(API_LARGE * 10);
    object[API_LARGE * 10] = 7;
    tap_ok(says(collect, "past the end|100000 bytes"), "large objects have guards");
    GC_FREE(object);
}

static void check_addresses(void)
{
    object = GC_MALLOC(24);
    GC_FREE(object);
    tap_ok(says(free_it, "no object"), "a second free is reported");
    object = GC_malloc(24);
    tap_ok(says(free_it, "without guards") && GC_base(object) == NULL, "an object without guards is freed, with words");
    object = GC_MALLOC(24);
    tap_ok(says(free_by_position, "lies inside") && GC_base(object) != NULL, "an interior address is not");
    object = (char *)&outside;
    tap_ok(says(free_it, "no object"), "nor is one outside the heap");
    object = GC_malloc(24);
    strcpy(object, "plain");
    tap_ok(says(grow_it, "without guards") && strcmp(object, "plain") == 0 && GC_base(object) != object,
           "resizing an object without guards gives it some");
}

static void make_smashed(void)
{
    char *volatile p = GC_MALLOC(API_LARGE);

    p[API_LARGE] = 1;
}

enum { MANY = 2000 };

static void make_many(void)
{
    for (int i = 0; i < MANY; i++) {
        char *volatile p = GC_MALLOC_ATOMIC(100);

        p[100] = 1;
    }
}

static void *plain[MANY];

/* What is dead has no header any more: a pointer-free object in its place is not taken for it. */
static void check_dead(void)
{
    api_run(make_smashed);
    tap_ok(says(api_collect, "past the end"), "an object that dies is looked at for the last time");
    tap_ok(says(api_collect, ""), "and then not again");
    api_make(make_many);
    tap_ok(says(api_collect, "more objects were leaked or written"), "a long list is cut");
    for (int i = 0; i < MANY; i++)
        plain[i] = GC_malloc_atomic(100 + 40);
    tap_ok(says(api_collect, ""), "objects in the place of dead ones are not taken for them");
}

static void check_store(void)
{
    void **p = GC_MALLOC(24), *q = GC_MALLOC(5);

    GC_PTR_STORE_AND_DIRTY(p, q);
    GC_END_STUBBORN_CHANGE(p);
    tap_ok(*p == q, "GC_debug_ptr_store_and_dirty stores");
}

static void *no_room(size_t bytes) { (void)bytes; return object; }

static void check_memory(void)
{
    object = GC_MALLOC(64);
    GC_set_oom_fn(no_room);
    tap_ok(GC_MALLOC(huge / 2) == object && GC_MALLOC(huge) == object,
           "what the out-of-memory hook returns is returned as it is");
}

/* ---- finalizers ---- */

enum { OBJECTS = 50 };

static int calls, good, data[2];

static void finalize_guarded(void *p, void *number)
{
    calls++;
    good += GC_base(p) == (char *)p - GC_get_debug_header_size() && *(char *)p == 'x' &&
            number == &data[0];
}

static void make_guarded(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        char *p = GC_MALLOC(100);

        *p = 'x';
        GC_REGISTER_FINALIZER_NO_ORDER(p, finalize_guarded, &data[0], NULL, NULL);
    }
}

static void check_old_finalizer(void)
{
    char *p = GC_MALLOC(10), *bare = GC_malloc(10);
    GC_finalization_proc fn = finalize_guarded;
    void *was = p;

    GC_REGISTER_FINALIZER(p, api_ignore, &data[0], &fn, &was);
    tap_ok(fn == NULL && was == NULL, "nothing was registered before");
    GC_REGISTER_FINALIZER_IGNORE_SELF(p, finalize_guarded, &data[1], &fn, &was);
    tap_ok(fn == api_ignore && was == &data[0], "the old finalizer is what the client registered");
    GC_REGISTER_FINALIZER_UNREACHABLE(p, NULL, NULL, &fn, &was);
    tap_ok(fn == finalize_guarded && was == &data[1], "and when it is removed");
    GC_REGISTER_FINALIZER(p, NULL, NULL, &fn, &was);
    tap_ok(fn == NULL, "then there is none");
    GC_REGISTER_FINALIZER(bare, api_ignore, &data[0], NULL, NULL);
    GC_REGISTER_FINALIZER(bare, NULL, NULL, &fn, &was);
    tap_ok(fn == api_ignore && was == &data[0], "an object without guards is registered as it is");
}

static void check_finalizers(void)
{
    api_run(make_guarded);
    for (int i = 0; i < 3; i++) {
        api_collect();
        GC_invoke_finalizers();
    }
    tap_ok(calls >= OBJECTS - 5 && calls <= OBJECTS, "finalizers run once (%d of %d)", calls, OBJECTS);
    tap_ok(good == calls, "with the client's address and data");
    check_old_finalizer();
}

/* ---- in children: settings of the start ---- */

static char *volatile kept;

static void leak(void)
{
    char *volatile p = GC_debug_malloc(API_LARGE, "leaky.c", 7);

    p = GC_debug_malloc(30, "freed.c", 8);
    GC_FREE(p);
    kept = GC_debug_malloc(30, "kept.c", 9);
}

static bool heard(const char *word) { return strstr(said, word) != NULL; }

static void find_leaks(void)
{
    GC_find_leak = 1;
    GC_INIT();
    GC_set_warn_proc(listen);
    api_run(leak);
    api_collect();
    API_CHILD(GC_get_find_leak() == 1);
    API_CHILD(heard("leaked: 10000 bytes") && heard("leaky.c:7"));
    API_CHILD(!heard("freed.c") && !heard("kept.c"));
    said[0] = '\0';
    api_collect();
    API_CHILD(said[0] == '\0');
    GC_set_find_leak(0);
}

static void *leak_registered(void *link)
{
    void *p = GC_MALLOC(API_LARGE);

    GC_REGISTER_FINALIZER_NO_ORDER(p, api_count, NULL, NULL, NULL);
    GC_register_finalizer_no_order(GC_base(p), api_count, NULL, NULL, NULL);
    API_CHILD(GC_GENERAL_REGISTER_DISAPPEARING_LINK(link, p) == GC_UNIMPLEMENTED);
    API_CHILD(GC_REGISTER_LONG_LINK(link, p) == GC_UNIMPLEMENTED);
    return NULL;
}

/* Or an object would live on for its finalizer. */
static void leak_registers_nothing(void)
{
    static void *link;

    GC_find_leak = 1;
    GC_INIT();
    GC_set_warn_proc(listen);
    api_in_thread(leak_registered, &link);
    scrub_stack();
    GC_gcollect();
    API_CHILD(api_finalized == 0 && heard("leaked: 10000 bytes"));
    GC_set_find_leak(0);
}

static void leak_at_exit(void)
{
    setenv("GC_FIND_LEAK", "1", 1);
    GC_INIT();
    kept = GC_debug_malloc(API_LARGE, "late.c", 77);
    kept = NULL;
    scrub_stack();
    exit(0);
}

static void abort_on_leak(void)
{
    setenv("GC_FIND_LEAK", "1", 1);
    setenv("GC_ABORT_ON_LEAK", "1", 1);
    signal(SIGABRT, _exit);
    GC_INIT();
    api_run(leak);
    api_collect();
}

static void *bury(void *where)
{
    char **p = where;

    p[0] = GC_debug_malloc(40, "buried.c", 5);
    p[1] = GC_debug_malloc(API_LARGE, "gone.c", 5);
    GC_FREE(p[0]);
    GC_FREE(p[1]);
    p[1] = NULL;
    return NULL;
}

static void delayed_free(void)
{
    static char *p[2];

    setenv("GC_FIND_LEAK", "1", 1);
    setenv("GC_FINDLEAK_DELAY_FREE", "1", 1);
    setenv("SGC_MODE", "stop", 1);
    GC_INIT();
    GC_set_warn_proc(listen);
    api_in_thread(bury, p);
    API_CHILD(GC_base(p[0]) != NULL);
    api_collect();
    API_CHILD(said[0] == '\0');
    p[0][3] = 1;
    GC_gcollect();
    API_CHILD(heard("after it was freed") && heard("buried.c:5"));
    said[0] = '\0';
    GC_FREE(p[0]);
    API_CHILD(heard("freed already"));
    said[0] = '\0';
    API_CHILD(!api_on_sgc || (GC_size(p[0]) == 0 && heard("has been freed already")));
    p[0] = NULL;
    api_collect();
    GC_set_find_leak(0);
}

static void without_interior_pointers(void)
{
    static char *p;

    GC_set_all_interior_pointers(0);
    GC_INIT();
    p = GC_MALLOC(API_LARGE);
    api_collect();
    API_CHILD(GC_base(p) != NULL);
    GC_debug_register_displacement(8);
    p += 8;
    api_collect();
    API_CHILD(GC_base(p) != NULL);
}

enum { TRIES = 20000 };

/* The heap has room for objects and closures, but there is none for what is remembered. */
static void finalizers_without_memory(void)
{
    struct rlimit limit = { 0, 0 };
    GC_finalization_proc fn = NULL;
    void *was = NULL;

    GC_INIT();
    GC_disable();
    GC_expand_hp((size_t)64 << 20);
    API_CHILD(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int i = 0; i < TRIES && fn == NULL; i++) {
        fn = api_ignore, was = said;
        GC_REGISTER_FINALIZER(GC_MALLOC(200), api_ignore, NULL, &fn, &was);
    }
    API_CHILD(fn == api_ignore && was == said);
}

int main(void)
{
    static const char fatal[] = "1 objects were leaked";
    static char errors[4096];

    api_check_child(leak_registers_nothing, NULL, "while leaks are looked for, finalizers and links are not registered");
    api_check_child(find_leaks, NULL, "GC_find_leak: what cannot be reached and was not freed is reported, once");
    api_check_child(leak_at_exit, "late.c:77", "also when the program ends");
    tap_ok(api_child(abort_on_leak, errors, sizeof errors) != 0 && strstr(errors, fatal) != NULL,
           "GC_ABORT_ON_LEAK ends the program");
    api_check_child(delayed_free, NULL, "GC_FINDLEAK_DELAY_FREE: writes to freed objects are reported");
    api_check_child(without_interior_pointers, NULL, "without interior pointers the header is no obstacle");
    api_check_child(finalizers_without_memory, "GC_register_finalizer(", "without memory no old finalizer is answered");
    GC_INIT();
    tap_each(check_shape, check_kinds, check_strings, check_realloc, check_guards, check_addresses, check_dead,
             check_store, check_finalizers, check_memory);
    if (api_on_sgc)
        check_size();
    return tap_done();
}
