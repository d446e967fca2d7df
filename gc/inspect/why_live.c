/* SPDX-License-Identifier: MIT */
/* The way from a root to an object.  Who runs it: gc/inspect/why_live.h. */
#include "gc/inspect/why_live.h"

#include "alloc/pages/pool.h"
#include "alloc/walk.h"
#include "gc/finalize/finalize.h"
#include "gc/config/options.h"
#include "mark/descriptor.h"
#include "mark/displacements.h"
#include "gc/threads/gc_lock.h"

struct search {
    struct sgc_way *way;
    uintptr_t target;
    const struct sgc_mutator *self;
    uintptr_t frame;            /* from here on its stack is looked through */
    bool own;                   /* now the searching thread's own stack */
    uint64_t *seen;             /* a bit per granule */
    size_t seen_bytes;
    uint32_t next;              /* to be looked through */
    uint32_t found;             /* the target's step; way->capacity: not found yet */
};

/* ---- memory ---- */

static void count_object(const struct sgc_object *o, void *arg)
{
    (void)o;
    ++*(size_t *)arg;
}

static size_t steps_bytes(uint32_t capacity)
{
    return sgc_round_up(((size_t)capacity + 1) * sizeof(struct sgc_way_step), sgc_os_page_size());
}

/* Each object becomes a step once at most. */
static bool make_room(struct search *s)
{
    size_t count = 0;

    sgc_assert(sgc_stopped_by_self() && s->way->step == NULL);
    sgc_walk_objects(count_object, &count);
    s->way->capacity = s->found = (uint32_t)count;
    s->way->step = sgc_mem_obtain(steps_bytes(s->way->capacity));
    s->seen_bytes = sgc_round_up(sgc_aw_load(&sgc_heap.granules) / 8 + 8, sgc_os_page_size());
    s->seen = sgc_mem_obtain(s->seen_bytes);
    return s->way->step != NULL && s->seen != NULL;
}

void sgc_way_release(struct sgc_way *way)
{
    sgc_assert(sgc_way_ok(way));
    if (way->step != NULL)
        sgc_mem_release(way->step, steps_bytes(way->capacity));
}

/* ---- what a word leads to ---- */

static bool seen_before(struct search *s, size_t granule)
{
    uint64_t bit = UINT64_C(1) << granule % 64;
    bool before = (s->seen[granule / 64] & bit) != 0;

    sgc_assert(granule / 64 * sizeof *s->seen < s->seen_bytes);
    s->seen[granule / 64] |= bit;
    return before;
}

static void add(struct search *s, const struct sgc_object *o, const struct sgc_way_step *how)
{
    struct sgc_way_step *step = &s->way->step[s->way->used];

    sgc_assert(s->way->used <= s->way->capacity && sgc_heap_contains(o->start));
    if (s->way->used == s->way->capacity || seen_before(s, o->granule))
        return;
    *step = *how;
    step->object = o->start;
    step->bytes = o->bytes;
    step->kind = (uint8_t)o->kind;
    if (o->start == s->target)
        s->found = s->way->used;
    s->way->used++;
}

/* A root word that equals an object's first address may also mean the one that ends there. */
static void look_at(struct search *s, uintptr_t word, const struct sgc_way_step *how)
{
    bool from_root = how->root != SGC_HELD_BY_NOTHING;
    struct sgc_object o;

    sgc_assert((unsigned)how->root < SGC_HELD_UNKNOWN);
    if (sgc_object_find(word, &o) && (from_root || sgc_options.all_interior_pointers ||
                                      sgc_mark_displacement_valid(word - o.start)))
        add(s, &o, how);
    if (from_root && sgc_options.end_byte == SGC_END_BYTE_ROOTS && sgc_object_find(word - 1, &o) &&
        o.start + o.bytes == word)
        add(s, &o, how);
}

/* Reads memory that was never meant for us, as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static void look_through(struct search *s, struct sgc_range range, struct sgc_way_step how)
{
    how.word = sgc_round_up(range.lo, sizeof(uintptr_t));
    for (; how.word + sizeof(uintptr_t) <= range.hi && s->found == s->way->capacity; how.word += sizeof(uintptr_t)) {
        sgc_assert(how.word % sizeof(uintptr_t) == 0);
        uintptr_t word = *(const uintptr_t *)how.word;

        if (word - sgc_heap.base <= sgc_aw_load(&sgc_heap.limit))
            look_at(s, word, &how);
    }
}

/* ---- the search ---- */

