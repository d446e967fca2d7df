/* SPDX-License-Identifier: MIT */
/*
 * What the case programs share.  They know nothing but gc.h: each is compiled once, and the loader decides which
 * libgc.so.1 it runs on.
 *
 * A program prints its figures as lines "name value unit", and at its end what the collector did and used.
 */
#ifndef SGC_BENCH_CASE_H
#define SGC_BENCH_CASE_H

#define GC_THREADS
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/measure.h"
#include "gc.h"

/* First in main: starts the collector, and says which one and from which file it is. */
void case_begin(void);

/* After all that the collector is to do: processor time of all threads, markers, collections, heap size, most memory. */
void case_end(void);

/* One line of the output. */
void figure(const char *name, double value, const char *unit);

/* Median, least and most of n measurements as NAME, NAME_least and NAME_most; sorts them. */
void figures(const char *name, double *measured, size_t n, const char *unit);

/* One number for all of a result: start with 0. */
uint64_t result_digest(uint64_t digest, const void *data, size_t bytes);

/* Ends the program with status 1 and a message if the result is not right. */
void result_check(int right, const char *what);

uint64_t now_ns(void);

/* The end of the program with errno's reason, if the system did not do something. */
void need(int ok, const char *what);

/* p, or the end of the program if it is NULL. */
void *obtained(void *p);

/* An object of one of two kinds; what it costs beside the collector's part is one predictable branch. */
enum { CONSERVATIVE, POINTER_FREE };
#define KIND_WORDS "conservative|pointer-free"

static inline void *allocate(size_t size, int kind)
{
    return kind == CONSERVATIVE ? GC_malloc(size) : GC_malloc_atomic(size);
}

/* The calling thread runs on the i-th of the processors that the process could use at case_begin, counted in a circle. */
void pin_thread(long i);

/* What thread i does. */
typedef void part_fn(void *arg, long i);

/* Runs work(arg, 0) to work(arg, threads - 1) at once; the time from the first that began to the last that ended.  Each thread
 * runs prepare(arg, i) before, if there is one.  None begins while another is still to be woken or moved: on two busy
 * processors that may take milliseconds.  A single one runs on the calling thread, so that the program stays without
 * threads. */
double together_ns(part_fn *prepare, part_fn *work, void *arg, long threads);

/* The least of so many times. */
double best_ns(part_fn *prepare, part_fn *work, void *arg, long threads, int rounds);

#endif
