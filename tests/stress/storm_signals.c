/* SPDX-License-Identifier: MIT */
/*
 * Storm of signals: a bomber and a profiling timer send client signals to every thread, handlers
 * run on alternate stacks or jump out of what they interrupted (also out of GC_malloc), threads
 * wait in system calls (signal_waiters.c), and collections go on all the time.
 *
 * What a handler touches belongs to the thread it interrupts; the list of targets has a lock, which
 * no handler takes.
 */
#include "tests/stress/storm_signals.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *const parts[] = { "bombard", "profile", "altstack", "altstack-collects", "longjmp",
                                     "longjmp-malloc", "longjmp-wait", "read", "blocking-read", "sleep", "condition",
                                     "semaphore", "masked", "collect", NULL };

/* TSan does not know of a jump out of a signal handler, wants no memory allocated in one, and delivers no
 * signal to a thread in read(). */
#ifdef STORM_TSAN
#define OPTIONAL (1ul << LONGJMP | 1ul << LONGJMP_MALLOC | 1ul << LONGJMP_WAIT | 1ul << ALTSTACK_COLLECTS | 1ul << READ)
#else
#define OPTIONAL 0
#endif

#define TARGETS_MAX 256
#define ALTSTACK_BYTES (256 * 1024)

/* Sent by each mutator's own timer. */
static int jump_signal(void)
{
    return SIGRTMIN + 8;
}

/* ---- targets ---- */

static pthread_mutex_t targets_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t target[TARGETS_MAX];
static int targets;

void target_join(void)
{
    storm_lock(&targets_lock);
    target[targets++] = pthread_self();
    pthread_mutex_unlock(&targets_lock);
}

void target_leave(void)
{
    storm_lock(&targets_lock);
    for (int i = 0; i < targets; i++)
        if (pthread_equal(target[i], pthread_self()))
            target[i--] = target[--targets];
    pthread_mutex_unlock(&targets_lock);
}

static void bomb_once(struct rng *rng, int signal_number)
{
    storm_lock(&targets_lock);
    if (targets > 0)
        storm_must(pthread_kill(target[rng_below(rng, (size_t)targets)], signal_number), "pthread_kill");
    pthread_mutex_unlock(&targets_lock);
}

/* Collections that are under way, and that have been finished since the start. */
static _Atomic uint64_t collecting, collected;

static void collect(void)
{
    GC_word before = GC_get_gc_no();
    atomic_fetch_add(&collecting, 1);
    storm_collect();
    atomic_fetch_sub(&collecting, 1);
    if (GC_get_gc_no() != before)
        atomic_fetch_add(&collected, 1);
    storm_ran(COLLECT);
}

static void bomb(void)
{
    struct rng rng = rng_make(4711);
    while (storm_running()) {
        static const int plain[] = { SIGUSR1, SIGUSR2 };
        storm_step("sending signals");
        bomb_once(&rng, plain[rng_below(&rng, 2)]);
        storm_doze_us((unsigned)rng_below(&rng, 400));
        if (storm_has(COLLECT) && rng_once_in(&rng, 10))
            collect();
    }
}

/* ---- handlers ---- */

/* A thread's own state; its handlers run on the thread itself. */
struct mutator {
    struct message *volatile parcel;        /* given to the handler on the alternate stack */
    volatile sig_atomic_t armed;            /* may the jump handler jump? */
    sigjmp_buf landing;
    timer_t timer;
    struct rng handler_rng;
};
static __thread struct mutator *self;

static void on_plain(int signal_number)
{
    storm_ran(signal_number == SIGPROF ? PROFILE : BOMBARD);
}

/* Only this frame, on the alternate stack, holds the parcel for a while. */
static void carry(struct message *message)
{
    self->parcel = NULL;
    if (storm_may(ALTSTACK_COLLECTS, &self->handler_rng, 8))
        GC_gcollect();
    storm_doze_us((unsigned)rng_below(&self->handler_rng, 800));
    message_check(message, "an alternate signal stack");
    self->parcel = message;
    storm_ran(ALTSTACK);
}

static void on_altstack(int signal_number)
{
    (void)signal_number;
    if (self && self->parcel)
        carry(self->parcel);
    else
        sched_yield();
}

static void on_jump(int signal_number)
{
    (void)signal_number;
    if (self && self->armed) {
        self->armed = 0;
        siglongjmp(self->landing, 1);
    }
}

static void handle(int signal_number, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART | flags;
    sigaction(signal_number, &action, NULL);
}

/* ---- what mutators do ---- */

static void work(struct rng *rng)
{
    struct ref graph = graph_make(rng, 4000);
    graph_change(rng, &graph, 1000);
    graph_check(&graph);
    if (rng_once_in(rng, 2))
        graph_free(graph);
}

/* The handler calls the collector, so between giving the parcel and taking it back this thread must not. */
static __attribute__((noinline)) void by_altstack(struct rng *rng)
{
    struct message *kept = message_make(rng, 0), *parcel = message_make(rng, ALTSTACK);
    self->parcel = parcel;
    parcel = NULL;
    storm_scrub_stack();
    raise(SIGUSR2);
    parcel = self->parcel;
    self->parcel = NULL;
    message_check(parcel, "the structure of its thread");
    message_check(kept, "the stack below a signal handler");
}

/* Nothing but atomic operations here, so that the jump is always a clean one for the client. */
static void spin(struct rng *rng)
{
    static _Atomic unsigned long turns;
    for (size_t i = rng_below(rng, 20000); i > 0; i--)
        atomic_fetch_add(&turns, 1);
}

