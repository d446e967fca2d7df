/* SPDX-License-Identifier: MIT */
/*
 * Threads that allocate while a cycle is wanted, or runs beside the program, help it: how long for
 * a byte.  Pure functions of plain numbers.
 *
 * The program may allocate `room` bytes until the cycle has to be over.  If each thread helps as
 * long for its bytes as their part of the room is of the mark, the mark is done when the room is
 * used up, even if nobody else marks.  A thread marks for no longer than that; if it finds nothing
 * to mark it rests instead, for several times as long (sgc_help_rests).  Bytes beyond the room are
 * worth as much: as long as a cycle is not over, the program allocates a room for each time that
 * the mark takes.
 */
#ifndef SGC_GC_PACING_HELP_RULES_H
#define SGC_GC_PACING_HELP_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "platform/report.h"

enum {
    SGC_HELP_PIECE_NS = 200000,         /* a thread marks for so long at once, then it may be
                                         * stopped */
    SGC_HELP_REST_NS = 5000000,         /* it rests no longer before it looks again: a stop that is
                                         * offered meanwhile has to be made by somebody */
    SGC_HELP_MIN_NS = 20000,            /* and not for less: what it allocates is added up until
                                         * then */
};

/* Where a mark of so many nanoseconds fits into a room of so many bytes, which is not 0. */
static inline uint64_t sgc_help_worth_ns(uint64_t mark_ns, size_t bytes, size_t room)
{
    unsigned __int128 worth;

    sgc_assert(room != 0);
    worth = (unsigned __int128)bytes * mark_ns / room;
    return worth < UINT64_MAX ? (uint64_t)worth : UINT64_MAX;
}

/* A thread that finds nothing to mark rests, so that the thread that leads the cycle gets on.  Of
 * so many that help, each rests so many times as long as it would mark: then all of them together
 * allocate no faster than one does; and the lead, which shares the processors with those that run,
 * has the time that the mark takes. */
static inline uint64_t sgc_help_rests(uint32_t threads, uint32_t processors)
{
    sgc_assert(threads != 0 && processors != 0);
    return threads + (uint64_t)threads * threads / processors;
}

/* A thread's help so far: of what its bytes are worth; of that by marking; and for how long in
 * all. */
struct sgc_helped {
    uint64_t done_ns, marked_ns, waited_ns;
};

/* A piece more, which has taken so long; in which it was to mark for `piece_ns`, or has rested: 0.
 * Each counts a little, also if the clock does not show it.  A piece that took longer than it was
 * to has done more, but no more of that was worth marking. */
static inline void sgc_helped_add(struct sgc_helped *h, uint64_t ns, uint64_t piece_ns, uint64_t rests)
{
    sgc_assert(rests != 0 && h->marked_ns <= h->waited_ns);
    h->waited_ns += ns;
    h->marked_ns += ns < piece_ns ? ns : piece_ns;
    h->done_ns += (piece_ns != 0 ? ns : ns / rests) + 1;
}

/* For bytes that are worth so many nanoseconds a thread that has marked for some of them, and rests
 * for the others, may wait so long. */
static inline uint64_t sgc_help_wait_ns(uint64_t worth_ns, uint64_t marked_ns, uint64_t rests)
{
    uint64_t marks = marked_ns < worth_ns ? marked_ns : worth_ns;
    unsigned __int128 wait = marks + (unsigned __int128)(worth_ns - marks) * rests;

    sgc_assert(rests != 0);
    return wait < UINT64_MAX ? (uint64_t)wait : UINT64_MAX;
}

/* Of so many nanoseconds of help, those of the next piece; and so long the thread rests instead, at
 * most, before it looks again. */
static inline uint64_t sgc_help_piece_ns(uint64_t ns)
{
    return ns < SGC_HELP_PIECE_NS ? ns : SGC_HELP_PIECE_NS;
}

static inline uint64_t sgc_help_rest_ns(uint64_t piece_ns, uint64_t rests)
{
    return rests < SGC_HELP_REST_NS && piece_ns * rests < SGC_HELP_REST_NS ? piece_ns * rests : SGC_HELP_REST_NS;
}

#endif
