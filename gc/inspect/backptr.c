/* SPDX-License-Identifier: MIT */
/*
 * Which words point at an object.  On any mutator, which stops the world, looks through everything
 * that a collection would scan, and prints when the world runs again.
 */
#include "gc/api/api.h"

#include "alloc/pages/pool.h"
#include "alloc/whole_heap.h"
#include "gc/api/objects.h"
#include "gc/collect/collect.h"
#include "gc/collect/external_stop.h"
#include "gc/api/guards.h"
#include "gc/inspect/inspect.h"
#include "gc/roots/roots.h"
#include "mark/descriptor.h"
#include "mark/word_form.h"

/* ---- one step ---- */

struct search {
    struct sgc_object of;               /* who points at this? */
    const struct sgc_mutator *self;
    bool own;                           /* look at our own stack, too, in the end */
    uintptr_t found;                    /* the address of the word; 0: not found yet */
    struct sgc_object in;               /* the object it is in */
    GC_ref_kind kind;
};

/* Reads memory that was never meant for us, as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static uintptr_t find_word(const struct search *s, uintptr_t lo, uintptr_t hi)
{
    sgc_assert(s->of.bytes != 0);
    lo = sgc_round_up(lo, sizeof(uintptr_t));
    sgc_assert(lo % sizeof lo == 0);
    for (; lo + sizeof(uintptr_t) <= hi; lo += sizeof(uintptr_t))
        if (sgc_address_at(lo) - s->of.start < s->of.bytes)
            return lo;
    return 0;
}

static void search_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range,
                        const struct sgc_root_copy *copy)
{
    struct search *s = arg;

    (void)copy;
    sgc_assert(sgc_stopped_by_self());
    if (s->found == 0 && (whose == s->self && kind != SGC_ROOT_DATE) == s->own)
        s->found = find_word(s, range.lo, range.hi);
}

static void search_word(void *arg, uintptr_t address)
{
    struct search *s = arg;

    sgc_assert(address % sizeof address == 0);
    if (s->found == 0)
        s->found = find_word(s, address, address + sizeof address);
}

static void search_object(const struct sgc_object *o, void *arg)
{
    struct search *s = arg;

    sgc_assert(sgc_api_object_ok(o));
    if (s->found != 0 || o->start == s->of.start)
        return;
    sgc_visit_words(o->kind, o->start, o->bytes, search_word, s);
    s->in = *o;
}

static GC_ref_kind search_all(struct search *s)
{
    sgc_assert(sgc_stopped_by_self() && sgc_api_object_ok(&s->of) && s->found == 0);
    sgc_roots_visit(search_root, s, false);
    if (s->found != 0)
        return GC_REFD_FROM_ROOT;
    sgc_walk_objects(search_object, s);
    if (s->found != 0)
        return GC_REFD_FROM_HEAP;
    s->own = true;
    sgc_roots_visit(search_root, s, false);
    return s->found != 0 ? GC_REFD_FROM_ROOT : GC_UNREFERENCED;
}

static void search(void *raw)
{
    struct search *s = raw;

    sgc_assert(sgc_mutator_mine(s->self));
    s->kind = search_all(s);
}

static bool has_guards(const struct sgc_object *o)
{
    return sgc_debug_state_of((void *)o->start, o->bytes) != SGC_DEBUG_NONE;
}

uintptr_t sgc_api_client_address(const struct sgc_object *object)
{
    sgc_assert(sgc_api_object_ok(object));
    return object->start + (has_guards(object) ? sizeof(struct sgc_debug_header) : 0);
}

GC_ref_kind GC_get_back_ptr_info(void *address, void **base, size_t *offset)
{
    struct sgc_mutator *self = sgc_api_self();
    struct search s = { .self = self, .kind = GC_UNREFERENCED };

    if (self == NULL || !sgc_object_find((uintptr_t)address, &s.of))
        return GC_NO_SPACE;
    sgc_with_world_stopped(self, search, &s);
    if (s.kind == GC_REFD_FROM_ROOT) {
        sgc_written_store(base, (void *)s.found);
        *offset = 0;
    } else if (s.kind == GC_REFD_FROM_HEAP) {
        sgc_written_store(base, (void *)sgc_api_client_address(&s.in));
        *offset = s.found - sgc_api_client_address(&s.in);
    }
    sgc_assert((s.found != 0) == (s.kind == GC_REFD_FROM_ROOT || s.kind == GC_REFD_FROM_HEAP));
    return s.kind;
}

/* ---- random addresses ---- */

