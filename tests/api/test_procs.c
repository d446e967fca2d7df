/* SPDX-License-Identifier: MIT */
/*
 * Kinds whose objects are scanned by mark procedures: what a procedure leaves out dies, what it marks lives, however much
 * it pushes and however it does.  In children, with several numbers of markers, under torture, with a mark stack that is
 * too small, without interior pointers.  With API_PEER it runs on bdwgc's library.
 *
 * Also: mark/mark_procs.c.
 */
#include "api.h"
#include "entries.h"

#include <gc/gc_inline.h>

enum {
    NODES = 3000,               /* of a list */
    FAN = 6000,                 /* pointers of one object: more than the least mark stack holds */
    EVERY = 60,                 /* so many have a large object to die or to live */
    STRIDE = 100,               /* pointers looked at in one call */
    READY = 12345,
};

struct node {
    GC_word link;               /* not looked at */
    void *strong;
    void *weak;
    GC_word ready;
};

struct fan {
    GC_word ready;
    void *child[FAN];
};

static unsigned node_proc, fan_proc, step_proc, mixed_proc;
static int node_kind, fan_kind, step_kind, mixed_kind;
static volatile int env_seen, unset_seen, unmarked_seen;

/* Not roots. */
static GC_hidden_pointer *kept, *lost;

static stack mark_node(GC_word *object, stack top, stack limit, GC_word env)
{
    struct node *n = (struct node *)object;

    if (env != 77)
        env_seen = (int)env;
    if (n->ready != READY) {
        unset_seen = 1;
        return top;
    }
    if (!GC_is_marked(object))
        unmarked_seen = 1;
    return GC_MARK_AND_PUSH(n->strong, top, limit, &n->strong);
}

static stack mark_fan(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct fan *f = (struct fan *)object;

    for (int i = 0; f->ready == READY && i < FAN; i++)
        top = GC_MARK_AND_PUSH(f->child[i], top, limit, &f->child[i]);
    return top;
}

/* Pushes itself for the pointers it has not looked at; the environment says how many those are. */
static stack mark_step(GC_word *object, stack top, stack limit, GC_word env)
{
    GC_word left = env;

    if (left == 0) {                                            /* the object itself, not a part of it */
        if (*object++ != READY)
            return top;
        left = FAN;
    }
    for (int i = 0; i < STRIDE && left > 0; i++, left--, object++)
        top = GC_MARK_AND_PUSH((void *)*object, top, limit, (void **)object);
    return left == 0 ? top : push(top, limit, object, GC_MAKE_PROC(step_proc, left));
}

/* Pushes its parts with descriptors of other forms: half as a length, then every second word by bitmaps. */
static stack mark_mixed(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct fan *f = (struct fan *)object;

    if (f->ready != READY)
        return top;
    top = push(top, limit, f->child, FAN / 2 * sizeof(void *));
    for (int i = FAN / 2; i < FAN; i += 60)
        top = push(top, limit, &f->child[i], (GC_word)0xAAAAAAAAAAAAAAA0 | GC_DS_BITMAP);
    return top;
}

static int make_kind(unsigned proc, GC_word env)
{
    return (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(proc, env), 0, !api_on_sgc);    /* SGC clears them all the same */
}

/* For callers that hold the lock. */
static void *fan_proc_inside(TEST_UNUSED void *unused)
{
    fan_proc = GC_new_proc_inner(mark_fan);
    return NULL;
}

static void make_kinds(void)
{
    GC_INIT();
    node_kind = make_kind(node_proc = GC_new_proc(mark_node), 77);
    GC_call_with_alloc_lock(fan_proc_inside, NULL);
    fan_kind = make_kind(fan_proc, 0);
    step_kind = make_kind(step_proc = GC_new_proc(mark_step), 0);
    mixed_kind = make_kind(mixed_proc = GC_new_proc(mark_mixed), 0);
    API_CHILD(node_proc >= GC_RESERVED_MARK_PROCS && step_proc == node_proc + 2 && node_proc < GC_MAX_MARK_PROCS);
    API_CHILD(node_kind >= 4 && mixed_kind == node_kind + 3);
    kept = api_outside(FAN * sizeof *kept);
    lost = api_outside(FAN * sizeof *lost);
}

static struct node *make_node(void *strong, void *weak)
{
    struct node *n = GC_generic_malloc(sizeof *n, node_kind);

    API_CHILD(n->link == 0 && n->strong == NULL && n->weak == NULL && n->ready == 0);
    n->link = (GC_word)weak;
    n->strong = strong;
    n->weak = weak;
    n->ready = READY;
    return n;
}

