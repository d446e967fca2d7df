/* SPDX-License-Identifier: MIT */
/*
 * Toggle references: objects that the program wants to be asked about in each collection, whether something outside
 * the heap refers to them now.  Added by any mutator; asked about on the collecting thread.
 */
#include "gc/finalize/finalize.h"

#include "alloc/object.h"
#include "gc/threads/gc_lock.h"

static struct sgc_tree *const toggles = &sgc_finalization.toggles;

enum sgc_registered sgc_toggle_add(struct sgc_mutator *self, uintptr_t object, bool strong)
{
    enum sgc_registered result = SGC_REGISTERED_NO_OBJECT;
    struct sgc_object o;

    sgc_assert(sgc_mutator_mine(self));
    if (!sgc_nodes_reserve(&self->nodes, sgc_section_of(self)) || !sgc_tree_reach(toggles, object))
        return SGC_REGISTERED_NOT;
    sgc_section_enter(sgc_section_of(self));
    if (sgc_object_find(object, &o) && o.start == object) {
        sgc_finalization_use(0);
        sgc_page_free_slowly(o.page);
        sgc_aw_swap(sgc_tree_entry(toggles, &self->nodes, object).unit, strong ? SGC_TOGGLE_STRONG : SGC_TOGGLE_WEAK);
        result = SGC_REGISTERED;
    }
    sgc_section_leave(sgc_section_of(self));
    return result;
}

static void ask_about(void *arg, struct sgc_tree_chunk *block, uintptr_t object, sgc_aw_t *unit)
{
    uintptr_t now = sgc_aw_load(unit);

    (void)block;
    sgc_assert(now <= SGC_TOGGLE_STRONG && sgc_registrable(object));
    sgc_aw_cas(unit, now, (*(const sgc_toggle_fn *)arg)((void *)object));      /* unless it was freed meanwhile */
}

/* Nobody takes parts of the tree away: that needs the GC lock. */
void sgc_toggles_ask(sgc_toggle_fn ask)
{
    const struct sgc_tree_visit visit = { .tree = toggles, .unit = ask_about };

    sgc_assert(sgc_gc_lock_held() && ask != NULL);
    sgc_tree_walk(&visit, &ask);
}
