/* SPDX-License-Identifier: MIT */
/* See bench/cases/case.h.  Main thread, but for pin_thread and the bodies of together_ns. */
#include "bench/cases/case.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static cpu_set_t allowed;       /* before any thread was pinned */

static void fail(const char *what)
{
    fprintf(stderr, "benchmark: %s\n", what);
    exit(1);
}

uint64_t result_digest(uint64_t digest, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ p[i]) * UINT64_C(0x100000001b3) + 1;
    return digest;
}

void result_check(int right, const char *what)
{
    if (right)
        return;
    fflush(stdout);
    fprintf(stderr, "%s: WRONG: %s\n", program_invocation_short_name, what);
    exit(1);
}

void need(int ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(1);
}

/* ---- which collector this is ---- */

/* SGC's own functions tell it from every other libgc.so.1; the file is the one that GC_malloc is called in. */
static void say_collector(void)
{
    const char *(*sgc_version)(void);
    void *gc_malloc = dlsym(RTLD_DEFAULT, "GC_malloc");
    unsigned version = GC_get_version();
    Dl_info file;

    *(void **)&sgc_version = dlsym(RTLD_DEFAULT, "SGC_version");
    if (gc_malloc == NULL || dladdr(gc_malloc, &file) == 0)
        fail("no library has GC_malloc");
    if (sgc_version != NULL)
        printf("collector sgc-%s %s\n", sgc_version(), file.dli_fname);
    else
        printf("collector bdwgc-%u.%u.%u %s\n", version >> 16, version >> 8 & 255, version & 255, file.dli_fname);
}

void case_begin(void)
{
    need(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "benchmark: which processors are there?");
    GC_INIT();
    say_collector();
}

/* ---- processors ---- */

void pin_thread(long i)
{
    long skip = i % CPU_COUNT(&allowed);
    cpu_set_t one;
    int cpu = -1;

    do
        while (!CPU_ISSET(++cpu, &allowed))
            continue;
    while (skip-- > 0);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    need(sched_setaffinity(0, sizeof one, &one) == 0, "benchmark: a thread cannot be pinned");
}

/* ---- figures ---- */

void figure(const char *name, double value, const char *unit)
{
    printf("%s %.9g %s\n", name, value, unit);
}

void figures(const char *name, double *measured, size_t n, const char *unit)
{
    struct spread s = spread_of(measured, n);
    char longer[64];

    figure(name, s.median, unit);
    snprintf(longer, sizeof longer, "%s_least", name);
    figure(longer, s.least, unit);
    snprintf(longer, sizeof longer, "%s_most", name);
    figure(longer, s.most, unit);
}

/* Not getrusage: its maximum begins with that of the process that called exec. */
static double peak_resident_kb(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kb = -1;

    if (f == NULL)
        fail("/proc/self/status cannot be read");
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtod(line + 6, NULL);
    fclose(f);
    return kb;
}

static double cpu_ms(void)
{
    struct timespec t;

    need(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0, "read the processor time");
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void case_end(void)
{
    figure("cpu_ms", cpu_ms(), "ms");
    figure("markers", GC_get_parallel() + 1, "threads");
    figure("collections", (double)GC_get_gc_no(), "times");
    figure("heap_mb", (double)GC_get_heap_size() / 1048576.0, "MB");
    figure("peak_rss_mb", peak_resident_kb() / 1024.0, "MB");
    if (fflush(stdout) != 0)
        fail("the figures cannot be written");
}

/* ---- arguments, time, memory ---- */

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *obtained(void *p)
{
    if (p == NULL)
        fail("memory ran out; use a larger GC_MAXIMUM_HEAP_SIZE or a smaller size");
    return p;
}

/* ---- threads ---- */

struct runner {
    part_fn *prepare, *work;
    void *arg;
    long i, threads;
    pthread_t thread;
    atomic_long *ready;
    uint64_t began, ended;
};

/* All are running when the last has come, if there is a processor for each.  A barrier that lets threads sleep leaves it to the
 * scheduler when the others begin. */
static void await_all(struct runner *r)
{
    atomic_fetch_add(r->ready, 1);
    while (atomic_load(r->ready) < r->threads)
        sched_yield();
}

static void *run(void *arg)
{
    struct runner *r = arg;

    if (r->prepare != NULL)
        r->prepare(r->arg, r->i);
    await_all(r);
    r->began = now_ns();
    r->work(r->arg, r->i);
    r->ended = now_ns();
    return NULL;
}

static double run_alone(part_fn *prepare, part_fn *work, void *arg)
{
    uint64_t began;

    if (prepare != NULL)
        prepare(arg, 0);
    began = now_ns();
    work(arg, 0);
    return (double)(now_ns() - began);
}

double together_ns(part_fn *prepare, part_fn *work, void *arg, long threads)
{
    struct runner *r;
    atomic_long ready = 0;
    uint64_t began = UINT64_MAX, ended = 0;

    if (threads == 1)
        return run_alone(prepare, work, arg);
    r = obtained(calloc((size_t)threads, sizeof *r));
    for (long i = 0; i < threads; i++) {
        r[i] = (struct runner){ prepare, work, arg, i, threads, .ready = &ready };
        if (pthread_create(&r[i].thread, NULL, run, &r[i]) != 0)
            fail("a thread cannot be created; use fewer");
    }
    for (long i = 0; i < threads; i++) {
        pthread_join(r[i].thread, NULL);
        began = r[i].began < began ? r[i].began : began;
        ended = r[i].ended > ended ? r[i].ended : ended;
    }
    free(r);
    return (double)(ended - began);
}

double best_ns(part_fn *prepare, part_fn *work, void *arg, long threads, int rounds)
{
    double best = together_ns(prepare, work, arg, threads);

    for (int round = 1; round < rounds; round++) {
        double ns = together_ns(prepare, work, arg, threads);

        best = ns < best ? ns : best;
    }
    return best;
}
