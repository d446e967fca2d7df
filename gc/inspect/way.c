/* SPDX-License-Identifier: MIT */
/* See gc/inspect/way.h. */
#include "gc/inspect/way.h"

#include "gc/api/api.h"

#include <dlfcn.h>

#include "alloc/whole_heap.h"
#include "gc/config/options.h"
#include "gc/finalize/register.h"
#include "gc/inspect/inspect.h"
#include "gc/roots/roots.h"
#include "mark/descriptor.h"
#include "mark/word_form.h"

/* One object on the way. */
struct sgc_way_step {
    uintptr_t object, word;     /* word: where the pointer to it is; 0: a table of ours */
    size_t bytes;
    uint32_t from;              /* number of the step before, if `root` is SGC_HELD_BY_NOTHING */
    uint32_t next;              /* when the way has been found */
    uint8_t kind;
    uint8_t root;               /* SGC_held_t, of a first step */
    sgc_tid_t tid;              /* likewise, of a thread's */
};

/* Are there as many steps as the way has, and has it an end? */
__attribute__((unused))
static inline bool ways_ok(const struct sgc_ways *w)
{
    return w->count <= w->used && w->used <= w->capacity && (w->count == 0 || w->first < w->used) &&
           (!w->found || w->used != 0);
}

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
bool sgc_ways_begin(struct sgc_ways *w)
{
    size_t count = 0;

    sgc_assert(sgc_stopped_by_self() && w->step == NULL);
    sgc_walk_objects(count_object, &count);
    w->capacity = (uint32_t)count;
    w->step = sgc_mem_obtain(steps_bytes(w->capacity));
    return sgc_granule_set_obtain(&w->seen) && w->step != NULL;
}

void sgc_ways_end(struct sgc_ways *w)
{
    sgc_assert(ways_ok(w));
    sgc_granule_set_release(&w->seen);
    if (w->step != NULL)
        sgc_mem_release(w->step, steps_bytes(w->capacity));
    w->step = NULL;
}

/* ---- what a word leads to ---- */

static void add(struct sgc_ways *w, const struct sgc_object *o, const struct sgc_way_step *how)
{
    struct sgc_way_step *step = &w->step[w->used];

    sgc_assert(w->used <= w->capacity && sgc_heap_contains(o->start));
    if (w->used == w->capacity || !sgc_granule_set_add(&w->seen, o->granule))
        return;
    *step = *how;
    step->object = o->start;
    step->bytes = o->bytes;
    step->kind = (uint8_t)o->kind;
    w->found |= o->start == w->target;
    w->used++;
}

/* Of an object with guards the program knows another address. */
static bool keeps(const struct sgc_ways *w, uintptr_t word, const struct sgc_object *o, bool anywhere)
{
    if (w->by != SGC_WAYS_CERTAIN)
        return sgc_word_keeps(word, o, anywhere);
    return word == o->start || word == sgc_api_client_address(o);
}

/* A root word that equals an object's first address may also mean the one that ends there. */
static void follow_word(struct sgc_ways *w, uintptr_t word, const struct sgc_way_step *how)
{
    bool from_root = how->root != SGC_HELD_BY_NOTHING;
    bool in_data = how->root == SGC_HELD_BY_STATIC || how->root == SGC_HELD_BY_ADDED;
    bool anywhere = sgc_options.all_interior_pointers || (from_root && !in_data);
    struct sgc_object o;

    sgc_assert((unsigned)how->root <= SGC_HELD_BY_DATE && how->root != SGC_HELD_UNKNOWN);
    if (sgc_object_find(word, &o) && keeps(w, word, &o, anywhere))
        add(w, &o, how);
    if (from_root && w->by != SGC_WAYS_CERTAIN && sgc_options.end_byte == SGC_END_BYTE_ROOTS &&
        sgc_object_find(word - 1, &o) && o.start + o.bytes == word)
        add(w, &o, how);
}

/* Reads memory that was never meant for us, as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static void follow_words(struct sgc_ways *w, struct sgc_range range, struct sgc_way_step how)
{
    how.word = sgc_round_up(range.lo, sizeof(uintptr_t));
    for (; how.word + sizeof(uintptr_t) <= range.hi && !w->found; how.word += sizeof(uintptr_t)) {
        sgc_assert(how.word % sizeof(uintptr_t) == 0);
        uintptr_t word = sgc_address_at(how.word);

        if (word - sgc_heap.base <= sgc_aw_load(&sgc_heap.limit))
            follow_word(w, word, &how);
    }
}

/* ---- the search ---- */

/* A word of the object `next`. */
static void follow_word_at(void *arg, uintptr_t address)
{
    struct sgc_ways *w = arg;

    sgc_assert(w->next < w->used);
    follow_words(w, (struct sgc_range){ address, address + sizeof address },
                 (struct sgc_way_step){ .root = SGC_HELD_BY_NOTHING, .from = w->next });
}

