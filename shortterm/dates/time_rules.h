/* SPDX-License-Identifier: MIT */
/*
 * Global time ([SCM] 3.2) as one word.  Pure functions of plain numbers, without state or
 * collector.
 *
 *   bits   63..32  time      the number of the phase; begins again after 2^32
 *          31..16  active    threads that take part
 *          15..0   waiting   of these, the ones that have not ticked in this phase
 *
 * Time goes on when the last one that was waited for has ticked or has left: then all are waited
 * for again.  With nobody active nobody is waited for.  Each thread has a phase of its own: it is
 * the time, or one more when it has ticked in this phase, or joined in it when others were there (a
 * thread that joins counts as having ticked).
 *
 * The word is changed by compare-and-swap; each function returns what it becomes.  A thread notes
 * its own phase, and "active", in such an order that, should a jump leave a step half way, the word
 * waits for too many threads, and never for too few:
 *
 *   tick    phase = sgc_time_after(w), then the word = sgc_time_tick(w).  Time does not change in
 *           between: it waits for us
 *   join    both phase = sgc_time_joined(w) and the word = sgc_time_join(w) until the exchange is
 *           made, then "active" is noted
 *   leave   "active" is no longer noted, then the word = sgc_time_leave(w, phase)
 *
 * Each of them is one section, so the thread that has stopped the world finds none of them half
 * done but for those that a jump has left, and brings the word in order again by sgc_time_recount.
 *
 * A date of global time with extension e ends at the (e + 1 + SGC_TIME_LATER)-th tick of its thread
 * that counts, from the refresh on.  When the first of these ticks is made some threads may have
 * ticked in its phase before the refresh.  But between the second and the third a whole phase ends
 * that began after the refresh, so that each thread that was active all the time has ticked, and
 * could refresh the object itself.  tests/model/time.pml has all of this.
 */
#ifndef SGC_SHORTTERM_DATES_TIME_RULES_H
#define SGC_SHORTTERM_DATES_TIME_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/report.h"

enum {
    SGC_TIME_THREADS = UINT16_MAX,      /* most that can be active */
    SGC_TIME_LATER = 2,                 /* ticks by which global dates end later than local ones */
};

static inline uint32_t sgc_time_now(uintptr_t word)
{
    return (uint32_t)(word >> 32);
}

static inline uint32_t sgc_time_active(uintptr_t word)
{
    return (uint16_t)(word >> 16);
}

static inline uint32_t sgc_time_waiting(uintptr_t word)
{
    return (uint16_t)word;
}

/* Somebody is waited for if, and only if, somebody is active. */
static inline bool sgc_time_ok(uintptr_t word)
{
    uint32_t active = sgc_time_active(word), waiting = sgc_time_waiting(word);

    return waiting <= active && (active == 0) == (waiting == 0);
}

static inline uintptr_t sgc_time_word(uint32_t now, uint32_t active, uint32_t waiting)
{
    sgc_assert(active <= SGC_TIME_THREADS && waiting <= active);
    return (uintptr_t)now << 32 | active << 16 | waiting;
}

/* The word when so many are waited for; with nobody left to wait for the phase is over. */
static inline uintptr_t sgc_time_wait(uint32_t now, uint32_t active, uint32_t waiting)
{
    return waiting != 0 ? sgc_time_word(now, active, waiting) : sgc_time_word(now + 1, active, active);
}

/* ---- a tick ---- */

/* Has an active thread of this phase ticked already, so that another tick does nothing? */
static inline bool sgc_time_ticked(uintptr_t word, uint32_t phase)
{
    sgc_assert(phase == sgc_time_now(word) || phase == sgc_time_now(word) + 1);
    return phase != sgc_time_now(word);
}

/* The phase of a thread that ticks. */
static inline uint32_t sgc_time_after(uintptr_t word)
{
    return sgc_time_now(word) + 1;
}

/* A thread that is waited for ticks. */
static inline uintptr_t sgc_time_tick(uintptr_t word)
{
    sgc_assert(sgc_time_ok(word) && sgc_time_waiting(word) != 0);
    return sgc_time_wait(sgc_time_now(word), sgc_time_active(word), sgc_time_waiting(word) - 1);
}

/* ---- threads come and go ---- */

/* Is there room for one more? */
static inline bool sgc_time_joinable(uintptr_t word)
{
    return sgc_time_active(word) < SGC_TIME_THREADS;
}

/* The phase of a thread that joins.  Alone it has to tick for time to go on. */
static inline uint32_t sgc_time_joined(uintptr_t word)
{
    return sgc_time_active(word) == 0 ? sgc_time_now(word) : sgc_time_after(word);
}

static inline uintptr_t sgc_time_join(uintptr_t word)
{
    uint32_t active = sgc_time_active(word);

    sgc_assert(sgc_time_ok(word) && sgc_time_joinable(word));
    return sgc_time_word(sgc_time_now(word), active + 1, active == 0 ? 1 : sgc_time_waiting(word));
}

/* An active thread of that phase leaves: nobody waits for it any more.  After a step that was left
 * half way the word may wait for too many; never for more than are active. */
static inline uintptr_t sgc_time_leave(uintptr_t word, uint32_t phase)
{
    uint32_t active = sgc_time_active(word) - 1;
    uint32_t waiting = sgc_time_waiting(word) - !sgc_time_ticked(word, phase);

    sgc_assert(sgc_time_ok(word) && sgc_time_active(word) != 0);
    return sgc_time_wait(sgc_time_now(word), active, waiting < active ? waiting : active);
}

/* With so many threads active, and so many of them not having ticked.  World stopped, or in the
 * child of a fork. */
static inline uintptr_t sgc_time_recount(uintptr_t word, uint32_t active, uint32_t waiting)
{
    uint32_t now = sgc_time_now(word);

    sgc_assert(waiting <= active && active <= SGC_TIME_THREADS);
    return active != 0 ? sgc_time_wait(now, active, waiting) : sgc_time_word(now, 0, 0);
}

#endif
