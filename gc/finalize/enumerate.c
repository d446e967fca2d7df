/* SPDX-License-Identifier: MIT */
/*
 * Everything that is registered: to the queue, counted, and said in the log.  On one thread, with
 * the world stopped.
 */
#include "gc/finalize/queue.h"
#include "gc/finalize/register.h"
#include "gc/threads/gc_lock.h"

/* ---- to the queue ---- */

static void enqueue(void *chain, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    struct sgc_record *r = sgc_record_of(sgc_aw_load_acq(unit));

    (void)block, (void)object;
    sgc_assert(sgc_record_ok(r));
    sgc_aw_store(unit, 0);
    sgc_chain_add(chain, r);
}

void sgc_finalization_enqueue_all(void)
{
    const struct sgc_tree_visit visit = { .tree = &sgc_finalization.finalizers, .unit = enqueue, .prune = true };
    struct sgc_node_chain chain = { NULL, NULL };

    sgc_assert(sgc_stopped_by_self());
    sgc_queue_drop_freed();
    sgc_tree_walk(&visit, &chain);
    if (chain.first != NULL) {
        sgc_a32_or(&sgc_finalization.used, SGC_USED_ALL);
        sgc_queue_append(&chain);
    }
}

/* ---- what is kept alive ---- */

struct visitor {
    void (*fn)(void *arg, uintptr_t address);
    void *arg;
};

static void visit_data(void *arg, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    const struct sgc_record *r = sgc_record_of(sgc_aw_load_acq(unit));
    const struct visitor *visitor = arg;

    (void)block, (void)object;
    visitor->fn(visitor->arg, sgc_record_data(r));
}

static void visit_strong(void *arg, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    const struct visitor *visitor = arg;

    (void)block;
    if ((sgc_aw_load(unit) & SGC_TOGGLE_STRONG) != 0)
        visitor->fn(visitor->arg, object);
}

void sgc_finalization_visit(void (*fn)(void *arg, uintptr_t address), void *arg)
{
    const struct sgc_tree_visit data = { .tree = &sgc_finalization.finalizers, .unit = visit_data };
    const struct sgc_tree_visit strong = { .tree = &sgc_finalization.toggles, .unit = visit_strong };
    struct visitor visitor = { fn, arg };

    sgc_assert(sgc_stopped_by_self());
    sgc_tree_walk(&data, &visitor);
    sgc_tree_walk(&strong, &visitor);
    sgc_queue_visit(fn, arg);
}

static void visit_object(void *arg, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    const struct sgc_record *r = sgc_record_of(sgc_aw_load_acq(unit));
    const struct visitor *visitor = arg;

    (void)block, (void)object;
    sgc_assert(sgc_record_ok(r));
    visitor->fn(visitor->arg, r->object);
}

void sgc_finalization_visit_finalizers(void (*fn)(void *arg, uintptr_t address), void *arg)
{
    const struct sgc_tree_visit visit = { .tree = &sgc_finalization.finalizers, .unit = visit_object };
    struct visitor visitor = { fn, arg };

    sgc_assert(sgc_stopped_by_self());
    sgc_tree_walk(&visit, &visitor);
}

/* ---- counting ---- */

static void count_unit(void *arg, struct sgc_tree_chunk *block, uintptr_t address, sgc_aw_t *unit)
{
    sgc_assert(sgc_aw_load(unit) != 0);
    (void)block, (void)address, (void)unit;
    ++*(size_t *)arg;
}

static size_t count(struct sgc_tree *tree)
{
    const struct sgc_tree_visit visit = { .tree = tree, .unit = count_unit };
    size_t counted = 0;

    sgc_tree_walk(&visit, &counted);
    return counted;
}

void sgc_finalization_count(struct sgc_finalization_counts *counts)
{
    counts->finalizers = count(&sgc_finalization.finalizers);
    for (int kind = 0; kind < SGC_LINKS; kind++)
        counts->links[kind] = count(&sgc_finalization.links[kind]);
    counts->targets = count(&sgc_finalization.targets);
    counts->toggles = count(&sgc_finalization.toggles);
    counts->waiting = sgc_queue_length();
}

/* ---- the log ---- */

static const char *const order_name[SGC_ORDERS] = {
    [SGC_ORDERED] = "ordered", [SGC_IGNORE_SELF] = "ordered but for itself", [SGC_NO_ORDER] = "unordered",
    [SGC_UNREACHABLE] = "when unreachable",
};

static void print_finalizer(void *arg, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    (void)arg, (void)block;
    sgc_print("finalizer of %p, %s", (void *)object, order_name[sgc_aw_load(unit) & SGC_ORDER_MASK]);
}

static void print_link(void *arg, struct sgc_tree_chunk *block, uintptr_t link, sgc_aw_t *unit)
{
    sgc_assert(sgc_link_ok(link) && sgc_registrable(sgc_link_target(sgc_aw_load(unit))));
    (void)arg, (void)block;
    sgc_print("link at %p to %p", (void *)link, (void *)sgc_link_target(sgc_aw_load(unit)));
}

static void print_all(struct sgc_tree *tree,
                    void (*say)(void *, struct sgc_tree_chunk *, uintptr_t, sgc_aw_t *))
{
    const struct sgc_tree_visit visit = { .tree = tree, .unit = say };

    sgc_tree_walk(&visit, NULL);
}

void sgc_finalization_dump(void)
{
    struct sgc_finalization_counts c;

    sgc_assert(sgc_stopped_by_self());
    sgc_finalization_count(&c);
    sgc_print("finalizers: %zu registered, %zu waiting; links: %zu, long ones: %zu; toggle references: %zu; %zu bytes "
            "beside the heap", c.finalizers, c.waiting, c.links[SGC_LINK_SHORT], c.links[SGC_LINK_LONG], c.toggles,
            sgc_nodes_bytes());
    print_all(&sgc_finalization.finalizers, print_finalizer);
    print_all(&sgc_finalization.links[SGC_LINK_SHORT], print_link);
    print_all(&sgc_finalization.links[SGC_LINK_LONG], print_link);
}
