/* SPDX-License-Identifier: MIT */
/*
 * Registering and forgetting.  On any mutator; see gc/finalize/register.h.
 *
 * Each change is one exchange of a unit, so a section that is left half way has made it or not.
 */
#include "gc/finalize/register.h"

#include "alloc/object.h"
#include "alloc/small/small.h"
#include "gc/threads/world.h"
#include "gc/threads/gc_lock.h"

SGC_STATE struct sgc_finalization sgc_finalization = {
    .finalizers = SGC_TREE_INIT(SGC_GRANULE_LOG),
    .targets = SGC_TREE_INIT(SGC_TARGETS_LOG),
    .generations = SGC_TREE_INIT(SGC_GRANULE_LOG),
    .toggles = SGC_TREE_INIT(SGC_GRANULE_LOG),
    .links = { SGC_TREE_INIT(SGC_LINKS_LOG), SGC_TREE_INIT(SGC_LINKS_LOG) },
};

static struct sgc_finalization *const all = &sgc_finalization;

enum { GENERATIONS = 1 << 20 };        /* a link has room for the address of a granule and 20
                                        * bits */

static void set_used(uint32_t bits)
{
    sgc_assert((bits & ~(uint32_t)(SGC_USED_ORDERED | SGC_USED_UNREACHABLE | SGC_USED_DATA | SGC_USED_ANY)) == 0);
    bits |= SGC_USED_ANY;
    if ((sgc_a32_load(&all->used) & bits) != bits)
        sgc_a32_or(&all->used, bits);
}

static bool ready(struct sgc_mutator *self, struct sgc_tree *tree, uintptr_t address)
{
    sgc_assert(sgc_mutator_mine(self));
    return sgc_nodes_reserve(&self->nodes, sgc_section_of(self)) && sgc_tree_reach(tree, address);
}

/* ---- finalizers ---- */

static const uint32_t order_uses[SGC_ORDERS] = {
    [SGC_ORDERED] = SGC_USED_ORDERED, [SGC_IGNORE_SELF] = SGC_USED_ORDERED, [SGC_NO_ORDER] = 0,
    [SGC_UNREACHABLE] = SGC_USED_ORDERED | SGC_USED_UNREACHABLE,
};

/* The heap grows within its reservation. */
static bool may_point_into_heap(const void *data)
{
    uintptr_t formed = sgc_word_formed((uintptr_t)data);

    return (uintptr_t)data - sgc_heap.base < sgc_heap.reserved || formed - sgc_heap.base < sgc_heap.reserved;
}

static void note_use(struct sgc_tree_chunk *block, const struct sgc_finalizer *f)
{
    uint32_t bits = order_uses[f->order];

    sgc_assert(sgc_finalizer_ok(f));
    if (may_point_into_heap(f->data)) {
        bits |= SGC_USED_DATA;
        if (sgc_aw_load(&block->marks) == 0)
            sgc_aw_or_relaxed(&block->marks, SGC_USED_DATA);
    }
    set_used(bits);
}

/* The record of a unit's value; NULL: there is none. */
static struct sgc_record *read_unit(uintptr_t value, struct sgc_finalizer *f)
{
    struct sgc_record *r = sgc_record_of(value);

    sgc_assert(r == NULL || sgc_record_ok(r));
    f->fn = NULL;
    if (r != NULL)
        *f = (struct sgc_finalizer){ r->fn, r->data, (enum sgc_finalizer_order)(value & SGC_ORDER_MASK),
                                     (uint32_t)(r->object % SGC_GRANULE) };
    return r;
}

void sgc_finalizer_find(uintptr_t object, struct sgc_finalizer *f)
{
    sgc_aw_t *unit = sgc_tree_find(&all->finalizers, object);

    sgc_assert(sgc_stopped_by_self() && sgc_registrable(object));
    read_unit(unit != NULL ? sgc_aw_load(unit) : 0, f);
}

/* In a section.  The record of a value that the calling thread has exchanged out of a unit is its
 * own. */
