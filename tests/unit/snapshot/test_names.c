/* SPDX-License-Identifier: MIT */
/*
 * snapshot/names.h: which symbols are those of classes (snapshot/class_names.c), and what objects and root words of this very
 * program are called, with symbols (snapshot/symbols_libdw.c) and without (snapshot/symbols_none.c).  Programs in C++ and
 * Objective-C: tests/check/check_names.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS

#include "sgc.h"

#include "gc/gc.h"
#include "gc/gc_mark.h"
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#include "snapshot/names.h"
#include "tests/lib/folder.h"

/* ---- rules ---- */

static bool is_class(const char *symbol, const char *expected)
{
    char text[SGC_NAMER_TEXT];

    return sgc_class_of_symbol(symbol, text) && strcmp(text, expected) == 0;
}

static bool has_demangler(void)
{
    char text[SGC_NAMER_TEXT];

    sgc_symbol_text("_Z1fv", text);
    return strcmp(text, "f()") == 0;
}

static void test_classes(void)
{
    static const char *const others[] = {
        "_ZTI3Foo", "_ZTS3Foo", "_ZTT3Foo", "main", "_ZN3Foo3barEv", "table", "_OBJC_Class_",
    };
    char text[SGC_NAMER_TEXT];
    bool any = false;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        any |= sgc_class_of_symbol(others[i], text);
    tap_ok(!any, "symbols of no class");
    tap_ok(is_class("_OBJC_Class_Node", "Node") && is_class("._OBJC_CLASS_Node", "Node") &&
           is_class("OBJC_CLASS_$_Node", "Node"), "classes of Objective-C, by several compilers");
    tap_ok(is_class("_OBJC_MetaClass_Node", "class Node"), "and what a class itself is");
    if (!has_demangler()) {
        tap_ok(is_class("_ZTV3Foo", "_ZTV3Foo"), "without a library of C++ a class is called by its symbol");
        return;
    }
    tap_ok(is_class("_ZTV3Foo", "Foo") && is_class("_ZTVN1a1bI3FooEE", "a::b<Foo>"), "classes of C++");
    tap_ok(is_class("_ZTC1D0_1B", "B-in-D"), "while they are made, too");
    tap_ok(is_class("_ZTV", "_ZTV") && is_class("_ZTV\"\n", "_ZTV\"\n"), "what is no name of C++ stays as it is");
}

/* ---- this program ---- */

/* Both are exported only if it is linked so: a complete table of symbols has them. */
static void *volatile held_by_this[4];
static GC_word a_type[2];

struct names {
    struct sgc_graph g;
    struct sgc_namer *namer;
};

static void open_names(struct names *n)
{
    const char *problem;

    if (SGC_write_heap_snapshot(folder_path("names")) != 0 || !sgc_graph_load(&n->g, folder_path("names"), SGC_GRAPH_TYPES))
        tap_bail("no snapshot");
    problem = sgc_graph_check(&n->g);
    n->namer = problem == NULL ? sgc_namer_open(&n->g) : NULL;
    if (n->namer == NULL)
        tap_bail("no names: %s", problem != NULL ? problem : "no memory");
}

static void close_names(struct names *n)
{
    sgc_namer_close(n->namer);
    sgc_graph_release(&n->g);
}

static bool has_symbols(const struct names *n)
{
    const char *problem;
    bool any = true;

    for (uint32_t i = 0; (problem = sgc_namer_problem(n->namer, i)) != NULL; i++)
        any = any && strstr(problem, "no libdw") == NULL;
    return any;
}

/* The root word at that address, which has a name; the number of root words: there is none. */
static uint64_t word_at(const struct names *n, const volatile void *address)
{
    for (uint64_t r = 0; r < n->g.roots; r++) {
        const struct sgc_graph_range *range = &n->g.range[n->g.root[r].range];

        if (range->lo + n->g.root[r].word * 8 == (uintptr_t)address && sgc_namer_root_of(n->namer, r) != SGC_NAMER_NONE)
            return r;
    }
    return n->g.roots;
}

static const char *root_at(const struct names *n, const volatile void *address)
{
    uint64_t root = word_at(n, address);

    return root < n->g.roots ? sgc_namer_root_name(n->namer, sgc_namer_root_of(n->namer, root)) : "";
}

static const char *name_of(const struct names *n, const void *object)
{
    uint32_t number = sgc_graph_object_at(&n->g, (uintptr_t)object - n->g.geometry.base);
    uint32_t group = number != SGC_GRAPH_NONE ? sgc_namer_group_of(n->namer, number) : SGC_NAMER_NONE;

    return group != SGC_NAMER_NONE ? sgc_namer_group_name(n->namer, group) : "";
}

