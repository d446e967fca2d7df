/* SPDX-License-Identifier: MIT */
/*
 * Events, by which the collector tells about itself.  A listener (statistics, the log, tests,
 * client hooks) registers a struct of callbacks; the collector calls SGC_EVENT(event, argument), or
 * sgc_cycle_event, and knows none of them.  With no listener an event costs one load.
 *
 * A callback marked [stopped] runs on the collecting thread while the world is stopped: it must not
 * allocate, take a lock, wait, or call into the C library beyond raw system calls.  One marked
 * [running] runs on the collecting thread with the world running, the lock of the collection held:
 * it must not allocate from the heap.  One marked [any] runs on whatever thread it happens on,
 * perhaps on several at once and perhaps under locks of the heap: only lock-free counting.
 */
#ifndef SGC_GC_EVENTS_EVENTS_H
#define SGC_GC_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/report.h"

/* Why there is a collection. */
enum sgc_reason {
    SGC_REASON_EXPLICIT,            /* the program asked: GC_gcollect and its family */
    SGC_REASON_ALLOCATION,          /* enough was allocated since the last one; or one beside the
                                       program was asked for */
    SGC_REASON_LIMIT,               /* the heap may not or cannot grow */
    SGC_REASON_TORTURE,             /* SGC_TORTURE */
    SGC_REASONS
};

/* "explicit", "allocation", ... */
const char *sgc_reason_name(enum sgc_reason reason);

/* Why the program is stopped for a whole mark, or for what is left of one. */
enum sgc_stopped_for {
    SGC_FOR_NOTHING,                /* it is not: what is left is little */
    SGC_FOR_MODE,                   /* there are no concurrent cycles */
    SGC_FOR_CLIENT,                 /* leaks are looked for, or disclaim procedures, which look at
                                       all objects in a stop */
    SGC_FOR_REQUEST,                /* the program asked for this collection, or for a snapshot of
                                       it */
    SGC_FOR_SHORT,                  /* it is expected to be shorter than the target */
    SGC_FOR_ATTEMPTS,               /* so many stops have not ended it */
    SGC_FOR_MEMORY,                 /* there is none for a heap that grows meanwhile */
    SGC_FOR_LATE,                   /* the thread that leads it does not get on */
    SGC_FOR_TORTURE,
    SGC_STOPPED_FOR
};

/* "nothing", "mode", ... */
const char *sgc_stopped_for_name(enum sgc_stopped_for what);

/* The parts of a pause.  They may be entered more than once (marking and rescanning alternate). */
enum sgc_phase {
#define SGC_PHASE(constant, name) SGC_PHASE_##constant,
#include "gc/events/phases.def"
#undef SGC_PHASE
    SGC_PHASES
};

const char *sgc_phase_name(enum sgc_phase phase);

/*
 * One cycle.  Times are nanoseconds of sgc_clock_ns.  Written by the collecting thread only, and a
 * concurrent cycle's by its lead, too, while it has the cycle; complete when cycle_end is called.
 *
 * A concurrent cycle stops the program more than once: times, parts and threads are of its last
 * stop, and the stops before it are added up in `concurrent`.
 */
struct sgc_cycle_times {            /* gc/events/events.c */
    uint64_t request_ns;            /* when the thread that makes it, or its first stop, has the GC
                                       lock */
    uint64_t stop_begin_ns;         /* before the first thread was signalled: the pause begins */
    uint64_t stopped_ns;            /* the last thread stands still */
    uint64_t resumed_ns;            /* all threads were told to go: the pause ends */
    uint64_t phase_ns[SGC_PHASES];  /* the parts; their sum is resumed_ns - stop_begin_ns */
    uint64_t last_ns;               /* where the next part begins */
    uint64_t clear_ns;              /* clearing what was left of the other bitmap before the first
                                       stop, outside the pause, and waiting for those that did */
};

struct sgc_cycle_threads {          /* gc/threads/stopper.c */
    uint64_t stopped;               /* that were signalled and stopped */
    uint64_t blocked;               /* found in GC_do_blocking, not signalled */
};

struct sgc_cycle_marked {           /* the markers' sums; gc/finalize/rounds.c: finalizable_bytes */
    uint64_t root_bytes;            /* static data, stacks, registers, thread-local variables */
    uint64_t objects;
    uint64_t bytes;
    uint64_t pointer_free_bytes;    /* of these, in objects that have no words to scan */
    uint64_t finalizable_bytes;     /* of these, kept only for finalizers that are to run now */
    uint64_t rescans;               /* pages rescanned */
    uint64_t stack_depth;           /* entries, the most there were */
    uint64_t markers;               /* that marked anything */
    uint64_t steals;                /* thefts between them, */
    uint64_t stolen;                /* and pieces of work stolen; */
    uint64_t steals_far;            /* of the thefts, those from another memory node */
};

