/* SPDX-License-Identifier: MIT */
/*
 * Processors, time and threads of the measurements.
 *
 *   what    written by               read by   ordering
 *   ready   each thread, by an add   all       acquire and release: nobody begins before all are on
 *                                              their processors
 *   begun   each thread, its own     caller    after it has joined all
 *   ended   each thread, its own     caller    after it has joined all
 */
#include "perfmodel/machine/bench.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include "platform/atomics.h"
#include "platform/report.h"

int sgc_bench_cpus(int *cpu, int room)
{
    cpu_set_t set;
    int n = 0;

    sgc_assert(cpu != NULL && room > 0);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE && n < room; i++)
        if (CPU_ISSET(i, &set))
            cpu[n++] = i;
    return n;
}

void sgc_bench_pin(int cpu)
{
    cpu_set_t set;

    sgc_assert(cpu >= 0 && cpu < CPU_SETSIZE);
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set); /* a hint: where it is refused the scheduler decides */
}

static double read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double sgc_bench_own_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- together ---- */

struct runner {
    pthread_t thread;
    sgc_bench_fn *work;
    void *arg;
    int i, n, cpu;
    sgc_a32_t *ready;
    double begun, ended;
};

static void *run(void *arg)
{
    struct runner *r = arg;

    sgc_assert(r->i >= 0 && r->i < r->n && r->work != NULL);
    sgc_bench_pin(r->cpu);
    sgc_a32_add(r->ready, 1);
    while (sgc_a32_load(r->ready) != (uint32_t)r->n)
        sched_yield();
    r->begun = read_clock(CLOCK_MONOTONIC);
    r->work(r->arg, r->i);
    r->ended = read_clock(CLOCK_MONOTONIC);
    return NULL;
}

static bool run_round(const struct runner *like, const int *cpu, double *ns)
{
    static struct runner runner[SGC_BENCH_CPUS];
    sgc_a32_t ready = { 0 };
    int started = 0;
    double begun, ended;

    sgc_assert(like->n >= 1 && like->n <= SGC_BENCH_CPUS);
    for (; started < like->n; started++) {
        runner[started] = *like;
        runner[started].i = started;
        runner[started].cpu = cpu[started];
        runner[started].ready = &ready;
        if (pthread_create(&runner[started].thread, NULL, run, &runner[started]) != 0)
            break;
    }
    if (started < like->n)
        sgc_a32_add(&ready, (uint32_t)(like->n - started));
    for (int i = 0; i < started; i++)
        pthread_join(runner[i].thread, NULL);
    if (started < like->n)
        return false;
    begun = runner[0].begun;
    ended = runner[0].ended;
    for (int i = 1; i < started; i++) {
        begun = runner[i].begun < begun ? runner[i].begun : begun;
        ended = runner[i].ended > ended ? runner[i].ended : ended;
    }
    sgc_assert(ended >= begun);
    *ns = ended - begun;
    return true;
}

bool sgc_bench_together(sgc_bench_fn *work, void *arg, const int *cpu, int n, int rounds, double *ns)
{
    struct runner like = { .work = work, .arg = arg, .n = n };
    double time;

    sgc_assert(n >= 1 && n <= SGC_BENCH_CPUS && rounds >= 1);
    for (int i = 0; i < rounds; i++) {
        if (!run_round(&like, cpu, &time))
            return false;
        *ns = i == 0 || time < *ns ? time : *ns;
    }
    return true;
}

/* ---- differences ---- */

enum { TURNS = 200, GROUPS = 4, MIN_TURNS = 2 * GROUPS, ABOVE_NOISE = 3 };

/* The least time of each group of turns: noise only adds to a time, so these come near the truth,
 * and so near each other. */
struct minima {
    double of[GROUPS];
};

static void note_time(struct minima *minima, int turn, double ns)
{
    int group = turn % GROUPS;

    sgc_assert(turn >= 0 && ns >= 0);
    if (turn < GROUPS || ns < minima->of[group])
        minima->of[group] = ns;
}

static void span(const struct minima *minima, double *lowest, double *highest)
{
    *lowest = *highest = minima->of[0];
    for (int i = 1; i < GROUPS; i++) {
        *lowest = fmin(*lowest, minima->of[i]);
        *highest = fmax(*highest, minima->of[i]);
    }
}

bool sgc_bench_difference(const struct sgc_bench_pair *pair, double *ns)
{
    double low, high, low_more, high_more, noise = 0, difference = 0;
    struct minima less, more;

    sgc_assert(pair->more != NULL && pair->less != NULL);
    for (int turn = 0; turn < TURNS; turn++) {
        note_time(&less, turn, pair->less(pair->arg));
        note_time(&more, turn, pair->more(pair->arg));
        if (turn + 1 < MIN_TURNS)
            continue;
        span(&less, &low, &high);
        span(&more, &low_more, &high_more);
        noise = high - low + (high_more - low_more);
        *ns = difference = low_more - low;
        if (difference > ABOVE_NOISE * noise)
            return true;
    }
    *ns = fmax(difference, 0) + noise;
    return false;
}

/* ---- memory ---- */

void *sgc_bench_memory(size_t bytes, bool huge)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    sgc_assert(bytes > 0 && bytes % 4096 == 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); /* a hint */
    for (size_t i = 0; i < bytes; i += 4096)
        memory[i] = 1;
    return memory;
}

void sgc_bench_release(void *memory, size_t bytes)
{
    sgc_assert(memory != NULL && bytes > 0);
    munmap(memory, bytes);
}
