/* SPDX-License-Identifier: MIT */
/*
 * What every storm shares: options, the random numbers, and the supervisor.
 *
 * A storm is a self-checking program that uses nothing but gc.h and tries to make the collector
 * lose, duplicate or damage an object, or hang.  main() splits it into two processes before
 * the collector starts: the child runs the storm, the parent (the supervisor, one thread, no
 * collector) watches it through shared memory.  So a crash, a hang or a failed check is always
 * reported, with the place and with the stacks of all threads where gdb is installed, and a storm
 * never hangs its caller.
 *
 * Include this header first: it sets the feature macros.
 */
#ifndef TESTS_STRESS_STORM_H
#define TESTS_STRESS_STORM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

/* The storms say explicitly which thread function they mean: GC_pthread_create or pthread_create. */
#ifndef GC_THREADS
#define GC_THREADS 1
#endif
#define GC_NO_THREAD_REDIRECTS 1

#include <gc.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORM_PARTS_MAX 24

/* Built for ThreadSanitizer? */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define STORM_TSAN 1
#endif

/* Built for AddressSanitizer? */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { STORM_ASAN = 1 };
#else
enum { STORM_ASAN = 0 };
#endif

/* Settings of this run, fixed before the storm's body starts. */
struct storm_settings {
    double seconds;
    int threads;
    uint64_t seed;
    size_t live_bytes;      /* how much the whole storm may keep alive */
};
extern struct storm_settings storm;

/* Each storm defines one; main() is in supervise.c.  Its parts are what it tries to break; each can be left out with
 * --without NAME, and each must have run at least once for the storm to pass. */
struct storm_program {
    const char *name;
    const char *const *parts;       /* names, ended by NULL; at most STORM_PARTS_MAX */
    unsigned long optional;         /* bit i: part i runs only when asked for with --with NAME */
    unsigned long at_end;           /* bit i: part i runs after the threads have stopped */
    void (*before_init)(void);      /* before GC_INIT, or NULL */
    void (*body)(void);             /* on the main thread of the child, after GC_INIT */
    const char *not_with_asan;      /* why it cannot run under AddressSanitizer, or NULL */
};
extern const struct storm_program storm_program;

/* False when the storm is to end. */
bool storm_running(void);

/* Is the part switched on?  Counts one run of it. */
bool storm_has(int part);
void storm_ran(int part);

/* Both, once in n: true if the part is to run now. */
struct rng;
bool storm_may(int part, struct rng *rng, size_t n);

/* Tells the supervisor that this thread gets on, and with what. */
void storm_step(const char *doing);

/* A thread (also one of a forked child) enters and leaves the supervisor's table. */
void storm_enter(void);
void storm_leave(void);

/* Reports a failed check and ends the storm.  Never returns. */
_Noreturn void storm_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define STORM_CHECK(condition, ...) ((condition) ? (void)0 : storm_fail(__VA_ARGS__))

/* Like a failed check when a pthread function or system call returns an error number. */
void storm_must(int error, const char *what);

/* The child of a fork calls this first: if its parent dies it must not stay behind. */
void storm_forked(void);

/* ---- random numbers: one generator a thread, all derived from the seed ---- */

struct rng { uint64_t state; };

struct rng rng_make(uint64_t stream);
uint64_t rng_next(struct rng *rng);
uint64_t storm_mix(uint64_t x);

/* 0 <= result < bound */
static inline size_t rng_below(struct rng *rng, size_t bound)
{
    return (size_t)(rng_next(rng) % bound);
}

/* True once in n. */
static inline bool rng_once_in(struct rng *rng, size_t n)
{
    return rng_below(rng, n) == 0;
}

/* The first i for which a throw of 1000 is less than below[i]. */
static inline int rng_choose(struct rng *rng, const int *below)
{
    int dice = (int)rng_below(rng, 1000), i = 0;
    while (dice >= below[i])
        i++;
    return i;
}

/* ---- small helpers ---- */

/* Monotonic nanoseconds. */
uint64_t storm_ns(void);

/* Sleeps about so long; a signal may shorten it. */
void storm_doze_us(unsigned microseconds);

/* pthread_mutex_lock, for threads that may be stopped while they hold or want the mutex. */
void storm_lock(pthread_mutex_t *mutex);

/* Overwrites the part of the stack below the caller, where dead copies of pointers lie. */
void storm_scrub_stack(void);

/* Runs body(i) on `threads` threads made by GC_pthread_create, on all i, and waits for them. */
void storm_on_threads(int threads, void (*body)(int index));

/* Calls GC_gcollect, seen by the supervisor. */
void storm_collect(void);

#endif