struct sgc_cycle_heap {             /* gc/collect/cycle.c; allocated_bytes: gc/pacing/pacing.c */
    uint64_t live_bytes_before;     /* allocated when the world stopped, dead or not */
    uint64_t live_bytes_after;
    uint64_t bytes;                 /* committed */
    uint64_t free_bytes;            /* committed, not allocated */
    uint64_t returned_bytes;        /* given back to the system since the last cycle */
    uint64_t allocated_bytes;       /* allocated since the last cycle */
};

struct sgc_cycle_pages {            /* since the start: see alloc/page_supply.h */
    uint64_t consumed_max;
    uint64_t taken;
    uint64_t fresh;                 /* of these, without contents */
    uint64_t remote;
    uint64_t foreign;
    uint64_t far;                   /* of another memory node */
    uint64_t live_max;
};

/* Waits of threads, each by itself: those that help a mark along, and those of threads for which
 * there is no memory until it is over. */
enum sgc_wait { SGC_ASSIST, SGC_STALL, SGC_WAITS };

struct sgc_waits {
    uint64_t times;
    uint64_t ns, worth_ns;          /* how long they took in all, and what that which was allocated
                                       was worth */
    uint64_t longest_ns, over_ns;   /* the longest; and the most by which one was longer than it was
                                       worth */
};

struct sgc_cycle_concurrent {       /* gc/collect/lead.c; waits: gc/pacing/concurrent_pace.c */
    uint64_t earlier_stops;         /* 0: the cycle was one stop */
    uint64_t earlier_stops_ns;      /* how long they took in all, */
    uint64_t longest_stop_ns;       /* and the longest of all stops, the last one included */
    uint64_t marking_ns;            /* marking, and scanning written pages, while the program ran */
    uint64_t rounds;                /* how often written pages were scanned while it ran */
    uint64_t written_pages;         /* OS pages scanned in the last stop */
    struct sgc_waits waits[SGC_WAITS];  /* since the last cycle */
    bool another_stop;              /* `resumed`: it will be followed by another */
};

struct sgc_cycle_record {
    uint64_t cycle;                 /* 1 for the first */
    enum sgc_reason reason;
    enum sgc_stopped_for stopped_for;
    bool complete;                  /* from `marked` on: the mark was not given up */
    struct sgc_cycle_times times;
    struct sgc_cycle_threads threads;
    struct sgc_cycle_marked marked;
    struct sgc_cycle_heap heap;
    struct sgc_cycle_pages pages;
    struct sgc_cycle_concurrent concurrent;
};

/* Do the times of a record, finished or not, stand in the order in which they come? */
static inline bool sgc_cycle_ok(const struct sgc_cycle_record *record)
{
    return (unsigned)record->reason < SGC_REASONS &&
           (record->times.stop_begin_ns == 0 || record->times.request_ns <= record->times.stop_begin_ns) &&
           (record->times.resumed_ns == 0 || record->times.stop_begin_ns <= record->times.resumed_ns);
}

/* Starts a record: number, reason, the time of the request; everything else zero. */
void sgc_cycle_begin(struct sgc_cycle_record *record, uint64_t cycle, enum sgc_reason reason);

/* The pause begins now, and its threads are counted from here on. */
static inline void sgc_cycle_stop_begin(struct sgc_cycle_record *record)
{
    sgc_assert(sgc_cycle_ok(record) && record->times.stop_begin_ns == 0);
    record->threads = (struct sgc_cycle_threads){ .stopped = 0 };
    record->times.stop_begin_ns = record->times.last_ns = sgc_clock_ns();
}

/* The part `phase` ends now; the next one begins at the same instant, so the parts leave no gap.
 * SGC_PHASE_STOP sets stopped_ns, SGC_PHASE_RESUME resumed_ns.  Makes one clock reading. */
void sgc_cycle_phase(struct sgc_cycle_record *record, enum sgc_phase phase);

/* As sgc_cycle_phase, for a part that ended when the clock said `now`. */
void sgc_cycle_phase_at(struct sgc_cycle_record *record, enum sgc_phase phase, uint64_t now);

/* Whether a finished record makes sense: the parts sum up to the pause, the times are in order. */
bool sgc_cycle_check(const struct sgc_cycle_record *record);

static inline uint64_t sgc_cycle_pause_ns(const struct sgc_cycle_record *record)
{
    return record->times.resumed_ns - record->times.stop_begin_ns;
}

/* The stop was given up: as if it had not begun. */
static inline void sgc_cycle_stop_failed(struct sgc_cycle_record *record)
{
    sgc_assert(sgc_cycle_ok(record));
    record->times.stop_begin_ns = record->times.stopped_ns = record->times.resumed_ns = record->times.last_ns = 0;
    memset(record->times.phase_ns, 0, sizeof record->times.phase_ns);
}

