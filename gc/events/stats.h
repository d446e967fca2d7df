/* SPDX-License-Identifier: MIT */
/*
 * Statistics: a listener on the collector's events that adds up, and what prints the sums.
 *
 * Adding up runs where the events run (gc/events/events.h): cycles on the collecting thread with
 * the world running, memory and thread events anywhere, lock-free.  Reading is allowed on any
 * thread at any time, the world stopped or not.
 */
#ifndef SGC_GC_EVENTS_STATS_H
#define SGC_GC_EVENTS_STATS_H

#include "gc/events/events.h"

struct sgc_distribution {           /* nanoseconds */
    uint64_t total, p50, p99, max;
};

/* Sums to which each cycle adds at its end, and to phase_ns each of its stops.  Only 64-bit words:
 * it is published word by word. */
struct sgc_cycle_totals {
    uint64_t cycles;
    uint64_t by_reason[SGC_REASONS];
    uint64_t phase_ns[SGC_PHASES];  /* of all stops, those of marks that were given up, too */
    uint64_t clear_ns;              /* clearing bitmaps outside of pauses */
    uint64_t concurrent;            /* cycles that stopped the program more than once, */
    uint64_t concurrent_ns;         /* and what was marked beside it */
    struct sgc_waits waits[SGC_WAITS];
    uint64_t marked_objects, marked_bytes;
    uint64_t allocated_bytes;       /* until the last cycle */
    uint64_t rescans;
    uint64_t mark_stack_depth;      /* the most of any cycle */
    uint64_t heap_bytes_max;
    /* of the last cycle */
    uint64_t live_bytes, heap_bytes, free_bytes, root_bytes, threads_stopped, threads_blocked;
    uint64_t pages_consumed_max, pages_taken, pages_fresh, pages_foreign, pages_far;
    uint64_t last_pause_ns, last_stop_ns, last_end_ns;
};

struct sgc_totals {
    struct sgc_cycle_totals cycle;
    struct sgc_distribution pause, stop, mark;      /* of each stop; mark: roots, marking and
                                                       rescanning */
    uint64_t grown_bytes, grown_times;              /* memory committed for the heap */
    uint64_t returned_bytes, returned_times;        /* given back to the system */
    uint64_t threads, threads_max, threads_registered;
};

/* Begins to listen; once, at start. */
void sgc_stats_start(void);

/* The totals until now.  The cycle part is of one instant (after a bounded number of attempts, of
 * neighbouring cycles); the rest is as each number was when it was read. */
void sgc_stats_get(struct sgc_totals *totals);

/* Time spent marking in a cycle. */
uint64_t sgc_stats_mark_ns(const uint64_t phase_ns[SGC_PHASES]);

/* The rate in units per second; 0 when no time passed. */
static inline uint64_t sgc_stats_rate(uint64_t amount, uint64_t ns)
{
    /* Through 128 bits: amount * 10^9 exceeds 64 bits from 18 GB on. */
    return ns == 0 ? 0 : (uint64_t)((unsigned __int128)amount * 1000000000 / ns);
}

/* stats_print.c: with GC_PRINT_STATS begins to print a line per collection; call after
 * sgc_log_start. */
void sgc_stats_print_start(void);

/* The summary, if GC_PRINT_STATS asks for one; once, when the program ends. */
void sgc_stats_at_exit(void);

#endif
