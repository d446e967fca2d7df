/* SPDX-License-Identifier: MIT */
/*
 * Heap snapshots of programs with mark procedures: what is reachable in the file is what the very same collection has marked,
 * whatever a procedure pushes, marks by hand and leaves out.  Also: mark/noted.c, mark/descriptor.c and
 * gc/snapshot/snapshot.c.
 */
#include "tests/api/snapshot.h"

#include "gc/gc_typed.h"
#include "mark/layouts.h"
#include "tests/api/entries.h"
#include "tests/lib/child.h"

enum {
    READY = 12345,
    OUTSIDE = 600,              /* words that a view shows */
    STRIDE = 100,               /* of these, in one call */
};

/* ---- procedures ---- */

/* Of the node the procedure sees one word of two; of a view memory that is no root and no object. */
struct node {
    GC_word ready;
    void *weak, *strong;
    GC_word *outside;
};

static GC_hidden_pointer array_hidden;  /* 0: there is none */

static unsigned many_proc, node_proc, view_proc, fan_proc, step_proc, forms_proc, hand_proc, wrong_proc;
static int many_kind, node_kind, view_kind, fan_kind, step_kind, forms_kind, hand_kind, wrong_kind;

static stack mark_node(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct node *n = (struct node *)object;

    return n->ready == READY ? GC_MARK_AND_PUSH(n->strong, top, limit, &n->strong) : top;
}

/* Word by word, like the stack of an interpreter. */
static stack mark_view(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct node *n = (struct node *)object;

    for (int i = 0; n->ready == READY && i < OUTSIDE; i++)
        top = GC_MARK_AND_PUSH((void *)n->outside[i], top, limit, NULL);
    return top;
}

/* All up to a 0. */
static stack mark_fan(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct node *n = (struct node *)object;

    for (int i = 0; n->ready == READY && n->outside[i] != 0; i++)
        top = GC_MARK_AND_PUSH((void *)n->outside[i], top, limit, NULL);
    return top;
}

/* A part of what lies outside, and itself for the rest, once as an object and then as memory. */
static stack mark_step(GC_word *object, stack top, stack limit, GC_word env)
{
    struct node *n = (struct node *)object;
    GC_word *from = env == 0 ? n->outside : object;

    if (env == 0 && n->ready != READY)
        return top;
    for (int i = 0; i < STRIDE; i++)
        top = GC_MARK_AND_PUSH((void *)from[i], top, limit, NULL);
    return env + 1 < OUTSIDE / STRIDE ? push(top, limit, from + STRIDE, GC_MAKE_PROC(step_proc, env + 1)) : top;
}

/* By functions, more than there is room for; each once only counts, but may be noted again. */
static stack mark_many(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct node *n = (struct node *)object;

    for (int i = 0; n->ready == READY && i + 2 < OUTSIDE; i += 2) {
        top = GC_ms_push_obj_descr(n->outside + i, sizeof(GC_word), top, limit);
        top = GC_ms_push_obj_descr((char *)(n->outside + i) - 4, sizeof(GC_word) + 4, top, limit);
        if (i % 50 == 0)
            top = GC_ms_push_obj_descr(object, GC_MAKE_PROC(node_proc, 0), top, limit);
        if (i % 7 == 0)
            top = GC_ms_push_all(n->outside + i + 1, n->outside + i + 2, top, limit);
    }
    return top;
}

/* Descriptors of all forms, of memory outside and of the object itself; from between two words; one that makes no sense. */
static stack mark_forms(GC_word *object, stack top, stack limit, GC_word env)
{
    static const GC_word bits[4] = { 6, 0, 0, 1 };
    struct node *n = (struct node *)object;

    if (n->ready != READY)
        return top;
    if (env == 1)
        return GC_MARK_AND_PUSH(n->strong, top, limit, &n->strong);
    top = push(top, limit, n->outside, 16 * sizeof(GC_word));
    top = push(top, limit, n->outside + 100, (GC_word)0xA000000000000000 | GC_DS_BITMAP);
    top = push(top, limit, n->outside + 200, GC_make_descriptor(bits, 200));
    top = push(top, limit, (char *)(n->outside + 450) + 3, 3 * sizeof(GC_word));
    top = push(top, limit, object, GC_MAKE_PROC(forms_proc, 1));
    top = push(top, limit, (char *)object + 13, 8);
    if (array_hidden != 0)
        top = push(top, limit, GC_REVEAL_POINTER(array_hidden), sgc_ds_proc(SGC_PROC_ARRAY, 40 * 32));
    return push(top, limit, (void *)1, 8);
}

