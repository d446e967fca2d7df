/* SPDX-License-Identifier: MIT */
/*
 * Explores every run of a few threads under the memory orders of C11: takes the place of platform/atomics.h for one
 * source file, which a test includes after this header.
 *
 * The threads are coroutines.  Each shared variable keeps all values it has ever had, in their order; each
 * thread has a view, which says how far along it is in each variable.  A load returns any value from there on.  A
 * release passes the thread's view on with the value, an acquire joins the view that came with the value it read, and
 * a read-modify-write passes on what came with the value it replaces.  So a relaxed store is seen late or never, which
 * is one half of what processors and compilers do.  For the other half, a load whose value is only passed on (those
 * in the function WEAK_DEFERRED) is performed as late as the orders allow: at its thread's next release, or never.
 * Not explored: stores before loads on which they depend by a branch, which no processor does.
 *
 * A run is a list of choices (which thread is next, which value a load returns); depth first, each is taken.
 * A thread is interrupted only before the loads that lead to a write: loads earlier than that would find nothing that
 * the same loads then, with old values to choose from, don't.
 *
 * Each access in the source is a site, known by its function and operation; weak_weaken takes orders away from one.
 */
#ifndef TESTS_LIB_WEAK_H
#define TESTS_LIB_WEAK_H

#define SGC_PLATFORM_ATOMICS_H

#include "tests/lib/weak_state.h"

/* ---- loads performed late ---- */

static void weak_perform(struct weak_load *load)
{
    const struct weak_variable *v = &weak.variable[load->variable];
    int i = load->from + weak_choose(v->count - load->from);

    load->performed = true;
    load->value = v->value[i].value;
    for (struct weak_load *later = load + 1; later < weak.load + weak.loads; later++)
        if (later->thread == load->thread && later->variable == load->variable && later->from < i)
            later->from = i;
}

static void weak_perform_own(void)
{
    for (int i = 0; i < weak.loads; i++)
        if (weak.load[i].thread == weak.current && !weak.load[i].performed)
            weak_perform(&weak.load[i]);
}

/* What a value that was passed on turned out to be. */
static uintptr_t weak_value_of(uintptr_t value)
{
    while (value >= WEAK_TOKEN) {
        struct weak_load *load = &weak.load[value - WEAK_TOKEN];

        if (!load->performed)
            weak_perform(load);
        value = load->value;
    }
    return value;
}

/* Nobody else writes what this thread has written. */
static uintptr_t weak_defer(int v)
{
    const struct weak_variable *variable = &weak.variable[v];

    if (variable->writer == weak.current)
        return variable->value[variable->count - 1].value;
    if (weak.loads == WEAK_LOADS)
        weak_fail("too many loads for this test");
    weak.load[weak.loads] = (struct weak_load){ weak.current, v, weak_self()->view[v], false, 0 };
    return WEAK_TOKEN + (uintptr_t)weak.loads++;
}

/* ---- the operations ---- */

static bool weak_deferred(const char *function)
{
    return strcmp(function, WEAK_DEFERRED) == 0;
}

static uintptr_t weak_load(const void *p, uintptr_t initial, enum weak_order order, const char *function,
                           const char *operation)
{
    int v = weak_find(p, initial);

    order = weak_order_of(function, operation, order);
    if (weak_deferred(function))
        return weak_defer(v);
    weak.variable[v].looked_at = true;
    weak_point(true);
    int from = weak_self()->view[v];
    return weak_read(v, from + weak_choose(weak.variable[v].count - from), order);
}

static void weak_written(void)
{
    weak_self()->fresh = false;
    for (int i = 0; i < WEAK_THREADS; i++)
        weak.thread[i].waits = false;
}

/* Stores to what is loaded late only are no reason to let another thread go first: seeing one is a choice. */
static void weak_store(const void *p, uintptr_t initial, uintptr_t value, enum weak_order order, const char *function,
                       const char *operation, bool passed_on)
{
    int v = weak_find(p, initial);
    const struct weak_variable *variable = &weak.variable[v];

    order = weak_order_of(function, operation, order);
    if (passed_on)
        weak_self()->fresh = false;
    else
        weak_point(false);
    if ((order & WEAK_RELEASE) != 0)
        weak_perform_own();
    if (passed_on ? variable->writer >= 0 && variable->writer != weak.current
                  : weak_self()->view[v] != variable->count - 1)
        weak_fail("a store over a value that its thread has not seen");
    weak_append(v, value, order, NULL);
    if (!passed_on)
        weak_written();
}

