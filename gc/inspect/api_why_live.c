/* SPDX-License-Identifier: MIT */
/*
 * Why an object is alive (sgc.h).  On any mutator: the search stops the world, the answer is told when it runs again.
 *
 * The search goes forward from the roots, in breadth: its queue is also the record of how each object was reached, on the
 * shortest way.  It takes a word for the same objects as a collection would, and looks at the same words of typed ones; where a
 * client's procedure says which those are, at all.  Its memory is from the system: an entry per object, and a bit per granule.
 */
#include "gc/api/internal.h"

#include <dlfcn.h>

#include "alloc/pages/pool.h"
#include "alloc/whole_heap.h"
#include "gc/collect/cycle.h"
#include "gc/config/options.h"
#include "gc/finalize/finalize.h"
#include "gc/roots/roots.h"
#include "mark/descriptor.h"

/* One object on the way. */
struct way_step {
    uintptr_t object, word;     /* word: where the pointer to it is; 0: a table of ours */
    size_t bytes;
    uint32_t from;              /* number of the step before, if `root` is SGC_HELD_BY_NOTHING */
    uint32_t next;              /* when the way has been found */
    uint8_t kind;
    uint8_t root;               /* SGC_held_t, of a first step */
    sgc_tid_t tid;              /* likewise, of a thread's */
};

struct search {
    struct sgc_mutator *self;
    uintptr_t address;          /* that the client has asked about; */
    uintptr_t target;           /* the object there */
    uintptr_t frame;            /* of the function that the client called: from here on our own stack is looked through, */
    bool own;                   /* which comes last: now */
    uint64_t *seen;             /* a bit per granule */
    size_t seen_bytes;
    struct way_step *step;
    uint32_t used, capacity;
    uint32_t next;              /* to be looked through */
    uint32_t found;             /* the target's step; `capacity`: not found yet */
    uint32_t first, count;      /* the way: step[first], then each one's next, count of them */
    SGC_held_t held;
};

/* Are there as many steps as the way has, and has it an end? */
__attribute__((unused))
static inline bool way_ok(const struct search *s)
{
    return s->count <= s->used && s->used <= s->capacity && (s->count == 0 || s->first < s->used);
}

/* ---- memory ---- */

static void count_object(const struct sgc_object *o, void *arg)
{
    (void)o;
    ++*(size_t *)arg;
}

static size_t steps_bytes(uint32_t capacity)
{
    return sgc_round_up(((size_t)capacity + 1) * sizeof(struct way_step), sgc_os_page_size());
}

/* Each object becomes a step once at most. */
static bool make_room(struct search *s)
{
    size_t count = 0;

    sgc_assert(sgc_stopped_by_self() && s->step == NULL);
    sgc_walk_objects(count_object, &count);
    s->capacity = s->found = (uint32_t)count;
    s->step = sgc_mem_obtain(steps_bytes(s->capacity));
    s->seen_bytes = sgc_round_up(sgc_aw_load(&sgc_heap.granules) / 8 + 8, sgc_os_page_size());
    s->seen = sgc_mem_obtain(s->seen_bytes);
    return s->step != NULL && s->seen != NULL;
}

