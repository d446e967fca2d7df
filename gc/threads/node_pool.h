/* SPDX-License-Identifier: MIT */
/*
 * Memory for tables outside the heap, in nodes of three sizes.
 *
 * Each thread has a few nodes of its own and takes and gives them without a lock.  Nodes that it
 * has too many of go to a list for all, from which a thread with none takes some.  New nodes come
 * from the system in chunks, which are kept.  A section that is left half way loses a node at most.
 *
 *   what                  written by                           read by     ordering
 *   a pool                its thread, in a section or before   same        program order
 *   sgc_nodes' `spare`    who gives: compare-and-swap; who     same        acquire-release RMW.  Only the lock's holder
 *                         takes: the same, under the lock                  takes, so a first node that is still
 *                                                                          there has not been away meanwhile
 *   a node on a list      whoever put it there: its first      who takes   the release of the list's head
 *                         word
 *
 * A node that is given back is all zero, but for its first word; records may have any contents.
 */
#ifndef SGC_GC_THREADS_NODE_POOL_H
#define SGC_GC_THREADS_NODE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/section/lock.h"

enum sgc_node_size {
    SGC_NODE_RECORD,            /* a registered finalizer */
    SGC_NODE_LEAF,              /* see gc/finalize/address_tree.h */
    SGC_NODE_CHUNK,
    SGC_NODE_SIZES
};

enum { SGC_RECORD_BYTES = 32, SGC_LEAF_BYTES = 64, SGC_CHUNK_BYTES = 2112 };

struct sgc_node {
    sgc_aw_t next;
};

/* Nodes linked by their first words, from the first to the last. */
struct sgc_node_chain {
    struct sgc_node *first, *last;
};

static inline void sgc_chain_add(struct sgc_node_chain *chain, void *node)
{
    struct sgc_node *n = node;

    sgc_aw_store(&n->next, 0);
    if (chain->first == NULL)
        chain->first = n;
    else
        sgc_aw_store(&chain->last->next, (uintptr_t)n);
    chain->last = n;
}

/* Puts it before all that hangs on `head`; returns what was there first, 0 if nothing was. */
static inline uintptr_t sgc_chain_push(sgc_aw_t *head, const struct sgc_node_chain *chain)
{
    uintptr_t was;

    do {
        was = sgc_aw_load_acq(head);
        sgc_aw_store(&chain->last->next, was);
    } while (!sgc_aw_cas(head, was, (uintptr_t)chain->first));
    return was;
}

struct sgc_node_stock {
    struct sgc_node *first;
    uint32_t count;             /* how many there are from `first`; too small after an abandoned
                                   section */
    uint32_t chunks;            /* taken so far */
    size_t fresh_left;          /* nodes never used, zeroed, */
    char *fresh;                /* from here on */
};

struct sgc_node_pool {
    struct sgc_node_stock of[SGC_NODE_SIZES];
};

/* Are there nodes if the counts say so?  By the stock's thread. */
static inline bool sgc_stock_ok(const struct sgc_node_stock *stock)
{
    return (stock->count == 0 || stock->first != NULL) && (stock->fresh_left == 0 || stock->fresh != NULL);
}

/* Two nodes of a size: a section stores in two trees at most. */
static inline bool sgc_stock_enough(const struct sgc_node_stock *stock)
{
    return stock->count >= 2 || stock->fresh_left >= 2;
}

bool sgc_nodes_fill(struct sgc_node_pool *pool, struct sgc_section *self);

/* Sees to it that the pool has two nodes of each size.  False if the system has no memory.  By its
 * thread, outside sections. */
static inline bool sgc_nodes_reserve(struct sgc_node_pool *pool, struct sgc_section *self)
{
    bool enough = sgc_stock_enough(&pool->of[SGC_NODE_RECORD]) && sgc_stock_enough(&pool->of[SGC_NODE_LEAF]) &&
                  sgc_stock_enough(&pool->of[SGC_NODE_CHUNK]);

    return __builtin_expect(enough, 1) || sgc_nodes_fill(pool, self);
}

/* One of them, all zero unless it is a record.  In a section. */
void *sgc_node_take(struct sgc_node_pool *pool, enum sgc_node_size size);

/* In a section. */
void sgc_node_give(struct sgc_node_pool *pool, enum sgc_node_size size, void *node);

/* For all.  Any thread, also with the world stopped. */
void sgc_nodes_share(enum sgc_node_size size, const struct sgc_node_chain *chain);

static inline void sgc_node_share(enum sgc_node_size size, void *node)
{
    sgc_nodes_share(size, &(struct sgc_node_chain){ node, node });
}

/* Bytes taken from the system. */
size_t sgc_nodes_bytes(void);

/* Of the common nodes; gc/collect/fork.c takes it, too. */
extern struct sgc_lock sgc_nodes_lock;

#endif