/* `replace`: only if it is `expected`.  A failed exchange is a load of any other value. */
static bool weak_exchange(const void *p, uintptr_t initial, bool replace, uintptr_t expected, uintptr_t desired,
                          uintptr_t *old, enum weak_order order, const char *function, const char *operation)
{
    int v = weak_find(p, initial), list[WEAK_VALUES], n = 0, last, i;

    order = weak_order_of(function, operation, order);
    weak.variable[v].looked_at = true;
    weak_point(false);
    last = weak.variable[v].count - 1;
    for (i = last; i >= weak_self()->view[v]; i--)
        if (replace ? i == last || weak.variable[v].value[i].value != expected : i == last)
            list[n++] = i;
    i = list[weak_choose(n)];
    *old = weak.variable[v].value[i].value;
    if (i == last && (!replace || *old == expected) && (order & WEAK_RELEASE) != 0)
        weak_perform_own();
    weak_read(v, i, order);
    if (i != last || (replace && *old != expected))
        return false;
    weak_append(v, desired, order, weak.variable[v].value[i].view);
    weak_written();
    return true;
}

static inline bool weak_cas(const void *p, uintptr_t initial, uintptr_t expected, uintptr_t desired,
                            const char *function)
{
    uintptr_t old;

    return weak_exchange(p, initial, true, expected, desired, &old, WEAK_BOTH, function, "cas");
}

static inline uintptr_t weak_swap(const void *p, uintptr_t initial, uintptr_t desired, const char *function)
{
    uintptr_t old;

    weak_exchange(p, initial, false, 0, desired, &old, WEAK_BOTH, function, "swap");
    return old;
}

#define sgc_aw_load(p) weak_load((p), (p)->value, WEAK_RELAXED, __func__, "load")
#define sgc_aw_load_acq(p) weak_load((p), (p)->value, WEAK_ACQUIRE, __func__, "load_acq")
#define sgc_aw_store(p, v) weak_store((p), (p)->value, (v), WEAK_RELAXED, __func__, "store", true)
#define sgc_aw_store_rel(p, v) weak_store((p), (p)->value, (v), WEAK_RELEASE, __func__, "store_rel", false)
#define sgc_aw_cas(p, e, d) weak_cas((p), (p)->value, (e), (d), __func__)
#define sgc_a32_load(p) ((uint32_t)weak_load((p), (p)->value, WEAK_RELAXED, __func__, "load"))
#define sgc_a32_cas(p, e, d) weak_cas((p), (p)->value, (e), (d), __func__)
#define sgc_a32_swap(p, d) ((uint32_t)weak_swap((p), (p)->value, (d), __func__))

/* ---- exploring ---- */

static void weak_begin_run(void (*const body[WEAK_THREADS])(void))
{
    weak.variables = weak.loads = weak.steps = weak.position = 0;
    weak.failure = NULL;
    for (int i = 0; i < WEAK_THREADS; i++) {
        struct weak_thread *t = &weak.thread[i];

        t->body = body[i];
        t->running = body[i] != NULL;
        t->waits = t->fresh = false;
        memset(t->view, 0, sizeof t->view);
        getcontext(&t->context);
        t->context.uc_stack.ss_sp = weak_stack[i];
        t->context.uc_stack.ss_size = sizeof weak_stack[i];
        makecontext(&t->context, weak_body, 0);
    }
}

/* Runs the bodies (NULL: none) until all have ended or none can go on. */
static void weak_run(void (*const body[WEAK_THREADS])(void))
{
    static volatile bool begun;

    weak_begin_run(body);
    begun = false;
    weak.inside = true;
    getcontext(&weak.main);
    if (!begun) {
        begun = true;
        weak.current = 0;
        setcontext(&weak.thread[0].context);
    }
    weak.inside = false;
    for (int i = 0; weak.failure == NULL && i < WEAK_THREADS; i++)
        if (weak.thread[i].running)
            weak.failure = "threads wait for each other";
}

/* Every run: before() prepares, after() judges (NULL: right).  Stops at the first that is wrong; its complaint, or
 * NULL. */
static const char *weak_explore(void (*before)(void), void (*const body[WEAK_THREADS])(void),
                                const char *(*after)(void), size_t *runs)
{
    weak.choices = 0;
    *runs = 0;
    do {
        before();
        weak_run(body);
        ++*runs;
        if (weak.failure == NULL)
            weak.failure = after();
        if (weak.failure != NULL)
            return weak.failure;
    } while (weak_next());
    return NULL;
}

