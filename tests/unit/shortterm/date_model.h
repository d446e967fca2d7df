/* SPDX-License-Identifier: MIT */
/*
 * A plain model of short-term memory, for one call at a time: which dates there are, and what is over by a call.  It knows
 * threads that end, their clocks, global time, holds, and regions.  Who includes this says what becomes of what is over.
 */
#ifndef TESTS_DATE_MODEL_H
#define TESTS_DATE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { THREADS = 4, CLOCKS = 2, OBJECTS = 48, REGIONS = 6, TARGETS = OBJECTS + REGIONS, MOST_DATES = 20, N = 3 };
enum { LOCAL, GLOBAL, FIRST_CLOCK };                        /* clocks of a thread */
enum { GATHERED = -1, WAITING = -2, NOBODY = -3 };          /* instead of the thread that made a date */

struct model_date {
    int target, thread, clock;          /* target: an object; OBJECTS and more: a region */
    unsigned later;                     /* ticks before the one by which it is over */
};

static struct model {
    struct model_date date[TARGETS * MOST_DATES];
    int dates;
    int of[TARGETS];                    /* of a target, with all holds of an object as one */
    int holds[OBJECTS];
    struct { bool there, has_called, in_time, ticked, clock[CLOCKS]; } thread[THREADS];
    struct { int owner; bool there, closed, orphan, over; } region[REGIONS];
    uint32_t time, until;
} model;

/* An object has lost its last date, by that thread; a region is emptied. */
static void object_is_over(int object);
static void region_is_emptied(int region);

/* ---- dates ---- */

static void region_is_over(int region, int taker)
{
    bool closed = model.region[region].closed, orphan = model.region[region].orphan;

    model.region[region].over = true;
    if (model.region[region].owner != taker && !closed && !orphan)
        return;
    region_is_emptied(region);
    model.region[region].over = false;
    model.region[region].there = !closed;
}

static void lose_date(int target, int taker)
{
    if (--model.of[target] != 0)
        return;
    if (target < OBJECTS)
        object_is_over(target);
    else
        region_is_over(target - OBJECTS, taker);
}

static bool model_has_room(int target)
{
    return model.of[target] < MOST_DATES - 1;
}

static void model_date(int target, int thread, int clock, unsigned extension)
{
    model.date[model.dates++] = (struct model_date){ target, thread, clock, extension + (clock == GLOBAL ? 2 : 0) };
    model.of[target]++;
}

/* The dates of a thread's clock: regions or objects; those that are not over come nearer; `all`: they all are. */
static void pass(int thread, int clock, bool regions, bool all, int taker)
{
    for (int i = model.dates - 1; i >= 0; i--) {
        struct model_date *d = &model.date[i];
        int target = d->target;

        if (d->thread != thread || (thread >= 0 && d->clock != clock) || (target >= OBJECTS) != regions)
            continue;
        if (!all && d->later != 0) {
            d->later--;
            continue;
        }
        *d = model.date[--model.dates];
        lose_date(target, taker);
    }
}

static void model_tick(int thread, int clock, bool all)
{
    pass(thread, clock, true, all, thread);
    pass(thread, clock, false, all, thread);
}

static void model_hold(int object)
{
    if (model.holds[object]++ == 0)
        model.of[object]++;
}

static void model_unhold(int object)
{
    if (--model.holds[object] == 0)
        lose_date(object, NOBODY);
}

/* ---- global time ---- */

static bool somebody_is(bool waited_for)
{
    for (int t = 0; t < THREADS; t++)
        if (model.thread[t].in_time && !(waited_for && model.thread[t].ticked))
            return true;
    return false;
}

static void go_on_if_nobody_is_waited_for(void)
{
    if (somebody_is(true))
        return;
    model.time++;
    for (int t = 0; t < THREADS; t++)
        model.thread[t].ticked = false;
}

static void model_join(int thread)
{
    if (model.thread[thread].in_time)
        return;
    model.thread[thread].ticked = somebody_is(false);
    model.thread[thread].in_time = true;
}

static bool leave_time(int thread)
{
    if (!model.thread[thread].in_time)
        return false;
    model.thread[thread].in_time = false;
    go_on_if_nobody_is_waited_for();
    return true;
}

static bool left(int what)
{
    for (int i = 0; i < model.dates; i++)
        if (model.date[i].thread == what)
            return true;
    return false;
}

static void begin_turn(void)
{
    if (left(WAITING) || !left(GATHERED))
        return;
    for (int i = 0; i < model.dates; i++)
        if (model.date[i].thread == GATHERED)
            model.date[i].thread = WAITING;
    model.until = model.time + N + 3;
}

/* The thread takes off what others have left, if that is over. */
static void take_waiting(int thread)
{
    if (!left(WAITING) || (int32_t)(model.time - model.until) < 0)
        return;
    pass(WAITING, 0, true, true, thread);
    pass(WAITING, 0, false, true, thread);
    begin_turn();
}

static void model_tick_global(int thread)
{
    model_join(thread);
    if (model.thread[thread].ticked)
        return;
    model.thread[thread].ticked = true;
    go_on_if_nobody_is_waited_for();
    take_waiting(thread);
    model_tick(thread, GLOBAL, false);
}

static bool model_leave_time(int thread)
{
    if (!leave_time(thread))
        return false;
    take_waiting(thread);
    return true;
}

/* ---- threads ---- */

/* Its regions are nobody's; those of which it leaves dates are orphans. */
static void leave_regions(int thread)
{
    for (int i = 0; i < model.dates; i++) {
        int region = model.date[i].target - OBJECTS;

        if (region >= 0 && model.date[i].thread == thread && model.region[region].owner == thread)
            model.region[region].orphan = true;
    }
    pass(thread, LOCAL, true, true, thread);
    for (int r = 0; r < REGIONS; r++)
        if (model.region[r].owner == thread)
            model.region[r].owner = NOBODY;
}

/* A thread that has called nothing is not known. */
static void model_end(int thread)
{
    if (model.thread[thread].has_called)
        take_waiting(thread);
    model.thread[thread].has_called = false;
    for (int c = 0; c < CLOCKS; c++) {
        model_tick(thread, FIRST_CLOCK + c, true);
        model.thread[thread].clock[c] = false;
    }
    pass(thread, LOCAL, false, true, thread);
    leave_time(thread);
    leave_regions(thread);
    for (int i = 0; i < model.dates; i++)
        if (model.date[i].thread == thread)
            model.date[i].thread = GATHERED;
    begin_turn();
    model.thread[thread].there = false;
}

/* ---- regions ---- */

/* Its owner uses it. */
static void model_use(int region)
{
    if (!model.region[region].over)
        return;
    region_is_emptied(region);
    model.region[region].over = false;
}

#endif
