/* SPDX-License-Identifier: MIT */
/* See gc/finalize/address_tree.h for who may do what when. */
#include "gc/finalize/address_tree.h"

#include "alloc/pages/geometry.h"
#include "platform/platform.h"
#include "platform/report.h"

enum {
    LEAVES = 1 << SGC_TREE_CHUNK_LOG,
    UNITS = 1 << SGC_TREE_LEAF_LOG,
    MIDS_BLOCKS = 1 << SGC_TREE_MID_LOG,
};

static inline unsigned block_log(const struct sgc_tree *tree)
{
    return tree->unit_log + SGC_TREE_LEAF_LOG + SGC_TREE_CHUNK_LOG;
}

static size_t tops(const struct sgc_tree *tree)
{
    return (size_t)1 << (SGC_TREE_ADDRESS_BITS - SGC_TREE_MID_LOG - block_log(tree));
}

static inline size_t top_index(const struct sgc_tree *tree, uintptr_t address)
{
    return address >> (block_log(tree) + SGC_TREE_MID_LOG);
}

static inline size_t leaf_index(const struct sgc_tree *tree, uintptr_t address)
{
    return address >> (tree->unit_log + SGC_TREE_LEAF_LOG) & (LEAVES - 1);
}

static inline size_t unit_index(const struct sgc_tree *tree, uintptr_t address)
{
    return address >> tree->unit_log & (UNITS - 1);
}

static inline bool in_range(uintptr_t address)
{
    return address >> SGC_TREE_ADDRESS_BITS == 0;
}

/* ---- top and mids ---- */

/* The table at `where`, which is made if it is missing.  NULL without memory. */
static sgc_aw_t *table(sgc_aw_t *where, size_t entries)
{
    void *fresh;

    if (sgc_aw_load_acq(where) != 0)
        return (sgc_aw_t *)sgc_aw_load_acq(where);
    fresh = sgc_mem_obtain(entries * sizeof(sgc_aw_t));
    if (fresh == NULL)
        return NULL;
    if (!sgc_aw_cas(where, 0, (uintptr_t)fresh))
        sgc_mem_release(fresh, entries * sizeof(sgc_aw_t));
    return (sgc_aw_t *)sgc_aw_load_acq(where);
}

static bool make_reach(struct sgc_tree *tree, uintptr_t address)
{
    sgc_aw_t *top;

    if (!in_range(address))
        return false;
    top = table(&tree->top, tops(tree));
    sgc_assert(top == NULL || top_index(tree, address) < tops(tree));
    return top != NULL && table(&top[top_index(tree, address)], MIDS_BLOCKS) != NULL;
}

bool sgc_tree_reach(struct sgc_tree *tree, uintptr_t address)
{
    sgc_assert(sgc_tree_ok(tree));
    return sgc_tree_chunk_slot(tree, address) != NULL || make_reach(tree, address);
}

static struct sgc_tree_chunk *find_block(const struct sgc_tree *tree, uintptr_t address)
{
    const sgc_aw_t *slot = sgc_tree_chunk_slot(tree, address);

    return slot != NULL ? (struct sgc_tree_chunk *)sgc_aw_load_acq(slot) : NULL;
}

/* ---- making ---- */

/* Onto the list of blocks before it is in use: a block that somebody may store into is never
 * missing there.  One that is only on the list, because the section was left or another thread was
 * faster, is taken away by the next walk. */
static struct sgc_tree_chunk *make_block(struct sgc_tree *tree, struct sgc_node_pool *pool, uintptr_t address,
                                         sgc_aw_t *slot)
{
    struct sgc_tree_chunk *b = sgc_node_take(pool, SGC_NODE_CHUNK);
    uintptr_t first;

    sgc_assert(in_range(address) && slot == sgc_tree_chunk_slot(tree, address));
    b->base = sgc_round_down(address, (uintptr_t)1 << block_log(tree));
    do {
        first = sgc_aw_load_acq(&tree->blocks);
        b->next = (struct sgc_tree_chunk *)first;
    } while (!sgc_aw_cas(&tree->blocks, first, (uintptr_t)b));
    sgc_aw_add_relaxed(&tree->count, 1);
    sgc_test_point();
    sgc_assert(sgc_tree_block_ok(tree, b));
    sgc_aw_cas(slot, 0, (uintptr_t)b);
    return (struct sgc_tree_chunk *)sgc_aw_load_acq(slot);
}

