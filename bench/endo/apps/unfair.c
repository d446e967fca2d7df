/* SPDX-License-Identifier: MIT */
/*
 * Unfair: one thread at a time allocates about 5 MB and releases it, then another does ([Endo], 2.4 and figure 2.5).  What
 * the threads need at a time is little, what each needs at its time adds up to a lot.
 *
 * Ours, since the thesis does not say: the threads take turns in a circle; objects are of one size, linked to a list, and
 * released one by one.  The collector gets empty pages back, and knows how many had been in use, by collections, so there is
 * one when all is allocated and one when all is released.
 *
 * With more `sharers` so many threads have a turn together: they allocate one after the other, first another one in each turn,
 * hold what they have until all of them have allocated, and release it.  With all threads they need the same at the same time.
 * With two `kinds` the objects of every second turn are uncollectable: a thread that finds its own pages of the same kind empty
 * goes on with them, under each policy, and asks for none.
 *
 * The check, in each turn: the objects are there, with what was written into them.
 */
#include <stdio.h>

#include "bench/endo/apps/app.h"

enum { OBJECTS, SIZE, TURNS, SHARERS, KINDS, PARAMETERS };

static struct app_parameter parameters[PARAMETERS] = {
    [OBJECTS] = { "objects", 1, 100000000, { 5040, 81920, 0, 0, 0 }, 0 },      /* of all who have a turn */
    [SIZE] = { "size", 16, 16384, { 1008, 48, 0, 0, 0 }, 0 },
    [TURNS] = { "turns", 1, 100000, { 6, 10, 0, 0, 0 }, 0 },                   /* of each thread */
    [SHARERS] = { "sharers", 1, 1024, { 1, 1, 0, 0, 0 }, 0 },
    [KINDS] = { "kinds", 1, 2, { 1, 1, 0, 0, 0 }, 0 },
};

struct object {
    struct object *next;
    long number;
};

static struct {
    long bytes;                 /* with one turn's objects */
    long number;                /* the sum of their numbers */
} turn;
static struct app_counts counted;
static double demand, demands;  /* bytes: the most of a turn, and of each thread's turn, summed up */

static long sharers(void)
{
    return parameters[SHARERS].chosen < app_threads() ? parameters[SHARERS].chosen : app_threads();
}

static long objects(void)
{
    return parameters[OBJECTS].chosen / sharers();
}

static struct object *new_object(long i, long number)
{
    size_t size = (size_t)parameters[SIZE].chosen;

    return number % parameters[KINDS].chosen == 0 ? app_new(i, size) : app_new_uncollectable(i, size);
}

/* By one thread at a time. */
static struct object *allocate_all(long i, long number)
{
    struct object *first = NULL;

    for (long n = 0; n < objects(); n++) {
        struct object *o = new_object(i, number);

        o->number = n;
        STORE(&o->next, first);
        first = o;
        turn.bytes += (long)GC_size(o);
    }
    return first;
}

/* By one thread at a time. */
static void check(const struct object *o)
{
    for (; o != NULL; o = o->next)
        turn.number += o->number;
}

static void release_all(struct object *first)
{
    while (first != NULL) {
        struct object *next = first->next;

        GC_free(first);
        first = next;
    }
}

/* All of a turn's objects are there, and nothing else. */
static void collect_at_most(void)
{
    long right = sharers() * (objects() * (objects() - 1) / 2);

    result_check(turn.number + app_spoil() == right, "objects of a turn are lost or damaged");
    app_live_since(counted);
    demand = (double)turn.bytes > demand ? (double)turn.bytes : demand;
    GC_gcollect();
}

static void collect_nothing(void)
{
    GC_gcollect();
    turn.bytes = turn.number = 0;
    counted = app_allocated();
}

/* A turn of those from `first` on; which of them begins changes with its number. */
static void take_turn(long i, long first, long number)
{
    struct object *mine = NULL;
    long order = (i - first + number) % sharers();
    bool is_mine = i >= first && i < first + sharers();

    for (long step = 0; step < sharers(); step++) {
        if (is_mine && order == step) {
            mine = allocate_all(i, number);
            check(mine);
        }
        app_barrier();
    }
    if (i == 0)
        collect_at_most();
    app_barrier();
    release_all(mine);
    app_barrier();
    if (i == 0)
        collect_nothing();
    app_barrier();
}

static void body(long i)
{
    for (long number = 0; number < parameters[TURNS].chosen; number++)
        for (long first = 0; first < app_threads(); first += sharers())
            take_turn(i, first, number);
}

/* Each thread has as many turns as any other, and each turn as many sharers. */
static void check_sharers(void)
{
    char text[24];

    snprintf(text, sizeof text, "%ld", sharers());
    if (app_threads() % sharers() != 0)
        app_refuse("--sharers", text, "expected a divisor of the number of threads");
    if (objects() == 0)
        app_refuse("--sharers", text, "expected at least an object for each");
}

int main(int argc, char **argv)
{
    app_begin(argc, argv, "unfair", parameters, PARAMETERS);
    check_sharers();
    app_run(body);
    demands = demand / (double)sharers() * (double)app_threads();
    figure("demand_mb", demand / 1048576.0, "MB");
    figure("demands_mb", demands / 1048576.0, "MB");
    return app_end(result_digest(0, &demand, sizeof demand));
}