/* The object that it marks is not looked into. */
static stack mark_hand(GC_word *object, stack top, TEST_UNUSED stack limit, TEST_UNUSED GC_word env)
{
    struct node *n = (struct node *)object;

    if (n->ready == READY)
        GC_set_mark_bit(n->strong);
    return top;
}

/* All words count, and what it has pushed before. */
static stack mark_wrong(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct node *n = (struct node *)object;

    if (n->ready != READY)
        return top;
    GC_MARK_AND_PUSH((void *)n->outside[0], top, limit, NULL);
    return (stack)object;
}

static int make_kind(unsigned proc)
{
    return (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(proc, 0), 0, 1);
}

static void start(void)
{
    GC_INIT();
    snapshot_listen();
    many_kind = make_kind(many_proc = GC_new_proc(mark_many));
    node_kind = make_kind(node_proc = GC_new_proc(mark_node));
    view_kind = make_kind(view_proc = GC_new_proc(mark_view));
    fan_kind = make_kind(fan_proc = GC_new_proc(mark_fan));
    step_kind = make_kind(step_proc = GC_new_proc(mark_step));
    forms_kind = make_kind(forms_proc = GC_new_proc(mark_forms));
    hand_kind = make_kind(hand_proc = GC_new_proc(mark_hand));
    wrong_kind = make_kind(wrong_proc = GC_new_proc(mark_wrong));
}

static struct node *make_node(int kind, void *weak, void *strong)
{
    struct node *n = GC_generic_malloc(sizeof *n, kind);

    n->weak = weak;
    n->strong = strong;
    n->ready = READY;
    return n;
}

/* Memory that the collector knows nothing of, in which every third word is a pointer. */
static GC_word *outside(void)
{
    GC_word *words = api_outside(OUTSIDE * sizeof *words);

    for (int i = 0; i < OUTSIDE; i += 3)
        words[i] = (GC_word)chain(2, NULL);
    words[451] = (GC_word)chain(5, NULL);
    words[1] = (GC_word)((char *)chain(3, NULL) + 8);       /* counts only if all interior pointers do */
    return words;
}

static void *make_view(int kind)
{
    struct node *n = make_node(kind, chain(7, NULL), chain(11, NULL));

    n->outside = outside();
    return n;
}

static bool has_procedures(const struct sgc_graph *g)
{
    return g->procedure_objects != 0 && g->procedure_edges != 0;
}

static bool has_memory(const struct sgc_graph *g)
{
    bool found = false;

    for (uint32_t i = 0; i < g->ranges; i++)
        found |= g->range[i].root == SGC_GRAPH_PROCEDURE && g->range[i].first_root != g->range[i + 1].first_root;
    return found;
}

/* Whatever the procedures have found is known to be objects'. */
static bool has_edges_only(const struct sgc_graph *g)
{
    return has_procedures(g) && !has_memory(g);
}

/* ---- what procedures push ---- */

static int pushes(void)
{
    start();
    keep(make_node(node_kind, chain(10, NULL), chain(20, NULL)));
    keep(make_node(node_kind, NULL, make_node(node_kind, chain(30, NULL), make_view(view_kind))));
    keep(make_view(step_kind));
    keep(make_view(forms_kind));
    make_view(view_kind);                                                   /* nobody's: not asked */
    make_node(node_kind, NULL, chain(5, NULL));
    return snapshot_is_exact(has_memory) && snapshot_is_exact(has_procedures) ? 0 : 1;
}

static int pushes_many(void)
{
    start();
    keep(make_view(many_kind));
    keep(make_node(node_kind, NULL, make_view(many_kind)));
    return snapshot_is_exact(has_edges_only) && snapshot_is_exact(has_procedures) ? 0 : 1;
}

