/* SPDX-License-Identifier: MIT */
/*
 * What ACDC measures: operations by the thread's clock, memory by time, histograms of what was allocated; and how it says so.
 *
 * Times are the thread's own (CLOCK_THREAD_CPUTIME_ID), so that waiting and other programs do not count.  To read that clock
 * takes longer than a tick: what reading takes is measured and taken off, and beside the mean stands the median of all units of
 * time, which an interrupt does not move.
 *
 *   what                        written by      read by                    ordering
 *   counts, costs, histograms   their thread    main thread                the join
 *   ... allocated, ended        their thread    thread 0 for the trace     relaxed: a trace may be a batch behind
 */
#ifndef ACDC_METRICS_H
#define ACDC_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "bench/acdc/options.h"

/* ---- figures ---- */

/* Lines "name value unit", or the same with tabs and a heading. */
void say_as_tsv(void);
void say(const char *name, const char *text, const char *unit);
void figure(const char *name, double value, const char *unit);
void figure_of(const char *name, long number, double value, const char *unit);  /* name_NUMBER */

/* ---- clocks ---- */

double wall_ns(void);
double thread_ns(void);
double process_ns(void);

/* ---- one thread's ---- */

enum operation { ALLOCATE, RELEASE, REFRESH, REFRESH_GLOBAL, TICK, TICK_GLOBAL, OPERATIONS };

struct cost {
    double *mean_of_unit;               /* for each unit of time in which there were any: ns an operation */
    double ns;                          /* all of them */
    long units, operations, readings;
    double unit_ns;                     /* of this unit of time */
    long unit_operations, unit_readings;
};

/* What memory there was when the thread's time went up. */
struct moment {
    double bytes, objects, resident;
    double heap;                        /* what the memory has from the system; negative: it does not say */
    double collections;                 /* up to now; negative: no collector */
    double most;                        /* bytes: the most that ACDC had allocated and not ended, so far */
    double allocated;                   /* objects up to now */
};

struct metrics {
    struct cost costs[OPERATIONS];
    double since;                       /* where the present operations began */
    _Atomic long long asked_bytes;      /* allocated: what was asked for */
    _Atomic long long allocated_bytes, allocated_objects;       /* what the blocks have, if the memory tells */
    _Atomic long long ended_bytes, ended_objects;               /* their life is over */
    long long fetched;                  /* objects from the pool */
    long long *by_lifetime, *by_class;  /* objects allocated */
    struct moment *moments;             /* of each unit of time; NULL: no trace */
    long long most_bytes;               /* see there */
    double began, ended;                /* of the work: wall_ns */
    double cpu;                         /* of the work: thread_ns */
};

void metrics_begin(struct metrics *metrics, const struct options *options, long thread);

/* Around operations, if costs are measured at all. */
void cost_begin(struct metrics *metrics);
void cost_end(struct metrics *metrics, enum operation operation, long operations);

/* A unit of time is over. */
void cost_unit(struct metrics *metrics);

static inline void count(_Atomic long long *number, long long more)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + more, memory_order_relaxed);
}

/* ---- all threads', after the join ---- */

void metrics_report(struct metrics *const *metrics, const struct options *options);

/* Bytes of this process now, and the most there ever were, without ACDC's own. */
double resident_now(void);
double resident_most(void);

#endif