/* With the world running. */
static void release(struct search *s)
{
    sgc_assert(way_ok(s));
    if (s->step != NULL)
        sgc_mem_release(s->step, steps_bytes(s->capacity));
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

static void add(struct search *s, const struct sgc_object *o, const struct way_step *how)
{
    struct way_step *step = &s->step[s->used];

    sgc_assert(s->used <= s->capacity && sgc_heap_contains(o->start));
    if (s->used == s->capacity || seen_before(s, o->granule))
        return;
    *step = *how;
    step->object = o->start;
    step->bytes = o->bytes;
    step->kind = (uint8_t)o->kind;
    if (o->start == s->target)
        s->found = s->used;
    s->used++;
}

/* A root word that equals an object's first address may also mean the one that ends there. */
static void look_at(struct search *s, uintptr_t word, const struct way_step *how)
{
    bool from_root = how->root != SGC_HELD_BY_NOTHING;
    bool in_data = how->root == SGC_HELD_BY_STATIC || how->root == SGC_HELD_BY_ADDED;
    bool anywhere = sgc_options.all_interior_pointers || (from_root && !in_data);
    struct sgc_object o;

    sgc_assert((unsigned)how->root <= SGC_HELD_BY_DATE && how->root != SGC_HELD_UNKNOWN);
    if (sgc_object_find(word, &o) && sgc_word_keeps(word, &o, anywhere))
        add(s, &o, how);
    if (from_root && sgc_options.end_byte == SGC_END_BYTE_ROOTS && sgc_object_find(word - 1, &o) &&
        o.start + o.bytes == word)
        add(s, &o, how);
}

/* Reads memory that was never meant for us, as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static void look_through(struct search *s, struct sgc_range range, struct way_step how)
{
    how.word = sgc_round_up(range.lo, sizeof(uintptr_t));
    for (; how.word + sizeof(uintptr_t) <= range.hi && s->found == s->capacity; how.word += sizeof(uintptr_t)) {
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

    sgc_assert(s->next < s->used);
    look_through(s, (struct sgc_range){ address, address + sizeof address },
                 (struct way_step){ .root = SGC_HELD_BY_NOTHING, .from = s->next });
}

static void look_through_objects(struct search *s)
{
    sgc_assert(s->next <= s->used && way_ok(s));
    for (; s->next < s->used && s->found == s->capacity; s->next++) {
        const struct way_step *step = &s->step[s->next];

        sgc_visit_words(step->kind, step->object, step->bytes, look_at_word, s);
    }
}

_Static_assert((int)SGC_HELD_BY_THREAD_LOCAL - (int)SGC_HELD_BY_STATIC == (int)SGC_ROOT_THREAD_LOCAL, "in one order");

static SGC_held_t held_by(enum sgc_root_kind kind, bool own)
{
    sgc_assert((unsigned)kind <= SGC_ROOT_DATE && (!own || kind == SGC_ROOT_STACK));
    if (kind == SGC_ROOT_DATE)
        return SGC_HELD_BY_DATE;
    return own ? SGC_HELD_BY_OWN_STACK : (SGC_held_t)((int)SGC_HELD_BY_STATIC + (int)kind);
}

static void look_in_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range)
{
    struct search *s = arg;
    bool own = kind == SGC_ROOT_STACK && whose == s->self;

    sgc_assert(range.lo <= range.hi);
    if (own && s->frame > range.lo && s->frame < range.hi)
        range.lo = s->frame;
    if (own == s->own)
        look_through(s, range, (struct way_step){ .root = (uint8_t)held_by(kind, own), .tid = whose != NULL ? whose->tid : 0 });
}

static void look_at_uncollectable(const struct sgc_object *o, void *arg)
{
    struct search *s = arg;

    if (sgc_kind_uncollectable(o->kind))
        add(s, o, &(struct way_step){ .root = SGC_HELD_BY_UNCOLLECTABLE });
}

static void look_at_registered(void *arg, uintptr_t address)
{
    struct search *s = arg;

    look_at(s, address, &(struct way_step){ .root = SGC_HELD_BY_FINALIZATION });
}

/* The searching thread's own stack comes after all that the others lead to: the client's question is on it. */
static void search(struct search *s)
{
    sgc_assert(sgc_stopped_by_self() && !s->own);
    sgc_roots_visit(look_in_root, s, false);
    sgc_walk_objects(look_at_uncollectable, s);
    sgc_finalization_visit(look_at_registered, s);
    look_through_objects(s);
    if (s->found != s->capacity)
        return;
    s->own = true;
    sgc_roots_visit(look_in_root, s, false);
    look_through_objects(s);
}

/* From the target back; the steps are linked forward on the way. */
static SGC_held_t trace(struct search *s)
{
    struct way_step *step = s->step;
    uint32_t at = s->found;

    sgc_assert(s->found < s->used);
    s->count = 1;
    for (; step[at].root == SGC_HELD_BY_NOTHING; at = step[at].from, s->count++)
        step[step[at].from].next = at;
    sgc_assert(s->count <= s->used && step[at].root != SGC_HELD_UNKNOWN);
    s->first = at;
    return (SGC_held_t)step[at].root;
}

/* ---- asking ---- */

/* The object is looked up again: it may have been freed before the world stood still. */
static void find(void *raw)
{
    struct search *s = raw;
    struct sgc_object object;

    sgc_assert(sgc_stopped_by_self() && sgc_mutator_mine(s->self));
    s->held = SGC_HELD_NO_OBJECT;
    if (!sgc_object_find(s->address, &object))
        return;
    s->target = object.start;
    s->held = SGC_HELD_UNKNOWN;
    if (make_room(s)) {
        search(s);
        s->held = s->found != s->capacity ? trace(s) : SGC_HELD_BY_NOTHING;
    }
    if (s->seen != NULL)
        sgc_mem_release(s->seen, s->seen_bytes);
    sgc_assert(way_ok(s) && (s->held == SGC_HELD_BY_NOTHING || s->held == SGC_HELD_UNKNOWN) == (s->count == 0));
}

/* `release` must follow. */
static void ask(struct search *s, const void *address, const void *frame)
{
    *s = (struct search){ .self = sgc_api_self(), .address = (uintptr_t)address, .frame = (uintptr_t)frame,
                          .held = SGC_HELD_UNKNOWN };
    if (s->self == NULL)
        return;
    if (!sgc_heap_contains(s->address))
        s->held = SGC_HELD_NOT_HEAP;
    else
        sgc_external_look(s->self, find, s);
}

static void visit_way(const struct search *way, SGC_step_proc visit, void *data)
{
    uint32_t at = way->first;

    sgc_assert(way_ok(way));
    for (uint32_t i = 0; i < way->count; i++, at = way->step[at].next) {
        sgc_assert(at < way->used);
        const struct way_step *s = &way->step[at];
        struct SGC_step step = { i, (void *)s->object, s->bytes, s->kind, (void *)s->word, s->tid };

        visit(&step, data);
    }
}

SGC_held_t SGC_find_way(const void *address, SGC_step_proc visit, void *data)
{
    struct search q;

    ask(&q, address, __builtin_frame_address(0));
    if (visit != NULL)
        visit_way(&q, visit, data);
    release(&q);
    return q.held;
}

/* ---- telling ---- */

enum { SHOWN = 20 };            /* steps at each end of a long way */

struct telling {
    SGC_held_t held;
    size_t count;
    uintptr_t before;           /* first address of the object before */
};

/* Not asked with the world stopped: a thread that stands still may have the loader's lock, and one that does not may wait
 * with it until the world runs again. */
static bool ask_loader(const void *word, Dl_info *info)
{
    return !sgc_stopped_by_self() && dladdr(word, info) != 0 && info->dli_fname != NULL;
}

static void print_static(const void *word)
{
    Dl_info info;

    if (!ask_loader(word, &info))
        sgc_print("  static data, at %p", word);
    else if (info.dli_sname == NULL)
        sgc_print("  static data of %s, at %p", info.dli_fname, word);
    else
        sgc_print("  static data of %s, `%s`+%zu, at %p", info.dli_fname, info.dli_sname,
                (size_t)((const char *)word - (const char *)info.dli_saddr), word);
}

static void print_date(long thread)
{
    if (thread != 0)
        sgc_print("  a date that is not over, of thread %ld", thread);
    else
        sgc_print("  a date that is not over, of no thread");
}

static void print_root(SGC_held_t held, const struct SGC_step *step)
{
    sgc_assert(step->number == 0);
    if (held == SGC_HELD_BY_STATIC)
        print_static(step->word);
    else if (held == SGC_HELD_BY_ADDED)
        sgc_print("  a range of GC_add_roots, at %p", step->word);
    else if (held == SGC_HELD_BY_STACK)
        sgc_print("  the stack or a register of thread %ld, at %p", step->thread, step->word);
    else if (held == SGC_HELD_BY_THREAD_LOCAL)
        sgc_print("  a thread-local variable of thread %ld, at %p", step->thread, step->word);
    else if (held == SGC_HELD_BY_UNCOLLECTABLE)
        sgc_print("  an uncollectable object");
    else if (held == SGC_HELD_BY_FINALIZATION)
        sgc_print("  finalization: it waits for its finalizer, or is a finalizer's data, or a strong toggle reference");
    else if (held == SGC_HELD_BY_DATE)
        print_date(step->thread);
    else
        sgc_print("  only the calling thread's own stack, at %p", step->word);
}

static void describe(const struct SGC_step *step, char text[SGC_API_OBJECT_TEXT])
{
    sgc_assert(step->object != NULL && step->bytes != 0);
    if (!sgc_api_describe_object((uintptr_t)step->object, text))
        sgc_format(text, SGC_API_OBJECT_TEXT, "%zu bytes at %p, freed meanwhile", step->bytes, step->object);
}

static void print_step(const struct SGC_step *step, void *data)
{
    struct telling *t = data;
    char text[SGC_API_OBJECT_TEXT];

    sgc_assert(step->number < t->count);
    if (step->number == 0)
        print_root(t->held, step);
    if (step->number < SHOWN || t->count - step->number <= SHOWN) {
        describe(step, text);
        if (step->number == 0)
            sgc_print("  -> %s", text);
        else
            sgc_print("     word at offset %zu of that -> %s", (size_t)((uintptr_t)step->word - t->before), text);
    } else if (step->number == SHOWN) {
        sgc_print("     ... %zu objects more ...", t->count - 2 * SHOWN);
    }
    t->before = (uintptr_t)step->object;
}

static void print_no_way(SGC_held_t held, const void *address)
{
    sgc_assert(held == SGC_HELD_NOT_HEAP || held == SGC_HELD_NO_OBJECT || held == SGC_HELD_BY_NOTHING ||
               held == SGC_HELD_UNKNOWN);
    if (held == SGC_HELD_NOT_HEAP)
        sgc_print("%p is not in the collector's heap", address);
    else if (held == SGC_HELD_NO_OBJECT)
        sgc_print("there is no object at %p: it has been freed or reclaimed, or there never was one", address);
    else if (held == SGC_HELD_BY_NOTHING)
        sgc_print("nothing leads to the object at %p, but perhaps a register of the caller's: a collection reclaims it",
                  address);
    else
        sgc_print("why the object at %p is alive was not found out: no memory for the search, or a thread did not stop",
                address);
}

SGC_held_t SGC_why_live(const void *address)
{
    struct search q;
    struct telling t;

    ask(&q, address, __builtin_frame_address(0));
    t = (struct telling){ .held = q.held, .count = q.count };
    if (q.count == 0) {
        print_no_way(q.held, address);
    } else {
        sgc_print("the object at %p is alive, %zu objects from a root:", address, t.count);
        visit_way(&q, print_step, &t);
    }
    release(&q);
    return q.held;
}