TEST_NOINLINE static void make_array(void)
{
    const GC_word bits[1] = { 1 };
    void **array = GC_CALLOC_EXPLICITLY_TYPED(100, 32, GC_make_descriptor(bits, 4));

    for (int i = 0; i < 100; i++)
        array[4 * i] = chain(1, NULL);
    array_hidden = GC_HIDE_POINTER(array);
}

/* A procedure that has itself called for the rest of its object, and an array, which nobody else leads to, of which it shows a
 * part. */
static int own_parts(void)
{
    start();
    keep(make_view(forms_kind));
    make_array();
    GC_clear_stack(NULL);
    return snapshot_is_exact(has_edges_only) ? 0 : 1;
}

static int finalizes_view(void)
{
    start();
    GC_REGISTER_FINALIZER(make_view(view_kind), api_ignore, NULL, NULL, NULL);
    GC_clear_stack(NULL);
    return snapshot_is_exact(has_edges_only) ? 0 : 1;
}

static void make_finalized(void)
{
    GC_word bits[1] = { 4 };
    void **typed = GC_MALLOC_EXPLICITLY_TYPED(32, GC_make_descriptor(bits, 4));
    struct node *n = make_node(node_kind, chain(3, NULL), chain(4, NULL));

    GC_REGISTER_FINALIZER(make_view(view_kind), api_ignore, NULL, NULL, NULL);
    GC_REGISTER_FINALIZER(make_view(step_kind), api_ignore, NULL, NULL, NULL);
    GC_REGISTER_FINALIZER_NO_ORDER(make_node(node_kind, chain(3, NULL), chain(4, NULL)), api_ignore, NULL, NULL, NULL);
    n->outside = (GC_word *)n;
    GC_REGISTER_FINALIZER_IGNORE_SELF(n, api_ignore, NULL, NULL, NULL);
    typed[0] = chain(6, NULL);
    typed[1] = chain(7, NULL);
    typed[2] = typed;
    GC_REGISTER_FINALIZER_IGNORE_SELF(typed, api_ignore, NULL, NULL, NULL);
}

static int finalizes(void)
{
    bool agrees = true;

    start();
    for (int i = 0; i < 3 && agrees; i++) {
        make_finalized();
        agrees = snapshot_is_exact(has_procedures);
    }
    return agrees ? 0 : 1;
}

/* Elements with a procedure each: it is said of each what it leads to, and nothing of what is behind the last. */
static int arrays(void)
{
    struct node *array;

    start();
    array = keep(GC_CALLOC_EXPLICITLY_TYPED(1000, sizeof *array, GC_MAKE_PROC(node_proc, 0)));
    for (int i = 0; i < 1000; i++)
        array[i] = (struct node){ READY, chain(1, NULL), chain(2, NULL), NULL };
    return snapshot_is_exact(has_procedures) ? 0 : 1;
}

static bool has_by_hand(const struct sgc_graph *g)
{
    return g->by_hand != 0;
}

/* One that another object leads to, too, later; and one with a procedure that is not called. */
static int by_hand(void)
{
    start();
    keep(make_node(hand_kind, NULL, chain(9, NULL)));
    keep(make_node(hand_kind, NULL, make_node(node_kind, NULL, chain(3, NULL))));
    for (int i = 0; i < 20; i++) {
        struct cell *shared = chain(3, NULL);

        keep(make_node(hand_kind, NULL, shared));
        keep(chain(2, shared));
    }
    return snapshot_is_exact(has_by_hand) ? 0 : 1;
}

enum { TRIPLES = 20000 };

/* Cells, of which one is reached, one marked by hand, and one nobody's.  All are found by one call of a procedure, which is
 * more than a small mark stack has room for; so their pages are looked through, and with that the objects that were marked by
 * hand. */
static int by_hand_again(void)
{
    struct node *fan;

    start();
    GC_disable();
    fan = keep(make_node(fan_kind, NULL, NULL));
    fan->outside = api_outside((2 * TRIPLES + 1) * sizeof(GC_word));
    for (int i = 0; i < TRIPLES; i++) {
        fan->outside[2 * i] = (GC_word)make_node(hand_kind, NULL, chain(1, GC_MALLOC(100)));
        fan->outside[2 * i + 1] = (GC_word)chain(1, GC_MALLOC(200));
        chain(1, NULL);
    }
    GC_enable();
    return !snapshot_is_exact(has_edges_only) ? 1 : snapshot_last.marked.rescans != 0 ? 0 : 2;
}