/* A word of the object `next`. */
static void look_at_word(void *arg, uintptr_t address)
{
    struct search *s = arg;

    sgc_assert(s->next < s->way->used);
    look_through(s, (struct sgc_range){ address, address + sizeof address },
                 (struct sgc_way_step){ .root = SGC_HELD_BY_NOTHING, .from = s->next });
}

static void look_through_objects(struct search *s)
{
    sgc_assert(s->next <= s->way->used && sgc_way_ok(s->way));
    for (; s->next < s->way->used && s->found == s->way->capacity; s->next++) {
        const struct sgc_way_step *step = &s->way->step[s->next];

        sgc_visit_words(step->kind, step->object, step->bytes, look_at_word, s);
    }
}

static SGC_held_t root_of(enum sgc_root_kind kind, bool own)
{
    static const SGC_held_t way[] = {
        [SGC_ROOT_STATIC] = SGC_HELD_BY_STATIC, [SGC_ROOT_ADDED] = SGC_HELD_BY_ADDED, [SGC_ROOT_STACK] = SGC_HELD_BY_STACK,
        [SGC_ROOT_THREAD_LOCAL] = SGC_HELD_BY_THREAD_LOCAL,
    };

    sgc_assert((unsigned)kind <= SGC_ROOT_THREAD_LOCAL);
    return own ? SGC_HELD_BY_OWN_STACK : way[kind];
}

static void look_in_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range)
{
    struct search *s = arg;
    bool own = kind == SGC_ROOT_STACK && whose == s->self;

    sgc_assert(range.lo <= range.hi);
    if (own && s->frame > range.lo && s->frame < range.hi)
        range.lo = s->frame;
    if (own == s->own)
        look_through(s, range, (struct sgc_way_step){ .root = (uint8_t)root_of(kind, own),
                                                       .tid = whose != NULL ? whose->tid : 0 });
}

static void look_at_uncollectable(const struct sgc_object *o, void *arg)
{
    struct search *s = arg;

    if (sgc_kind_uncollectable(o->kind))
        add(s, o, &(struct sgc_way_step){ .root = SGC_HELD_BY_UNCOLLECTABLE });
}

static void look_at_registered(void *arg, uintptr_t address)
{
    struct search *s = arg;

    look_at(s, address, &(struct sgc_way_step){ .root = SGC_HELD_BY_FINALIZATION });
}

/* The searching thread's own stack comes after all that the others lead to: the client's question is on it. */
static void search(struct search *s)
{
    sgc_assert(sgc_stopped_by_self() && !s->own);
    sgc_roots_visit(look_in_root, s);
    sgc_walk_objects(look_at_uncollectable, s);
    sgc_finalization_visit(look_at_registered, s);
    look_through_objects(s);
    if (s->found != s->way->capacity)
        return;
    s->own = true;
    sgc_roots_visit(look_in_root, s);
    look_through_objects(s);
}

/* From the target back; the steps are linked forward on the way. */
static SGC_held_t trace(struct search *s)
{
    struct sgc_way_step *step = s->way->step;
    uint32_t at = s->found;

    sgc_assert(s->found < s->way->used);
    s->way->count = 1;
    for (; step[at].root == SGC_HELD_BY_NOTHING; at = step[at].from, s->way->count++)
        step[step[at].from].next = at;
    sgc_assert(s->way->count <= s->way->used && step[at].root < SGC_HELD_UNKNOWN);
    s->way->first = at;
    return (SGC_held_t)step[at].root;
}

SGC_held_t sgc_way_find(struct sgc_way *way, const struct sgc_object *object, const struct sgc_mutator *self,
                        uintptr_t frame)
{
    struct search s = { .way = way, .target = object->start, .self = self, .frame = frame };
    SGC_held_t root = SGC_HELD_UNKNOWN;

    sgc_assert(sgc_mutator_mine(self) && sgc_heap_contains(object->start));
    *way = (struct sgc_way){ 0 };
    if (make_room(&s)) {
        search(&s);
        root = s.found != way->capacity ? trace(&s) : SGC_HELD_BY_NOTHING;
    }
    if (s.seen != NULL)
        sgc_mem_release(s.seen, s.seen_bytes);
    sgc_assert(sgc_way_ok(way) && (root == SGC_HELD_BY_NOTHING || root == SGC_HELD_UNKNOWN) == (way->count == 0));
    return root;
}
