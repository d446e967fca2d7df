/* SPDX-License-Identifier: MIT */
/*
 * How long a mark takes when its processors queue for memory, by [Endo], 4.3.7: mean value analysis
 * with the memory nodes as the only servers.  Pure functions of plain numbers, without state, clock
 * or collector, so that a collector can choose its number of markers by them and a tool outside of
 * it can predict.
 *
 * P processors compute T_P nanoseconds each.  Their misses go to memory nodes: Q_jc of class c
 * (read, or read-modify-write) to node j.  A miss takes M_jc where nobody is in the way and keeps
 * the node busy for S_c of it.  When the mark takes T, node j is busy for the part rho_j = U_j / T
 * of it, U_j being the sum over c of Q_jc S_c.  A request that finds it busy waits:
 *
 *     W_j = (sum over c of Q_jc / T * S_c^2) / (1 - rho_j) = A_j / (T - U_j)      with A_j the sum of Q_jc S_c^2
 *     T   = T_P + (1/P) sum over j and c of Q_jc (M_jc + W_j)
 *
 * With one class W_j is S rho / (1 - rho), as the thesis has it.  The thesis gives the equation for
 * one node and one class; the sums over both are what it has to mean on a machine with several.
 *
 * T stands on both sides.  The right side falls as T grows, and rises without bound towards the
 * largest U_j: so there is one solution, and it is larger than each U_j.  g(T) = T - (right side)
 * is increasing and concave there.  Newton's method that begins left of the root therefore stays
 * left of it and rises to it.  It begins at the largest root of the equations in which a single
 * node makes its requests wait: these are quadratic, lie right of all U_j, and left of the root,
 * since waiting at the other nodes only adds to T.
 */
#ifndef SGC_MARK_TEAM_CONTENTION_RULES_H
#define SGC_MARK_TEAM_CONTENTION_RULES_H

#include <stdint.h>

#include "platform/report.h"

enum sgc_miss_class { SGC_MISS_READ, SGC_MISS_RMW, SGC_MISS_CLASSES };

/* The load of one memory node in a mark, by class: requests, and the mean time that one takes
 * without contention, nanoseconds. */
struct sgc_node_load {
    double requests[SGC_MISS_CLASSES];
    double latency_ns[SGC_MISS_CLASSES];
};

struct sgc_memory_load {
    const struct sgc_node_load *node;
    uint32_t nodes;
    double occupancy_ns[SGC_MISS_CLASSES]; /* S_O: how long a request keeps its node busy */
    double abreast;                        /* processors, times the misses that each has under way
                                              at once: 1 in [Endo] */
};

/* ---- of one node ---- */

static inline double sgc_node_requests(const struct sgc_node_load *n)
{
    return n->requests[SGC_MISS_READ] + n->requests[SGC_MISS_RMW];
}

/* U_j: how long the node is busy in all. */
static inline double sgc_node_busy_ns(const struct sgc_memory_load *m, const struct sgc_node_load *n)
{
    return n->requests[SGC_MISS_READ] * m->occupancy_ns[SGC_MISS_READ] +
           n->requests[SGC_MISS_RMW] * m->occupancy_ns[SGC_MISS_RMW];
}

/* A_j, square nanoseconds. */
static inline double sgc_node_weight(const struct sgc_memory_load *m, const struct sgc_node_load *n)
{
    return n->requests[SGC_MISS_READ] * m->occupancy_ns[SGC_MISS_READ] * m->occupancy_ns[SGC_MISS_READ] +
           n->requests[SGC_MISS_RMW] * m->occupancy_ns[SGC_MISS_RMW] * m->occupancy_ns[SGC_MISS_RMW];
}

/* The sum over c of Q_jc, times A_j.  Divided by T - U_j it is the time that all requests to the
 * node wait together. */
static inline double sgc_node_pressure(const struct sgc_memory_load *m, const struct sgc_node_load *n)
{
    return sgc_node_requests(n) * sgc_node_weight(m, n);
}

/* W_j: the mean wait of a request when the mark takes time_ns, more than the node is busy. */
static inline double sgc_node_wait_ns(const struct sgc_memory_load *m, const struct sgc_node_load *n, double time_ns)
{
    double idle = time_ns - sgc_node_busy_ns(m, n);

    sgc_assert(time_ns >= 0 && (idle > 0 || sgc_node_weight(m, n) == 0));
    return idle > 0 ? sgc_node_weight(m, n) / idle : 0;
}

/* ---- of all ---- */

/* The time that the busiest node needs: no number of processors makes a mark shorter. */
static inline double sgc_memory_min_ns(const struct sgc_memory_load *m)
{
    double max = 0;

    for (uint32_t j = 0; j < m->nodes; j++) {
        double busy = sgc_node_busy_ns(m, &m->node[j]);

        max = busy > max ? busy : max;
    }
    return max;
}

