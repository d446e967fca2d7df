/* SPDX-License-Identifier: MIT */
/*
 * The storm's side of the shared helpers: it runs in the child, on every thread of the storm.
 * The supervisor's side is supervise.c; the two meet in the structure of supervise.h, whose fields
 * are atomic: no lock.
 */
#include "tests/stress/storm.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tests/stress/supervise.h"

struct storm_settings storm = { 1.0, 4, 0, 24u << 20 };

static __thread int my_slot;        /* 0: none of its own, it shares the first */

uint64_t storm_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct rng rng_make(uint64_t stream)
{
    struct rng rng = { storm_mix(storm.seed ^ storm_mix(stream + 1)) };
    return rng;
}

uint64_t rng_next(struct rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15u;
    return storm_mix(rng->state);
}

uint64_t storm_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void storm_doze_us(unsigned microseconds)
{
    struct timespec time = { microseconds / 1000000, (long)(microseconds % 1000000) * 1000 };
    nanosleep(&time, NULL);
}

/* Under TSan no signal reaches a thread that waits in pthread_mutex_lock, so while the mutex's holder is
 * stopped, it could not be stopped. */
#ifdef STORM_TSAN
void storm_lock(pthread_mutex_t *mutex)
{
    while (pthread_mutex_trylock(mutex))
        storm_doze_us(100);
}
#else
void storm_lock(pthread_mutex_t *mutex)
{
    storm_must(pthread_mutex_lock(mutex), "pthread_mutex_lock");
}
#endif

__attribute__((noinline)) void storm_scrub_stack(void)
{
    char frame[2048];
    memset(frame, 0, sizeof frame);
    __asm__ volatile("" : : "r"(frame) : "memory");
}

/* ---- the supervisor's table ---- */

bool storm_running(void)
{
    if (atomic_load(&storm_shared->alone) && storm_ns() > atomic_load(&storm_shared->deadline_ns))
        atomic_store(&storm_shared->stop, 1);
    return !atomic_load(&storm_shared->stop);
}

bool storm_has(int part)
{
    return (atomic_load(&storm_shared->enabled) >> part) & 1;
}

void storm_ran(int part)
{
    atomic_fetch_add(&storm_shared->part[part], 1);
}

bool storm_may(int part, struct rng *rng, size_t n)
{
    bool may = storm_has(part) && rng_once_in(rng, n);
    if (may)
        storm_ran(part);
    return may;
}

void storm_step(const char *doing)
{
    struct storm_slot *slot = &storm_shared->slot[my_slot];
    atomic_store(&slot->doing, doing);
    atomic_fetch_add(&slot->steps, 1);
}

void storm_enter(void)
{
    int tid = gettid();
    for (int i = 1; i < STORM_SLOTS; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&storm_shared->slot[i].tid, &none, tid)) {
            my_slot = i;
            break;
        }
    }
    storm_step("starting");
}

void storm_leave(void)
{
    storm_step("ending");
    int slot = my_slot;
    my_slot = 0;
    if (slot)
        atomic_store(&storm_shared->slot[slot].tid, 0);
}

void storm_forked(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    my_slot = 0;
    storm_enter();
}

/* ---- failing ---- */

/* The process stops here so that the supervisor can look at it; without one it aborts. */
static _Noreturn void stop_here(void)
{
    if (!atomic_load(&storm_shared->alone))
        for (;;) {
            kill(getpid(), SIGSTOP);
            pause();
        }
    fprintf(stderr, "# %s\n", storm_shared->message);
    signal(SIGABRT, SIG_DFL);
    abort();
}

void storm_fail(const char *format, ...)
{
    int nobody = 0;
    if (!atomic_compare_exchange_strong(&storm_shared->claimed, &nobody, 1))
        for (;;)
            pause();        /* one failure is enough; its message must stay */
    int length = snprintf(storm_shared->message, sizeof storm_shared->message, "thread %d, %s: ", (int)gettid(),
                          atomic_load(&storm_shared->slot[my_slot].doing));
    va_list args;
    va_start(args, format);
    vsnprintf(storm_shared->message + length, sizeof storm_shared->message - (size_t)length, format, args);
    va_end(args);
    atomic_store(&storm_shared->failed_pid, (int)getpid());
    stop_here();
}

void storm_must(int error, const char *what)
{
    if (error)
        storm_fail("%s: %s", what, strerror(error));
}

static void crashed(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    storm_fail("crashed with signal %d (%s) at address %p", signal_number, strsignal(signal_number), info->si_addr);
}

void storm_catch_crashes(void)
{
    static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = crashed;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
}

/* ---- threads ---- */

struct job { void (*body)(int index); int index; };

static void *run_job(void *argument)
{
    struct job *job = argument;
    storm_enter();
    job->body(job->index);
    storm_leave();
    return NULL;
}

void storm_on_threads(int threads, void (*body)(int index))
{
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    struct job *job = calloc((size_t)threads, sizeof *job);
    STORM_CHECK(thread && job, "no memory for %d threads", threads);
    for (int i = 0; i < threads; i++) {
        job[i] = (struct job){ body, i };
        storm_must(GC_pthread_create(&thread[i], NULL, run_job, &job[i]), "GC_pthread_create");
    }
    for (int i = 0; i < threads; i++)
        storm_must(GC_pthread_join(thread[i], NULL), "GC_pthread_join");
    free(job);
    free(thread);
}

void storm_collect(void)
{
    storm_step("collecting");
    GC_gcollect();
    storm_step("collected");
}
