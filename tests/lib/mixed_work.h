/* SPDX-License-Identifier: MIT */
/*
 * Work for collectors under test: threads make, move, resize, free, exchange and drop objects of all kinds, check what they
 * hold, and end, so that others take their pages over.  What a thread has not found as it left it ends the process.
 * They report each store of a pointer, so that any source of written pages will do.
 */
#ifndef TESTS_LIB_MIXED_WORK_H
#define TESTS_LIB_MIXED_WORK_H

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_gcj.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>

#include "platform/atomics.h"
#include "platform/report.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { MIXED_SLOTS = 500, MIXED_TABLE = 12500, MIXED_EXCHANGE = 64, MIXED_DEEPEST = 4 };

enum mixed_kind { MIXED_PLAIN, MIXED_TYPED, MIXED_GCJ, MIXED_PROCEDURE, MIXED_UNCOLLECTABLE, MIXED_SPAN, MIXED_RESIZED,
                  MIXED_FINALIZED, MIXED_LINKED, MIXED_LEAF, MIXED_DISCLAIMED, MIXED_KINDS };

struct mixed_type { void *unused; GC_word descriptor; };

struct mixed {
    const struct mixed_type *type;
    struct mixed *next;                 /* the only way to it */
    struct mixed **link;                /* in a leaf of its own, a disappearing link to this object */
    uintptr_t kind, id, seal, bytes;
};

struct mixed_world {
    struct mixed **table;               /* larger than a page; only some of its slots are used */
    uint64_t random;
    uint32_t number;
};

static struct mixed_type mixed_by_bitmap = { NULL, (GC_word)3 << 61 | GC_DS_BITMAP };
static struct mixed_type mixed_by_procedure = { NULL, GC_MAKE_PROC(GC_GCJ_RESERVED_MARK_PROC_INDEX, 0) };
static GC_descr mixed_descriptor;
static bool mixed_procedures = true;    /* objects are made that a procedure marks */
static int mixed_disclaim_kind;
static sgc_a32_t mixed_disclaims;                       /* objects of that kind are made */
static sgc_a32_t mixed_finalized, mixed_disclaimed;     /* how many were */
static sgc_aw_t mixed_exchange[MIXED_EXCHANGE];         /* static data, by which threads pass objects on */
static _Thread_local struct mixed *volatile mixed_own_hand;

static uint32_t mixed_below(struct mixed_world *w, uint32_t n)
{
    return random_below(&w->random, n);
}

/* ---- objects ---- */

static uintptr_t mixed_seal(const struct mixed *m)
{
    return ~m->id ^ m->kind << 56 ^ m->bytes << 24;
}

static void mixed_check(const struct mixed *m)
{
    uint32_t depth = 0;

    for (; m != NULL; m = m->next, depth++) {
        if (m->seal != mixed_seal(m) || m->kind >= MIXED_KINDS || depth >= MIXED_DEEPEST)
            sgc_fatal("mixed work: the object at %p is not what it was", (const void *)m);
        if (m->link != NULL && *m->link != m)
            sgc_fatal("mixed work: the link to %p, which is held, is %p", (const void *)m, (void *)*m->link);
        if (m->bytes > sizeof *m + sizeof m->seal &&
            *(const uintptr_t *)((const char *)m + m->bytes - sizeof m->seal) != m->seal)
            sgc_fatal("mixed work: the end of the object at %p is not what it was", (const void *)m);
    }
}

static void GC_CALLBACK mixed_finalize(void *object, void *data)
{
    struct mixed *m = object;

    (void)data;
    if (m->seal != mixed_seal(m))
        sgc_fatal("mixed work: the object at %p is finalized and is not what it was", object);
    sgc_a32_add(&mixed_finalized, 1);
}

static int GC_CALLBACK mixed_disclaim(void *object)
{
    const struct mixed *m = object;

    if (m->seal != 0 && m->seal != mixed_seal(m))
        sgc_fatal("mixed work: the object at %p is disclaimed and is not what it was", object);
    sgc_a32_add(&mixed_disclaimed, 1);
    return 0;
}

