/* SPDX-License-Identifier: MIT */
/*
 * The sparse arrays behind finalizers and links: storing, finding, clearing, walking, giving back; and several
 * threads.
 *
 * Also: gc/threads/node_pool.c.
 */
#include "gc/finalize/address_tree.h"

#include <string.h>

#include "platform/platform.h"
#include "tests/lib/threads.h"

enum { THREADS = 4, EACH = 20000 };

static struct sgc_tree tree = SGC_TREE_INIT(3);
static struct sgc_section section;
static struct sgc_node_pool pool;

static bool put(struct sgc_node_pool *nodes, struct sgc_section *self, uintptr_t address, uintptr_t value)
{
    if (!sgc_nodes_reserve(nodes, self) || !sgc_tree_reach(&tree, address))
        return false;
    sgc_aw_swap(sgc_tree_entry(&tree, nodes, address).unit, value);
    return true;
}

static size_t visited;
static uintptr_t sum, last;
static bool ascending;

static void visit(TEST_UNUSED void *marker, struct sgc_tree_chunk *block, uintptr_t address, sgc_aw_t *unit)
{
    visited++;
    sum += sgc_aw_load(unit);
    ascending &= address == block->base || address > last || visited == 1;
    last = address;
}

static void drop(void *marker, struct sgc_tree_chunk *block, uintptr_t address, sgc_aw_t *unit)
{
    visit(marker, block, address, unit);
    sgc_aw_store(unit, 0);
}

static size_t walk(bool dropping)
{
    const struct sgc_tree_visit v = { .tree = &tree, .unit = dropping ? drop : visit, .prune = dropping };

    visited = 0, sum = 0, ascending = true;
    sgc_tree_walk(&v, NULL);
    return visited;
}

static void check_single(void)
{
    uintptr_t top = (uintptr_t)1 << 47;

    tap_ok(sgc_tree_find(&tree, 4096) == NULL && sgc_tree_value(&tree, 8) == 0, "an empty tree has nothing");
    tap_ok(put(&pool, &section, 4096, 7) && put(&pool, &section, top - 8, 9), "stores at low and high addresses");
    tap_ok(sgc_tree_value(&tree, 4096) == 7 && sgc_tree_value(&tree, top - 8) == 9 && sgc_tree_value(&tree, 4104) == 0,
           "finds them there only");
    tap_ok(!sgc_tree_reach(&tree, (uintptr_t)1 << 48), "refuses an address that no process has");
    tap_ok(walk(false) == 2 && sum == 16, "a walk meets each once");
    tap_ok(walk(true) == 2 && walk(false) == 0 && sgc_tree_empty(&tree), "what becomes empty is given back");
    tap_ok(sgc_tree_find(&tree, 4096) == NULL, "and gone");
}

/* Units i and i+2 at the borders of leaves and blocks. */
static void check_ranges(void)
{
    uintptr_t lo = 0x10000000, block = 8 << (SGC_TREE_LEAF_LOG + SGC_TREE_CHUNK_LOG);
    uintptr_t from;
    size_t left = 0;

    for (uintptr_t a = lo; a < lo + 3 * block; a += 8)
        put(&pool, &section, a, a);
    tap_ok(walk(false) == 3 * block / 8 && ascending, "a dense range, in ascending order within blocks");
    for (from = lo + 8; from < lo + 2 * block + 72;)
        from = sgc_tree_clear(&tree, from, lo + 2 * block + 72);
    for (uintptr_t a = lo; a < lo + 3 * block; a += 8)
        left += sgc_tree_value(&tree, a) == a;
    tap_ok(left == (block - 72) / 8 + 1 && sgc_tree_value(&tree, lo) == lo && sgc_tree_value(&tree, from - 8) == 0 &&
           sgc_tree_value(&tree, from) == from, "a range is cleared to the unit (%zu left)", left);
    tap_ok(sgc_tree_clear(&tree, (uintptr_t)1 << 40, ((uintptr_t)1 << 40) + 64) == ((uintptr_t)1 << 40) + 64,
           "clearing where nothing is");
    walk(true);
}

/* ---- threads ---- */

static struct {
    struct sgc_node_pool pool;
    struct sgc_section section;
} worker[THREADS];

/* Neighbours, so that all need the same leaves and blocks at the same time. */
static void *store(void *arg)
{
    long me = (long)arg;

    for (uintptr_t i = 0; i < EACH; i++)
        put(&worker[me].pool, NULL, 0x20000000 + (i * THREADS + (uintptr_t)me) * 8, i + 1);
    return NULL;
}

static void run(void)
{
    pthread_t thread[THREADS];

    threads_start(thread, THREADS, store);
    threads_join(thread, THREADS);
}

static void check_threads(void)
{
    uintptr_t expected = (uintptr_t)THREADS * EACH * (EACH + 1) / 2;
    size_t bytes;

    run();
    tap_ok(walk(false) == THREADS * EACH && sum == expected, "nothing is lost when threads store side by side");
    walk(true);
    run();
    walk(true);
    bytes = sgc_nodes_bytes();
    for (int i = 0; i < 5; i++) {
        run();
        walk(true);
    }
    tap_ok(sgc_nodes_bytes() <= bytes + bytes / 2, "memory is used again (%zu, then %zu bytes)", bytes,
           sgc_nodes_bytes());
}

int main(void)
{
    tap_plan(12);
    sgc_platform_init();
    return tap_all(check_single, check_ranges, check_threads);
}
