/* SPDX-License-Identifier: MIT */
/*
 * The heap object by object, and who points at an object.  Only our library has back pointers without a special
 * build, so this does not run on bdwgc's.
 *
 * Also: alloc/whole_heap.c, gc/inspect/backptr.c.
 */
#include "api.h"

#include <gc/gc_backptr.h>
#include <gc/gc_inline.h>

enum { NODES = 200 };

struct node {
    struct node *next;
    int seen;
};

static struct node *volatile list;
static int visited, strange;

static void visit(void *object, size_t bytes, void *data)
{
    visited++;
    strange += GC_base(object) != object || GC_size(object) != bytes || data != &visited;
    for (struct node *n = list; n != NULL; n = n->next)
        n->seen += object == n;
}

static void *visit_all(void *data)
{
    GC_enumerate_reachable_objects_inner(visit, data);
    return NULL;
}

static void free_all(void)
{
    while (list != NULL) {
        struct node *n = list;

        list = n->next;
        GC_free(n);
    }
}

static void check_walk(void)
{
    int once = 0, total = 0;
    void *large;

    for (int i = 0; i < NODES; i++) {
        struct node *n = GC_malloc(sizeof *n);

        n->next = list;
        list = n;
    }
    large = GC_malloc(1000000);
    GC_gcollect();
    GC_free(GC_malloc(40));
    GC_call_with_alloc_lock(visit_all, &visited);
    for (struct node *n = list; n != NULL; n = n->next, total++)
        once += n->seen == 1;
    tap_ok(once == NODES && total == NODES, "each object is visited once");
    tap_ok(visited >= NODES + 1 && visited < NODES + 50 && strange == 0, "few others, with address, size and data");
    GC_reachable_here(large);
    api_run(free_all);
    visited = 0;
    GC_call_with_alloc_lock(visit_all, &visited);
    tap_ok(visited < 50 && strange == 0, "what another thread has freed is not visited (%d are)", visited);
    visited = 0;
    GC_set_warn_proc(GC_ignore_warn_proc);
    visit_all(&visited);
    tap_ok(visited == 0, "without the lock nothing is visited");
}

/* ---- back pointers ---- */

static void *root;
static GC_hidden_pointer inner;

static void make_chain(void)
{
    void **object = GC_malloc(64), *end = GC_malloc(API_LARGE);

    object[5] = (char *)end + 100;
    root = object;
    inner = GC_HIDE_POINTER(end);
}

static void check_back_pointers(void)
{
    void *base = NULL;
    size_t offset = 99;

    api_run(make_chain);
    tap_ok(GC_get_back_ptr_info(GC_REVEAL_POINTER(inner), &base, &offset) == GC_REFD_FROM_HEAP && base == root &&
           offset == 5 * sizeof(void *), "an object's word is found, also one that points inside");
    tap_ok(GC_get_back_ptr_info(root, &base, &offset) == GC_REFD_FROM_ROOT && base == &root && offset == 0,
           "so is a static variable");
    tap_ok(GC_get_back_ptr_info(&root, &base, &offset) == GC_NO_SPACE, "what is no object has none");
    ((void **)root)[5] = NULL;
    scrub_stack();
    base = &base;
    GC_get_back_ptr_info(GC_REVEAL_POINTER(inner), &base, &offset);
    tap_ok(base != root, "a word that is gone is not found");
}

static void print_chain(void)
{
    api_run(make_chain);
    GC_print_backtrace(GC_REVEAL_POINTER(inner));
    GC_generate_random_backtrace();
}

static void check_random(void)
{
    void *address = GC_generate_random_valid_address();
    bool all = true;

    for (int i = 0; i < 20; i++)
        all = all && GC_is_heap_ptr(GC_generate_random_heap_address());
    tap_ok(all && GC_base(address) != NULL, "random addresses are in the heap, valid ones in objects");
}

/* ---- marks set by the client ---- */

static void *blind;
static GC_hidden_pointer hidden[2];

static void make_blind(void)
{
    void **object = GC_malloc(API_LARGE);

    *object = GC_malloc(API_LARGE);
    hidden[0] = GC_HIDE_POINTER(object);
    hidden[1] = GC_HIDE_POINTER(*object);
}

static int before, after;

static void mark_blind(void)
{
    if (blind == NULL)
        return;
    before += GC_is_marked(GC_REVEAL_POINTER(hidden[0]));
    GC_set_mark_bit(GC_REVEAL_POINTER(hidden[0]));
    after += GC_is_marked(GC_REVEAL_POINTER(hidden[0]));
}

static int marked_now;

/* In a thread of its own: the hook runs on the stack of who collects, and leaves the address there. */
static void collect_once(void)
{
    GC_gcollect();
    marked_now = GC_is_marked(GC_REVEAL_POINTER(hidden[0]));
}

static void check_marks(void)
{
    api_run(make_blind);
    blind = &blind;
    GC_set_push_other_roots(mark_blind);
    api_run(collect_once);
    tap_ok(before == 0 && after == 1, "GC_set_mark_bit marks inside the hook");
    tap_ok(api_alive(hidden, 1) == 1 && api_alive(hidden + 1, 1) == 0, "the object lives, what it points at does not");
    tap_ok(marked_now == 1, "what is allocated counts as marked");
    blind = NULL;
    tap_ok(api_survive(hidden, 1) == 0 && GC_clear_stack(&root) == &root, "for one collection only");
}

/* A hook is called in each stop, and one is expected for each collection. */
int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    api_check_started(print_chain, "in a root", "GC_print_backtrace prints the way from a root");
    GC_INIT();
    return tap_all(check_walk, check_back_pointers, check_random, check_marks);
}
