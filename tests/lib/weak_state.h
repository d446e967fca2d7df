/* SPDX-License-Identifier: MIT */
/*
 * Part of tests/lib/weak.h: choices, threads, and variables that keep their values.
 */
#ifndef TESTS_LIB_WEAK_STATE_H
#define TESTS_LIB_WEAK_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "tests/lib/tap.h"

typedef struct { uintptr_t value; } sgc_aw_t;
typedef struct { uint32_t value; } sgc_a32_t;
typedef struct { uint8_t value; } sgc_a8_t;

enum weak_order { WEAK_RELAXED, WEAK_ACQUIRE, WEAK_RELEASE, WEAK_BOTH, WEAK_SC = 4 };     /* the last with either */

enum {
    WEAK_THREADS = 3,
    WEAK_VARIABLES = 64,
    WEAK_VALUES = 48,
    WEAK_LOADS = 64,
    WEAK_CHOICES = 256,
    WEAK_SITES = 32,
    WEAK_STEPS = 200,
};

static const uintptr_t WEAK_TOKEN = (uintptr_t)1 << 60;     /* plus a number: the value of a load not performed yet */

typedef uint8_t weak_view[WEAK_VARIABLES];

struct weak_value {
    uintptr_t value;
    bool changed;                       /* by a read-modify-write: nothing comes between it and the value before it */
    weak_view view;
};

struct weak_variable {
    const void *address;
    bool looked_at;                     /* its values decide what threads do next */
    int count;
    int writer;                         /* the last thread that wrote it; -1: none */
    struct weak_value value[WEAK_VALUES];
};

/* A load that is performed later. */
struct weak_load {
    int thread, variable;
    int from;                           /* the oldest value it may return */
    bool performed;
    uintptr_t value;
};

struct weak_thread {
    ucontext_t context;
    void (*body)(void);
    bool running, waits, fresh;
    weak_view view;
};

struct weak_site {
    const char *function, *operation;
    enum weak_order order;
};

static struct {
    struct weak_thread thread[WEAK_THREADS];
    ucontext_t main;
    int current, steps;
    struct weak_variable variable[WEAK_VARIABLES];
    int variables;
    struct weak_load load[WEAK_LOADS];
    int loads;
    struct { uint8_t chosen, of; } choice[WEAK_CHOICES];
    int choices, position;
    bool inside;                        /* a run */
    const char *failure;
    struct weak_site site[WEAK_SITES];
    int sites;
    const struct weak_site *weakened;
    enum weak_order weak_by;
} weak;

static char weak_stack[WEAK_THREADS][64 << 10];

/* ---- choices ---- */

/* Ends this run; does not return in a thread. */
static void weak_fail(const char *why)
{
    if (!weak.inside)
        tap_bail("%s", why);
    if (weak.failure == NULL)
        weak.failure = why;
    setcontext(&weak.main);
}

static int weak_choose(int of)
{
    if (of <= 1)
        return 0;
    if (weak.position == weak.choices) {
        if (weak.choices == WEAK_CHOICES)
            weak_fail("too many choices for this test");
        weak.choice[weak.choices].chosen = 0;
        weak.choice[weak.choices++].of = (uint8_t)of;
    }
    return weak.choice[weak.position++].chosen;
}

/* The next list of choices; false if all were taken. */
static bool weak_next(void)
{
    while (weak.choices > 0) {
        if (++weak.choice[weak.choices - 1].chosen < weak.choice[weak.choices - 1].of)
            return true;
        weak.choices--;
    }
    return false;
}

/* ---- threads ---- */

static struct weak_thread *weak_self(void)
{
    return &weak.thread[weak.current];
}

static int weak_runnable(int list[WEAK_THREADS])
{
    int n = 0;

    for (int i = 0; i < WEAK_THREADS; i++)
        if (weak.thread[i].running && !weak.thread[i].waits)
            list[n++] = i;
    return n;
}

