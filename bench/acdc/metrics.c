/* SPDX-License-Identifier: MIT */
/* See metrics.h. */
#include "bench/acdc/metrics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/acdc/metadata.h"

static const char *const operation_names[OPERATIONS] = { "allocate", "release", "refresh", "refresh_global", "tick",
                                                         "tick_global" };
static char separator = ' ';
static double reading_ns;               /* what it takes to read the thread's clock twice */

/* ---- figures ---- */

void say_as_tsv(void)
{
    separator = '\t';
    printf("name\tvalue\tunit\n");
}

void say(const char *name, const char *text, const char *unit)
{
    printf("%s%c%s%c%s\n", name, separator, text, separator, unit);
}

void figure(const char *name, double value, const char *unit)
{
    printf("%s%c%.12g%c%s\n", name, separator, value, separator, unit);
}

void figure_of(const char *name, long number, double value, const char *unit)
{
    char longer[64];

    snprintf(longer, sizeof longer, "%s_%ld", name, number);
    figure(longer, value, unit);
}

/* ---- clocks ---- */

static double clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

double thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

double process_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, long n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The median of many, with nothing between two readings. */
static void measure_reading(void)
{
    enum { MANY = 1001 };
    static double taken[MANY];

    for (int i = 0; i < MANY; i++) {
        double before = thread_ns();

        taken[i] = thread_ns() - before;
    }
    reading_ns = median(taken, MANY);
}

/* ---- costs ---- */

void metrics_begin(struct metrics *metrics, const struct options *options, long thread)
{
    if (options->cost && thread == 0)
        measure_reading();
    for (int i = 0; options->cost && i < OPERATIONS; i++)
        metrics->costs[i].mean_of_unit = metadata_map((size_t)options->duration * sizeof(double));
    metrics->by_lifetime = metadata_map((size_t)(options->lifetime + 1) * sizeof(long long));
    metrics->by_class = metadata_map((size_t)(options->size_most + 1) * sizeof(long long));
    if (options->trace && thread == 0)
        metrics->moments = metadata_map((size_t)options->duration * sizeof(struct moment));
}

void cost_begin(struct metrics *metrics)
{
    if (metrics->costs[0].mean_of_unit != NULL)
        metrics->since = thread_ns();
}

void cost_end(struct metrics *metrics, enum operation operation, long operations)
{
    struct cost *cost = &metrics->costs[operation];

    if (cost->mean_of_unit == NULL || operations == 0)
        return;
    cost->unit_ns += thread_ns() - metrics->since;
    cost->unit_operations += operations;
    cost->unit_readings++;
}

static void end_unit(struct cost *cost)
{
    double ns = cost->unit_ns - (double)cost->unit_readings * reading_ns;

    cost->ns += ns;
    cost->operations += cost->unit_operations;
    cost->readings += cost->unit_readings;
    cost->mean_of_unit[cost->units++] = ns / (double)cost->unit_operations;
    cost->unit_ns = 0;
    cost->unit_operations = cost->unit_readings = 0;
}

void cost_unit(struct metrics *metrics)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (metrics->costs[i].unit_operations > 0)
            end_unit(&metrics->costs[i]);
}

static void report_cost(struct metrics *const *metrics, long threads, enum operation operation)
{
    double ns = 0, *means;
    long units = 0, operations = 0, n = 0;
    char name[48];

    for (long i = 0; i < threads; i++) {
        ns += metrics[i]->costs[operation].ns;
        units += metrics[i]->costs[operation].units;
        operations += metrics[i]->costs[operation].operations;
    }
    if (operations == 0)
        return;
    means = metadata_map((size_t)units * sizeof *means);
    for (long i = 0; i < threads; n += metrics[i++]->costs[operation].units)
        memcpy(means + n, metrics[i]->costs[operation].mean_of_unit,
               (size_t)metrics[i]->costs[operation].units * sizeof *means);
    snprintf(name, sizeof name, "%s_ns", operation_names[operation]);
    figure(name, ns / (double)operations, "ns");
    snprintf(name, sizeof name, "%s_median_ns", operation_names[operation]);
    figure(name, median(means, units), "ns");
    snprintf(name, sizeof name, "%s_calls", operation_names[operation]);
    figure(name, (double)operations, "calls");
}

/* ---- resident memory ---- */

/* A line of /proc/self/status, in bytes. */
static double status_bytes(const char *line_name)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kb = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, line_name, strlen(line_name)) == 0)
            kb = strtod(line + strlen(line_name), NULL);
    if (f != NULL)
        fclose(f);
    return kb * 1024;
}

