/* SPDX-License-Identifier: MIT */
/*
 * More of tests/lib/weak.h: sequential consistency, and variables to which several threads store.  Takes its place.
 *
 * Sequentially consistent accesses happen in the order in which the threads are run; one that reads a variable sees
 * what the last such access to it saw or wrote, or something newer, and one that writes it comes later in its order.
 * Otherwise they are an acquire or a release: nothing about other variables comes with them, as C11 has it.  Other
 * stores may come anywhere behind what their thread has seen.
 *
 * A thread may be interrupted before each access to a variable that another thread uses, too.
 */
#ifndef TESTS_LIB_WEAK_SC_H
#define TESTS_LIB_WEAK_SC_H

#define WEAK_DEFERRED "nothing"
#pragma GCC diagnostic ignored "-Wunused-function"      /* not all is needed here */
#include "tests/lib/weak.h"

static weak_view weak_one_order;             /* how far its accesses are along in each variable */

/* ---- which variables are shared: others need no interruption ---- */

enum { WEAK_SC_KNOWN = 16 };

static struct { const void *address; int thread; bool shared; } weak_sc_known[WEAK_SC_KNOWN];
static bool weak_sc_learned;                    /* in this search: the choices are not the same any more */

static bool weak_sc_shared(const void *p)
{
    int i = 0;

    while (i < WEAK_SC_KNOWN - 1 && weak_sc_known[i].address != NULL && weak_sc_known[i].address != p)
        i++;
    if (weak_sc_known[i].address == NULL) {
        weak_sc_known[i].address = p;
        weak_sc_known[i].thread = weak.current;
    }
    if (!weak_sc_known[i].shared && weak_sc_known[i].thread != weak.current) {
        weak_sc_known[i].shared = weak_sc_learned = true;
        weak_fail("one more shared variable");
    }
    return weak_sc_known[i].shared;
}

static void weak_sc_point(const void *p)
{
    weak_self()->fresh = false;
    if (weak_sc_shared(p))
        weak_switch();
}

/* ---- accesses ---- */

static uint8_t weak_sc_least(int v, unsigned order)
{
    uint8_t seen = weak_self()->view[v];

    return (order & WEAK_SC) != 0 && weak_one_order[v] > seen ? weak_one_order[v] : seen;
}

static uintptr_t weak_sc_load(const void *p, uintptr_t initial, unsigned order, const char *function,
                              const char *operation)
{
    int v = weak_find(p, initial), from, i;

    order = weak_order_of(function, operation, (enum weak_order)order);
    weak_sc_point(p);
    from = weak_sc_least(v, order);
    i = from + weak_choose(weak.variable[v].count - from);
    if ((order & WEAK_SC) != 0)
        weak_one_order[v] = (uint8_t)i;
    return weak_read(v, i, (enum weak_order)order);
}

/* Everything that is weak_sc_known of v's values from `at` on moves one place. */
static void weak_sc_make_place(int v, int at)
{
    struct weak_variable *variable = &weak.variable[v];

    for (int i = 0; i < WEAK_THREADS; i++)
        weak.thread[i].view[v] = (uint8_t)(weak.thread[i].view[v] + (weak.thread[i].view[v] >= at));
    weak_one_order[v] = (uint8_t)(weak_one_order[v] + (weak_one_order[v] >= at));
    for (int w = 0; w < weak.variables; w++)
        for (int i = 0; i < weak.variable[w].count; i++)
            weak.variable[w].value[i].view[v] =
                (uint8_t)(weak.variable[w].value[i].view[v] + (weak.variable[w].value[i].view[v] >= at));
    if (variable->count == WEAK_VALUES)
        weak_fail("too many values for this test");
    memmove(&variable->value[at + 1], &variable->value[at], (size_t)(variable->count - at) * sizeof variable->value[0]);
    variable->count++;
}

/* Any place from there on. */
static int weak_sc_choose_place(const struct weak_variable *variable, int from)
{
    int places[WEAK_VALUES + 1], n = 0;

    for (int at = variable->count; at >= from; at--)
        if (at == variable->count || !variable->value[at].changed)
            places[n++] = at;
    return places[weak_choose(n)];
}

static void weak_sc_store(const void *p, uintptr_t initial, uintptr_t value, unsigned order, const char *function,
                  const char *operation)
{
    int v = weak_find(p, initial), at;
    struct weak_value *new;

    order = weak_order_of(function, operation, (enum weak_order)order);
    weak_sc_point(p);
    at = weak_sc_choose_place(&weak.variable[v], weak_sc_least(v, order) + 1);
    weak_sc_make_place(v, at);
    new = &weak.variable[v].value[at];
    weak_self()->view[v] = (uint8_t)at;
    new->value = value;
    new->changed = false;
    memset(new->view, 0, sizeof new->view);
    if ((order & WEAK_RELEASE) != 0)
        memcpy(new->view, weak_self()->view, sizeof new->view);
    new->view[v] = (uint8_t)at;
    if ((order & WEAK_SC) != 0)
        weak_one_order[v] = (uint8_t)at;
}

/* What a read-modify-write makes of a value. */
struct weak_sc_change {
    enum { WEAK_SC_CAS, WEAK_SC_ADD, WEAK_SC_AND } how;
    uintptr_t expected, operand;
    uintptr_t mask;                     /* of the variable's bits */
};

