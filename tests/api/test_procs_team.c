/* SPDX-License-Identifier: MIT */
/*
 * Mark procedures of several markers at once, where they run one at a time: when what finalizers need is marked.  They mark
 * objects in pages that other markers work on, by pushing and by setting bits themselves; nothing hangs, and nothing is lost.
 * In children, with several numbers of markers and ways of setting bits.
 */
#include "api.h"
#include "entries.h"

#include "../lib/random.h"

enum {
    HEADS = 64,                 /* with finalizers */
    NODES = 4000,
    FAN = 400,                  /* that a head leads to, anywhere among them */
    ROUNDS = 12,
    READY = 54321,
};

struct node {
    void *strong;               /* marked and pushed */
    GC_word *leaf;              /* only marked: there is nothing in it to look at */
    GC_word ready;
};

struct head {
    GC_word ready;
    struct node *child[FAN];
};

static int node_kind, head_kind;
static size_t finalized, wrong;
static uint64_t seed = 1;

static stack mark_node(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct node *n = (struct node *)object;

    if (n->ready != READY)
        return top;
    GC_set_mark_bit(n->leaf);
    return GC_MARK_AND_PUSH(n->strong, top, limit, &n->strong);
}

static stack mark_head(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    struct head *h = (struct head *)object;

    for (int i = 0; h->ready == READY && i < FAN; i++)
        top = GC_MARK_AND_PUSH(h->child[i], top, limit, (void **)&h->child[i]);
    return top;
}

static int make_kind(GC_mark_proc proc)
{
    return (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(GC_new_proc(proc), 0), 0, 1);
}

static struct node *make_node(void *strong)
{
    struct node *n = GC_generic_malloc(sizeof *n, node_kind);
    GC_word *leaf = GC_malloc_atomic(32);

    leaf[0] = leaf[1] = leaf[2] = leaf[3] = (GC_word)GC_HIDE_POINTER(n);
    n->strong = strong;
    n->leaf = leaf;
    n->ready = READY;
    return n;
}

static void GC_CALLBACK finalize(void *object, TEST_UNUSED void *unused)
{
    struct head *h = object;

    for (int i = 0; i < FAN; i++)
        for (struct node *n = h->child[i]; n != NULL; n = n->strong)
            for (int w = 0; w < 4; w++)
                wrong += n->ready != READY || n->leaf[w] != (GC_word)GC_HIDE_POINTER(n);
    finalized++;
}

/* Nothing but finalizers leads to all this when it returns. */
static void make_heads(void)
{
    struct node **all = GC_malloc(NODES * sizeof(struct node *));

    for (int i = 0; i < NODES; i++)
        all[i] = make_node(i % 4 == 0 ? NULL : all[i - 1]);
    for (int k = 0; k < HEADS; k++) {
        struct head *h = GC_generic_malloc(sizeof *h, head_kind);

        for (int i = 0; i < FAN; i++)
            h->child[i] = all[random_below(&seed, NODES)];
        h->ready = READY;
        GC_register_finalizer_no_order(h, finalize, NULL, NULL, NULL);
    }
}

/* What was freed by mistake has other words in it then. */
static void overwrite(void)
{
    for (int i = 0; i < 4 * NODES; i++)
        memset(GC_malloc_atomic(32), 0x5a, 32);
}

static void check(void)
{
    setenv("SGC_TORTURE", "1000000", 1);            /* all markers are called, however little there is to mark */
    GC_INIT();
    GC_set_finalize_on_demand(1);
    node_kind = make_kind(mark_node);
    head_kind = make_kind(mark_head);
    for (int i = 0; i < ROUNDS; i++) {
        api_run(make_heads);
        GC_gcollect();
        api_run(overwrite);
        GC_invoke_finalizers();
    }
    API_CHILD(finalized >= HEADS * (ROUNDS - 1));
    API_CHILD(wrong == 0);
}

int main(void)
{
    api_check_child_with("GC_MARKERS=2 SGC_MARKBIT=or", check, "two markers, or");
    api_check_child_with("GC_MARKERS=4 SGC_MARKBIT=or", check, "four markers, or");
    api_check_child_with("GC_MARKERS=4 SGC_MARKBIT=cas", check, "four markers, cas");
    api_check_child_with("GC_MARKERS=4 SGC_MARKBIT=lock", check, "four markers, lock");
    return tap_done();
}
