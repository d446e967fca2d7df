/* SPDX-License-Identifier: MIT */
/* See gc/threads/node_pool.h. */
#include "gc/threads/node_pool.h"

#include "platform/platform.h"

enum {
    CHUNK_BYTES = 32 << 10,     /* a thread's first; each later one is twice as large, */
    CHUNK_DOUBLINGS = 6,        /* so often */
    KEPT = 128,                 /* free nodes of a size that a thread keeps */
    TAKEN_AT_ONCE = 64,         /* from the common ones */
};

struct nodes {
    sgc_aw_t spare[SGC_NODE_SIZES];
    sgc_aw_t bytes;
};

SGC_STATE static struct nodes nodes;
SGC_STATE struct sgc_lock sgc_nodes_lock = SGC_LOCK_INIT(SGC_RANK_NODES);

static const uint32_t node_bytes[SGC_NODE_SIZES] = {
    [SGC_NODE_RECORD] = SGC_RECORD_BYTES, [SGC_NODE_LEAF] = SGC_LEAF_BYTES, [SGC_NODE_CHUNK] = SGC_CHUNK_BYTES,
};

/* A node is a few words, and each but the first is zero in one that nobody uses, unless it is a
 * record. */
__attribute__((unused))
static inline bool node_ok(const void *node, enum sgc_node_size size)
{
    return (unsigned)size < SGC_NODE_SIZES && node != NULL && (uintptr_t)node % sizeof(uintptr_t) == 0 &&
           (size == SGC_NODE_RECORD || ((const uintptr_t *)node)[1] == 0);
}

/* ---- common nodes ---- */

void sgc_nodes_share(enum sgc_node_size size, const struct sgc_node_chain *chain)
{
    sgc_assert(node_ok(chain->first, size) && node_ok(chain->last, size));
    sgc_chain_push(&nodes.spare[size], chain);
}

struct chain {
    struct sgc_node *first, *last;
    uint32_t count;
};

/* The first ones of the list, as many as there are up to `max`.  Under the lock: nobody else takes
 * any. */
static struct chain find_some(struct sgc_node *first, uint32_t max)
{
    struct chain c = { first, first, first != NULL };

    sgc_assert(max > 0 && sgc_lock_taken(&sgc_nodes_lock));
    while (c.count != 0 && c.count < max && sgc_aw_load(&c.last->next) != 0) {
        c.last = (struct sgc_node *)sgc_aw_load(&c.last->next);
        c.count++;
    }
    sgc_assert(c.count <= max && (c.count == 0) == (c.first == NULL));
    return c;
}

/* Under the lock. */
static struct chain take_spare(enum sgc_node_size size, uint32_t max)
{
    struct chain c;

    sgc_assert((unsigned)size < SGC_NODE_SIZES);
    do
        c = find_some((struct sgc_node *)sgc_aw_load_acq(&nodes.spare[size]), max);
    while (c.count != 0 && !sgc_aw_cas(&nodes.spare[size], (uintptr_t)c.first, sgc_aw_load(&c.last->next)));
    return c;
}

static void push(struct sgc_node_stock *stock, struct sgc_node *n)
{
    sgc_assert(n != stock->first);          /* given back once */
    sgc_aw_store(&n->next, (uintptr_t)stock->first);
    sgc_compiler_barrier();
    stock->first = n;
    stock->count++;
}

static void take_some(struct sgc_node_stock *stock, enum sgc_node_size size, struct sgc_section *self)
{
    struct chain c;

    sgc_assert(sgc_stock_ok(stock));
    sgc_lock(&sgc_nodes_lock, self);
    c = take_spare(size, TAKEN_AT_ONCE);
    if (c.count != 0) {
        sgc_aw_store(&c.last->next, (uintptr_t)stock->first);
        stock->first = c.first;
        stock->count += c.count;
    }
    sgc_assert(sgc_stock_ok(stock));
    sgc_unlock(&sgc_nodes_lock, self);
}

/* ---- a thread's own ---- */

/* The rest of the last chunk is less than two nodes, and lost. */
static bool take_chunk(struct sgc_node_stock *stock, enum sgc_node_size size)
{
    size_t bytes = (size_t)CHUNK_BYTES << (stock->chunks < CHUNK_DOUBLINGS ? stock->chunks : CHUNK_DOUBLINGS);
    char *chunk = sgc_mem_obtain(bytes);

    sgc_assert(!sgc_stock_enough(stock));
    if (chunk == NULL)
        return false;
    sgc_aw_add_relaxed(&nodes.bytes, bytes);
    stock->chunks++;
    stock->fresh_left = 0;
    stock->fresh = chunk;
    sgc_compiler_barrier();
    stock->fresh_left = bytes / node_bytes[size];
    sgc_assert(sgc_stock_ok(stock) && sgc_stock_enough(stock));
    return true;
}

static bool refill(struct sgc_node_stock *stock, enum sgc_node_size size, struct sgc_section *self)
{
    sgc_assert(sgc_stock_ok(stock) && (unsigned)size < SGC_NODE_SIZES);
    if (sgc_aw_load(&nodes.spare[size]) != 0)
        take_some(stock, size, self);
    return sgc_stock_enough(stock) || take_chunk(stock, size);
}

bool sgc_nodes_fill(struct sgc_node_pool *pool, struct sgc_section *self)
{
    sgc_assert(self == NULL || self->held == 0);
    for (int size = 0; size < SGC_NODE_SIZES; size++)
        if (!sgc_stock_enough(&pool->of[size]) && !refill(&pool->of[size], (enum sgc_node_size)size, self))
            return false;
    return true;
}

/* The count goes down before the node is taken, and up after `push` has put one on the list: a
 * section that is left half way makes the count too small, never too large. */
void *sgc_node_take(struct sgc_node_pool *pool, enum sgc_node_size size)
{
    struct sgc_node_stock *stock = &pool->of[size];
    struct sgc_node *n = stock->first;

    sgc_assert((unsigned)size < SGC_NODE_SIZES && sgc_stock_ok(stock));
    if (stock->count == 0) {
        sgc_assert(stock->fresh_left > 0);
        stock->fresh_left--;
        sgc_compiler_barrier();
        n = (struct sgc_node *)(void *)stock->fresh;
        sgc_assert(node_ok(n, size));
        stock->fresh += node_bytes[size];
        return n;
    }
    stock->count--;
    sgc_compiler_barrier();
    stock->first = (struct sgc_node *)sgc_aw_load(&n->next);
    sgc_assert(node_ok(n, size));
    __builtin_prefetch(stock->first);
    sgc_aw_store(&n->next, 0);
    return n;
}

void sgc_node_give(struct sgc_node_pool *pool, enum sgc_node_size size, void *node)
{
    struct sgc_node_stock *stock = &pool->of[size];

    sgc_assert(sgc_stock_ok(stock) && node_ok(node, size));
    if (stock->count < KEPT)
        push(stock, node);
    else
        sgc_node_share(size, node);
}

size_t sgc_nodes_bytes(void)
{
    return sgc_aw_load(&nodes.bytes);
}
