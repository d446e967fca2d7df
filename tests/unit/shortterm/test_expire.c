/* SPDX-License-Identifier: MIT */
/*
 * shortterm/expire.c, as a program sees it: when objects are freed, exactly, and which are left to the tracer.
 *
 * Each case is a process of its own, since the mode is chosen once.
 */
#define GC_THREADS

#include "gc/gc.h"
#include "shortterm/expire.h"
#include "shortterm/global_time.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { EAGER = SGC_SHORTTERM_EAGER, LAZY = SGC_SHORTTERM_LAZY };

static int mode = SGC_SHORTTERM_FREE;   /* or hybrid, with objects that may be freed */

static bool is_there(const void *object)
{
    return SGC_dates(object) >= 0;
}

/* ---- in time ---- */

/* NULL: it gets no date. */
static void *new_dated(unsigned e, int refresh(void *, unsigned))
{
    void *object;

    if (mode == SGC_SHORTTERM_HYBRID)
        return SGC_malloc_dated(40, e, SGC_SHORTTERM_FREEABLE | (refresh == SGC_refresh_global ? SGC_SHORTTERM_GLOBAL : 0));
    object = GC_MALLOC(40);
    return refresh(object, e) == 0 ? object : NULL;
}

/* An object with extension e is freed at the (e + more)-th tick and not before; how often that is wrong. */
static int freed_exactly(unsigned e, unsigned more, int refresh(void *, unsigned), int tick(void))
{
    void *object = new_dated(e, refresh);
    uint64_t before = figures().freed;
    int wrong = object == NULL;

    for (unsigned i = 1; i < e + more; i++)
        wrong += tick() != 0 || SGC_dates(object) != 1 || figures().freed != before;
    wrong += tick() != 0 || is_there(object) || figures().freed != before + 1;
    return wrong;
}

static int all_exactly(int n)
{
    int wrong = 0;

    for (int round = 0; round < 3; round++)
        for (int e = 0; e <= n; e += e == 1 && n > 3 ? n - 2 : 1) {
            wrong += freed_exactly((unsigned)e, 1, SGC_refresh, SGC_tick);
            wrong += freed_exactly((unsigned)e, 3, SGC_refresh_global, SGC_tick_global);
        }
    return wrong != 0;
}

static int exactly(int n, int collect, int step, int page)
{
    choose(mode, n, collect, step, page);
    return all_exactly(n);
}

static int near_the_end(void)
{
    choose(mode, 3, EAGER, -1, -1);
    sgc_time_reset(UINT32_MAX - 4);
    return all_exactly(3) != 0 || sgc_time_phase() > 100;
}

/* ---- several threads ---- */

enum { THREADS = 4, N = 10 };

static pthread_barrier_t barrier;
static int threads, wrong_in[THREADS];

/* Threads that tick once each in every round: thread `self` in its turn.  From the second round on each tick counts: who joins
 * others has ticked. */
static void *ticks_in_turn(void *raw)
{
    int self = (int)(intptr_t)raw, *wrong = &wrong_in[self];
    void *object = NULL;

    *wrong = SGC_join_time() != 0;
    for (int turn = 0; turn < threads; turn++) {
        pthread_barrier_wait(&barrier);
        *wrong += turn == self && SGC_tick_global() != 0;
    }
    for (unsigned e = 0; e <= N; e += e == 1 ? N - 2 : 1)
        for (unsigned round = 0; round <= e + 3; round++)
            for (int turn = 0; turn < threads; turn++) {
                pthread_barrier_wait(&barrier);
                if (turn != self)
                    continue;
                if (round != 0)
                    *wrong += SGC_tick_global() != 0 || is_there(object) != (round < e + 3);
                if (round == 0)
                    object = new_dated(e, SGC_refresh_global);
                *wrong += object == NULL;
            }
    pthread_barrier_wait(&barrier);
    return NULL;
}

