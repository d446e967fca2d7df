/* SPDX-License-Identifier: MIT */
/*
 * snapshot/view/ways.c: the way to an object in a snapshot is the one that SGC_find_way finds in the program that has
 * written it, from roots of each sort.
 */
#include "api.h"

#include <sgc.h>

#include "snapshot/view/view.h"
#include "snapshot/view/ways.h"
#include "tests/lib/folder.h"

enum { CHAIN = 50, STEPS = CHAIN + 8 };

struct cell {
    struct cell *next;
    void *other;
};

/* ---- in the program ---- */

static struct {
    size_t count;
    struct SGC_step step[STEPS];
} way;

static void record(const struct SGC_step *step, TEST_UNUSED void *data)
{
    if (way.count < STEPS)
        way.step[way.count] = *step;
    way.count++;
}

TEST_NOINLINE static SGC_held_t find(GC_hidden_pointer hidden)
{
    memset(&way, 0, sizeof way);
    scrub_stack();
    return SGC_find_way(GC_REVEAL_POINTER(hidden), record, NULL);
}

/* ---- in the snapshot ---- */

static const struct {
    SGC_held_t held;
    enum sgc_graph_root root;
} roots_of[] = {
    { SGC_HELD_BY_STATIC, SGC_GRAPH_STATIC }, { SGC_HELD_BY_ADDED, SGC_GRAPH_ADDED }, { SGC_HELD_BY_STACK, SGC_GRAPH_STACK },
    { SGC_HELD_BY_THREAD_LOCAL, SGC_GRAPH_THREAD_LOCAL }, { SGC_HELD_BY_UNCOLLECTABLE, SGC_GRAPH_UNCOLLECTABLE },
    { SGC_HELD_BY_FINALIZATION, SGC_GRAPH_FINALIZATION },
};

static uint32_t root_of(SGC_held_t held)
{
    for (size_t i = 0; i < sizeof roots_of / sizeof roots_of[0]; i++)
        if (roots_of[i].held == held)
            return roots_of[i].root;
    return SGC_GRAPH_ROOTS;
}

/* The root word, and each word on the way. */
static bool same_words(const struct sgc_graph *g, const struct sgc_way *found)
{
    const struct sgc_graph_root_word *word = &g->root[found->root];
    const struct sgc_graph_range *range = &g->range[word->range];
    uintptr_t at = range->lo == 0 ? 0 : range->lo + word->word * sizeof(void *);
    bool same = at == (uintptr_t)way.step[0].word;

    for (uint32_t i = 0; i < found->count; i++) {
        same = same && sgc_graph_address(g, found->object[i]) == (uintptr_t)way.step[i].object;
        if (i > 0)
            same = same && sgc_way_word(found, g, i) * sizeof(void *) ==
                           (uintptr_t)way.step[i].word - (uintptr_t)way.step[i - 1].object;
    }
    return same;
}

/* In a copy a thread's words have other addresses, so only those of other roots are compared. */
static bool same_way(const struct sgc_graph *g, uint32_t object, SGC_held_t held)
{
    uint64_t *wanted = calloc(g->objects / 64 + 1, sizeof *wanted);
    struct sgc_way found;
    bool same;

    wanted[object / 64] |= UINT64_C(1) << object % 64;
    same = sgc_way_find(&found, g, wanted) && found.count == way.count && found.count != 0 &&
           g->range[g->root[found.root].range].root == root_of(held) && found.object[found.count - 1] == object;
    if (same && held != SGC_HELD_BY_STACK)
        same = same_words(g, &found);
    if (!same)
        tap_diag("%u steps, from a root of kind %u; expected %u, kind %u", found.count,
                 found.count != 0 ? g->range[g->root[found.root].range].root : 0, (unsigned)way.count, root_of(held));
    sgc_way_release(&found);
    free(wanted);
    return same;
}

/* How many roots lead to the object? */
static uint32_t count_roots(const struct sgc_graph *g, uint32_t object)
{
    uint64_t *wanted = calloc(g->objects / 64 + 1, sizeof *wanted);
    uint32_t count = 0;
    struct sgc_view v;
    bool *leads;

    wanted[object / 64] |= UINT64_C(1) << object % 64;
    if (!sgc_view_make(&v, g, NULL) || (leads = calloc(v.roots.count + 1, 1)) == NULL ||
        !sgc_ways_roots(g, &v.roots, wanted, false, leads))
        tap_bail("no memory");
    for (uint32_t i = 0; i < v.roots.count; i++)
        count += leads[i];
    free(leads);
    free(wanted);
    sgc_view_release(&v);
    return count;
}

/* The program's answer is from just before; other threads stand still meanwhile. */
static void check(GC_hidden_pointer hidden, SGC_held_t expected, uint32_t roots, const char *name)
{
    SGC_held_t held = find(hidden);
    uint64_t hidden_offset = 0;
    struct sgc_graph g;
    uint32_t object = SGC_GRAPH_NONE;

    scrub_stack();
    if (SGC_write_heap_snapshot(folder_path("why")) != 0 || !sgc_graph_load(&g, folder_path("why"), 0))
        tap_bail("no snapshot");
    hidden_offset = ~(uint64_t)hidden - g.geometry.base;
    object = sgc_graph_object_at(&g, hidden_offset);
    tap_ok(held == expected && object != SGC_GRAPH_NONE && same_way(&g, object, held), "%s: the way is the program's", name);
    tap_ok(object != SGC_GRAPH_NONE && count_roots(&g, object) == roots, "and %u roots lead there (%u)", roots,
           object != SGC_GRAPH_NONE ? count_roots(&g, object) : 0);
    sgc_graph_release(&g);
}

/* ---- objects ---- */

static void *in_static, *in_static_too;
static _Thread_local void *in_thread_local;