/* The time of a mark in which no request ever waits: M_P = M_1. */
static inline double sgc_memory_free_ns(const struct sgc_memory_load *m, double computing_ns)
{
    double sum = 0;

    sgc_assert(m->abreast >= 1 && computing_ns >= 0);
    for (uint32_t j = 0; j < m->nodes; j++)
        for (int c = 0; c < SGC_MISS_CLASSES; c++)
            sum += m->node[j].requests[c] * m->node[j].latency_ns[c];
    return computing_ns + sum / m->abreast;
}

/* By Newton's method from the right: a header has no library. */
static inline double sgc_square_root(double value)
{
    double x = value > 1 ? value : 1, next;

    sgc_assert(value >= 0);
    if (value == 0)
        return 0;
    while ((next = (x + value / x) / 2) < x)
        x = next;
    return x;
}

/* The larger root of (T - free_ns)(T - busy_ns) = pressure: one node alone makes requests wait.
 * Written as the larger of the two times and what is added to it, since a difference would lose
 * digits. */
static inline double sgc_single_node_ns(double free_ns, double busy_ns, double pressure)
{
    double larger = free_ns > busy_ns ? free_ns : busy_ns;
    double half = larger - (free_ns + busy_ns) / 2;

    sgc_assert(half >= 0 && pressure >= 0);
    return pressure > 0 ? larger + pressure / (sgc_square_root(half * half + pressure) + half) : larger;
}

/* Where Newton's method begins: at most the solution, and more than any node is busy. */
static inline double sgc_memory_begin_ns(const struct sgc_memory_load *m, double free_ns)
{
    double max = free_ns;

    for (uint32_t j = 0; j < m->nodes; j++) {
        double alone = sgc_single_node_ns(free_ns, sgc_node_busy_ns(m, &m->node[j]),
                                          sgc_node_pressure(m, &m->node[j]) / m->abreast);

        max = alone > max ? alone : max;
    }
    return max;
}

/* T_P^M: the solution.  `computing_ns` is T_P, what each processor computes. */
static inline double sgc_memory_time_ns(const struct sgc_memory_load *m, double computing_ns)
{
    double free_ns = sgc_memory_free_ns(m, computing_ns);
    double time = sgc_memory_begin_ns(m, free_ns);

    for (int step = 0; step < 100; step++) {
        double missing = time - free_ns, slope = 1, next;

        for (uint32_t j = 0; j < m->nodes; j++) {
            double idle = time - sgc_node_busy_ns(m, &m->node[j]);
            double waits = sgc_node_pressure(m, &m->node[j]) / m->abreast;

            if (waits == 0)
                continue;
            sgc_assert(idle > 0);
            missing -= waits / idle;
            slope += waits / (idle * idle);
        }
        next = time - missing / slope;
        if (!(next > time))
            break;
        time = next;
    }
    return time;
}

/* M_P: the mean time of a miss when the mark takes time_ns; 0 without misses. */
static inline double sgc_memory_miss_ns(const struct sgc_memory_load *m, double time_ns)
{
    double sum = 0, requests = 0;

    for (uint32_t j = 0; j < m->nodes; j++) {
        const struct sgc_node_load *n = &m->node[j];

        for (int c = 0; c < SGC_MISS_CLASSES; c++)
            sum += n->requests[c] * n->latency_ns[c];
        if (sgc_node_requests(n) > 0)
            sum += sgc_node_requests(n) * sgc_node_wait_ns(m, n, time_ns);
        requests += sgc_node_requests(n);
    }
    return requests > 0 ? sum / requests : 0;
}

/* ---- how many processors suffice ---- */

/* The time with so many processors when the graph is wide, nobody steals, and a processor has one
 * miss under way: [Endo]'s fast predictor (4.4.2), if the load was taken from how much lives rather
 * than from its accesses.  work_ns is T_1. */
static inline double sgc_memory_shared_ns(const struct sgc_memory_load *m, double work_ns, uint32_t processors)
{
    struct sgc_memory_load load = *m;

    sgc_assert(processors > 0);
    load.abreast = processors;
    return sgc_memory_time_ns(&load, work_ns / processors);
}

/* The smallest number of processors up to `max` whose time is at most so many percent above that of
 * all: by halving, as each one more takes no longer. [Endo] has no rule for which number suffices
 * (4.4.4). */
static inline uint32_t sgc_memory_enough(const struct sgc_memory_load *m, double work_ns, uint32_t max, double percent)
{
    double bound = sgc_memory_shared_ns(m, work_ns, max) * (1 + percent / 100);
    uint32_t too_few = 0, enough = max;

    sgc_assert(max > 0 && percent >= 0);
    while (enough - too_few > 1) {
        uint32_t middle = too_few + (enough - too_few) / 2;

        if (sgc_memory_shared_ns(m, work_ns, middle) <= bound)
            enough = middle;
        else
            too_few = middle;
    }
    return enough;
}

#endif