/* Every call may be left in the middle; what it was about to return is then garbage. */
static void allocate_forever(struct rng *rng)
{
    for (int i = 0; i < 3000; i++) {
        size_t size = 1 + rng_below(rng, rng_once_in(rng, 50) ? 100000 : 200);
        void *some = i & 1 ? GC_malloc_atomic(size) : GC_malloc(size);
        if (some && i % 5 == 0)
            GC_free(some);
    }
}

static void jump_within_us(size_t microseconds)
{
    struct itimerspec when = { { 0, 0 }, { 0, (long)microseconds * 1000 } };
    STORM_CHECK(!timer_settime(self->timer, 0, &when, NULL), "timer_settime fails");
}

/* Deeper than what was left, without calling the collector: it must be able to stop us all the same. */
static void wait_for_collections(void)
{
    uint64_t enough = atomic_load(&collected) + 2, limit = storm_ns() + 5000000000u;
    storm_step("waiting for others to collect");
    while (atomic_load(&collected) < enough && (storm_running() || atomic_load(&collecting) > 0)) {
        STORM_CHECK(storm_ns() < limit, "nobody could collect for 5 s while this thread, which had left an "
                    "allocation by siglongjmp, slept");
        storm_doze_us(1000);
    }
    storm_ran(LONGJMP_WAIT);
}

/* What the jump left behind lies untouched in the unused part of this frame, while we go on below it. */
static __attribute__((noinline)) void go_on_deeper(struct rng *rng)
{
    char unused[32768];
    __asm__ volatile("" : : "r"(unused) : "memory");
    if (storm_has(LONGJMP_WAIT) && rng_once_in(rng, 4))
        wait_for_collections();
    work(rng);
}

static __attribute__((noinline)) void jump_out_of(void (*what)(struct rng *rng), int part, struct rng *rng)
{
    struct message *volatile kept = message_make(rng, part);
    struct rng inside = rng_make(rng_next(rng));
    if (sigsetjmp(self->landing, 1) == 0) {
        self->armed = 1;
        jump_within_us(1 + rng_below(rng, 300));
        what(&inside);
        self->armed = 0;
    } else {
        go_on_deeper(rng);
        storm_ran(part);
    }
    message_check(kept, "the stack below a siglongjmp");
}

static void mutator_step(struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        storm_step("altstack");
        if (storm_has(ALTSTACK))
            by_altstack(rng);
        break;
    case 1:
        storm_step("longjmp");
        if (storm_has(LONGJMP))
            jump_out_of(spin, LONGJMP, rng);
        break;
    case 2:
    case 3:
        storm_step("longjmp-malloc");
        if (storm_has(LONGJMP_MALLOC))
            jump_out_of(allocate_forever, LONGJMP_MALLOC, rng);
        break;
    default:
        work(rng);
    }
    if (storm_has(COLLECT) && rng_once_in(rng, 30))
        collect();
}

static void set_altstack(void *memory)
{
    pthread_attr_t attributes;
    stack_t stack = { memory, memory ? 0 : SS_DISABLE, memory ? ALTSTACK_BYTES : 0 };
    void *start;
    size_t size;
    sigaltstack(&stack, NULL);
    if (!memory)
        return;
    storm_must(pthread_getattr_np(pthread_self(), &attributes), "pthread_getattr_np");
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    GC_register_altstack(start, size, memory, ALTSTACK_BYTES);
}

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static timer_t make_timer(void)
{
    struct sigevent event;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = jump_signal();
    event.sigev_notify_thread_id = gettid();
    STORM_CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create fails");
    return timer;
}

static void mutate(int index)
{
    struct mutator mutator;
    struct rng rng = rng_make((uint64_t)index);
    memset(&mutator, 0, sizeof mutator);
    mutator.handler_rng = rng_make(900 + (uint64_t)index);
    mutator.timer = make_timer();
    char *altstack = malloc(ALTSTACK_BYTES);
    STORM_CHECK(altstack, "no memory for an alternate stack");
    set_altstack(altstack);
    self = &mutator;
    target_join();
    while (storm_running())
        mutator_step(&rng);
    target_leave();
    timer_delete(mutator.timer);
    self = NULL;
    set_altstack(NULL);
    free(altstack);
}

static void any_thread(int index)
{
    if (index < WAITERS)
        waiter(index);
    else if (index == WAITERS)
        bomb();
    else
        mutate(index - WAITERS - 1);
}

/* Every other seed chooses the collector's signals. */
static void before_init(void)
{
    if (storm.seed % 2) {
        GC_set_suspend_signal(SIGRTMIN + 4);
        GC_set_thr_restart_signal(SIGRTMIN + 5);
    }
}

static void body(void)
{
    struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
    int on_stack = storm_has(ALTSTACK) ? SA_ONSTACK : 0;
    handle(SIGUSR1, on_plain, 0);
    handle(SIGUSR2, on_altstack, on_stack);
    handle(jump_signal(), on_jump, 0);
    handle(SIGPROF, on_plain, on_stack);
    STORM_CHECK(GC_get_suspend_signal() == (storm.seed % 2 ? SIGRTMIN + 4 : GC_get_suspend_signal()),
                "the chosen signal is not used");
    waiters_prepare();
    setitimer(ITIMER_PROF, &often, NULL);
    storm_on_threads(storm.threads + WAITERS + 1, any_thread);
    setitimer(ITIMER_PROF, &never, NULL);
}

const struct storm_program storm_program = { "storm_signals", parts, OPTIONAL, 0, before_init, body, NULL };