/* Lets any thread go on. */
static void weak_switch(void)
{
    int list[WEAK_THREADS], n = weak_runnable(list), from = weak.current;

    if (++weak.steps > WEAK_STEPS)
        weak_fail("a run does not end");
    if (n == 0)
        setcontext(&weak.main);
    weak.current = list[weak_choose(n)];
    if (weak.current != from)
        swapcontext(&weak.thread[from].context, &weak.thread[weak.current].context);
}

/* Before an access that another thread may come before. */
static void weak_point(bool load)
{
    struct weak_thread *self = weak_self();

    if (!self->fresh)
        weak_switch();
    self->fresh = load;
}

static void weak_body(void)
{
    weak_self()->body();
    weak_self()->running = false;
    weak_switch();
}

/* Time passes: the thread sees the newest values.  True if they are new to it. */
static bool weak_catch_up(void)
{
    bool new = false;

    for (int v = 0; v < weak.variables; v++)
        if (weak.variable[v].looked_at && weak_self()->view[v] < weak.variable[v].count - 1) {
            weak_self()->view[v] = (uint8_t)(weak.variable[v].count - 1);
            new = true;
        }
    return new;
}

/* If there is nothing new, goes on after another thread has written something. */
static inline void weak_pass_time(void)
{
    if (weak_catch_up())
        return;
    weak_self()->waits = true;
    weak_self()->fresh = false;
    weak_switch();
    weak_catch_up();
}

/* ---- variables ---- */

static int weak_find(const void *address, uintptr_t initial)
{
    struct weak_variable *v;
    int i = 0;

    while (i < weak.variables && weak.variable[i].address != address)
        i++;
    if (i < weak.variables)
        return i;
    if (i == WEAK_VARIABLES)
        weak_fail("too many variables for this test");
    v = &weak.variable[weak.variables++];
    memset(v, 0, offsetof(struct weak_variable, value) + sizeof v->value[0]);
    v->address = address;
    v->count = 1;
    v->writer = -1;
    v->value[0].value = initial;
    return i;
}

static void weak_join(weak_view to, const weak_view from)
{
    for (int i = 0; i < weak.variables; i++)
        if (from[i] > to[i])
            to[i] = from[i];
}

static enum weak_order weak_order_of(const char *function, const char *operation, enum weak_order order)
{
    struct weak_site *site = weak.site;
    struct weak_site *end = weak.site + weak.sites;

    while (site < end && (site->function != function || strcmp(site->operation, operation) != 0))
        site++;
    if (site == end && weak.sites < WEAK_SITES) {
        *site = (struct weak_site){ function, operation, order };
        weak.sites++;
    }
    return site == weak.weakened ? order & ~weak.weak_by : order;
}

/* The thread reads value i of v. */
static uintptr_t weak_read(int v, int i, enum weak_order order)
{
    struct weak_value *value = &weak.variable[v].value[i];

    weak_self()->view[v] = (uint8_t)i;
    if ((order & WEAK_ACQUIRE) != 0)
        weak_join(weak_self()->view, value->view);
    return value->value;
}

/* Appends a value; `passed`: what came with the one it replaces. */
static void weak_append(int v, uintptr_t value, enum weak_order order, const weak_view passed)
{
    struct weak_variable *variable = &weak.variable[v];
    struct weak_value *new = &variable->value[variable->count];

    if (variable->count == WEAK_VALUES)
        weak_fail("too many values for this test");
    new->value = value;
    new->changed = passed != NULL;
    weak_self()->view[v] = (uint8_t)variable->count++;
    memset(new->view, 0, sizeof new->view);
    if ((order & WEAK_RELEASE) != 0)
        memcpy(new->view, weak_self()->view, sizeof new->view);
    if (passed != NULL)
        weak_join(new->view, passed);
    new->view[v] = (uint8_t)(variable->count - 1);
    variable->writer = weak.current;
}

#endif