static void follow_objects(struct sgc_ways *w)
{
    sgc_assert(w->next <= w->used && ways_ok(w));
    for (; w->next < w->used && !w->found; w->next++) {
        const struct sgc_way_step *step = &w->step[w->next];

        sgc_visit_words(step->kind, step->object, step->bytes, follow_word_at, w);
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

/* Is it the turn of such roots? */
static bool counts(const struct sgc_ways *w, enum sgc_root_kind kind, bool own)
{
    if (w->by == SGC_WAYS_OWN_STACK || own)
        return w->by == SGC_WAYS_OWN_STACK && own;
    if (w->by == SGC_WAYS_DATES || kind == SGC_ROOT_DATE)
        return w->by == SGC_WAYS_DATES && kind == SGC_ROOT_DATE;
    return w->by == SGC_WAYS_LIKELY || kind != SGC_ROOT_STACK;
}

static void follow_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range,
                        const struct sgc_root_copy *copy)
{
    struct sgc_ways *w = arg;
    bool own = kind == SGC_ROOT_STACK && whose == w->self;

    (void)copy;
    sgc_assert(range.lo <= range.hi);
    if (own && w->frame > range.lo && w->frame < range.hi)
        range.lo = w->frame;
    if (counts(w, kind, own))
        follow_words(w, range, (struct sgc_way_step){ .root = (uint8_t)held_by(kind, own),
                                                      .tid = whose != NULL ? whose->tid : 0 });
}

static void follow_uncollectable(const struct sgc_object *o, void *arg)
{
    struct sgc_ways *w = arg;

    if (sgc_kind_uncollectable(o->kind) && (w->dead == NULL || !w->dead(o->start)))
        add(w, o, &(struct sgc_way_step){ .root = SGC_HELD_BY_UNCOLLECTABLE });
}

static void follow_registered(void *arg, uintptr_t address)
{
    struct sgc_ways *w = arg;

    follow_word(w, address, &(struct sgc_way_step){ .root = SGC_HELD_BY_FINALIZATION });
}

/* Beginnings of ways other than root ranges: uncollectable objects, the tables of finalization. */
static void follow_tables(struct sgc_ways *w)
{
    sgc_walk_objects(follow_uncollectable, w);
    sgc_finalization_visit(follow_registered, w);
}

void sgc_ways_search(struct sgc_ways *w, enum sgc_ways_by by)
{
    bool anew = by == SGC_WAYS_CERTAIN || by == SGC_WAYS_LIKELY;

    sgc_assert(sgc_stopped_by_self() && w->step != NULL && w->seen.word != NULL && (anew || !w->found));
    w->by = by;
    if (anew) {
        w->found = false;
        w->used = w->next = w->count = 0;
        sgc_granule_set_clear(&w->seen);
    }
    sgc_roots_visit(follow_root, w, false);
    if (anew)
        follow_tables(w);
    follow_objects(w);
}

/* The last step that leads to the object; `used`: none does. */
static uint32_t step_to(const struct sgc_ways *w, uintptr_t object)
{
    for (uint32_t at = w->used; at > 0; at--)
        if (w->step[at - 1].object == object)
            return at - 1;
    return w->used;
}

/* From the object back; the steps are linked forward on the way. */
SGC_held_t sgc_ways_trace(struct sgc_ways *w, uintptr_t object)
{
    struct sgc_way_step *step = w->step;
    uint32_t at = step_to(w, object);

    sgc_assert(ways_ok(w));
    w->count = 0;
    if (at == w->used)
        return SGC_HELD_BY_NOTHING;
    for (w->count = 1; step[at].root == SGC_HELD_BY_NOTHING; at = step[at].from, w->count++)
        step[step[at].from].next = at;
    sgc_assert(w->count <= w->used && step[at].root != SGC_HELD_UNKNOWN);
    w->first = at;
    return (SGC_held_t)step[at].root;
}

void sgc_ways_visit(const struct sgc_ways *w, SGC_step_proc visit, void *data)
{
    uint32_t at = w->first;

    sgc_assert(ways_ok(w));
    for (uint32_t i = 0; i < w->count; i++, at = w->step[at].next) {
        sgc_assert(at < w->used);
        const struct sgc_way_step *s = &w->step[at];
        struct SGC_step step = { i, (void *)s->object, s->bytes, s->kind, (void *)s->word, s->tid };

        visit(&step, data);
    }
}

/* ---- telling ---- */

enum { SHOWN = 20 };            /* steps at each end of a long way */

/* Not asked with the world stopped: a thread that stands still may have the loader's lock, and one
 * that does not may wait with it until the world runs again. */
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

void sgc_way_print_step(const struct SGC_step *step, void *data)
{
    struct sgc_way_telling *t = data;
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
