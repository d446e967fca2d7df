/* SPDX-License-Identifier: MIT */
/* See gc/side_nodes.h. */
#include "gc/side_nodes.h"

#include "platform/lock.h"
#include "platform/platform.h"

enum {
    CHUNK_BYTES = 64 << 10,
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

static size_t fresh_nodes(const struct sgc_node_stock *stock, enum sgc_node_size size)
{
    return (size_t)(stock->end - stock->fresh) / node_bytes[size];
}

/* Two: a section stores in two trees at most. */
static bool has_enough(const struct sgc_node_stock *stock, enum sgc_node_size size)
{
    return (stock->first != NULL && sgc_aw_load(&stock->first->next) != 0) || fresh_nodes(stock, size) >= 2;
}

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

static bool take_chunk(struct sgc_node_stock *stock)
{
    char *chunk = sgc_mem_obtain(CHUNK_BYTES);

    if (chunk == NULL)
        return false;
    sgc_aw_add_relaxed(&nodes.bytes, CHUNK_BYTES);
    stock->end = stock->fresh = chunk;          /* in this order nothing is handed out in between */
    sgc_compiler_barrier();
    stock->end = chunk + CHUNK_BYTES;
    return true;
}

static bool refill(struct sgc_node_stock *stock, enum sgc_node_size size, struct sgc_section *self)
{
    if (sgc_aw_load(&nodes.spare[size]) != 0)
        take_some(stock, size, self);
    return has_enough(stock, size) || take_chunk(stock);
}

bool sgc_nodes_ready(struct sgc_node_pool *pool, struct sgc_section *self)
{
    for (int size = 0; size < SGC_NODE_SIZES; size++) {
        struct sgc_node_stock *stock = &pool->of[size];

        if (!has_enough(stock, (enum sgc_node_size)size) && !refill(stock, (enum sgc_node_size)size, self))
            return false;
    }
    return true;
}

void *sgc_node_take(struct sgc_node_pool *pool, enum sgc_node_size size)
{
    struct sgc_node_stock *stock = &pool->of[size];
    struct sgc_node *n = stock->first;

    if (n == NULL) {
        sgc_assert(fresh_nodes(stock, size) > 0);
        n = (struct sgc_node *)(void *)stock->fresh;
        stock->fresh += node_bytes[size];
        return n;
    }
    stock->count -= stock->count != 0;
    sgc_compiler_barrier();
    stock->first = (struct sgc_node *)sgc_aw_load(&n->next);
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