/* Takes `by` away from the orders of a site that has been seen; NULL: from none. */
static void weak_weaken(const struct weak_site *site, enum weak_order by)
{
    weak.weakened = site;
    weak.weak_by = by;
}

/* ---- a test: every play is right, and each order is there for something ---- */

struct weak_play {
    const char *name;
    int form;                               /* what it begins with: for run */
    uintptr_t with[3];
    void (*body[WEAK_THREADS])(void);
    bool long_one;                          /* the others say all that it says about single accesses */
    const char *script;                     /* for the bodies */
};

enum weak_result { MISSED, NOT_MISSED, RELAXED };

/* An access to a variable that threads share, and what its order is for, or why none is needed. */
struct weak_access {
    const char *function, *operation;
    unsigned order;                         /* taken away */
    enum weak_result result;                /* whether some play misses it */
    const char *why;
};

struct weak_test {
    const char *(*run)(const struct weak_play *play, size_t *runs);
    const struct weak_play *play;
    const struct weak_access *access;       /* every one, or the test fails */
    size_t plays, accesses;
    size_t least;                           /* runs of a play */
};

static bool weak_is_at(const struct weak_access *access, const struct weak_site *site)
{
    return strcmp(access->function, site->function) == 0 && strcmp(access->operation, site->operation) == 0;
}

static const struct weak_access *weak_listed(const struct weak_test *t, const struct weak_site *site, unsigned order)
{
    for (size_t i = 0; i < t->accesses; i++)
        if (weak_is_at(&t->access[i], site) && t->access[i].order == order)
            return &t->access[i];
    return NULL;
}

static void weak_test_right(const struct weak_test *t)
{
    for (size_t i = 0; i < t->plays; i++) {
        size_t runs;
        const char *complaint = t->run(&t->play[i], &runs);

        tap_ok(complaint == NULL && runs > t->least, "%s: %zu runs, %s", t->play[i].name, runs,
               complaint == NULL ? "all right" : complaint);
    }
}

/* Does the code have what the table has? */
static void weak_test_table(const struct weak_test *t)
{
    for (size_t i = 0; i < t->accesses; i++) {
        const struct weak_access *access = &t->access[i];
        bool made = false;

        for (int k = 0; k < weak.sites; k++)
            made = made || (weak_is_at(access, &weak.site[k]) && (access->order & weak.site[k].order) == access->order &&
                            (access->order != WEAK_RELAXED || weak.site[k].order == WEAK_RELAXED));
        tap_ok(made, "%s, %s: the plays make this access", access->function, access->operation);
    }
}

/* What some play says to the site without this order, or NULL. */
static const char *weak_without(const struct weak_test *t, const struct weak_site *site, unsigned order, const char **where)
{
    const char *complaint = NULL;

    weak_weaken(site, (enum weak_order)order);
    for (size_t i = 0; complaint == NULL && i < t->plays; i++) {
        size_t runs;

        if (t->play[i].long_one)
            continue;
        *where = t->play[i].name;
        complaint = t->run(&t->play[i], &runs);
    }
    weak_weaken(NULL, WEAK_RELAXED);
    return complaint;
}

static void weak_test_order(const struct weak_test *t, const struct weak_site *site, unsigned order, const char *name)
{
    const struct weak_access *access = weak_listed(t, site, order);
    const char *where = "", *complaint;

    tap_ok(access != NULL, "%s, %s: its %s is in the table", site->function, site->operation, name);
    if (access == NULL || order == WEAK_RELAXED)
        return;
    complaint = weak_without(t, site, order, &where);
    tap_ok((access->result == MISSED) == (complaint != NULL), "without it: %s (%s; %s)",
           complaint != NULL ? complaint : "nothing happens", access->why, complaint != NULL ? where : "any play");
}

static int weak_test_all(const struct weak_test *t)
{
    weak_test_right(t);
    weak_test_table(t);
    for (int i = 0, sites = weak.sites; i < sites; i++) {
        const struct weak_site *site = &weak.site[i];

        if (site->order == WEAK_RELAXED)
            weak_test_order(t, site, WEAK_RELAXED, "being relaxed");
        if ((site->order & WEAK_ACQUIRE) != 0)
            weak_test_order(t, site, WEAK_ACQUIRE, "acquire");
        if ((site->order & WEAK_RELEASE) != 0)
            weak_test_order(t, site, WEAK_RELEASE, "release");
        if ((site->order & WEAK_SC) != 0)
            weak_test_order(t, site, WEAK_SC, "place in the one order");
    }
    return tap_done();
}

#endif