static enum sgc_registered take_over(struct sgc_mutator *self, uintptr_t value, struct sgc_finalizer *old)
{
    struct sgc_record *r = read_unit(value, old);

    sgc_assert(sgc_mutator_mine(self) && (r == NULL || sgc_finalizer_ok(old)));
    if (r == NULL)
        return SGC_REGISTERED;
    sgc_node_give(&self->nodes, SGC_NODE_RECORD, r);
    return SGC_REGISTERED_AGAIN;
}

static enum sgc_registered store(struct sgc_mutator *self, struct sgc_tree_entry at, uintptr_t object,
                                 const struct sgc_finalizer *f, struct sgc_finalizer *old)
{
    struct sgc_record *r = sgc_node_take(&self->nodes, SGC_NODE_RECORD);

    sgc_assert(sgc_registrable(object) && f->fn != NULL && at.unit != NULL);
    r->object = object + f->tag;
    r->fn = f->fn;
    r->data = f->data;
    sgc_assert(sgc_record_ok(r));
    note_use(at.block, f);
    sgc_page_free_slowly(sgc_page_number(object));
    return take_over(self, sgc_aw_swap(at.unit, (uintptr_t)r | f->order), old);
}

/* The first one of a leaf, or without a record in the pool. */
static enum sgc_registered set_slowly(struct sgc_mutator *self, uintptr_t object, const struct sgc_finalizer *f,
                                      struct sgc_finalizer *old)
{
    enum sgc_registered result = SGC_REGISTERED_NO_OBJECT;

    sgc_assert(f->fn != NULL);
    if (!ready(self, &all->finalizers, object))
        return SGC_REGISTERED_NOT;
    sgc_section_enter(sgc_section_of(self));
    if (sgc_object_starts(object))
        result = store(self, sgc_tree_entry(&all->finalizers, &self->nodes, object), object, f, old);
    sgc_section_leave(sgc_section_of(self));
    return result;
}

enum sgc_registered sgc_finalizer_set(struct sgc_mutator *self, uintptr_t object, const struct sgc_finalizer *f,
                                      struct sgc_finalizer *old)
{
    enum sgc_registered result = SGC_REGISTERED_NO_OBJECT;
    struct sgc_tree_entry at;
    bool slowly = false;

    sgc_assert(sgc_mutator_mine(self) && sgc_finalizer_ok(f) && sgc_registrable(object));
    old->fn = NULL;
    sgc_section_enter(sgc_section_of(self));
    if (__builtin_expect(sgc_object_starts(object), 1)) {
        at = sgc_tree_find_entry(&all->finalizers, object);
        if (f->fn == NULL)
            result = take_over(self, sgc_tree_take(at.unit), old);
        else if (at.unit != NULL && sgc_stock_enough(&self->nodes.of[SGC_NODE_RECORD]))
            result = store(self, at, object, f, old);
        else
            slowly = true;
    }
    sgc_section_leave(sgc_section_of(self));
    return slowly ? set_slowly(self, object, f, old) : result;
}

/* A record that is exchanged meanwhile may have other contents by then, and is not taken.  If it
 * has come back meanwhile, with another finalizer of the object, that one is lost. */
void *sgc_finalizer_take(struct sgc_mutator *self, uintptr_t object, sgc_finalizer_fn fn)
{
    struct sgc_finalizer old = { .fn = NULL };
    uintptr_t value;
    sgc_aw_t *unit;

    sgc_assert(sgc_mutator_mine(self) && sgc_registrable(object) && fn != NULL);
    sgc_section_enter(sgc_section_of(self));
    unit = sgc_tree_find(&all->finalizers, object);
    value = unit != NULL ? sgc_aw_load_acq(unit) : 0;
    if (value != 0 && sgc_record_of(value)->fn == fn && sgc_aw_cas(unit, value, 0))
        take_over(self, value, &old);
    sgc_section_leave(sgc_section_of(self));
    return old.fn == fn ? old.data : NULL;
}

/* ---- targets ---- */

