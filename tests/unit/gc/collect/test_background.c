/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/background.c: the service thread sweeps and gives memory back when the program leaves it time; without it the same
 * is done on request.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "alloc/pages/pool.h"
#include "gc/api/api.h"
#include "gc/javaxfc.h"
#include "gc/collect/background.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/white.h"
#include "sgc.h"

enum { PIECES = 40, PIECE = 1 << 20 };

static void *volatile pieces[PIECES];     /* static data */

static void fill(TEST_UNUSED void *unused)
{
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = sgc_allocate(PIECE, WHITE_KIND);
        memset(pieces[i], 1, PIECE);
    }
}

/* 40 MB come and go. */
static size_t make_garbage(void)
{
    size_t full;

    white_join(white_start(fill, NULL));
    full = sgc_pool_heap_bytes();
    for (int i = 0; i < PIECES; i++)
        pieces[i] = NULL;
    white_collect();
    return full;
}

/* Waits until the heap costs less than `bytes`; how long it took in ms, or -1. */
static int shrinks_below(size_t bytes, int patience)
{
    for (int ms = 0; ms < patience; ms += 10) {
        if (sgc_pool_heap_bytes() < bytes)
            return ms;
        sgc_sleep_ns(10 * WHITE_MS);
    }
    return -1;
}

static int gives_back(void)
{
    size_t full;

    setenv("SGC_DECAY_MS", "100", 1);
    white_init();
    full = make_garbage();
    if (full < (size_t)PIECES * PIECE)
        return 1;
    return shrinks_below(full / 4, 5000) >= 0 ? 0 : 2;
}

/* Collects for so many ms, every 5 ms, until the heap is small; when it is, in ms after `began`.  `longest`: ns without a
 * cycle, on a loaded machine. */
static int shrinks_meanwhile(size_t bytes, int patience, uint64_t began, uint64_t *longest)
{
    uint64_t first = sgc_clock_ns(), last = first, now = first;

    *longest = 0;
    while (now - first < (uint64_t)patience * WHITE_MS && sgc_pool_heap_bytes() >= bytes) {
        white_collect();
        sgc_sleep_ns(5 * WHITE_MS);
        now = sgc_clock_ns();
        *longest = now - last > *longest ? now - last : *longest;
        last = now;
    }
    return sgc_pool_heap_bytes() < bytes ? (int)((now - began) / WHITE_MS) : -1;
}

/* A program that has one cycle after the other is left alone, but its memory goes back nevertheless; an eager thread
 * does not wait.  Cycles while the garbage is made are the first of them. */
static int busy(bool eager)
{
    uint64_t longest, began;
    size_t full;
    int ms;

    if (eager)
        setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    setenv("SGC_DECAY_MS", "0", 1);
    white_init();
    began = sgc_clock_ns();
    full = make_garbage();
    ms = shrinks_meanwhile(full / 4, 10000, eager ? sgc_clock_ns() : began, &longest);
    return ms < 0 ? 2 : (ms < 400) != eager && longest < 30 * WHITE_MS ? 1 : 0;
}

/* Not by itself in so many ms. */
static int shrinks_on_request(int patience)
{
    size_t full;

    white_init();
    full = make_garbage();
    if (shrinks_below(full / 4, patience) >= 0)
        return 1;
    sgc_service_do_all(sgc_mutator_self());
    return sgc_pool_heap_bytes() < full / 4 ? 0 : 2;
}

static int keeps_for_ever(void)
{
    setenv("SGC_DECAY_MS", "-1", 1);
    return shrinks_on_request(500);
}

static uint32_t registered(void)
{
    return sgc_registry.count;
}

static int is_off(void)
{
    int status;

    environment("SGC_BACKGROUND_THREAD=off", "SGC_MODE=stop", "SGC_DECAY_MS=0");
    status = shrinks_on_request(300);
    return status == 0 && registered() != 1 ? 1 : status;
}

static int refuse(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *arg)
{
    (void)thread, (void)attributes, (void)body, (void)arg;
    return EAGAIN;
}

static int is_refused(void)
{
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    white_init();
    sgc_thread_set_creator(refuse);
    for (int i = 0; i < 3; i++)
        white_collect();
    return registered() == 1 ? 0 : 1;
}

/* Without a service thread nobody would ever begin the cycle that is asked for, and an idle loop would wait for it for ever. */
static int nobody_leads(bool enabled_by_program, bool (*refuse_it)(void))
{
    uint64_t until = sgc_clock_ns() + 20000 * (uint64_t)WHITE_MS;

    if (enabled_by_program)
        GC_enable_incremental();
    white_init();
    if (!refuse_it())
        return 3;
    GC_start_incremental_collection();
    while (GC_collect_a_little() != 0 && sgc_clock_ns() < until)
        continue;
    if (GC_collect_a_little() != 0 || GC_is_incremental_mode())
        return 1;
    for (int i = 0; i < PIECES; i++)
        white_alive(white_hidden(sgc_allocate(PIECE, WHITE_KIND)));
    return sgc_cycles_finished() > 0 && registered() == 1 ? 0 : 2;
}

static bool no_thread(void)
{
    sgc_thread_set_creator(refuse);
    return true;
}

static int is_refused_beside(void)
{
    environment("SGC_MODE=concurrent", "SGC_DIRTY=none");
    return nobody_leads(false, no_thread);
}

