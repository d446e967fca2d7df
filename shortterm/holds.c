/* SPDX-License-Identifier: MIT */
/* Holds, and the public functions for them: shortterm/holds.h. */
#include "gc/api/api.h"
#include "shortterm/holds.h"

#include <errno.h>

#include "alloc/object.h"
#include "alloc/small/cache.h"
#include "gc/finalize/address_tree.h"
#include "gc/finalize/register.h"
#include "shortterm/dates/counts.h"
#include "shortterm/expire.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

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

/* ---- holds that were taken back: verify ---- */

SGC_STATE struct sgc_date_list sgc_unheld = { &sgc_dates_none, NULL, NULL };

bool sgc_unheld_note(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
{
    sgc_assert(sgc_verifies() && sgc_mutator_mine(d->owner) && sgc_shortterm_locked());
    sgc_assert(sgc_date_object(object) == object && sgc_shortterm.words == 2);
    if (*sgc_unheld.next == SGC_DATES_END) {
        if (d->pool.first == NULL)
            return false;
        sgc_date_list_extend(&sgc_unheld, &d->pool);
    }
    sgc_unheld.next[1] = caller;
    *sgc_unheld.next = object | SGC_DATE_OTHER;
    sgc_unheld.next += 2;
    return true;
}

/* ---- one hold more ---- */

/* Makes room for it, also where dates are counted: a hold is one that is not the owner's.  False:
 * there is no memory.  On the thread, outside sections. */
static bool reach(struct sgc_mutator *self, uintptr_t object)
{
    return sgc_nodes_reserve(&self->nodes, sgc_section_of(self)) && sgc_tree_reach(&holds, object) &&
           (!sgc_shortterm.counts || sgc_counts_prepare(sgc_granule_number(object)));
}

/* The object that begins there is held once more; an error number.  Under the lock, after
 * `reach`. */
static int hold(struct sgc_mutator *self, uintptr_t object)
{
    sgc_aw_t *unit = sgc_tree_entry(&holds, &self->nodes, object).unit;
    struct hold *h = (struct hold *)sgc_aw_load_acq(unit);

    sgc_assert(sgc_registrable(object) && (h == NULL || h->object == object));
    sgc_assert(sgc_shortterm_locked() && (h == NULL || h->count != 0));
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

int SGC_hold(void *object)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);
    struct sgc_object o;

    if (d == NULL || (error = sgc_named_object((uintptr_t)object, &o)) != 0)
        return error;
    if (!reach(d->owner, o.start))
        return ENOMEM;
    sgc_shortterm_lock(sgc_section_of(d->owner));
    error = hold(d->owner, o.start);
    sgc_shortterm_unlock(sgc_section_of(d->owner));
    return error;
}

/* ---- one hold less ---- */

/* The object that begins there is held once less; an error number.  *last: nobody holds it any
 * more, and the caller has to take off the date that counts for that.  Under the lock. */
static int unhold(struct sgc_mutator *self, uintptr_t object, bool *last)
{
    sgc_aw_t *unit = sgc_tree_find(&holds, object);
    struct hold *h = unit != NULL ? (struct hold *)sgc_aw_load_acq(unit) : NULL;

    sgc_assert(sgc_shortterm_locked() && !*last);
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

/* The last hold's date is over, and was the object's last one.  Under the lock. */
static bool has_expired(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
{
    bool kept = sgc_verifies() && sgc_unheld_note(d, object, caller);

    sgc_assert(sgc_shortterm_locked());
    if (!sgc_shortterm.counts || kept)
        return false;
    return sgc_counts_take(sgc_granule_number(object), true) && !sgc_verifies();
}

int SGC_unhold(void *object)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    struct sgc_object o;
    bool last = false, expiring;

    if (d == NULL)
        return error;
    if (sgc_named_object((uintptr_t)object, &o) != 0)
        return EINVAL;                  /* what is held is there */
    expiring = d->expiring;             /* within a function that sgc_expire calls */
    d->expiring = true;
    if (sgc_verifies())
        sgc_date_pool_fill(&d->pool, sgc_section_of(d->owner));
    sgc_shortterm_lock(sgc_section_of(d->owner));
    error = unhold(d->owner, o.start, &last);
    last = last && has_expired(d, o.start, caller);
    sgc_shortterm_unlock(sgc_section_of(d->owner));
    if (last)
        sgc_expire_object(d, o.start);
    sgc_compiler_barrier();
    d->expiring = expiring;
    return error;
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