/* In a section.  A link's value for the object. */
static uintptr_t aim(sgc_aw_t *targets, uintptr_t object)
{
    sgc_assert(sgc_registrable(object) && sgc_target_generation(object) < GENERATIONS);
    sgc_a8_store(sgc_tree_flag(targets, SGC_TARGETS_LOG, object), 1);
    return sgc_target_generation(object) << 44 | object >> 4;
}

/* Also of what begins close to a target. */
static bool may_be_target(uintptr_t object)
{
    sgc_aw_t *targets = sgc_tree_find(&all->targets, object);

    return targets != NULL && sgc_a8_load(sgc_tree_flag(targets, SGC_TARGETS_LOG, object)) != 0;
}

/* The object is about to be freed: links to it find another generation from now on.  Without memory
 * to say so, they pass to the next object there. */
static void end_generation(struct sgc_mutator *self, uintptr_t object)
{
    uintptr_t next;
    sgc_aw_t *unit;

    sgc_assert(sgc_registrable(object));
    if (!ready(self, &all->generations, object))
        return;
    sgc_test_point();
    sgc_section_enter(sgc_section_of(self));
    sgc_a32_store(&all->freed, 1);      /* a cycle between this and the rest would take it for
                                         * done */
    unit = sgc_tree_entry(&all->generations, &self->nodes, object).unit;
    next = (sgc_aw_load(unit) + 1) % GENERATIONS;
    sgc_aw_store(unit, next != 0 ? next : 1);
    sgc_section_leave(sgc_section_of(self));
}

/* ---- links ---- */

/* A thread that frees the object in which the link lies must take the slow way, to forget the
 * link. */
static void watch_place(uintptr_t link)
{
    sgc_assert(sgc_link_ok(link));
    if (sgc_heap_contains(link))
        sgc_page_free_slowly(sgc_page_number(link));
}

/* In a section. */
static enum sgc_registered link_to(uintptr_t link, sgc_aw_t *unit, sgc_aw_t *targets, uintptr_t object)
{
    sgc_assert(sgc_registrable(object) && unit != NULL);
    sgc_assert(sgc_finalization_used());
    sgc_page_free_slowly(sgc_page_number(object));
    watch_place(link);
    return sgc_aw_swap(unit, aim(targets, object)) != 0 ? SGC_REGISTERED_AGAIN : SGC_REGISTERED;
}

/* The first link of a leaf.  Sets `used` first: a thread that finds the leaves, should this section
 * be left half way, relies on their being looked at. */
static enum sgc_registered link_first(struct sgc_mutator *self, struct sgc_tree *tree, uintptr_t link, uintptr_t object)
{
    enum sgc_registered result = SGC_REGISTERED_NO_OBJECT;

    sgc_assert(sgc_registrable(object));
    if (!ready(self, &all->targets, object) || !sgc_tree_reach(tree, link))
        return SGC_REGISTERED_NOT;
    sgc_section_enter(sgc_section_of(self));
    set_used(0);
    if (sgc_object_starts(object))
        result = link_to(link, sgc_tree_entry(tree, &self->nodes, link).unit,
                         sgc_tree_entry(&all->targets, &self->nodes, object).unit, object);
    sgc_section_leave(sgc_section_of(self));
    return result;
}

/* Also to large objects, in pages that are not watched yet, or beside generations. */
__attribute__((noinline))
static enum sgc_registered link_slowly(struct sgc_mutator *self, struct sgc_tree *tree, uintptr_t link,
                                       uintptr_t object)
{
    enum sgc_registered result = SGC_REGISTERED_NO_OBJECT;
    bool first = false;

    sgc_assert(sgc_mutator_mine(self));
    sgc_section_enter(sgc_section_of(self));
    if (__builtin_expect(sgc_object_starts(object), 1)) {
        sgc_aw_t *targets = sgc_tree_find(&all->targets, object);
        sgc_aw_t *unit = sgc_tree_find(tree, link);

        first = targets == NULL || unit == NULL;
        if (!first)
            result = link_to(link, unit, targets, object);
    }
    sgc_section_leave(sgc_section_of(self));
    return first ? link_first(self, tree, link, object) : result;
}

