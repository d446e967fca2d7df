/* SPDX-License-Identifier: MIT */
/* The loops that are measured: bench/shortterm/loops.h. */
#include "bench/shortterm/loops.h"

#include "bench/shortterm/arena.h"

struct loops loops;

#define TIMED __attribute__((noinline)) void

TIMED timed_pairs(const struct library *l, size_t size)
{
    for (size_t i = 0; i < loops.batch; i++)
        l->free(l->new(size));
}

TIMED timed_batches(const struct library *l, size_t size)
{
    for (size_t i = 0; i < loops.batch; i++)
        loops.objects[i] = l->new(size);
    for (size_t i = 0; i < loops.batch; i++)
        l->free(loops.objects[i]);
}

TIMED timed_cycles(const struct library *l, size_t size)
{
    for (size_t i = 0; i < loops.batch; i++)
        l->refresh(l->new(size), 0);
    l->tick();
}

TIMED timed_dated(int flags, size_t size)
{
    const struct app_dates *dates = app_dates();

    for (size_t i = 0; i < loops.batch; i++)
        dates->malloc_dated(size, 0, flags);
    dates->tick();
}

/* The region is full when its date is over. */
TIMED timed_region(const struct library *l, size_t size)
{
    const struct app_dates *dates = app_dates();

    for (size_t i = 0; i < loops.batch; i++)
        dates->region_malloc(loops.region, size);
    dates->region_refresh(loops.region, 0);
    l->tick();
}

/* The published libscm's regions have numbers. */
TIMED timed_numbered(const struct library *l, size_t size)
{
    static int number = -1;

    if (number < 0)
        number = l->region_new();
    for (size_t i = 0; i < loops.batch; i++)
        l->region_malloc(size, number);
    l->region_refresh(number, 0);
    l->tick();
}

TIMED timed_arena(const struct library *l, size_t size)
{
    for (size_t i = 0; i < loops.batch; i++)
        l->new(size);
    arena_reset();
}

/* ---- a request: objects of several sizes are made, written and read, and go at its end ---- */

static size_t size_of_request(size_t i)
{
    static const unsigned short sizes[] = { 24, 48, 16, 128, 32, 64, 256, 40, 16, 96, 32, 512, 24, 64, 48, 160 };

    return sizes[i % (sizeof sizes / sizeof sizes[0])];
}

static void work_on(char *object, size_t i)
{
    object[0] = (char)i;
    object[size_of_request(i) - 1] = (char)i;
    loops.objects[i] = object;
}

static void look_through(void)
{
    static volatile char sum;

    for (size_t i = 0; i < loops.batch; i++)
        sum ^= *(const char *)loops.objects[i];
}

TIMED timed_request(const struct library *l, size_t unused)
{
    (void)unused;
    for (size_t i = 0; i < loops.batch; i++)
        work_on(l->new(size_of_request(i)), i);
    look_through();
    for (size_t i = 0; i < loops.batch; i++)
        l->free(loops.objects[i]);
}

TIMED timed_request_dated(const struct library *l, size_t unused)
{
    (void)unused;
    for (size_t i = 0; i < loops.batch; i++)
        work_on(app_dates()->malloc_dated(size_of_request(i), 0, 0), i);
    look_through();
    l->tick();
}

TIMED timed_request_region(const struct library *l, size_t unused)
{
    (void)unused;
    for (size_t i = 0; i < loops.batch; i++)
        work_on(app_dates()->region_malloc(loops.region, size_of_request(i)), i);
    look_through();
    app_dates()->region_refresh(loops.region, 0);
    l->tick();
}

TIMED timed_request_arena(const struct library *l, size_t unused)
{
    (void)unused;
    for (size_t i = 0; i < loops.batch; i++)
        work_on(l->new(size_of_request(i)), i);
    look_through();
    arena_reset();
}

/* ---- of holds ---- */

TIMED timed_holds(const struct library *l, size_t size)
{
    const struct app_dates *dates = app_dates();

    (void)l;
    (void)size;
    for (size_t i = 0; i < loops.batch; i++)
        dates->hold(loops.objects[i]);
    for (size_t i = 0; i < loops.batch; i++)
        dates->unhold(loops.objects[i]);
}

TIMED timed_refreshes(void (*refresh)(void *, unsigned))
{
    for (size_t i = 0; i < loops.batch; i++)
        refresh(loops.objects[i], 0);
}

TIMED timed_ticks(void (*tick)(void))
{
    for (size_t i = 0; i < loops.batch; i++)
        tick();
}

TIMED timed_tick(void (*tick)(void))
{
    tick();
}
