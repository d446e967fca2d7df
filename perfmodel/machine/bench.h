/* SPDX-License-Identifier: MIT */
/*
 * Small measurements of this machine: how long memory, caches and the parts of marking take.  Each
 * is the least of several rounds, since a processor may be taken away meanwhile.
 *
 * Processors are by the system's numbers.  Memory is on the node of the processor that touches it
 * first.  Those that measure move the calling thread to a processor.
 */
#ifndef SGC_PERFMODEL_MACHINE_BENCH_H
#define SGC_PERFMODEL_MACHINE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- processors and time (bench.c) ---- */

enum { SGC_BENCH_CPUS = 4096 };

/* Those that the process may use, ascending; how many. */
int sgc_bench_cpus(int *cpu, int room);

void sgc_bench_pin(int cpu);

/* Time that the calling thread has computed, without that in which others used its processor. */
double sgc_bench_own_ns(void);

/* Runs work(arg, 0) to work(arg, n - 1) at once, each on a processor of its own, and in `rounds`
 * rounds; the least time from the first that begins to the last that ends.  False: no thread could
 * be started. */
typedef void sgc_bench_fn(void *arg, int i);
bool sgc_bench_together(sgc_bench_fn *work, void *arg, const int *cpu, int n, int rounds, double *ns);

/* The time by which `more` takes longer than `less`.  Each call of these is one measurement; they
 * are repeated in turns, until the difference is well above that between the least times of groups
 * of turns.  False: it never is; *ns is a bound. */
typedef double sgc_bench_time_fn(void *arg);
struct sgc_bench_pair {
    sgc_bench_time_fn *more, *less;
    void *arg;
};
bool sgc_bench_difference(const struct sgc_bench_pair *pair, double *ns);

/* Memory from the system, on huge pages if it has some and they are wanted, touched by the caller.
 * NULL: there is none. */
void *sgc_bench_memory(size_t bytes, bool huge);
void sgc_bench_release(void *memory, size_t bytes);

/* ---- memory (bench_memory.c): nanoseconds; 0: no memory ---- */

/* A load whose address the load before gave, of lines in random order all over so many bytes; each
 * is read, or read and written atomically.  stride: of the lines, at least 64.  `home` touches the
 * memory first, `cpu` measures. */
struct sgc_bench_chase {
    size_t bytes, stride;
    bool huge, rmw;
    int home, cpu;
};
double sgc_bench_chase(const struct sgc_bench_chase *chase);

/* Per access of the n processors together, to memory of each one's own, at random addresses that
 * are known ahead. */
double sgc_bench_independent(size_t bytes, bool rmw, const int *cpu, int n);

/* 10^6 bytes a second that one processor reads from one end to the other. */
double sgc_bench_stream(size_t bytes, int cpu);

/* A line goes from one processor to another. */
double sgc_bench_handover(int one, int other);

/* Pages of 4 KB that are found without a walk, a power of two. */
double sgc_bench_tlb_pages(int cpu);

/* ---- computing (bench_costs.c) ---- */

#include "perfmodel/machine/machine.h"

/* The costs of the marker's own parts where these stand alone, and of loops like its own otherwise.
 * Which of those that are differences could not be told from noise, so that they are bounds.
 * False: no memory. */
struct sgc_bench_doubts {
    bool edge, steal, procedure;
};
bool sgc_bench_costs(struct sgc_machine_costs *costs, struct sgc_bench_doubts *doubts, int cpu);

/* ---- figures of the system (bench_system.c) ---- */

/* Sizes and sharing of the caches for data, from /sys below `root`; how many levels. */
int sgc_bench_caches(struct sgc_machine_cache *cache, const char *root);

#endif
