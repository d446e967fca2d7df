/* SPDX-License-Identifier: MIT */
/*
 * A sparse array over all addresses: one word for each unit (a granule, or a machine word) of
 * memory, zero where nothing was stored; or eight flags for each.  Finalizers and links are kept in
 * such trees, under the object's address or the link's.
 *
 *   top --- mid (2^16 blocks) --- block (256 leaves) --- leaf (8 units)
 *
 * Mutators look up, store and exchange units in sections, without locks: a missing part is made and
 * put in place by a compare-and-swap; who loses it uses the winner's.  So any number of threads
 * register at the same time, no table ever has to grow, and a section that is left half way leaves
 * a tree as it should be.  With the world stopped nobody is in a section, and the collector may
 * take parts away.
 *
 *   what            written by                               read by      ordering
 *   top, mids       whoever needs them first, CAS; never     everybody    acquire-release
 *                   taken away
 *   mid's blocks,   CAS from 0, in a section; back to 0      everybody    acquire-release; taken away only when
 *   leaves          with the world stopped                                nobody is in a section
 *   blocks          CAS, before the block is put in place    markers      stopping the world
 *   a unit          exchange or CAS in a section; markers    everybody    acquire-release: hands over what the value
 *                                                                         points at
 *   a flag          store, in a section                      everybody    relaxed: the tree's user says who sees it
 *   marks           atomic or, in a section; a marker that   markers      stopping the world; rounds: see mark/team/team.h
 *                   has the block
 *   ready           a marker that has the block              markers      rounds: see mark/team/team.h
 *   cursor          markers: CAS                             markers      acquire-release
 *
 * A walk gives blocks out one by one; each is one marker's, so its units need no order.
 */
#ifndef SGC_GC_FINALIZE_ADDRESS_TREE_H
#define SGC_GC_FINALIZE_ADDRESS_TREE_H

#include "gc/threads/node_pool.h"

enum {
    SGC_TREE_LEAF_LOG = 3,
    SGC_TREE_CHUNK_LOG = 8,
    SGC_TREE_MID_LOG = 16,
    SGC_TREE_ADDRESS_BITS = 48,
    SGC_TREE_TURNS = 8,
};

struct sgc_tree_leaf {
    sgc_aw_t unit[1 << SGC_TREE_LEAF_LOG];
};

struct sgc_tree_chunk {
    struct sgc_tree_chunk *next;
    uintptr_t base;                             /* its first address */
    sgc_aw_t marks;                             /* the user's */
    struct sgc_node_chain ready;                /* likewise */
    sgc_aw_t leaf[1 << SGC_TREE_CHUNK_LOG];
};

_Static_assert(sizeof(struct sgc_tree_leaf) == SGC_LEAF_BYTES, "a leaf is a node");
_Static_assert(sizeof(struct sgc_tree_chunk) <= SGC_CHUNK_BYTES, "a block is a node");

struct sgc_tree {
    uint32_t unit_log;
    sgc_aw_t top;
    sgc_aw_t blocks;                            /* all of them */
    sgc_aw_t count;
    sgc_aw_t cursor;                            /* of a walk */
    sgc_a32_t emptied;                          /* the walk has found blocks without a leaf */
};

#define SGC_TREE_INIT(log) { .unit_log = (log) }

struct sgc_tree_entry {
    struct sgc_tree_chunk *block;
    sgc_aw_t *unit;
};

/* Does it have blocks only where it has a table of them?  Its unit is a word at least. */
static inline bool sgc_tree_ok(const struct sgc_tree *tree)
{
    return tree->unit_log >= 3 && tree->unit_log <= 12 &&
           (sgc_aw_load_acq(&tree->blocks) == 0 || sgc_aw_load_acq(&tree->top) != 0);
}

/* Does it begin where a block of the tree may? */
static inline bool sgc_tree_block_ok(const struct sgc_tree *tree, const struct sgc_tree_chunk *block)
{
    return (block->base & (((uintptr_t)1 << (tree->unit_log + SGC_TREE_LEAF_LOG + SGC_TREE_CHUNK_LOG)) - 1)) == 0 &&
           block->base >> SGC_TREE_ADDRESS_BITS == 0 && (block->ready.first == NULL || block->ready.last != NULL);
}

/* Makes room above the block of the address.  False if the system has no memory or no process has
 * such an address.  Outside sections. */
bool sgc_tree_reach(struct sgc_tree *tree, uintptr_t address);

/* The address's unit, which is made if need be.  In a section, after sgc_tree_reach and
 * sgc_nodes_reserve. */
struct sgc_tree_entry sgc_tree_entry(struct sgc_tree *tree, struct sgc_node_pool *pool, uintptr_t address);

/* Where the address's block hangs, or NULL.  `unit_log` is the tree's: who knows it saves loads and
 * shifts. */
__attribute__((always_inline))
static inline sgc_aw_t *sgc_tree_slot_at(const struct sgc_tree *tree, uint32_t unit_log, uintptr_t address)
{
    const uint32_t log = unit_log + SGC_TREE_LEAF_LOG + SGC_TREE_CHUNK_LOG;
    sgc_aw_t *top = (sgc_aw_t *)sgc_aw_load_acq(&tree->top);
    sgc_aw_t *mid;

    if (top == NULL || address >> SGC_TREE_ADDRESS_BITS != 0)
        return NULL;
    mid = (sgc_aw_t *)sgc_aw_load_acq(&top[address >> (log + SGC_TREE_MID_LOG)]);
    return mid != NULL ? &mid[address >> log & ((1 << SGC_TREE_MID_LOG) - 1)] : NULL;
}