static struct sgc_tree_leaf *make_leaf(struct sgc_node_pool *pool, sgc_aw_t *slot)
{
    struct sgc_tree_leaf *leaf = sgc_node_take(pool, SGC_NODE_LEAF);

    sgc_test_point();
    if (!sgc_aw_cas(slot, 0, (uintptr_t)leaf))
        sgc_node_give(pool, SGC_NODE_LEAF, leaf);
    return (struct sgc_tree_leaf *)sgc_aw_load_acq(slot);
}

struct sgc_tree_entry sgc_tree_entry(struct sgc_tree *tree, struct sgc_node_pool *pool, uintptr_t address)
{
    sgc_aw_t *slot = sgc_tree_chunk_slot(tree, address);
    struct sgc_tree_chunk *block = (struct sgc_tree_chunk *)sgc_aw_load_acq(slot);
    struct sgc_tree_leaf *leaf;

    sgc_assert(sgc_tree_ok(tree) && in_range(address));
    if (block == NULL)
        block = make_block(tree, pool, address, slot);
    sgc_assert(sgc_tree_block_ok(tree, block) && address - block->base < (uintptr_t)1 << block_log(tree));
    slot = &block->leaf[leaf_index(tree, address)];
    leaf = (struct sgc_tree_leaf *)sgc_aw_load_acq(slot);
    if (leaf == NULL)
        leaf = make_leaf(pool, slot);
    return (struct sgc_tree_entry){ block, &leaf->unit[unit_index(tree, address)] };
}

/* ---- looking up ---- */

uintptr_t sgc_tree_value(const struct sgc_tree *tree, uintptr_t address)
{
    const sgc_aw_t *unit = sgc_tree_find(tree, address);

    sgc_assert(sgc_tree_ok(tree));
    return unit != NULL ? sgc_aw_load_acq(unit) : 0;
}

static uintptr_t clear_in_leaf(const struct sgc_tree *tree, struct sgc_tree_leaf *leaf, uintptr_t lo, uintptr_t hi)
{
    uintptr_t size = (uintptr_t)1 << tree->unit_log;

    sgc_assert(lo < hi);
    do {
        if (leaf != NULL && sgc_aw_load(&leaf->unit[unit_index(tree, lo)]) != 0)
            sgc_aw_swap(&leaf->unit[unit_index(tree, lo)], 0);
        lo += size;
    } while (lo < hi && unit_index(tree, lo) != 0);
    return lo;
}

uintptr_t sgc_tree_clear(struct sgc_tree *tree, uintptr_t lo, uintptr_t hi)
{
    uintptr_t block_end = sgc_round_down(lo, (uintptr_t)1 << block_log(tree)) + ((uintptr_t)1 << block_log(tree));
    struct sgc_tree_chunk *block = find_block(tree, lo);

    sgc_assert(sgc_tree_ok(tree) && lo < hi);
    if (hi > block_end)
        hi = block_end;
    if (block == NULL)
        return hi;
    sgc_assert(sgc_tree_block_ok(tree, block) && lo - block->base < (uintptr_t)1 << block_log(tree));
    while (lo < hi)
        lo = clear_in_leaf(tree, (struct sgc_tree_leaf *)sgc_aw_load_acq(&block->leaf[leaf_index(tree, lo)]), lo, hi);
    return hi;
}

/* ---- walks ---- */

static struct sgc_tree_chunk *take_block(struct sgc_tree *tree)
{
    struct sgc_tree_chunk *b;

    do
        b = (struct sgc_tree_chunk *)sgc_aw_load_acq(&tree->cursor);
    while (b != NULL && !sgc_aw_cas(&tree->cursor, (uintptr_t)b, (uintptr_t)b->next));
    sgc_assert(b == NULL || sgc_tree_block_ok(tree, b));
    return b;
}

