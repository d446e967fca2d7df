/* SPDX-License-Identifier: MIT */
/*
 * Faults that a test plants, to see that the checks of marks find them
 * (tests/unit/gc/collect/test_faults.c), or a fuzzer: a check that finds none of them is no check.
 * Only builds with assertions have them; in others the questions are constants, and nothing is
 * left.
 *
 *   planted   a test, before there are threads         everybody      relaxed
 *   turns     who asks: atomic                          same           relaxed
 */
#ifndef SGC_PLATFORM_FAULTS_H
#define SGC_PLATFORM_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"

enum sgc_fault {
    SGC_FAULT_NONE,
    SGC_FAULT_SKIPPED_PAGE,     /* one OS page of 1000 is not looked at when it was written */
    SGC_FAULT_ROOTS_ONCE,       /* roots are looked at in the first stop only */
    SGC_FAULT_NOT_REARMED,      /* pages that a round has looked at are taken for watched, and are
                                   not (mprotect) */
    SGC_FAULT_REARMED_LATE,     /* a round reads written pages before it watches them anew */
    SGC_FAULT_OLD_LIMIT,        /* in rounds the heap ends where it did when the mark began */
    SGC_FAULT_TAKEN_DOWN,       /* a span that is freed while a mark goes on is taken down */
    SGC_FAULT_CLEARED_UNSWEPT,  /* clearing takes both bitmaps of a page that was not swept */
    SGC_FAULT_BATCH_LOST,       /* who is interrupted drops what waits in a batch */
    SGC_FAULT_FLAG_FORGOTTEN,   /* every fourth page is not flagged when it should be */
    SGC_FAULT_NOTE_FORGOTTEN,   /* what is freed while a mark goes on is not noted */
    SGC_FAULT_SWEPT_EARLY,      /* a page gets the tag of the epoch that comes */
    SGC_FAULT_ONE_STOP,         /* at first nothing counts as kept; a cycle that is due and has not
                                   begun is made at once, and one that has no room left ends at
                                   once */
    /* those that the fuzzers find (tests/fuzz): */
    SGC_FAULT_OPTION_BOUND,     /* a number one above an option's highest is accepted */
    SGC_FAULT_LINK_KEPT,        /* one of 8 links is not cleared */
    SGC_FAULT_SIZE_SHORT,       /* a small object that is resized in place may be a byte too short */
    SGC_FAULT_FINALIZED_TWICE,  /* one of 8 finalizers is called twice */
    SGC_FAULT_MARK_LOST,        /* of one of 16 pages that are swept the first marks are lost */
    SGC_FAULT_GIVEN_TWICE,      /* the first slot of a claimed run is handed out twice */
};

#ifdef SGC_ASSERTIONS
extern sgc_a32_t sgc_fault_planted, sgc_fault_turns;

static inline void sgc_fault_plant(enum sgc_fault fault)
{
    sgc_a32_store(&sgc_fault_planted, (uint32_t)fault);
}

static inline bool sgc_fault(enum sgc_fault fault)
{
    return __builtin_expect(sgc_a32_load(&sgc_fault_planted) == (uint32_t)fault, 0);
}

/* The n-th time that it is asked, and so on. */
static inline bool sgc_fault_turn(enum sgc_fault fault, uint32_t n)
{
    return sgc_fault(fault) && (sgc_a32_add(&sgc_fault_turns, 1) + 1) % n == 0;
}
#else
static inline void sgc_fault_plant(enum sgc_fault fault)
{
    (void)fault;
}

static inline bool sgc_fault(enum sgc_fault fault)
{
    (void)fault;
    return false;
}

static inline bool sgc_fault_turn(enum sgc_fault fault, uint32_t n)
{
    (void)fault, (void)n;
    return false;
}
#endif

#endif
