/* SPDX-License-Identifier: MIT */
/* See bench/endo/apps/app.h.
 *
 *   what     written by                              read by                        ordering
 *   next     any thread of a phase, atomic adds      same                           relaxed; the reset is between barriers
 *   counts   thread i its own                        one thread between barriers    the barrier
 *   barrier  any thread                              same                           its lock
 *   most     one thread between barriers             main thread at the end         the barriers, the join
 */
#include "bench/endo/apps/app.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sgc.h"

static const char *const set_names[APP_SETS] = { "quick", "ch2", "ch3", "ch4", "ch5" };

enum {
    THREADS_MOST = 1024,
};

static struct {
    const char *name;
    long threads;
    bool spoil, weigh;
    void (*body)(long i);
    double seconds;
} app;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long waiting;
    unsigned long number;               /* of the phase */
} barrier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

static struct own_counts {
    _Alignas(128) struct app_counts of;
} *counts;                              /* of each thread */
static struct app_counts most;          /* alive at a time */
static size_t weighed;                  /* by the collector */

/* ---- parameters ---- */

void app_refuse(const char *what, const char *text, const char *expected)
{
    fprintf(stderr, "%s: %s \"%s\": %s\n", app.name, what, text, expected);
    exit(2);
}

static long number(const char *name, const char *text, long least, long greatest)
{
    char expected[96], *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && value >= least && value <= greatest)
        return value;
    snprintf(expected, sizeof expected, "expected a number from %ld to %ld", least, greatest);
    app_refuse(name, text, expected);
    return 0;
}

static int set_of(const char *text)
{
    for (int i = 0; i < APP_SETS; i++)
        if (strcmp(text, set_names[i]) == 0)
            return i;
    app_refuse("--set", text, "expected quick, ch2, ch3, ch4 or ch5");
    return 0;
}

static void choose_set(struct app_parameter *p, int n, int set)
{
    for (int i = 0; i < n; i++) {
        if (p[i].value[set] == 0)
            app_refuse("--set", set_names[set], "the thesis has no experiment with this program in that chapter");
        p[i].chosen = p[i].value[set];
    }
}

static void one_parameter(struct app_parameter *p, int n, const char *name, const char *text)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, p[i].name) == 0) {
            p[i].chosen = number(name, text, p[i].least, p[i].most);
            return;
        }
    app_refuse("the option", name - 2, "expected --set, --threads, --spoil, --weigh, or a parameter of this program");
}

/* The set first, wherever it stands. */
static void parse(int argc, char **argv, struct app_parameter *p, int n)
{
    int set = APP_QUICK;

    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--set") == 0)
            set = set_of(argv[i + 1]);
    choose_set(p, n, set);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--spoil") == 0 || strcmp(argv[i], "--weigh") == 0) {
            *(argv[i][2] == 's' ? &app.spoil : &app.weigh) = true;
            continue;
        }
        if (strncmp(argv[i], "--", 2) != 0 || i + 1 >= argc)
            app_refuse("the argument", argv[i], "expected --NAME N");
        if (strcmp(argv[i], "--threads") == 0)
            app.threads = number("--threads", argv[i + 1], 1, THREADS_MOST);
        else if (strcmp(argv[i], "--set") != 0)
            one_parameter(p, n, argv[i] + 2, argv[i + 1]);
        i++;
    }
    printf("set %s text\n", set_names[set]);
}

void app_begin(int argc, char **argv, const char *name, struct app_parameter *parameters, int n)
{
    app.name = name;
    app.threads = 1;
    parse(argc, argv, parameters, n);
    case_begin();
    counts = obtained(aligned_alloc(_Alignof(struct own_counts), (size_t)app.threads * sizeof *counts));
    memset(counts, 0, (size_t)app.threads * sizeof *counts);
    for (int i = 0; i < n; i++)
        figure(parameters[i].name, (double)parameters[i].chosen, "number");
}

long app_threads(void)
{
    return app.threads;
}

bool app_spoil(void)
{
    return app.spoil;
}

/* ---- threads ---- */

static void body_of(void *arg, long i)
{
    (void)arg;
    app.body(i);
}