static inline sgc_aw_t *sgc_tree_chunk_slot(const struct sgc_tree *tree, uintptr_t address)
{
    return sgc_tree_slot_at(tree, tree->unit_log, address);
}

/* The address's place; without a unit if nothing was stored near it.  In a section, or with the
 * world stopped. */
__attribute__((always_inline))
static inline struct sgc_tree_entry sgc_tree_find_entry_at(const struct sgc_tree *tree, uint32_t unit_log,
                                                        uintptr_t address)
{
    const sgc_aw_t *slot = sgc_tree_slot_at(tree, unit_log, address);
    struct sgc_tree_chunk *block = slot != NULL ? (struct sgc_tree_chunk *)sgc_aw_load_acq(slot) : NULL;
    size_t leaf_index = address >> (unit_log + SGC_TREE_LEAF_LOG) & ((1 << SGC_TREE_CHUNK_LOG) - 1);
    struct sgc_tree_leaf *leaf;

    if (block == NULL)
        return (struct sgc_tree_entry){ NULL, NULL };
    leaf = (struct sgc_tree_leaf *)sgc_aw_load_acq(&block->leaf[leaf_index]);
    if (leaf == NULL)
        return (struct sgc_tree_entry){ NULL, NULL };
    return (struct sgc_tree_entry){ block, &leaf->unit[address >> unit_log & ((1 << SGC_TREE_LEAF_LOG) - 1)] };
}

static inline struct sgc_tree_entry sgc_tree_find_entry(const struct sgc_tree *tree, uintptr_t address)
{
    return sgc_tree_find_entry_at(tree, tree->unit_log, address);
}

static inline sgc_aw_t *sgc_tree_find(const struct sgc_tree *tree, uintptr_t address)
{
    return sgc_tree_find_entry(tree, address).unit;
}

/* The address's flag, in a tree whose units are eight flags each.  A flag is a byte, so that it is
 * set by a store. */
static inline sgc_a8_t *sgc_tree_flag(sgc_aw_t *unit, uint32_t unit_log, uintptr_t address)
{
    return (sgc_a8_t *)unit + (address >> (unit_log - 3) & 7);
}

/* Takes the value out of the unit (NULL: there is none), and returns it; 0: nothing was there.  In
 * a section. */
static inline uintptr_t sgc_tree_take(sgc_aw_t *unit)
{
    return unit != NULL && sgc_aw_load(unit) != 0 ? sgc_aw_swap(unit, 0) : 0;
}

/* The value there, 0 if there is none. */
uintptr_t sgc_tree_value(const struct sgc_tree *tree, uintptr_t address);

/* Clears the units from `lo` up to `hi` or the end of lo's block, and returns where it stopped.  In
 * a section, or with the world stopped. */
uintptr_t sgc_tree_clear(struct sgc_tree *tree, uintptr_t lo, uintptr_t hi);

static inline bool sgc_tree_empty(const struct sgc_tree *tree)
{
    return sgc_aw_load_acq(&tree->blocks) == 0;
}

/* ---- walks: world stopped, or nobody else takes anything away ---- */

struct sgc_tree_visit {
    struct sgc_tree *tree;
    /* Called for each unit that is not zero; `arg` is the walk's. */
    void (*unit)(void *arg, struct sgc_tree_chunk *block, uintptr_t address, sgc_aw_t *unit);
    /* Instead, if not NULL: goes through a leaf, and returns true if a value is left. */
    bool (*leaf)(void *arg, struct sgc_tree_chunk *block, uintptr_t address, struct sgc_tree_leaf *leaf);
    /* Called for each block first; false: nothing more of it.  NULL: always true. */
    bool (*block)(void *arg, struct sgc_tree_chunk *block);
    bool prune;                 /* leaves without a value are given back.  World stopped */
};

static inline void sgc_tree_walk_begin(const struct sgc_tree_visit *visit)
{
    sgc_assert(sgc_tree_ok(visit->tree));
    sgc_assert(visit->unit != NULL || visit->leaf != NULL || visit->block != NULL);
    sgc_aw_store_rel(&visit->tree->cursor, sgc_aw_load_acq(&visit->tree->blocks));
    sgc_a32_store(&visit->tree->emptied, 0);
}

static inline bool sgc_tree_walk_left(const struct sgc_tree_visit *visit)
{
    return sgc_aw_load_acq(&visit->tree->cursor) != 0;
}

/* The next block.  False if there was none. */
bool sgc_tree_walk_next(const struct sgc_tree_visit *visit, void *arg);

/* After a walk that pruned: gives back empty blocks.  On one thread. */
void sgc_tree_walk_end(const struct sgc_tree_visit *visit);

/* Is it the block's turn?  A cycle that need not look at all blocks looks at one in SGC_TREE_TURNS
 * of them, and so many cycles at each.  `turn` counts such cycles; the tree's blocks that lie side
 * by side have different turns. */
static inline bool sgc_tree_is_turn(const struct sgc_tree *tree, const struct sgc_tree_chunk *block, uint32_t turn)
{
    uintptr_t number = block->base >> (tree->unit_log + SGC_TREE_LEAF_LOG + SGC_TREE_CHUNK_LOG);

    sgc_assert(sgc_tree_block_ok(tree, block));
    return number % SGC_TREE_TURNS == turn % SGC_TREE_TURNS;
}

/* The whole walk on the calling thread. */
void sgc_tree_walk(const struct sgc_tree_visit *visit, void *arg);

#endif