/* The stop that has just ended was not the cycle's last: what it took is kept, and the next one may
 * begin. */
static inline void sgc_cycle_stop_again(struct sgc_cycle_record *record)
{
    sgc_assert(sgc_cycle_ok(record) && record->times.resumed_ns != 0);
    record->concurrent.another_stop = false;
    record->concurrent.earlier_stops++;
    record->concurrent.earlier_stops_ns += sgc_cycle_pause_ns(record);
    sgc_cycle_stop_failed(record);
}

/* How many cycles have finished.  Written by the collecting thread, under the collector's lock:
 * release; read by anybody: acquire. */
uint64_t sgc_cycles_finished(void);

/* That cycle has. */
void sgc_cycle_finish(const struct sgc_cycle_record *record);

/* Any callback may be NULL.  `context` is handed to each. */
struct sgc_listener {
    void *context;
    void (*cycle_start)(void *context, const struct sgc_cycle_record *record);      /* [running] */
    void (*stop_requested)(void *context, const struct sgc_cycle_record *record);   /* [running] */
    void (*stop_failed)(void *context, const struct sgc_cycle_record *record);      /* [running], instead of the rest */
    void (*stopped)(void *context, const struct sgc_cycle_record *record);          /* [stopped] */
    void (*roots_done)(void *context, const struct sgc_cycle_record *record);       /* [stopped] */
    void (*marked)(void *context, const struct sgc_cycle_record *record);           /* [stopped] */
    void (*flipped)(void *context, const struct sgc_cycle_record *record);          /* [stopped] */
    void (*resumed)(void *context, const struct sgc_cycle_record *record);          /* [running] */
    void (*cycle_end)(void *context, const struct sgc_cycle_record *record);        /* [running] */
    void (*given_up)(void *context, const struct sgc_cycle_record *record);         /* [running], in the middle of a
                                                                                       concurrent cycle, whose end it is */
    void (*heap_grown)(void *context, size_t bytes);                                /* [any] */
    void (*heap_returned)(void *context, size_t bytes);                             /* [any] */
    void (*thread_registered)(void *context, sgc_tid_t tid);                        /* [any] */
    void (*thread_gone)(void *context, sgc_tid_t tid);                              /* [any] */
};

#define SGC_LISTENERS_MAX 16

/*
 * The registered listeners.
 *
 *   field   written by                        read by         ordering
 *   slot[i] sgc_listener_add (CAS from 0),    SGC_EVENT       written before bit i of `used` is set by a
 *           sgc_listener_remove (to 0)                        read-modify-write (release); read after an
 *                                                             acquire load of `used` that showed the bit
 *   used    the same two, by or / and         SGC_EVENT       acquire
 *
 * An event that runs while its listener is removed may still call it once: a listener and what its
 * context points at must outlive the cycle in which they are removed.
 */
struct sgc_listeners {
    sgc_a32_t used;
    sgc_aw_t slot[SGC_LISTENERS_MAX];
};

extern struct sgc_listeners sgc_listeners;

/* Called from any thread.  False when all slots are taken. */
bool sgc_listener_add(const struct sgc_listener *listener);
void sgc_listener_remove(const struct sgc_listener *listener);

/* Takes the lowest bit out of *walk; the listener of that slot, NULL if it was removed
 * meanwhile. */
const struct sgc_listener *sgc_listener_next(uint32_t *walk);

/* Calls `event` of every listener: SGC_EVENT(heap_grown, bytes). */
#define SGC_EVENT(event, argument)                                                                  \
    do {                                                                                            \
        uint32_t sgc_walk_ = sgc_a32_load_acq(&sgc_listeners.used);                                 \
        while (sgc_walk_ != 0) {                                                                    \
            const struct sgc_listener *sgc_to_ = sgc_listener_next(&sgc_walk_);                     \
            if (sgc_to_ != NULL && sgc_to_->event != NULL)                                          \
                sgc_to_->event(sgc_to_->context, (argument));                                       \
        }                                                                                           \
    } while (0)

/* The events of a cycle, which hand out its record: the members of struct sgc_listener. */
enum sgc_cycle_event {
    SGC_ON_CYCLE_START,
    SGC_ON_STOP_REQUESTED,
    SGC_ON_STOP_FAILED,
    SGC_ON_STOPPED,
    SGC_ON_ROOTS_DONE,
    SGC_ON_MARKED,
    SGC_ON_FLIPPED,
    SGC_ON_RESUMED,
    SGC_ON_CYCLE_END,
    SGC_ON_GIVEN_UP,
};

/* Calls every listener.  On the collecting thread, as the member says. */
void sgc_cycle_event(const struct sgc_cycle_record *record, enum sgc_cycle_event event);

#endif