void app_run(void (*body)(long i))
{
    app.body = body;
    app.seconds = together_ns(NULL, body_of, NULL, app.threads) / 1e9;
}

double app_seconds(void)
{
    return app.seconds;
}

/* The last to come is the one.  Made of a condition variable, as ThreadSanitizer stops no thread in the C library's barrier. */
bool app_barrier(void)
{
    unsigned long mine;
    bool last;

    pthread_mutex_lock(&barrier.lock);
    mine = barrier.number;
    last = ++barrier.waiting == app.threads;
    if (last) {
        barrier.waiting = 0;
        barrier.number++;
        pthread_cond_broadcast(&barrier.changed);
    }
    while (barrier.number == mine)
        pthread_cond_wait(&barrier.changed, &barrier.lock);
    pthread_mutex_unlock(&barrier.lock);
    return last;
}

void app_reset(struct app_tasks *tasks)
{
    __atomic_store_n(&tasks->next, 0, __ATOMIC_RELAXED);
}

long app_take(struct app_tasks *tasks, long batch)
{
    return __atomic_fetch_add(&tasks->next, batch, __ATOMIC_RELAXED);
}

/* ---- memory ---- */

static void *counted(long i, void *object, size_t bytes)
{
    if (object == NULL) {
        fprintf(stderr, "%s: no memory for %zu bytes; use a larger GC_MAXIMUM_HEAP_SIZE or a smaller set\n", app.name, bytes);
        exit(1);
    }
    counts[i].of.objects++;
    counts[i].of.bytes += bytes;
    return object;
}

void *app_new(long i, size_t bytes)
{
    return counted(i, GC_malloc(bytes), bytes);
}

void *app_new_plain(long i, size_t bytes)
{
    return memset(counted(i, GC_malloc_atomic(bytes), bytes), 0, bytes);
}

void *app_new_uncollectable(long i, size_t bytes)
{
    return counted(i, GC_malloc_uncollectable(bytes), bytes);
}

struct app_counts app_allocated(void)
{
    struct app_counts all = { 0, 0 };

    for (long i = 0; i < app.threads; i++) {
        all.objects += counts[i].of.objects;
        all.bytes += counts[i].of.bytes;
    }
    return all;
}

void app_live(unsigned long objects, unsigned long bytes)
{
    if (bytes <= most.bytes)
        return;
    most = (struct app_counts){ objects, bytes };
    if (app.weigh) {
        GC_gcollect();
        weighed = GC_get_memory_use() > weighed ? GC_get_memory_use() : weighed;
    }
}

void app_live_since(struct app_counts before)
{
    struct app_counts now = app_allocated();

    app_live(now.objects - before.objects, now.bytes - before.bytes);
}

/* ---- the end ---- */

/* The counters of [Endo] 2.4, if the collector has them: the remote page ratio is foreign by reused. */
static void report_pages(void)
{
    size_t (*get_stats)(struct SGC_stats *stats, size_t size);
    struct SGC_stats stats;

    *(void **)&get_stats = dlsym(RTLD_DEFAULT, "SGC_get_stats");
    if (get_stats == NULL || get_stats(&stats, sizeof stats) < sizeof stats)
        return;
    figure("pages_consumed", (double)stats.pages_consumed_max, "pages");
    figure("pages_reused", (double)(stats.pages_taken - stats.pages_fresh), "pages");
    figure("pages_foreign", (double)stats.pages_foreign, "pages");
}

int app_end(uint64_t digest)
{
    struct app_counts all = app_allocated();

    figure("threads", (double)app.threads, "threads");
    figure("seconds", app.seconds, "s");
    figure("allocated_objects", (double)all.objects, "objects");
    figure("allocated_bytes", (double)all.bytes, "B");
    figure("live_objects", (double)most.objects, "objects");
    figure("live_bytes", (double)most.bytes, "B");
    if (app.weigh)
        figure("weighed_bytes", (double)weighed, "B");
    report_pages();
    figure("result", (double)(digest >> 24), "digest");
    case_end();
    free(counts);
    return 0;
}