static double less_own(double bytes)
{
    double own = (double)metadata_bytes();

    return bytes > own ? bytes - own : 0;
}

double resident_now(void)
{
    return less_own(status_bytes("VmRSS:"));
}

double resident_most(void)
{
    return less_own(status_bytes("VmHWM:"));
}

/* ---- the report ---- */

static long long sum(struct metrics *const *metrics, long threads, size_t place)
{
    long long all = 0;

    for (long i = 0; i < threads; i++)
        all += atomic_load_explicit((_Atomic long long *)((char *)metrics[i] + place), memory_order_relaxed);
    return all;
}

#define SUM(name) sum(metrics, threads, offsetof(struct metrics, name))

static void report_counts(struct metrics *const *metrics, long threads)
{
    long long fetched = 0;

    for (long i = 0; i < threads; i++)
        fetched += metrics[i]->fetched;
    figure("allocated_objects", (double)SUM(allocated_objects), "objects");
    figure("allocated_bytes", (double)SUM(asked_bytes), "B");
    figure("ended_objects", (double)SUM(ended_objects), "objects");
    figure("fetched_objects", (double)fetched, "objects");
}

static void report_times(struct metrics *const *metrics, long threads)
{
    double began = metrics[0]->began, ended = metrics[0]->ended, cpu = 0;

    for (long i = 0; i < threads; i++) {
        began = metrics[i]->began < began ? metrics[i]->began : began;
        ended = metrics[i]->ended > ended ? metrics[i]->ended : ended;
        cpu += metrics[i]->cpu;
    }
    figure("seconds", (ended - began) / 1e9, "s");
    figure("mutators_cpu", cpu / 1e9, "s");
    figure("process_cpu", process_ns() / 1e9, "s");
    figure("throughput", (double)SUM(asked_bytes) / 1048576 / ((ended - began) / 1e9), "MB/s");
    figure("throughput_cpu", (double)SUM(asked_bytes) / 1048576 / (cpu / 1e9), "MB/s");
}

static void report_histogram(struct metrics *const *metrics, const struct options *options)
{
    for (long lifetime = 1; lifetime <= options->lifetime; lifetime++) {
        long long n = 0;

        for (long i = 0; i < options->threads; i++)
            n += metrics[i]->by_lifetime[lifetime];
        figure_of("lifetime", lifetime, (double)n, "objects");
    }
    for (long class = options->size_least; class <= options->size_most; class++) {
        long long n = 0;

        for (long i = 0; i < options->threads; i++)
            n += metrics[i]->by_class[class];
        figure_of("class", class, (double)n, "objects");
    }
}

static void report_moment(long time, const struct moment *moment)
{
    figure_of("bytes_at", time, moment->bytes, "B");
    if (moment->objects >= 0)
        figure_of("objects_at", time, moment->objects, "objects");
    figure_of("allocated_at", time, moment->allocated, "objects");
    figure_of("resident_at", time, moment->resident, "B");
    if (moment->heap >= 0)
        figure_of("heap_at", time, moment->heap, "B");
    if (moment->collections >= 0)
        figure_of("collections_at", time, moment->collections, "times");
    figure_of("most_at", time, moment->most, "B");
}

/* Means are of what comes after twice the longest lifetime, when as much goes as comes. */
static void report_trace(const struct metrics *metrics, const struct options *options)
{
    long from = 2 * options->lifetime < options->duration ? 2 * options->lifetime : 0, n = options->duration - from;
    struct moment sum = { .bytes = 0 };

    for (long t = 0; t < options->duration; t++)
        report_moment(t + 1, &metrics->moments[t]);
    for (long t = from; t < options->duration; t++) {
        sum.bytes += metrics->moments[t].bytes;
        sum.objects += metrics->moments[t].objects;
        sum.resident += metrics->moments[t].resident;
    }
    figure("bytes_mean", sum.bytes / (double)n, "B");
    if (sum.objects >= 0)
        figure("objects_mean", sum.objects / (double)n, "objects");
    figure("resident_mean", sum.resident / (double)n, "B");
}

void metrics_report(struct metrics *const *metrics, const struct options *options)
{
    report_times(metrics, options->threads);
    report_counts(metrics, options->threads);
    report_histogram(metrics, options);
    if (options->cost)
        figure("reading_ns", reading_ns, "ns");
    for (int i = 0; options->cost && i < OPERATIONS; i++)
        report_cost(metrics, options->threads, (enum operation)i);
    if (options->trace)
        report_trace(metrics[0], options);
    figure("own_mb", (double)metadata_bytes() / 1048576, "MB");
    figure("peak_rss_mb", resident_most() / 1048576, "MB");
}