static void *volatile root;

/* A list; now and then a node leads to a weak large object, and at the end to a strong one. */
static void *make_list(void *arg)
{
    struct node *list = make_node(api_large(&kept[0]), NULL);

    for (int i = 0; i < NODES; i++)
        list = make_node(list, i % EVERY == 0 ? api_large(&lost[i / EVERY]) : NULL);
    root = list;
    return arg;
}

/* Some children are nodes that lead to large objects, some to weak ones. */
static void fill(void **child, int count, GC_hidden_pointer *place)
{
    for (int i = 0; i < count; i++) {
        child[i] = make_node(NULL, NULL);
        if (i % EVERY == 0)
            ((struct node *)child[i])->strong = api_large(&place[i / EVERY]);
        if (i % EVERY == 1)
            ((struct node *)child[i])->weak = api_large(&lost[i / EVERY]);
    }
}

static void *make_fan(void *arg)
{
    struct fan *f = GC_generic_malloc(sizeof *f, *(int *)arg);

    root = f;
    f->ready = READY;
    fill(f->child, FAN, kept);
    return arg;
}

/* The words that the bitmaps leave out lead to objects that nothing else does. */
static void *make_mixed(void *arg)
{
    struct fan *f = GC_generic_malloc(sizeof *f, mixed_kind);

    root = f;
    f->ready = READY;
    fill(f->child, FAN / 2, kept);
    for (int i = FAN / 2; i < FAN; i++)
        f->child[i] = i % 2 == 0 ? make_node(api_large(&kept[i]), NULL) : api_large(&lost[i]);
    return arg;
}

static void check_objects(int kind, void *(*make)(void *), int expected)
{
    memset(kept, 0, FAN * sizeof *kept);
    memset(lost, 0, FAN * sizeof *lost);
    api_make_in_thread(make, &kind);
    API_CHILD(api_survive(kept, FAN) == expected);
    API_CHILD(api_alive(lost, FAN) <= 1);
    root = NULL;
    API_CHILD(api_survive(kept, FAN) <= (expected > 1));
}

/* Lists of objects that the client keeps: zero but for the link. */
static void keep_many(void)
{
    static void *list;

    for (int i = 0; i < 20; i++) {
        void **n;

        GC_generic_malloc_many(48, node_kind, &list);
        API_CHILD(list != NULL);
        for (n = list; n != NULL; n = GC_NEXT(n))
            API_CHILD(n[1] == NULL && n[2] == NULL && n[3] == NULL && n[4] == NULL && n[5] == NULL);
        GC_gcollect();
    }
}

/* An object used again was another's: it must be zero when the procedure sees it. */
static void reuse(void)
{
    for (int i = 0; i < 20000; i++) {
        struct node *n = make_node((void *)READY, (void *)READY);

        if (i % 3 == 0)
            GC_free(n);
    }
}

static void check_all(void)
{
    make_kinds();
    check_objects(node_kind, make_list, 1);
    check_objects(fan_kind, make_fan, FAN / EVERY);
    check_objects(step_kind, make_fan, FAN / EVERY);
    check_objects(mixed_kind, make_mixed, FAN / 2 / EVERY + FAN / 4);
    api_run(keep_many);
    api_run(reuse);
    api_run(GC_gcollect);
    API_CHILD(env_seen == 0 && unmarked_seen == 0 && unset_seen == 1);
}

int main(void)
{
    api_check_child_with("GC_MARKERS=1", check_all, "one marker");
    api_check_child_with("GC_MARKERS=2", check_all, "two markers");
    api_check_child_with("GC_MARKERS=8", check_all, "eight markers");
    api_check_child_with("SGC_TORTURE=500 GC_MARKERS=1", check_all, "one marker, under torture");
    api_check_child_with("SGC_TORTURE=500 GC_MARKERS=8", check_all, "eight markers, under torture");
    api_check_child_with("SGC_MARK_STACK_LIMIT=64K GC_MARKERS=1", check_all, "a mark stack that is too small");
    api_check_child_with("GC_ALL_INTERIOR_POINTERS=0 GC_MARKERS=2", check_all, "no interior pointers");
    api_check_child_with("SGC_PRESET=no-opt GC_MARKERS=2", check_all, "locked mark stacks");
    api_check_child_with("SGC_PRESET=simple GC_MARKERS=2", check_all, "mark stacks that are not shared");
    return tap_done();
}