static void *make(void *slot)
{
    void *object = GC_malloc(sizeof(struct cell));

    *(void **)slot = object;
    return (void *)GC_HIDE_POINTER(object);
}

static GC_hidden_pointer made(void *slot)
{
    return (GC_hidden_pointer)api_in_thread(make, slot);
}

static void test_static(void)
{
    check(made(&in_static), SGC_HELD_BY_STATIC, 1, "static data");
    in_static = NULL;
}

static void test_added(void)
{
    void **added = api_outside(4096);

    GC_add_roots(added, added + 512);
    check(made(&added[7]), SGC_HELD_BY_ADDED, 1, "an added range");
    GC_remove_roots(added, added + 512);
}

static void test_thread_local(void)
{
    check(made(&in_thread_local), SGC_HELD_BY_THREAD_LOCAL, 1, "a thread-local variable");
    in_thread_local = NULL;
}

static GC_hidden_pointer of_another;

static void *hold_in_variable(void *unused)
{
    of_another = made(&in_thread_local);
    api_stay();
    in_thread_local = NULL;
    return unused;
}

/* A thread that makes *object, and waits, holds it so. */
static void check_held_by_another(void *(*hold_object)(void *), const GC_hidden_pointer *object, SGC_held_t held,
                                  const char *what)
{
    pthread_t thread = api_start(hold_object, NULL);

    api_wait(&api_there);
    check(*object, held, 1, what);
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
}

static void test_thread_local_of_another(void)
{
    check_held_by_another(hold_in_variable, &of_another, SGC_HELD_BY_THREAD_LOCAL, "another thread's thread-local variable");
}

static GC_hidden_pointer on_stack;

static void *hold(void *unused)
{
    void *volatile object = GC_malloc(sizeof(struct cell));

    on_stack = GC_HIDE_POINTER(object);
    GC_clear_stack(NULL);
    api_stay();
    return object != NULL ? unused : object;
}

static void test_stack(void)
{
    check_held_by_another(hold, &on_stack, SGC_HELD_BY_STACK, "another thread's stack");
}

static void *make_uncollectable(TEST_UNUSED void *unused)
{
    struct cell *root = GC_malloc_uncollectable(sizeof *root);

    root->other = GC_malloc(sizeof *root);
    return (void *)GC_HIDE_POINTER(root->other);
}

static void test_uncollectable(void)
{
    check((GC_hidden_pointer)api_in_thread(make_uncollectable, NULL), SGC_HELD_BY_UNCOLLECTABLE, 1, "an uncollectable object");
}

static void *register_data(void *raw)
{
    void *data = GC_malloc(sizeof(struct cell));

    GC_register_finalizer(*(void **)raw, api_ignore, data, NULL, NULL);
    return (void *)GC_HIDE_POINTER(data);
}

static void test_finalization(void)
{
    made(&in_static);
    check((GC_hidden_pointer)api_in_thread(register_data, &in_static), SGC_HELD_BY_FINALIZATION, 1, "a finalizer's data");
    in_static = NULL;
}

/* A chain from in_static; its last cell leads into the middle of a large object. */
static void *make_chain(TEST_UNUSED void *unused)
{
    void *object = GC_malloc(100000);
    struct cell *first = GC_malloc(sizeof *first), *last = first;

    for (int i = 1; i < CHAIN; i++)
        last = last->next = GC_malloc(sizeof *last);
    last->other = (char *)object + 500;
    in_static = first;
    return (void *)GC_HIDE_POINTER(object);
}

static void **range;

/* In a thread of their own, whose stack is gone when they have ended. */
static void lead_from_range(void)
{
    range[3] = ((struct cell *)in_static)->next;
}

static void lead_from_data(void)
{
    range[3] = NULL;
    in_static_too = ((struct cell *)in_static)->next->next;
}

static void test_chain(void)
{
    GC_hidden_pointer end = (GC_hidden_pointer)api_in_thread(make_chain, NULL);

    range = api_outside(4096);
    check(end, SGC_HELD_BY_STATIC, 1, "a chain");
    GC_add_roots(range, range + 512);
    api_run(lead_from_range);
    check(end, SGC_HELD_BY_ADDED, 2, "a chain that two roots lead to: the shorter way");
    api_run(lead_from_data);
    check(end, SGC_HELD_BY_STATIC, 1, "two words of one root");
    GC_remove_roots(range, range + 512);
    in_static = in_static_too = NULL;
}

static void test_nothing(void)
{
    GC_hidden_pointer hidden = made(&in_static);
    uint64_t *wanted;
    struct sgc_way found;
    struct sgc_graph g;
    uint32_t object;

    in_static = NULL;
    scrub_stack();
    if (SGC_write_heap_snapshot(folder_path("why")) != 0 || !sgc_graph_load(&g, folder_path("why"), 0))
        tap_bail("no snapshot");
    object = sgc_graph_object_at(&g, ~(uint64_t)hidden - g.geometry.base);
    wanted = calloc(g.objects / 64 + 1, sizeof *wanted);
    if (object != SGC_GRAPH_NONE)
        wanted[object / 64] |= UINT64_C(1) << object % 64;
    tap_ok(object != SGC_GRAPH_NONE && sgc_way_find(&found, &g, wanted) && found.count == 0, "nothing leads to garbage");
    sgc_way_release(&found);
    free(wanted);
    sgc_graph_release(&g);
}

int main(void)
{
    GC_INIT();
    GC_set_finalize_on_demand(1);
    GC_exclude_static_roots(&way, &way + 1);
    folder_make();
    tap_each(test_static, test_added, test_thread_local, test_thread_local_of_another, test_stack, test_uncollectable,
             test_finalization, test_chain, test_nothing);
    folder_remove();
    return tap_done();
}
