/* SPDX-License-Identifier: MIT */
/*
 * What is to be done with an object that has expired is done once, and then the object goes, or with verify is looked for,
 * whatever comes between the tick and the moment at which its date is taken off: a collection, though the program still leads
 * to the object, a wait, a fork, a hold, another date, the end of the thread.  For each sort of objects, lazily and eagerly.
 */
#define GC_THREADS

#include "gc/gc.h"
#include "gc/gc_typed.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { OBJECTS = 1000, SORTS = 6 };

static void *table[OBJECTS];            /* leads to all of them */
static int called;
static int mode, collect;

/* Takes the object out of the table, as a cache would. */
static int take_out(void *object)
{
    called++;
    for (int i = 0; i < OBJECTS; i++)
        if (table[i] == object)
            table[i] = NULL;
    return 0;
}

static void *make_sort(int i)
{
    GC_word bitmap[1] = { 3 };

    switch (i % SORTS) {
    case 0: return SGC_malloc_dated(40, 0, SGC_SHORTTERM_FREEABLE);
    case 1: return SGC_malloc_dated(24, 0, SGC_SHORTTERM_FREEABLE | SGC_SHORTTERM_ATOMIC);
    case 2: return SGC_malloc_dated(i % 40 == 0 ? 100000 : 300, 0, SGC_SHORTTERM_FREEABLE);
    case 3: return GC_malloc_uncollectable(64);
    case 4: return GC_malloc_explicitly_typed(64, GC_make_descriptor(bitmap, 8));
    default: return GC_debug_malloc(64, "here.c", i);
    }
}

/* In mode hybrid only those that are marked so may be freed. */
static bool goes(int i)
{
    return mode != SGC_SHORTTERM_HYBRID || i % SORTS < 3;
}

static int make(void)
{
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        table[i] = make_sort(goes(i) ? i : 0);
        wrong += i % SORTS >= 3 && goes(i) && SGC_refresh(table[i], 0) != 0;
        wrong += SGC_set_expiry_proc(table[i], take_out) != 0;
    }
    return wrong;
}

/* Goes on as programs do, with objects and dates of others. */
static void go_on(void)
{
    for (int i = 0; i < OBJECTS; i++)
        SGC_refresh(GC_MALLOC(32), 0);
    SGC_tick();
    SGC_expire(SIZE_MAX);
}

static int all_gone(void)
{
    int left = 0;

    for (int i = 0; i < OBJECTS; i++)
        left += table[i] != NULL;
    return called == OBJECTS && left == 0 ? 0 : 1;
}

/* ---- what comes between ---- */

static void collects(void)
{
    GC_gcollect();
    GC_gcollect();
}

static void *waits(void *unused)
{
    GC_gcollect();
    return unused;
}

static void blocks(void) { GC_do_blocking(waits, NULL); }

static void collects_itself(void)
{
    for (int i = 0; i < 200; i++)
        GC_MALLOC_ATOMIC(1 << 20);
}

static void holds(void)
{
    int before = called;

    for (int i = 0; i < OBJECTS; i++)
        if (table[i] != NULL)
            SGC_hold(table[i]);
    GC_gcollect();
    if (called != before)
        called = -OBJECTS;              /* a hold is a date, too */
    for (int i = 0; i < OBJECTS; i++)
        if (table[i] != NULL)
            SGC_unhold(table[i]);
}

static void another_clock(void)
{
    SGC_clock_t *clock = SGC_clock_new();

    for (int i = 0; i < OBJECTS; i += 2)
        if (table[i] != NULL)
            SGC_refresh_clock(table[i], 1, clock);
    GC_gcollect();
    SGC_tick_clock(clock);
    GC_gcollect();
    SGC_clock_release(clock);
    GC_gcollect();
}

static void nothing(void) { }

static void (*between)(void);
static void *(*thread_body)(void *);

static int expires(void)
{
    if (make() != 0)
        return 2;
    SGC_tick();
    between();
    go_on();
    return all_gone();
}

static int forks(void)
{
    if (make() != 0)
        return 2;
    SGC_tick();
    GC_gcollect();
    return run_in_child(all_gone) == 0 ? 3 : 0;     /* not yet there */
}

static int goes_on_in_child(void)
{
    GC_gcollect();
    go_on();
    return all_gone();
}

static int forked(void)
{
    int status;

    GC_set_handle_fork(1);
    if (collect == SGC_SHORTTERM_EAGER || mode == SGC_SHORTTERM_VERIFY)
        return 0;                       /* the tick has called them */
    status = forks();
    if (status == 0)
        status = run_in_child(goes_on_in_child);
    return status != 0 ? status : goes_on_in_child();
}

static void *ends(void *unused)
{
    make();
    SGC_tick();
    GC_gcollect();
    return unused;
}

/* The thread ends within the first of them. */
static int end_there(void *object)
{
    if (called == 0) {
        take_out(object);
        pthread_exit(NULL);
    }
    return take_out(object);
}

static void *ends_within(void *unused)
{
    make();
    for (int i = 0; i < OBJECTS; i++)
        SGC_set_expiry_proc(table[i], end_there);
    SGC_tick();
    GC_gcollect();
    go_on();
    return unused;
}

static int after_thread(void)
{
    pthread_join(thread_start(thread_body, NULL), NULL);
    GC_gcollect();
    go_on();
    return all_gone();
}

/* ---- the table ---- */

static const struct test {
    int (*body)(void);
    void (*between)(void);
    void *(*thread_body)(void *);
    const char *name;
} tests[] = {
    { expires, nothing, NULL, "nothing" },
    { expires, collects, NULL, "collections" },
    { expires, collects_itself, NULL, "collections by allocation" },
    { expires, blocks, NULL, "a wait" },
    { expires, holds, NULL, "holds" },
    { expires, another_clock, NULL, "dates of another clock" },
    { forked, NULL, NULL, "a fork" },
    { after_thread, NULL, ends, "the end of the thread" },
    { after_thread, NULL, ends_within, "the end of the thread within the first call" },
};
static int run(const struct test *test)
{
    between = test->between;
    thread_body = test->thread_body;
    if (mode == SGC_SHORTTERM_VERIFY)
        setenv("SGC_SHORTTERM_CHECK", "1", 1);
    choose(mode, 3, collect, -1, -1);
    return test->body();
}

int main(void)
{
    static const char *const names[] = { "lazily", "eagerly" };

    unsetenv("SGC_SHORTTERM");
    for (mode = SGC_SHORTTERM_FREE; mode <= SGC_SHORTTERM_VERIFY; mode++)
        for (collect = 0; collect < 2; collect++)
            for (const struct test *test = tests; test < tests + sizeof tests / sizeof tests[0]; test++)
                child_ok_of(run(test), "%s, %s: with %s between all are called once", mode_names[mode], names[collect],
                            test->name);
    return tap_done();
}
