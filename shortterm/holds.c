/* SPDX-License-Identifier: MIT */
/* Holds: shortterm/holds.h. */
#include "shortterm/holds.h"

#include <errno.h>

#include "alloc/object.h"
#include "alloc/small/cache.h"
#include "gc/finalize/address_tree.h"
#include "gc/finalize/finalize.h"
#include "gc/threads/mutator.h"
#include "shortterm/counts.h"
#include "shortterm/settings.h"

/* On the object's unit of the tree. */
struct hold {
    sgc_aw_t next;                      /* the node's, while nobody uses it */
    uintptr_t object;                   /* a root */
    uintptr_t count;
};

_Static_assert(sizeof(struct hold) <= SGC_RECORD_BYTES, "a hold is a node");

SGC_STATE static struct sgc_tree holds = SGC_TREE_INIT(SGC_GRANULE_LOG);

bool sgc_held(uintptr_t object)
{
    return !sgc_tree_empty(&holds) && sgc_tree_value(&holds, object) != 0;
}

bool sgc_holds_reach(struct sgc_mutator *self, uintptr_t object)
{
    return sgc_nodes_reserve(&self->nodes, sgc_section_of(self)) && sgc_tree_reach(&holds, object) &&
           (!sgc_shortterm.counts || sgc_counts_prepare(sgc_granule_number(object)));
}

int sgc_hold(struct sgc_mutator *self, uintptr_t object)
{
    sgc_aw_t *unit = sgc_tree_entry(&holds, &self->nodes, object).unit;
    struct hold *h = (struct hold *)sgc_aw_load_acq(unit);

    sgc_assert(sgc_registrable(object) && (h == NULL || h->object == object));
    if (!sgc_object_starts(object))
        return ESTALE;
    if (h != NULL) {
        h->count++;
        return 0;
    }
    h = sgc_node_take(&self->nodes, SGC_NODE_RECORD);
    h->object = object;
    h->count = 1;
    sgc_page_watch(sgc_page_number(object), SGC_WATCH_DATED);
    if (sgc_shortterm.counts)
        sgc_counts_add(sgc_granule_number(object), false);
    sgc_aw_store_rel(unit, (uintptr_t)h);
    return 0;
}

int sgc_unhold(struct sgc_mutator *self, uintptr_t object, bool *last)
{
    sgc_aw_t *unit = sgc_tree_find(&holds, object);
    struct hold *h = unit != NULL ? (struct hold *)sgc_aw_load_acq(unit) : NULL;

    if (h == NULL)
        return EINVAL;
    sgc_assert(h->object == object && h->count != 0);
    if (--h->count != 0)
        return 0;
    sgc_aw_store_rel(unit, 0);
    h->object = 0;
    sgc_node_give(&self->nodes, SGC_NODE_RECORD, h);
    *last = true;
    return 0;
}

/* ---- roots ---- */

struct visit {
    void (*fn)(void *arg, struct sgc_range range);
    void *arg;
};

static void visit_unit(void *raw, struct sgc_tree_chunk *block, uintptr_t address, sgc_aw_t *unit)
{
    const struct visit *v = raw;
    struct hold *h = (struct hold *)sgc_aw_load(unit);

    (void)block;
    sgc_assert(h->object == address && h->count != 0);
    v->fn(v->arg, (struct sgc_range){ (uintptr_t)&h->object, (uintptr_t)(&h->object + 1) });
}

/* The tree gives back what it does not need any more. */
void sgc_holds_visit(void (*fn)(void *arg, struct sgc_range range), void *arg)
{
    struct visit v = { fn, arg };
    const struct sgc_tree_visit walk = { .tree = &holds, .unit = visit_unit, .prune = true };

    if (!sgc_tree_empty(&holds))
        sgc_tree_walk(&walk, &v);
}