static struct GC_ms_entry *mixed_mark(GC_word *address, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    struct mixed *m = (void *)address;

    (void)env;
    top = GC_MARK_AND_PUSH(m->next, top, limit, (void **)&m->next);
    return GC_MARK_AND_PUSH(m->link, top, limit, (void **)&m->link);
}

static struct mixed *mixed_allocate(enum mixed_kind kind, size_t bytes)
{
    switch (kind) {
    case MIXED_TYPED: return GC_malloc_explicitly_typed(bytes, mixed_descriptor);
    case MIXED_GCJ: return GC_gcj_malloc(bytes, &mixed_by_bitmap);
    case MIXED_PROCEDURE: return GC_gcj_malloc(bytes, &mixed_by_procedure);
    case MIXED_UNCOLLECTABLE: return GC_malloc_uncollectable(bytes);
    case MIXED_LEAF: return GC_malloc_atomic(bytes);
    case MIXED_DISCLAIMED: return GC_generic_malloc(bytes, mixed_disclaim_kind);
    default: return GC_malloc(bytes);
    }
}

static void mixed_set_bytes(struct mixed *m, size_t bytes)
{
    m->bytes = bytes;
    m->seal = mixed_seal(m);
    if (bytes > sizeof *m + sizeof m->seal)
        *(uintptr_t *)((char *)m + bytes - sizeof m->seal) = m->seal;
}

static size_t mixed_random_bytes(struct mixed_world *w, enum mixed_kind kind)
{
    size_t words = mixed_below(w, kind == MIXED_SPAN ? 20000 : mixed_below(w, 16) == 0 ? 1500 : 20);

    return sizeof(struct mixed) + (words + (kind == MIXED_SPAN ? 3000 : 0)) * sizeof(uintptr_t);
}

static void mixed_prepare(struct mixed *m)
{
    if (m->kind == MIXED_FINALIZED)
        GC_register_finalizer_no_order(m, mixed_finalize, NULL, NULL, NULL);
    if (m->kind != MIXED_LINKED)
        return;
    GC_PTR_STORE_AND_DIRTY(&m->link, GC_malloc_atomic(sizeof *m->link));
    *m->link = m;
    GC_general_register_disappearing_link((void **)m->link, m);
}

static struct mixed *mixed_make(struct mixed_world *w)
{
    enum mixed_kind kind = mixed_below(w, MIXED_KINDS);
    size_t bytes;
    struct mixed *m;

    if (kind == MIXED_SPAN && mixed_below(w, 8) != 0)
        kind = MIXED_PLAIN;
    if (kind == MIXED_PROCEDURE && !mixed_procedures)
        kind = MIXED_GCJ;
    if (kind == MIXED_DISCLAIMED && sgc_a32_load(&mixed_disclaims) == 0)
        kind = MIXED_TYPED;
    bytes = mixed_random_bytes(w, kind);
    m = mixed_allocate(kind, bytes);
    m->kind = kind;
    m->id = w->random;
    m->next = NULL;
    m->link = NULL;
    mixed_set_bytes(m, bytes);
    mixed_prepare(m);
    return m;
}

/* ---- what is done with them ---- */

static bool mixed_may_be_freed(const struct mixed *m)
{
    return m->kind != MIXED_FINALIZED && m->kind != MIXED_LINKED && m->kind != MIXED_DISCLAIMED;
}

/* Uncollectable objects in any case. */
static void mixed_drop(struct mixed_world *w, struct mixed *m)
{
    bool all = mixed_below(w, 3) == 0;

    mixed_check(m);
    for (struct mixed *next; m != NULL; m = next) {
        next = m->next;
        if (m->kind == MIXED_UNCOLLECTABLE || (all && mixed_may_be_freed(m))) {
            m->next = NULL;
            GC_free(m);
        }
    }
}

static uint32_t mixed_depth(const struct mixed *m)
{
    uint32_t depth = 0;

    for (; m != NULL; m = m->next)
        depth++;
    return depth;
}

static struct mixed **mixed_slot(struct mixed_world *w)
{
    return &w->table[mixed_below(w, MIXED_SLOTS) * (MIXED_TABLE / MIXED_SLOTS)];
}

static void mixed_store(struct mixed **slot, struct mixed *m)
{
    GC_PTR_STORE_AND_DIRTY(slot, m);
}