/* True if a value is left in the leaf. */
static bool visit_leaf(const struct sgc_tree_visit *visit, void *arg, struct sgc_tree_chunk *block,
                       struct sgc_tree_leaf *leaf, uintptr_t address)
{
    uintptr_t left = 0;

    sgc_assert(address - block->base < (uintptr_t)1 << block_log(visit->tree));
    if (visit->leaf != NULL)
        return visit->leaf(arg, block, address, leaf);
    for (size_t i = 0; i < UNITS; i++) {
        if (sgc_aw_load(&leaf->unit[i]) == 0)
            continue;
        visit->unit(arg, block, address + (i << visit->tree->unit_log), &leaf->unit[i]);
        left |= sgc_aw_load(&leaf->unit[i]);
    }
    return left != 0;
}

static void visit_leaves(const struct sgc_tree_visit *visit, void *arg, struct sgc_tree_chunk *block)
{
    size_t bytes = (size_t)UNITS << visit->tree->unit_log;
    struct sgc_node_chain pruned = { NULL, NULL };      /* in the order of their addresses */
    bool kept = false;

    for (size_t i = 0; i < LEAVES; i++) {
        struct sgc_tree_leaf *leaf = (struct sgc_tree_leaf *)sgc_aw_load_acq(&block->leaf[i]);

        if (leaf == NULL)
            continue;
        if (visit_leaf(visit, arg, block, leaf, block->base + i * bytes) || !visit->prune) {
            kept = true;
        } else {
            sgc_aw_store(&block->leaf[i], 0);
            sgc_chain_add(&pruned, leaf);
        }
    }
    if (pruned.first != NULL)
        sgc_nodes_share(SGC_NODE_LEAF, &pruned);
    if (!kept && block->ready.first == NULL)
        sgc_a32_or(&visit->tree->emptied, 1);
}

bool sgc_tree_walk_next(const struct sgc_tree_visit *visit, void *arg)
{
    struct sgc_tree_chunk *block = take_block(visit->tree);

    if (block == NULL)
        return false;
    if (visit->block == NULL || visit->block(arg, block))
        visit_leaves(visit, arg, block);
    return true;
}

/* A block with a chain is still to be seen to, by another walk. */
static bool is_empty(const struct sgc_tree_chunk *block)
{
    if (block->ready.first != NULL)
        return false;
    for (size_t i = 0; i < LEAVES; i++)
        if (sgc_aw_load(&block->leaf[i]) != 0)
            return false;
    return true;
}

static void drop_block(struct sgc_tree *tree, struct sgc_tree_chunk *block)
{
    sgc_assert(sgc_tree_block_ok(tree, block) && block->ready.first == NULL && sgc_aw_load(&tree->count) > 0);
    sgc_aw_cas(sgc_tree_chunk_slot(tree, block->base), (uintptr_t)block, 0);
    *block = (struct sgc_tree_chunk){ .next = NULL };
    sgc_node_share(SGC_NODE_CHUNK, block);
    sgc_aw_add_relaxed(&tree->count, (uintptr_t)-1);
}

void sgc_tree_walk_end(const struct sgc_tree_visit *visit)
{
    struct sgc_tree *tree = visit->tree;
    struct sgc_tree_chunk *next, *kept = NULL, **end = &kept;

    sgc_assert(sgc_tree_ok(tree) && !sgc_tree_walk_left(visit));
    if (!visit->prune || sgc_a32_load(&tree->emptied) == 0)
        return;
    for (struct sgc_tree_chunk *b = (struct sgc_tree_chunk *)sgc_aw_load_acq(&tree->blocks); b != NULL; b = next) {
        next = b->next;
        if (is_empty(b)) {
            drop_block(tree, b);
        } else {
            *end = b;
            end = &b->next;
        }
    }
    *end = NULL;
    sgc_aw_store_rel(&tree->blocks, (uintptr_t)kept);
}

void sgc_tree_walk(const struct sgc_tree_visit *visit, void *arg)
{
    sgc_tree_walk_begin(visit);
    while (sgc_tree_walk_next(visit, arg))
        continue;
    sgc_tree_walk_end(visit);
}