static int in_turn(int count)
{
    pthread_t thread[THREADS];
    int wrong = 0;

    choose(mode, N, EAGER, -1, -1);
    threads = count;
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    threads_start(thread, count, ticks_in_turn);
    threads_join(thread, count);
    for (int i = 0; i < count; i++)
        wrong += wrong_in[i];
    return wrong != 0;
}

/* ---- how many at a time ---- */

enum { MANY = 1000 };

static void many_expire(void)
{
    for (int i = 0; i < MANY; i++)
        SGC_refresh(GC_MALLOC(64), 0);
    SGC_tick();
}

static int none_by_itself(void)
{
    choose(mode, 3, LAZY, 0, -1);
    many_expire();
    SGC_refresh(GC_MALLOC(64), 1);
    SGC_tick();
    if (figures().freed != 0 || SGC_expire(10) != 10 || figures().freed != 10)
        return 1;
    return SGC_expire(SIZE_MAX) != MANY - 10 || figures().freed != MANY || SGC_expire(1) != 0;
}

static int three_at_a_time(void)
{
    int wrong = 0;

    choose(mode, 3, LAZY, 3, -1);
    many_expire();
    for (uint64_t i = 2; i <= 100; i++) {
        wrong += SGC_refresh(GC_MALLOC(64), 3) != 0 || figures().freed != 3 * i;
        if (i % 10 == 0)
            wrong += SGC_tick() != 0 || figures().freed != 3 * ++i;
    }
    return wrong != 0;
}

/* ---- many dates of one object ---- */

static void *shared;

static int dates_of_one(int count, bool goes)
{
    int wrong = 0;

    shared = GC_MALLOC(40);
    for (int i = 0; i < count; i++)
        wrong += SGC_refresh(shared, (unsigned)i % 4) != 0;
    for (int i = 0; i < 4; i++)
        wrong += !is_there(shared) || SGC_tick() != 0;
    return wrong != 0 || is_there(shared) == goes;
}

/* Dates that have no room in a number are the tracer's, and after a collection the object has a number again. */
static int too_many_dates(int count)
{
    choose(mode, 3, EAGER, -1, -1);
    if (dates_of_one(126, true) != 0 || dates_of_one(count, false) != 0)
        return 1;
    GC_gcollect();
    if (SGC_dates(shared) != 0 || SGC_refresh(shared, 0) != 0 || SGC_dates(shared) != 1)
        return 2;
    return SGC_tick() != 0 || is_there(shared);
}

/* ---- what is not freed ---- */

static int freed_twice(void)
{
    void *object;

    choose(mode, 3, EAGER, -1, -1);
    object = GC_MALLOC(40);
    SGC_refresh(object, 0);
    SGC_tick();
    GC_free(object);
    return 0;
}

static void *hidden_link;

/* In a frame of its own, which is gone when collections look. */
TEST_NOINLINE static int expire_known(void)
{
    void *one = GC_MALLOC(40), *two = GC_MALLOC(40);

    GC_REGISTER_FINALIZER(one, count_finalization, NULL, NULL, NULL);
    hidden_link = (void *)GC_HIDE_POINTER(two);
    GC_general_register_disappearing_link(&hidden_link, two);
    SGC_refresh(one, 0);
    SGC_refresh(two, 0);
    SGC_tick();
    return is_there(one) && is_there(two) && finalizations == 0 && SGC_dates(one) == 0 && SGC_dates(two) == 0;
}

static int tracers(void)
{
    choose(mode, 3, EAGER, -1, -1);
    if (!expire_known() || figures().freed != 0)
        return 1;
    for (int i = 0; i < 10 && (finalizations == 0 || hidden_link != NULL); i++) {
        char *over[64];

        memset(over, 0, sizeof over);
        __asm__ volatile("" : : "r"(over) : "memory");
        GC_gcollect();
        GC_invoke_finalizers();
    }
    return finalizations != 1 || hidden_link != NULL;
}

enum { QUEUED = 20 };

static void *queued[QUEUED];
static int missing;