static struct mixed *mixed_take(struct mixed **slot)
{
    struct mixed *m = *slot;

    *slot = NULL;
    return m;
}

/* The only pointer goes through a register, or thread-local memory. */
static void mixed_swap(struct mixed_world *w)
{
    struct mixed **a = mixed_slot(w), **b = mixed_slot(w), *m = mixed_take(a);

    if (mixed_below(w, 2) == 0) {
        mixed_own_hand = m;
        m = NULL;
        mixed_store(a, mixed_take(b));
        m = mixed_own_hand;
        mixed_own_hand = NULL;
    } else {
        mixed_store(a, mixed_take(b));
    }
    mixed_store(b, m);
}

/* The end of one chain becomes that of another. */
static void mixed_splice(struct mixed_world *w)
{
    struct mixed *from = *mixed_slot(w), *to = *mixed_slot(w);

    if (from == NULL || to == NULL || from == to || from->kind == MIXED_LEAF || to->kind == MIXED_LEAF)
        return;
    if (to->next == NULL && mixed_depth(from->next) < MIXED_DEEPEST)
        mixed_store(&to->next, mixed_take(&from->next));
}

static void mixed_push(struct mixed_world *w)
{
    struct mixed **slot = mixed_slot(w), *m = mixed_make(w);

    if (m->kind == MIXED_LEAF || mixed_depth(*slot) >= MIXED_DEEPEST)
        mixed_drop(w, mixed_take(slot));
    mixed_store(&m->next, *slot);
    mixed_store(slot, m);
}

static void mixed_resize(struct mixed_world *w)
{
    struct mixed **slot = mixed_slot(w), *m = *slot;
    size_t bytes;

    if (m == NULL || (m->kind != MIXED_RESIZED && m->kind != MIXED_SPAN && m->kind != MIXED_PLAIN))
        return;
    mixed_check(m);
    bytes = mixed_random_bytes(w, m->kind);
    m = GC_realloc(m, bytes);
    mixed_set_bytes(m, bytes);
    mixed_store(slot, m);
}

static void mixed_pass_on(struct mixed_world *w)
{
    struct mixed **slot = mixed_slot(w);

    mixed_store(slot, (struct mixed *)sgc_aw_swap(&mixed_exchange[mixed_below(w, MIXED_EXCHANGE)], (uintptr_t)*slot));
    mixed_check(*slot);
}

static void mixed_step(struct mixed_world *w)
{
    switch (mixed_below(w, 12)) {
    case 0: mixed_check(*mixed_slot(w)); break;
    case 1: mixed_resize(w); break;
    case 2: mixed_pass_on(w); break;
    case 3: case 4: mixed_swap(w); break;
    case 5: case 6: mixed_splice(w); break;
    case 7: mixed_drop(w, mixed_take(mixed_slot(w))); break;
    default: mixed_push(w); break;
    }
}

/* ---- a world of them ---- */

/* After GC_INIT, on one thread. */
TEST_UNUSED static void mixed_init(void)
{
    GC_word bits[1] = { 6 };

    mixed_descriptor = GC_make_descriptor(bits, 3);
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, (void *)mixed_mark);
}

/* From now on some objects have a disclaim procedure.  On one thread. */
TEST_UNUSED static void mixed_begin_disclaiming(void)
{
    mixed_disclaim_kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc(mixed_disclaim_kind, mixed_disclaim, 0);
    sgc_a32_store_rel(&mixed_disclaims, 1);
}

TEST_UNUSED static struct mixed_world mixed_world_make(uint32_t number, uint64_t seed)
{
    struct mixed_world w = { .number = number, .random = seed | 1 };

    w.table = GC_malloc(MIXED_TABLE * sizeof *w.table);
    return w;
}

TEST_UNUSED static void mixed_world_check(const struct mixed_world *w)
{
    for (uint32_t i = 0; i < MIXED_TABLE; i++)
        mixed_check(w->table[i]);
}

/* Uncollectable objects would stay. */
TEST_UNUSED static void mixed_world_drop(struct mixed_world *w)
{
    for (uint32_t i = 0; i < MIXED_TABLE; i++)
        mixed_drop(w, mixed_take(&w->table[i]));
}

#endif