static uintptr_t weak_sc_changed(const struct weak_sc_change *change, uintptr_t old)
{
    switch (change->how) {
    case WEAK_SC_ADD:
        return (old + change->operand) & change->mask;
    case WEAK_SC_AND:
        return old & change->operand;
    case WEAK_SC_CAS:
        break;
    }
    return change->operand;
}

/* The last value is the one that is changed. */
static uintptr_t weak_sc_change(const void *p, uintptr_t initial, struct weak_sc_change change, const char *function,
                                const char *operation)
{
    int v = weak_find(p, initial), last;
    enum weak_order order = weak_order_of(function, operation, WEAK_BOTH);
    uintptr_t old;

    weak_sc_point(p);
    last = weak.variable[v].count - 1;
    old = weak_read(v, last, order);
    if (change.how != WEAK_SC_CAS || old == change.expected)
        weak_append(v, weak_sc_changed(&change, old), order, weak.variable[v].value[last].view);
    return old;
}

static bool weak_sc_exchange(const void *p, uintptr_t initial, uintptr_t expected, uintptr_t desired,
                             const char *function)
{
    struct weak_sc_change change = { WEAK_SC_CAS, expected, desired, 0 };

    return weak_sc_change(p, initial, change, function, "cas") == expected;
}

static uintptr_t weak_sc_add(const void *p, uintptr_t initial, uintptr_t n, uintptr_t mask, const char *function)
{
    return weak_sc_change(p, initial, (struct weak_sc_change){ WEAK_SC_ADD, 0, n, mask }, function, "add");
}

static uintptr_t weak_sc_and(const void *p, uintptr_t initial, uintptr_t bits, const char *function)
{
    return weak_sc_change(p, initial, (struct weak_sc_change){ WEAK_SC_AND, 0, bits, 0 }, function, "and");
}

#undef sgc_aw_load
#undef sgc_aw_load_acq
#undef sgc_aw_store
#undef sgc_aw_cas
#undef sgc_a32_load
#undef sgc_a32_cas
#define WEAK_SC_LOAD(p, order, name) weak_sc_load((p), (p)->value, (order), __func__, name)
#define WEAK_SC_STORE(p, v, order, name) weak_sc_store((p), (p)->value, (v), (order), __func__, name)
#define sgc_aw_load(p) WEAK_SC_LOAD(p, WEAK_RELAXED, "load")
#define sgc_aw_load_acq(p) WEAK_SC_LOAD(p, WEAK_ACQUIRE, "load_acq")
#define sgc_aw_load_sc(p) WEAK_SC_LOAD(p, WEAK_ACQUIRE | WEAK_SC, "load_sc")
#define sgc_a32_load(p) ((uint32_t)WEAK_SC_LOAD(p, WEAK_RELAXED, "load"))
#define sgc_a32_load_acq(p) ((uint32_t)WEAK_SC_LOAD(p, WEAK_ACQUIRE, "load_acq"))
#define sgc_a32_load_sc(p) ((uint32_t)WEAK_SC_LOAD(p, WEAK_ACQUIRE | WEAK_SC, "load_sc"))
#define sgc_aw_store(p, v) WEAK_SC_STORE(p, v, WEAK_RELAXED, "store")
#define sgc_aw_store_sc(p, v) WEAK_SC_STORE(p, v, WEAK_RELEASE | WEAK_SC, "store_sc")
#define sgc_a8_load(p) ((uint8_t)WEAK_SC_LOAD(p, WEAK_RELAXED, "load"))
#define sgc_a8_load_acq(p) ((uint8_t)WEAK_SC_LOAD(p, WEAK_ACQUIRE, "load_acq"))
#define sgc_a8_store(p, v) WEAK_SC_STORE(p, v, WEAK_RELAXED, "store")
#define sgc_a8_cas(p, e, d) weak_sc_exchange((p), (p)->value, (e), (d), __func__)
#define sgc_a32_store(p, v) WEAK_SC_STORE(p, v, WEAK_RELAXED, "store")
#define sgc_a32_store_rel(p, v) WEAK_SC_STORE(p, v, WEAK_RELEASE, "store_rel")
#define sgc_a32_store_sc(p, v) WEAK_SC_STORE(p, v, WEAK_RELEASE | WEAK_SC, "store_sc")
#define sgc_a8_add(p, n) weak_sc_add((p), (p)->value, (n), UINT8_MAX, __func__)
#define sgc_a8_and(p, bits) weak_sc_and((p), (p)->value, (bits), __func__)
#define sgc_a32_add(p, n) weak_sc_add((p), (p)->value, (n), UINT32_MAX, __func__)
#define sgc_a32_cas(p, e, d) weak_sc_exchange((p), (p)->value, (e), (d), __func__)
#define sgc_aw_cas(p, e, d) weak_sc_exchange((p), (p)->value, (e), (d), __func__)

/* ---- exploring ---- */

static void (*weak_sc_prepare)(void);

static void weak_sc_before(void)
{
    memset(weak_one_order, 0, sizeof weak_one_order);
    weak_sc_prepare();
}

/* Like weak_explore: from the beginning whenever one more variable turns out to be shared. */
static const char *weak_explore_sc(void (*before)(void), void (*const body[WEAK_THREADS])(void),
                                   const char *(*after)(void), size_t *runs)
{
    const char *complaint;

    weak_sc_prepare = before;
    memset(weak_sc_known, 0, sizeof weak_sc_known);
    do {
        weak_sc_learned = false;
        complaint = weak_explore(weak_sc_before, body, after, runs);
    } while (weak_sc_learned);
    return complaint;
}

#endif