/* Does freeing an object of the page take the slow way already?  Of large ones it always does. */
static inline bool watched(const struct sgc_page *d)
{
    return sgc_page_state(d) != SGC_PAGE_SMALL || sgc_page_is_watched(d, SGC_WATCH_REGISTERED);
}

static inline bool place_watched(uintptr_t link)
{
    return !sgc_heap_contains(link) || watched(&sgc_heap.pages[sgc_page_number(link)]);
}

/* Is it the first address of a small object, in a page that is watched?  Allocation bits stand only
 * where objects begin. */
static inline bool common_object(struct sgc_mutator *self, uintptr_t object)
{
    size_t granule = sgc_exact_granule((const void *)object);
    const struct sgc_page *d;

    if (granule >= sgc_aw_load_acq(&sgc_heap.granules))
        return false;
    d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    return sgc_page_state(d) == SGC_PAGE_SMALL && watched(d) && !sgc_freed_remotely(d, granule) &&
           sgc_alloc_bit(granule) &&
           sgc_bin_handed_out(&self->cache.bin[d->kind][d->cls], (const char *)object);
}

/* The common case, in a brief section.  SGC_REGISTERED_NOT: it is another, and nothing has been
 * changed. */
__attribute__((always_inline))
static inline enum sgc_registered link_quickly(struct sgc_mutator *self, const struct sgc_tree *tree, uintptr_t link,
                                               uintptr_t object)
{
    sgc_aw_t *unit, *targets;

    if (!common_object(self, object) || !place_watched(link) || !sgc_tree_empty(&all->generations))
        return SGC_REGISTERED_NOT;
    unit = sgc_tree_find_entry_at(tree, SGC_LINKS_LOG, link).unit;
    targets = sgc_tree_find_entry_at(&all->targets, SGC_TARGETS_LOG, object).unit;
    if (unit == NULL || targets == NULL)
        return SGC_REGISTERED_NOT;
    sgc_a8_store(sgc_tree_flag(targets, SGC_TARGETS_LOG, object), 1);
    return sgc_aw_swap(unit, object >> 4) != 0 ? SGC_REGISTERED_AGAIN : SGC_REGISTERED;
}

enum sgc_registered sgc_link_set(struct sgc_mutator *self, enum sgc_link kind, uintptr_t link, uintptr_t object)
{
    enum sgc_registered result;

    sgc_assert(sgc_mutator_mine(self) && (unsigned)kind < SGC_LINKS && sgc_link_ok(link));
    sgc_brief_enter(sgc_section_of(self));
    result = link_quickly(self, &all->links[kind], link, object);
    if (sgc_brief_leave(sgc_section_of(self)))
        sgc_brief_leave_slowly(sgc_section_of(self), NULL);
    return __builtin_expect(result != SGC_REGISTERED_NOT, 1) ? result
                                                             : link_slowly(self, &all->links[kind], link, object);
}

bool sgc_link_remove(struct sgc_mutator *self, enum sgc_link kind, uintptr_t link)
{
    bool found;

    sgc_assert(sgc_mutator_mine(self) && (unsigned)kind < SGC_LINKS && sgc_link_ok(link));
    sgc_section_enter(sgc_section_of(self));
    found = sgc_tree_take(sgc_tree_find(&all->links[kind], link)) != 0;
    sgc_section_leave(sgc_section_of(self));
    return found;
}

/* In a section.  The old place is emptied first: if the section is left between, there is no link,
 * rather than one in memory that the program may use for something else. */
static enum sgc_registered move(sgc_aw_t *from, sgc_aw_t *to)
{
    uintptr_t value;

    sgc_assert(from != to);
    if (sgc_aw_load(to) != 0)
        return SGC_REGISTERED_TAKEN;
    value = sgc_aw_swap(from, 0);
    if (value == 0)
        return SGC_REGISTERED_NO_LINK;
    if (sgc_aw_cas(to, 0, value))
        return SGC_REGISTERED;
    sgc_aw_cas(from, 0, value);
    return SGC_REGISTERED_TAKEN;
}