/* What a finalizer is for is looked into; then a procedure, which is called since another one leads to its object, marks it. */
static int by_hand_late(void)
{
    start();
    for (int i = 0; i < 40; i++) {
        struct cell *first = chain(2, NULL), *second = chain(2, NULL);
        struct cell *looked = i % 2 == 0 ? first : second, *leads = i % 2 == 0 ? second : first;

        leads->other = make_node(hand_kind, NULL, looked);
        GC_REGISTER_FINALIZER(looked, api_ignore, NULL, NULL, NULL);
        GC_REGISTER_FINALIZER(leads, api_ignore, NULL, NULL, NULL);
    }
    GC_clear_stack(NULL);
    return snapshot_is_exact(NULL) ? 0 : 1;
}

static int pushes_wrongly(void)
{
    start();
    keep(make_view(wrong_kind));
    return snapshot_is_exact(has_procedures) ? 0 : 1;
}

/* ---- several markers ---- */

/* A tree of nodes, and each leads to memory outside, by itself or in the way of the others. */
static struct node *make_tree(int levels, GC_word *words)
{
    static int number;
    const int kinds[4] = { node_kind, view_kind, node_kind, step_kind };
    struct node *n;

    if (levels == 0)
        return NULL;
    n = make_node(kinds[number++ % 64 == 0 ? number / 64 % 4 : 0], chain(1, NULL), NULL);
    n->outside = words;
    n->strong = GC_MALLOC(4 * sizeof(void *));
    for (int i = 0; i < 4; i++)
        ((void **)n->strong)[i] = make_tree(levels - 1, words);
    return n;
}

/* On a busy machine helpers may come too late, again and again. */
static int several(void)
{
    uint64_t markers = 0;
    bool agrees = true;

    start();
    GC_disable();
    for (int i = 0; i < 24; i++)
        keep(make_tree(7, outside()));
    GC_enable();
    for (int i = 0; i < 100 && agrees && (i < 5 || markers < 2); i++) {
        agrees = snapshot_is_exact(has_procedures);
        markers = snapshot_last.marked.markers > markers ? snapshot_last.marked.markers : markers;
    }
    fprintf(stderr, "# %lu markers, %lu objects\n", (unsigned long)markers, (unsigned long)snapshot_last.marked.objects);
    return !agrees ? 1 : markers > 1 ? 0 : CHILD_SKIPS;
}

static void try_all(const char *option, const char *value)
{
    setenv(option, value, 1);
    child_ok(pushes, "%s=%s: what procedures push, and leave out", option, value);
    child_ok(pushes_many, "by functions, more than there is room for");
    child_ok(finalizes, "objects with procedures and finalizers");
    child_ok(arrays, "arrays of elements with procedures");
    child_ok(by_hand, "objects that a procedure marks by hand");
    child_ok(own_parts, "what they find in parts of their objects is their objects'");
    child_ok(finalizes_view, "so is what they find in objects that have finalizers only");
    child_ok(by_hand_late, "an object is marked by hand that has been looked into");
    unsetenv(option);
}

int main(void)
{
    folder_make();
    try_all("nothing", "");
    try_all("GC_ALL_INTERIOR_POINTERS", "0");
    try_all("SGC_END_BYTE", "roots");
    try_all("GC_MARKERS", "4");
    try_all("SGC_MODE", "concurrent");
    try_all("SGC_MARK_STACK_LIMIT", "64k");
    setenv("SGC_MARK_STACK_LIMIT", "64k", 1);
    child_ok(by_hand_again, "pages with objects that were marked by hand are looked at again");
    unsetenv("SGC_MARK_STACK_LIMIT");
    child_says(pushes_wrongly, 0, "mark procedure", "a procedure that returns no stack: each word of its object counts");
    setenv("GC_MARKERS", "4", 1);
    child_ok(several, "a tree of objects with procedures, four markers");
    setenv("SGC_MARK_STACK_LIMIT", "64k", 1);
    child_ok(several, "with small mark stacks, so that pages are looked at again");
    folder_remove();
    return tap_done();
}