/* The first frees another object, which waits, and ticks. */
static void tick_first(void *object, TEST_UNUSED void *data)
{
    if (finalizations++ == 0) {
        GC_free(queued[object == queued[0]]);
        SGC_tick();
    }
    missing += !is_there(object);
}

static int finalized_with_date(void)
{
    choose(mode, 3, EAGER, -1, -1);
    for (int i = 0; i < QUEUED; i++) {
        queued[i] = GC_MALLOC(40);
        GC_REGISTER_FINALIZER(queued[i], tick_first, NULL, NULL, NULL);
        SGC_refresh(queued[i], 0);
    }
    GC_finalize_all();
    return finalizations != QUEUED - 1 || missing != 0;
}

static int uncollectable(void)
{
    size_t before;
    void *small, *large;

    choose(mode, 3, EAGER, -1, -1);
    before = GC_get_non_gc_bytes();
    small = GC_MALLOC_UNCOLLECTABLE(100);
    large = GC_MALLOC_UNCOLLECTABLE(100000);
    SGC_refresh(small, 0);
    SGC_refresh(large, 0);
    if (GC_get_non_gc_bytes() < before + 100100)
        return 1;
    SGC_tick();
    return is_there(small) || is_there(large) || GC_get_non_gc_bytes() != before || figures().freed != 2;
}

/* As it is when a collection has come between the thread's look and its own taking off. */
static int none_left(void)
{
    struct sgc_dates *d;
    void *object = GC_MALLOC(40);
    int wrong;

    choose(mode, 3, LAZY, 1, -1);
    wrong = SGC_refresh(object, 0) != 0 || SGC_tick() != 0 || SGC_refresh(object = GC_MALLOC(40), 0) != 0;
    d = sgc_dates_of(sgc_mutator_self());
    SGC_expire(SIZE_MAX);
    wrong += figures().freed != 1 || d->expired.first != NULL;
    sgc_expire_one(d);
    return wrong + (figures().freed != 1 || SGC_tick() != 0 || figures().freed != 2);
}

int main(void)
{
    tap_plan(27);
    for (mode = SGC_SHORTTERM_FREE; mode <= SGC_SHORTTERM_HYBRID; mode++) {
        const char *name = mode_names[mode];

        child_ok_of(exactly(0, EAGER, -1, -1), "%s: objects go exactly in time, eagerly, largest extension 0", name);
        child_ok_of(exactly(10, EAGER, -1, -1), "%s: objects go exactly in time, eagerly, largest extension 10", name);
        child_ok_of(exactly(10, LAZY, 1, -1), "%s: objects go exactly in time, lazily", name);
        child_ok_of(exactly(10, LAZY, 1000, -1), "%s: objects go exactly in time, lazily, up to 1000 at a time", name);
        child_ok_of(exactly(10, EAGER, -1, 24), "%s: objects go exactly in time, pages of one date", name);
        child_ok(near_the_end, "%s: objects go exactly in time, when global time begins again", name);
        child_ok_of(in_turn(1), "%s: by global time with one thread", name);
        child_ok_of(in_turn(2), "%s: with two, in both orders", name);
        child_ok_of(in_turn(4), "%s: with four, in each place", name);
    }
    mode = SGC_SHORTTERM_FREE;
    child_ok(none_left, "a collection may have taken off what a thread was about to");
    child_ok(none_by_itself, "lazily, none at a time: only when the program asks");
    child_ok(three_at_a_time, "lazily, three at each operation and not more");
    child_ok_of(too_many_dates(127), "127 dates are the tracer's until it has counted anew");
    child_ok_of(too_many_dates(128), "and 128: 126 are counted");
    child_says(freed_twice, 0, "freed already", "GC_free of an object that has expired is a second free");
    child_ok(tracers, "objects with finalizers and links are the tracer's");
    child_ok(finalized_with_date, "so are those that wait for finalizers with a date; what is freed then waits no more");
    child_ok(uncollectable, "uncollectable objects are freed, and counted");
    return tap_done();
}