enum sgc_registered sgc_link_move(struct sgc_mutator *self, enum sgc_link kind, uintptr_t from, uintptr_t to)
{
    struct sgc_tree *tree = &all->links[kind];
    enum sgc_registered result = SGC_REGISTERED_NO_LINK;
    sgc_aw_t *unit;

    sgc_assert(sgc_mutator_mine(self) && (unsigned)kind < SGC_LINKS && sgc_link_ok(from) && sgc_link_ok(to));
    if (!ready(self, tree, to))
        return SGC_REGISTERED_NOT;
    sgc_section_enter(sgc_section_of(self));
    unit = sgc_tree_find(tree, from);
    watch_place(to);
    if (unit != NULL && sgc_aw_load(unit) != 0)
        result = from == to ? SGC_REGISTERED : move(unit, sgc_tree_entry(tree, &self->nodes, to).unit);
    sgc_section_leave(sgc_section_of(self));
    return result;
}

bool sgc_finalization_has(uintptr_t object)
{
    sgc_assert(sgc_registrable(object));
    return sgc_tree_value(&all->finalizers, object) != 0 || may_be_target(object) ||
           sgc_tree_value(&all->toggles, object) != 0;
}

bool sgc_finalization_knows(struct sgc_mutator *self, uintptr_t object)
{
    bool known;

    sgc_assert(sgc_mutator_mine(self) && sgc_registrable(object));
    sgc_section_enter(sgc_section_of(self));
    known = sgc_finalization_has(object);
    sgc_section_leave(sgc_section_of(self));
    return known;
}

/* ---- toggle references ---- */

enum sgc_registered sgc_toggle_add(struct sgc_mutator *self, uintptr_t object, bool strong)
{
    enum sgc_registered result = SGC_REGISTERED_NO_OBJECT;
    struct sgc_object o;

    sgc_assert(sgc_mutator_mine(self));
    if (!sgc_registrable(object))
        return SGC_REGISTERED_NO_OBJECT;
    if (!ready(self, &all->toggles, object))
        return SGC_REGISTERED_NOT;
    sgc_section_enter(sgc_section_of(self));
    if (sgc_object_find(object, &o) && o.start == object) {
        set_used(0);
        sgc_page_free_slowly(o.page);
        sgc_aw_swap(sgc_tree_entry(&all->toggles, &self->nodes, object).unit, strong ? SGC_TOGGLE_STRONG : SGC_TOGGLE_WEAK);
        result = SGC_REGISTERED;
    }
    sgc_section_leave(sgc_section_of(self));
    return result;
}

/* ---- forgetting ---- */

/* A section for each block, since an object may be large. */
void sgc_links_forget(struct sgc_mutator *self, uintptr_t lo, uintptr_t hi)
{
    sgc_assert((self != NULL ? sgc_mutator_mine(self) : sgc_stopped_by_self()) && lo < hi);
    for (int kind = 0; kind < SGC_LINKS; kind++) {
        uintptr_t from = lo;

        while (from < hi && !sgc_tree_empty(&all->links[kind])) {
            if (self != NULL)
                sgc_section_enter(sgc_section_of(self));
            from = sgc_tree_clear(&all->links[kind], from, hi);
            if (self != NULL)
                sgc_section_leave(sgc_section_of(self));
        }
    }
}

void sgc_finalization_forget(struct sgc_mutator *self, uintptr_t object)
{
    struct sgc_finalizer old;
    struct sgc_object o;
    bool found, target = false;

    sgc_assert(sgc_mutator_mine(self) && sgc_heap_contains(object));
    sgc_section_enter(sgc_section_of(self));
    found = sgc_object_find(object, &o) && o.start == object;
    if (found) {
        take_over(self, sgc_tree_take(sgc_tree_find(&all->finalizers, object)), &old);
        target = may_be_target(object);
        sgc_tree_take(sgc_tree_find(&all->toggles, object));
    }
    sgc_section_leave(sgc_section_of(self));
    if (target)
        end_generation(self, object);
    if (found)
        sgc_links_forget(self, o.start, o.start + o.bytes);
}