SGC_STATE static sgc_aw_t seed;

static uint64_t random_below(uint64_t limit)
{
    uint64_t x = (sgc_aw_add_relaxed(&seed, 1) + sgc_clock_ns()) * UINT64_C(0x9e3779b97f4a7c15);

    sgc_assert(limit != 0);
    return (x ^ x >> 29) % limit;
}

void *GC_generate_random_heap_address(void)
{
    size_t bytes = sgc_api_self() != NULL ? sgc_aw_load_acq(&sgc_heap.limit) : 0;

    return bytes != 0 ? (void *)(sgc_heap.base + random_below(bytes)) : NULL;
}

struct pick {
    uint64_t seen, wanted;
    struct sgc_object object;
};

static void pick(const struct sgc_object *o, void *arg)
{
    struct pick *p = arg;

    sgc_assert(sgc_api_object_ok(o));
    if (p->seen++ == p->wanted)
        p->object = *o;
}

static void pick_any(void *arg)
{
    struct pick *p = arg;

    sgc_assert(sgc_stopped_by_self());
    sgc_walk_objects(pick, p);
    if (p->seen != 0) {
        *p = (struct pick){ .wanted = random_below(p->seen) };
        sgc_walk_objects(pick, p);
    }
    sgc_assert(p->seen == 0 || sgc_api_object_ok(&p->object));
}

void *GC_generate_random_valid_address(void)
{
    struct sgc_mutator *self = sgc_api_self();
    struct pick p = { .wanted = UINT64_MAX };

    if (self == NULL || !sgc_with_world_stopped(self, pick_any, &p))
        return NULL;
    return p.seen != 0 ? (void *)(p.object.start + random_below(p.object.bytes)) : NULL;
}

/* ---- the way from a root ---- */

enum { STEPS = 100 };

bool sgc_api_describe_object(uintptr_t address, char text[SGC_API_OBJECT_TEXT])
{
    struct sgc_object o;
    char what[SGC_DEBUG_TEXT], type[GC_TYPE_DESCR_LEN + 1];

    if (!sgc_object_find(address, &o))
        return false;
    sgc_assert(sgc_api_object_ok(&o));
    sgc_api_describe(o.kind, (void *)sgc_api_client_address(&o), type);
    if (has_guards(&o))
        sgc_debug_describe((void *)o.start, (void *)o.start, what);
    else
        sgc_format(what, sizeof what, "%zu bytes at %p", o.bytes, (void *)o.start);
    sgc_format(text, SGC_API_OBJECT_TEXT, "%s%s%s", what, type[0] != '\0' ? ": " : "", type);
    return true;
}

static void print_object(const char *how, uintptr_t address)
{
    char text[SGC_API_OBJECT_TEXT];

    if (sgc_api_describe_object(address, text))
        sgc_print("%s %s", how, text);
}

void GC_print_backtrace(void *address)
{
    void *at = address, *base = NULL;
    size_t offset = 0;

    print_object("back pointers of", (uintptr_t)address);
    for (int step = 0; step < STEPS; step++) {
        GC_ref_kind kind = GC_get_back_ptr_info(at, &base, &offset);

        if (kind == GC_REFD_FROM_ROOT)
            sgc_print("  in a root, at %p", base);
        else if (kind != GC_REFD_FROM_HEAP)
            sgc_print("  %s", kind == GC_NO_SPACE ? "there is no object at this address" : "nothing points at it");
        if (kind != GC_REFD_FROM_HEAP)
            return;
        sgc_print("  at offset %zu of", offset);
        print_object("  the object of", (uintptr_t)base);
        at = base;
    }
    sgc_print("  ... and so on: %d steps did not reach a root, there may be a circle", STEPS);
}

void GC_generate_random_backtrace(void)
{
    void *address;

    GC_gcollect();
    address = GC_generate_random_valid_address();
    if (address == NULL)
        sgc_print("no back pointers: there is no object");
    else
        GC_print_backtrace(address);
}