/* The thread is made, and cannot say which one it is. */
static bool no_number(void)
{
    return refuse_call(SYS_gettid);
}

static int is_not_registered(void)
{
    environment("SGC_MODE=concurrent", "SGC_DIRTY=none");
    return nobody_leads(false, no_number);
}

static int is_off_beside(void)
{
    unsetenv("SGC_MODE");
    environment("SGC_BACKGROUND_THREAD=off", "SGC_DIRTY=none");
    return nobody_leads(true, no_thread);
}

static int waits_for_one(void)
{
    for (int i = 0; i < 200 && registered() != 2; i++)
        sgc_sleep_ns(10 * WHITE_MS);
    return registered() == 2 ? 0 : 2;
}

static int starts_late(void)
{
    white_init();
    for (int i = 0; i < 5; i++)
        white_collect();
    sgc_sleep_ns(20 * WHITE_MS);
    if (registered() != 1)
        return 1;
    for (int i = 0; i < 3; i++)
        make_garbage();
    return waits_for_one();
}

static int starts_at_once(void)
{
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    white_init();
    if (registered() != 1)
        return 1;
    for (int i = 0; i < 5; i++)
        white_collect();
    return waits_for_one();
}

static int created, created_outside;

static int create_and_look(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *arg)
{
    created++;
    created_outside += !sgc_gc_lock_held();
    return pthread_create(thread, attributes, body, arg);
}

/* Making a thread takes locks of the loader with all signals blocked.  Another thread that stops the world has the
 * loader's lock, and would wait for us. */
static int starts_alone(void)
{
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    white_init();
    sgc_thread_set_creator(create_and_look);
    for (int i = 0; i < 3; i++)
        white_collect();
    return created >= 1 && created_outside == 0 ? 0 : 1;
}

static bool one_is_suspended;
static int created_then;

static int create_and_ask(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *arg)
{
    created_then += one_is_suspended;
    return create_and_look(thread, attributes, body, arg);
}

static sgc_a32_t there, leaves;

static void waits(TEST_UNUSED void *unused)
{
    sgc_a32_store_rel(&there, 1);
    white_reached(&leaves, 1);
}

/* A suspended thread may have the locks that making a thread takes: those of malloc, say.  However small the heap is when it is
 * suspended, it may grow meanwhile. */
static int starts_before_suspensions(void)
{
    pthread_t other;

    white_init();
    sgc_thread_set_creator(create_and_ask);
    other = white_start(waits, NULL);
    if (!white_reached(&there, 1))
        return 2;
    GC_suspend_thread(other);
    one_is_suspended = GC_is_thread_suspended(other) != 0;
    make_garbage();
    GC_resume_thread(other);
    sgc_a32_store_rel(&leaves, 1);
    white_join(other);
    return created_then == 0 && created >= 1 && one_is_suspended ? 0 : 1;
}

static sigjmp_buf way_out;

static void leave(TEST_UNUSED int signal)
{
    siglongjmp(way_out, 1);
}

static void set_timer(long us)
{
    setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_usec = us }, NULL);
}

/* A client's handler jumps out while memory is given back on request. */
static int is_left(void)
{
    environment("SGC_BACKGROUND_THREAD=off", "SGC_MODE=stop");
    white_init();
    signal(SIGALRM, leave);
    for (volatile int round = 1; round <= 12; round++) {
        make_garbage();
        if (sigsetjmp(way_out, 1) == 0) {
            set_timer(round * 300);
            sgc_service_do_all(sgc_mutator_self());
            set_timer(0);
        }
    }
    sgc_service_do_all(sgc_mutator_self());
    sgc_verify(SGC_check() == 0);
    return white_lost_pages() == 0 ? 0 : 1;
}

int main(void)
{
    child_says(starts_late, 0, NULL, "one service thread, after a collection of a large heap");
    child_says(starts_at_once, 0, NULL, "SGC_BACKGROUND_THREAD=eager: after the first collection");
    child_says(starts_alone, 0, NULL, "it is started while nobody else can stop the world");
    child_says(starts_before_suspensions, 0, NULL, "not while a thread is suspended: before");
    child_says(gives_back, 0, NULL, "40 MB of garbage go back after the decay");
    child_says_of(busy(false), 0, NULL, "while one cycle follows the other it waits, but not for ever");
    child_says_of(busy(true), 0, NULL, "SGC_BACKGROUND_THREAD=eager: it does not wait");
    child_says(keeps_for_ever, 0, NULL, "without decay they stay, until somebody asks");
    child_says(is_off, 0, NULL, "SGC_BACKGROUND_THREAD=off: no thread; the work is done on request");
    child_says(is_left, 0, NULL, "who leaves it half way by a jump loses no page");
    child_says(is_refused, 0, "refuses a service thread", "a thread is refused: said once, and collections go on");
    child_says(is_refused_beside, 0, "refuses a service thread", "nor does anybody wait for what it would mark");
    child_says(is_not_registered, 0, "refuses a service thread", "nor for one that is made, but cannot be registered");
    child_says(is_off_beside, 0, "leaves nobody to mark beside the program",
               "SGC_BACKGROUND_THREAD=off: a program that asks for collections beside it is told");
    return tap_done();
}
