/* SPDX-License-Identifier: MIT */
/*
 * Heap snapshots of programs with mark procedures and with a hook that pushes roots: what is reachable in the file is what the
 * very same collection has marked, whatever a procedure pushes and leaves out, and whatever the hook does to the heap.  Also:
 * mark/noted.c, mark/note_pushed.c and gc/snapshot/noted_part.c.
 */
#define GC_THREADS
#include "sgc.h"

#include <string.h>
#include <sys/mman.h>

#include "gc/gc_mark.h"
#include "gc/gc_typed.h"
#include "tests/api/snapshot.h"
#include "tests/lib/child.h"
#include "tests/lib/tap.h"

enum {
    READY = 12345,
    OUTSIDE = 600,              /* words that a view shows */
    STRIDE = 100,               /* of these, in one call */
};

struct cell {
    struct cell *next;
    void *other;
};

static void *volatile roots[64];
static int used;

static void *keep(void *object)
{
    roots[used++] = object;
    return object;
}

static struct cell *chain(int length, void *last_other)
{
    struct cell *first = NULL;

    for (int i = 0; i < length; i++) {
        struct cell *cell = GC_MALLOC(sizeof *cell);

        cell->next = first;
        cell->other = last_other;
        first = cell;
    }
    return first;
}

/* ---- procedures ---- */

/* Of the node the procedure sees one word of two; of a view memory that is no root and no object. */
struct node {
    GC_word ready;
    void *weak, *strong;
    GC_word *outside;
};

struct entry {
    void *start;
    GC_word descriptor;
};

static unsigned node_proc, view_proc, step_proc, forms_proc, hand_proc, wrong_proc;
static int node_kind, view_kind, step_kind, forms_kind, hand_kind, wrong_kind;

static struct GC_ms_entry *push(struct GC_ms_entry *top, struct GC_ms_entry *limit, void *start, GC_word descriptor)
{
    struct entry *next = (struct entry *)top + 1;

    if ((char *)next >= (char *)limit)
        _exit(9);
    *next = (struct entry){ start, descriptor };
    return (struct GC_ms_entry *)next;
}

static struct GC_ms_entry *mark_node(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct node *n = (struct node *)object;

    (void)env;
    return n->ready == READY ? GC_MARK_AND_PUSH(n->strong, top, limit, &n->strong) : top;
}

/* Word by word, like the stack of an interpreter. */
static struct GC_ms_entry *mark_view(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct node *n = (struct node *)object;

    (void)env;
    for (int i = 0; n->ready == READY && i < OUTSIDE; i++)
        top = GC_MARK_AND_PUSH((void *)n->outside[i], top, limit, NULL);
    return top;
}

/* A part of what lies outside, and itself for the rest, once as an object and then as memory. */
static struct GC_ms_entry *mark_step(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct node *n = (struct node *)object;
    GC_word *from = env == 0 ? n->outside : object;

    if (env == 0 && n->ready != READY)
        return top;
    for (int i = 0; i < STRIDE; i++)
        top = GC_MARK_AND_PUSH((void *)from[i], top, limit, NULL);
    return env + 1 < OUTSIDE / STRIDE ? push(top, limit, from + STRIDE, GC_MAKE_PROC(step_proc, env + 1)) : top;
}

/* Descriptors of all forms, of memory outside and of the object itself; from between two words; one that makes no sense. */
static struct GC_ms_entry *mark_forms(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
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
    return push(top, limit, (void *)1, 8);
}

/* The object that it marks is not looked into. */
static struct GC_ms_entry *mark_hand(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct node *n = (struct node *)object;

    (void)env, (void)limit;
    if (n->ready == READY)
        GC_set_mark_bit(n->strong);
    return top;
}

/* All words count, and what it has pushed before. */
static struct GC_ms_entry *mark_wrong(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct node *n = (struct node *)object;

    (void)env;
    if (n->ready != READY)
        return top;
    GC_MARK_AND_PUSH((void *)n->outside[0], top, limit, NULL);
    return (struct GC_ms_entry *)object;
}

static int make_kind(unsigned proc)
{
    return (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(proc, 0), 0, 1);
}