static void test_variables(void)
{
    char text[SGC_NAMER_TEXT];
    struct names n;

    held_by_this[1] = GC_MALLOC(32);
    held_by_this[3] = GC_MALLOC(32);
    *(void **)held_by_this[1] = a_type;
    open_names(&n);
    if (has_symbols(&n)) {
        tap_ok(strcmp(root_at(&n, &held_by_this[1]), "held_by_this") == 0 &&
               root_at(&n, &held_by_this[1]) == root_at(&n, &held_by_this[3]), "a variable is one root: %s",
               root_at(&n, &held_by_this[1]));
        tap_ok(strcmp(sgc_namer_address(n.namer, (uintptr_t)&held_by_this[3], text), "held_by_this+0x18") == 0,
               "with a place: %s", text);
        tap_ok(strcmp(sgc_namer_root_word(n.namer, word_at(&n, &held_by_this[3]), text), "held_by_this+0x18") == 0,
               "which a root word has, too: %s", text);
        tap_ok(name_of(&n, held_by_this[1])[0] == '\0', "a first word that points at a variable is no type");
    } else {
        tap_ok(strcmp(root_at(&n, &held_by_this[1]), "static data of test_names") == 0, "without symbols: %s",
               root_at(&n, &held_by_this[1]));
        tap_ok(strncmp(sgc_namer_address(n.namer, (uintptr_t)&held_by_this[3], text), "test_names+0x", 13) == 0, "a place: %s",
               text);
        tap_ok(name_of(&n, held_by_this[1])[0] == '\0', "what one object alone points at is no type");
    }
    tap_ok(name_of(&n, held_by_this[3])[0] == '\0', "an object of which nothing is known has no name");
    tap_ok(strcmp(sgc_namer_address(n.namer, 0x10, text), "0x10") == 0, "nor has an address outside of modules");
    close_names(&n);
}

static void test_kinds(void)
{
    int kind = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    struct names n;

    SGC_name_kind(kind, "job");
    held_by_this[0] = GC_generic_malloc(32, kind);
    open_names(&n);
    tap_ok(strcmp(name_of(&n, held_by_this[0]), "job") == 0, "an object is called as its kind");
    close_names(&n);
}

/* ---- allocation sites ---- */

__attribute__((noinline)) static void *make_named(size_t bytes)
{
    void *volatile object = GC_MALLOC(bytes);

    return object;
}

static void test_sites(void)
{
    int kind = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    char text[SGC_NAMER_TEXT] = "";
    struct names n;
    uint32_t number;

    SGC_set_profile_rate(1);
    SGC_name_kind(kind, "task");
    held_by_this[0] = make_named(39);
    held_by_this[1] = make_named(100000);
    held_by_this[2] = GC_generic_malloc(32, kind);
    SGC_set_profile_rate(0);
    open_names(&n);
    number = sgc_graph_object_at(&n.g, (uintptr_t)held_by_this[0] - n.g.geometry.base);
    tap_ok(number != SGC_GRAPH_NONE && sgc_namer_call(n.namer, number, 0, text), "the calls that allocated an object: %s",
           text);
    if (has_symbols(&n)) {
        tap_ok(strncmp(text, "make_named, test_names+0x", 25) == 0, "each has a function and a place");
        tap_ok(strcmp(name_of(&n, held_by_this[0]), "make_named, 48 bytes") == 0, "an object without a class is called by "
               "its function: %s", name_of(&n, held_by_this[0]));
        tap_ok(strcmp(name_of(&n, held_by_this[1]), "make_named, large") == 0, "and so is a large one: %s",
               name_of(&n, held_by_this[1]));
    } else {
        tap_ok(strncmp(name_of(&n, held_by_this[0]), "test_names+0x", 13) == 0, "without symbols by a place: %s",
               name_of(&n, held_by_this[0]));
    }
    tap_ok(strcmp(name_of(&n, held_by_this[2]), "task") == 0, "the name of a kind counts more");
    tap_ok(!sgc_namer_call(n.namer, number, 1000, text), "no stack is endless");
    close_names(&n);
}

static const char *stack_name;

static void *in_thread(void *arg)
{
    static char text[SGC_NAMER_TEXT];
    void *volatile local = GC_MALLOC(32);
    struct names n;

    prctl(PR_SET_NAME, "worker");
    open_names(&n);
    snprintf(text, sizeof text, "%s", root_at(&n, &local));
    stack_name = text;
    close_names(&n);
    return local != NULL ? arg : NULL;
}

static void test_threads(void)
{
    char expected[100];
    pthread_t thread;
    int number;

    if (GC_pthread_create(&thread, NULL, in_thread, NULL) != 0)
        tap_bail("no thread");
    GC_pthread_join(thread, NULL);
    tap_ok(sscanf(stack_name, "stack of thread %d", &number) == 1 &&
           snprintf(expected, sizeof expected, "stack of thread %d (worker)", number) > 0 && strcmp(stack_name, expected) == 0,
           "a stack is its thread's: %s", stack_name);
}

int main(void)
{
    GC_INIT();
    folder_make();
    tap_each(test_classes, test_variables, test_kinds, test_threads, test_sites);
    folder_remove();
    return tap_done();
}
