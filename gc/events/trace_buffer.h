/* SPDX-License-Identifier: MIT */
/*
 * Events of threads on their way into the timeline (gc/events/trace.h).
 *
 * A thread that has something to say puts it into one of a fixed number of slots; the thread that
 * collects empties them when the program runs again.  Putting is lock-free, makes no system call
 * but gettid, and waits for nobody: it may be done in the suspend handler, in which a thread may
 * have interrupted its own putting, and under any lock.  If the slots it tries are taken, the event
 * is dropped and counted.
 *
 *   field          written by                            read by             ordering
 *   on             the starting thread; who ends the     any thread          relaxed: who is late puts an event
 *                  timeline                                                  that nobody takes
 *   memory         the starting thread, before `on`      any thread          release / acquire; never unmapped
 *   next           who puts: add                         same; who takes     acquire-release RMW / acquire
 *   slot.state     who puts: CAS from FREE to FILLING,   same                acquire of FREE: the slot's last entry was
 *                  then FULL; who takes: FREE                                copied; acquire of FULL: the entry is written
 *   slot.entry     who has made it FILLING               who takes           release and acquire of `state`
 *   dropped        who finds no slot: add                who takes           relaxed
 *   seen, taken,   who takes                             same                the GC lock
 *   reported
 *   parts          the thread that collects              same                the GC lock
 *
 * A fork zeroes the child's copy of the slots and their counts: so no slot stays FILLING for a
 * thread that the child does not have, and nothing of the parent's is written twice.
 */
#ifndef SGC_GC_EVENTS_TRACE_BUFFER_H
#define SGC_GC_EVENTS_TRACE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/platform.h"

/* Things that a thread does from one time to another; gc/events/trace_text.h has the names. */
enum sgc_trace_what {
    SGC_TRACE_STOPPED,              /* it stood still */
    SGC_TRACE_MARKED,               /* as a marker: objects, bytes, thefts */
    SGC_TRACE_ASSISTED,             /* it helped a mark along, */
    SGC_TRACE_STALLED,              /* or waited for its end */
    SGC_TRACE_FINALIZED,            /* it ran finalizers: how many */
    SGC_TRACE_SWEPT,
    SGC_TRACE_GAVE_BACK,            /* bytes */
    SGC_TRACE_CONCURRENT,           /* the lead marked beside the program, with all who do, */
    SGC_TRACE_ROUND,                /* or scanned written pages */
    SGC_TRACE_GREW,                 /* at `to_ns` the heap had grown: bytes */
    SGC_TRACE_NAMED,                /* the thread has that name, in `arg` */
    SGC_TRACE_WHATS
};

enum { SGC_TRACE_ARGS = 3 };

struct sgc_trace_entry {
    uint32_t what;                  /* enum sgc_trace_what */
    sgc_tid_t tid;
    uint64_t from_ns, to_ns;        /* of sgc_clock_ns */
    uint64_t arg[SGC_TRACE_ARGS];
};

/* Is an entry one that a thread has put here, and no torn one? */
static inline bool sgc_trace_entry_ok(const struct sgc_trace_entry *entry)
{
    return entry->what < SGC_TRACE_WHATS && entry->tid > 0 && entry->from_ns <= entry->to_ns;
}

extern sgc_a32_t sgc_trace_on;

/* Is a timeline written?  [any] */
static inline bool sgc_trace_wanted(void)
{
    return sgc_a32_load(&sgc_trace_on) != 0;
}

/* The time, for sgc_trace_end; 0 if no timeline is written.  [any] */
static inline uint64_t sgc_trace_begin(void)
{
    return __builtin_expect(sgc_trace_wanted(), 0) ? sgc_clock_ns() : 0;
}

/* Puts an entry as it is, unless the thread has no number, since a filter of system calls keeps it
 * from asking.  [any] */
void sgc_trace_put(const struct sgc_trace_entry *entry);

/* The calling thread has done that from from_ns to to_ns; nothing if from_ns is 0.  [any] */
void sgc_trace_span(enum sgc_trace_what what, uint64_t from_ns, uint64_t to_ns, uint64_t arg);

/* Until now. */
static inline void sgc_trace_end(enum sgc_trace_what what, uint64_t from_ns, uint64_t arg)
{
    if (__builtin_expect(from_ns != 0, 0))
        sgc_trace_span(what, from_ns, sgc_clock_ns(), arg);
}

/* The calling thread is named as the system has it.  [any] */
void sgc_trace_name(void);

/* ---- the parts of a stop ---- */

enum { SGC_TRACE_PARTS = 48 };      /* of a stop, the same part more than once included; the last
                                     * goes on for those that find no place */

struct sgc_trace_part {
    uint32_t phase;                 /* enum sgc_phase */
    uint64_t from_ns, to_ns;
};

struct sgc_trace_parts {
    uint32_t count;
    struct sgc_trace_part of[SGC_TRACE_PARTS];
};
extern struct sgc_trace_parts sgc_trace_parts;

/* A part is over; `first`: it is a stop's first.  By the collecting thread, in the stop. */
void sgc_trace_part(uint32_t phase, bool first, uint64_t from_ns, uint64_t to_ns);

/* ---- the other end: with the GC lock ---- */

/* False: the system refuses memory, or cannot zero it in a fork's child. */
bool sgc_trace_buffer_open(void);

/* Calls visit(arg, entry) with each entry that is there, and returns how many have been dropped
 * since the last time. */
uint32_t sgc_trace_take(void (*visit)(void *arg, const struct sgc_trace_entry *entry), void *arg);

#endif