static void start(void)
{
    GC_INIT();
    snapshot_listen();
    node_kind = make_kind(node_proc = GC_new_proc(mark_node));
    view_kind = make_kind(view_proc = GC_new_proc(mark_view));
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
    GC_word *words = mmap(NULL, OUTSIDE * sizeof *words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (words == MAP_FAILED)
        _exit(8);
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

static bool look(bool (*what)(const struct sgc_graph *g))
{
    return SGC_write_heap_snapshot(folder_path("exact")) == 0 && snapshot_is(folder_path("exact"), what);
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
    return look(has_procedures) && look(has_procedures) ? 0 : 1;
}

static void finalize(void *object, void *data)
{
    (void)object, (void)data;
}

static void make_finalized(void)
{
    GC_word bits[1] = { 4 };
    void **typed = GC_MALLOC_EXPLICITLY_TYPED(32, GC_make_descriptor(bits, 4));
    struct node *n = make_node(node_kind, chain(3, NULL), chain(4, NULL));

    GC_REGISTER_FINALIZER(make_view(view_kind), finalize, NULL, NULL, NULL);
    GC_REGISTER_FINALIZER(make_view(step_kind), finalize, NULL, NULL, NULL);
    GC_REGISTER_FINALIZER_NO_ORDER(make_node(node_kind, chain(3, NULL), chain(4, NULL)), finalize, NULL, NULL, NULL);
    n->outside = (GC_word *)n;
    GC_REGISTER_FINALIZER_IGNORE_SELF(n, finalize, NULL, NULL, NULL);
    typed[0] = chain(6, NULL);
    typed[1] = chain(7, NULL);
    typed[2] = typed;
    GC_REGISTER_FINALIZER_IGNORE_SELF(typed, finalize, NULL, NULL, NULL);
}

static int finalizes(void)
{
    bool agrees = true;

    start();
    for (int i = 0; i < 3 && agrees; i++) {
        make_finalized();
        agrees = look(has_procedures);
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
    return look(has_procedures) ? 0 : 1;
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
    return look(has_by_hand) ? 0 : 1;
}

static int pushes_wrongly(void)
{
    start();
    keep(make_view(wrong_kind));
    return look(has_procedures) ? 0 : 1;
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
    for (int i = 0; i < 8; i++)
        keep(make_tree(7, outside()));
    GC_enable();
    for (int i = 0; i < 100 && agrees && (i < 5 || markers < 2); i++) {
        agrees = look(has_procedures);
        markers = snapshot_last.markers > markers ? snapshot_last.markers : markers;
    }
    fprintf(stderr, "# %lu markers, %lu objects\n", (unsigned long)markers, (unsigned long)snapshot_last.marked_objects);
    return !agrees ? 1 : markers > 1 ? 0 : CHILD_SKIPS;
}

/* ---- a hook ---- */

static GC_push_other_roots_proc before;
static GC_word secret;                  /* the address of an object, hidden */
static struct cell *changed;
static int left;

static void *reveal(void)
{
    return GC_REVEAL_POINTER(secret);
}

/* What its frames hold is gone afterwards. */
static void push_roots(void)
{
    void *words[40] = { NULL };
    struct cell *hidden = reveal();

    if (before != NULL)
        before();
    words[3] = hidden;
    words[17] = (char *)hidden->next + 9;
    GC_push_all(words + 3, words + 4);
    GC_push_all_eager(words + 10, (char *)(words + 20) + 5);
    GC_push_conditional(words + 30, words + 31, 1);
    memset(words, 0, sizeof words);
}

/* Marks one, allocates another, and changes what objects and roots hold. */
static void change_heap(void)
{
    struct cell *hidden = reveal(), *made;

    if (before != NULL)
        before();
    GC_set_mark_bit(hidden);
    made = GC_MALLOC(sizeof *made);
    if (made != NULL && left-- > 0) {
        made->other = hidden->next;
        changed->other = made;
        changed->next = GC_MALLOC(200);
        roots[63] = GC_MALLOC_ATOMIC(300);
    }
    GC_add_roots(&left, &left + 1);
}

static bool has_hook(const struct sgc_graph *g)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < g->ranges; i++)
        found += g->range[i].root == SGC_GRAPH_HOOK && g->range[i].first_root != g->range[i + 1].first_root;
    return found != 0;
}

static int hook(GC_push_other_roots_proc push_them)
{
    bool agrees = true;

    start();
    before = GC_get_push_other_roots();
    changed = keep(chain(1, NULL));
    keep(make_node(node_kind, chain(2, NULL), chain(3, NULL)));
    for (int i = 0; i < 3 && agrees; i++) {
        struct cell *hidden = chain(20, chain(4, NULL));

        secret = GC_HIDE_POINTER(hidden);
        left = 5;
        GC_set_push_other_roots(push_them);
        hidden = NULL;
        GC_clear_stack(NULL);
        agrees = look(has_hook);
        GC_set_push_other_roots(before);
    }
    return agrees ? 0 : 1;
}

static int hook_pushes(void)
{
    return hook(push_roots);
}

static int hook_changes(void)
{
    return hook(change_heap);
}

/* ---- a mark that is given up ---- */

static int asked;

static int GC_CALLBACK give_up(void)
{
    return asked++ > 0;
}

/* No file is left, and the next collection, which has the same number, writes it. */
static int given_up(void)
{
    char text[400];

    snprintf(text, sizeof text, "%s/given-up-%%n", folder);
    setenv("SGC_SNAPSHOT", text, 1);
    start();
    GC_disable();
    for (int i = 0; i < 8; i++)
        keep(make_tree(7, outside()));
    GC_enable();
    if (GC_try_to_collect(give_up))
        return 2;
    snprintf(text, sizeof text, "%s/given-up-%d", folder, (int)snapshot_last.cycle + 1);
    if (access(text, F_OK) == 0)
        return 3;
    GC_gcollect();
    return snapshot_is(text, has_procedures) ? 0 : 4;
}

/* ---- two files at once ---- */

static int both(void)
{
    char named[400];

    snprintf(named, sizeof named, "%s/named-%%n", folder);
    setenv("SGC_SNAPSHOT", named, 1);
    start();
    keep(make_view(view_kind));
    if (!look(has_procedures))
        return 1;
    snprintf(named, sizeof named, "%s/named-%d", folder, (int)snapshot_last.cycle);
    if (!snapshot_is(named, has_procedures))
        return 2;
    snprintf(named, sizeof named, "%s/named-%d", folder, (int)snapshot_last.cycle + 1);
    return SGC_write_heap_snapshot(named) == 0 && snapshot_is(named, has_procedures) ? 0 : 3;
}

/* ---- */

static void try_all(const char *option, const char *value)
{
    if (option != NULL)
        setenv(option, value, 1);
    child_ok(pushes, "%s=%s: what procedures push, and leave out", option != NULL ? option : "nothing", value);
    child_ok(finalizes, "objects with procedures and finalizers");
    child_ok(arrays, "arrays of elements with procedures");
    child_ok(by_hand, "objects that a procedure marks by hand");
    child_ok(hook_pushes, "what a hook pushes");
    child_ok(hook_changes, "what a hook allocates, marks and changes");
    if (option != NULL)
        unsetenv(option);
}

int main(void)
{
    tap_plan(0);
    folder_make();
    try_all(NULL, "");
    try_all("GC_ALL_INTERIOR_POINTERS", "0");
    try_all("SGC_END_BYTE", "roots");
    try_all("GC_MARKERS", "4");
    try_all("SGC_MODE", "concurrent");
    try_all("SGC_MARK_STACK_LIMIT", "64k");
    child_says(pushes_wrongly, 0, "mark procedure", "a procedure that returns no stack: each word of its object counts");
    setenv("GC_MARKERS", "4", 1);
    child_ok(several, "a tree of objects with procedures, four markers");
    setenv("SGC_MARK_STACK_LIMIT", "64k", 1);
    child_ok(several, "with small mark stacks, so that pages are looked at again");
    unsetenv("SGC_MARK_STACK_LIMIT");
    child_ok(given_up, "a mark that is given up leaves no file");
    child_ok(both, "a collection that is asked for one and writes one anyway writes both");
    folder_remove();
    return tap_done();
}
