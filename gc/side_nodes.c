/* SPDX-License-Identifier: MIT */
/* See gc/side_nodes.h. */
#include "gc/side_nodes.h"

#include "platform/lock.h"
#include "platform/platform.h"

enum {
    CHUNK_BYTES = 32 << 10,     /* a thread's first; each later one is twice as large, */
    CHUNK_DOUBLINGS = 6,        /* so often */
    KEPT = 128,                 /* free nodes of a size that a thread keeps */
    TAKEN_AT_ONCE = 64,         /* from the common ones */
};

struct nodes {
    struct sgc_lock lock;
    sgc_aw_t spare[SGC_NODE_SIZES];
    sgc_aw_t bytes;
};

SGC_STATE static struct nodes nodes = { .lock = SGC_LOCK_INIT(SGC_RANK_NODES) };

static const uint32_t node_bytes[SGC_NODE_SIZES] = {
    [SGC_NODE_RECORD] = SGC_RECORD_BYTES, [SGC_NODE_LEAF] = SGC_LEAF_BYTES, [SGC_NODE_BLOCK] = SGC_BLOCK_BYTES,
};

/* ---- common nodes ---- */

void sgc_node_spare(enum sgc_node_size size, void *node)
{
    struct sgc_node *n = node;
    uintptr_t first;

    do {
        first = sgc_aw_load_acq(&nodes.spare[size]);
        sgc_aw_store(&n->next, first);
    } while (!sgc_aw_cas(&nodes.spare[size], first, (uintptr_t)n));
}

/* Under the lock. */
static struct sgc_node *take_spare(enum sgc_node_size size)
{
    struct sgc_node *n;

    do
        n = (struct sgc_node *)sgc_aw_load_acq(&nodes.spare[size]);
    while (n != NULL && !sgc_aw_cas(&nodes.spare[size], (uintptr_t)n, sgc_aw_load(&n->next)));
    return n;
}

static void push(struct sgc_node_stock *stock, struct sgc_node *n)
{
    sgc_aw_store(&n->next, (uintptr_t)stock->first);
    sgc_compiler_barrier();
    stock->first = n;
    stock->count++;
}

static void take_some(struct sgc_node_stock *stock, enum sgc_node_size size, struct sgc_section *self)
{
    struct sgc_node *n;

    sgc_lock(&nodes.lock, self);
    for (int i = 0; i < TAKEN_AT_ONCE && (n = take_spare(size)) != NULL; i++)
        push(stock, n);
    sgc_unlock(&nodes.lock, self);
}

/* ---- a thread's own ---- */

/* What is left of the last chunk is less than two nodes, and lost. */
static bool take_chunk(struct sgc_node_stock *stock, enum sgc_node_size size)
{
    size_t bytes = (size_t)CHUNK_BYTES << (stock->chunks < CHUNK_DOUBLINGS ? stock->chunks : CHUNK_DOUBLINGS);
    char *chunk = sgc_mem_obtain(bytes);

    if (chunk == NULL)
        return false;
    sgc_aw_add_relaxed(&nodes.bytes, bytes);
    stock->chunks++;
    stock->fresh_left = 0;
    stock->fresh = chunk;
    sgc_compiler_barrier();
    stock->fresh_left = bytes / node_bytes[size];
    return true;
}

static bool refill(struct sgc_node_stock *stock, enum sgc_node_size size, struct sgc_section *self)
{
    if (sgc_aw_load(&nodes.spare[size]) != 0)
        take_some(stock, size, self);
    return sgc_stock_enough(stock) || take_chunk(stock, size);
}

bool sgc_nodes_fill(struct sgc_node_pool *pool, struct sgc_section *self)
{
    for (int size = 0; size < SGC_NODE_SIZES; size++)
        if (!sgc_stock_enough(&pool->of[size]) && !refill(&pool->of[size], (enum sgc_node_size)size, self))
            return false;
    return true;
}

/* What is counted goes before what it counts, here and in `push`. */
void *sgc_node_take(struct sgc_node_pool *pool, enum sgc_node_size size)
{
    struct sgc_node_stock *stock = &pool->of[size];
    struct sgc_node *n = stock->first;

    if (stock->count == 0) {
        sgc_assert(stock->fresh_left > 0);
        stock->fresh_left--;
        sgc_compiler_barrier();
        n = (struct sgc_node *)(void *)stock->fresh;
        stock->fresh += node_bytes[size];
        return n;
    }
    stock->count--;
    sgc_compiler_barrier();
    stock->first = (struct sgc_node *)sgc_aw_load(&n->next);
    __builtin_prefetch(stock->first);
    sgc_aw_store(&n->next, 0);
    return n;
}

void sgc_node_give(struct sgc_node_pool *pool, enum sgc_node_size size, void *node)
{
    struct sgc_node_stock *stock = &pool->of[size];

    if (stock->count < KEPT)
        push(stock, node);
    else
        sgc_node_spare(size, node);
}

size_t sgc_nodes_bytes(void)
{
    return sgc_aw_load(&nodes.bytes);
}

/* ---- fork ---- */

void sgc_nodes_lock(struct sgc_section *self)
{
    sgc_lock(&nodes.lock, self);
}

void sgc_nodes_unlock(struct sgc_section *self)
{
    sgc_unlock(&nodes.lock, self);
}

void sgc_nodes_after_fork(void)
{
    sgc_lock_reset(&nodes.lock);
}
