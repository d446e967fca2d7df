/* SPDX-License-Identifier: MIT */
/*
 * How an idle marker waits until there is something to do.
 *
 * One marker of the team spins: it looks for work, at first almost without a pause, then letting
 * others run between looks, then napping for longer and longer.  All others sleep.  A marker that
 * makes work public wakes as many as can use it; a spinner that finds some wakes one to take its
 * place, so that with enough work the team wakes up as fast as the work spreads.  The marker that
 * finds that marking is finished wakes all.
 *
 *     struct sgc_rest rest = { 0 };
 *     for (;;) {
 *         sgc_idle_note_signal(&idle, &rest);
 *         if (work found and taken) { sgc_idle_end(&idle, &rest, true); break; }
 *         if (finished) { sgc_idle_wake_all(&idle); sgc_idle_end(&idle, &rest, false); return; }
 *         if (!sgc_idle_spin(&idle, &rest))
 *             sgc_idle_sleep(&idle, &rest);
 *     }
 *
 * In this order: between a theft that failed and a sleep it is asked whether marking is finished,
 * as mark/work/termination.h wants.  Only sgc_idle_sleep sleeps; a marker that is asleep touches
 * nothing but this structure, and may be so when a mark ends and another begins.
 *
 *   what      written by                            read by                order            why enough
 *   spinner   who takes or leaves the place         idle markers           take acquire,    nothing but the place
 *                                                                          leave release    depends on it
 *   signal    who wakes: adds 1                     idle markers, the      add acquire and  below
 *                                                   kernel                 release, load
 *                                                                          acquire
 *   sleepers  who goes to sleep: adds 1; takes it   who wakes              adds acquire     below
 *             away afterwards                                              and release,
 *                                                                          load relaxed
 *
 * Wake-ups.  A marker notes `signal`, looks, counts itself, and sleeps only if `signal` is as it
 * was.
 *   - The end is not slept through: it is recorded before `signal` is changed, and that is changed
 *     always.  If the marker noted the changed signal, it acquired the record, and looking told it;
 *     if it noted an older one, it does not fall asleep, or it is woken.
 *   - News of work can be missed: a marker that shares reads `sleepers` without order, so as to
 *     cost nothing, and may not see one that for its part looked too early.  The work is not lost,
 *     its owner does it if nobody else; and every sleep ends by itself, so that somebody of the
 *     team looks about once a millisecond.
 *   - That nobody spins while others sleep is possible for as long.
 */
#ifndef SGC_MARK_WORK_IDLE_H
#define SGC_MARK_WORK_IDLE_H

#include <limits.h>

#include "platform/compiler.h"
#include "platform/platform.h"

/* ---- the policy: numbers only ---------------------------------------------------------------------------------- */

enum {
    SGC_BACKOFF_SPINS = 64,                 /* looks with a pause of the processor in between */
    SGC_BACKOFF_HINTS = 8,                  /* ... of that many hints: some hundred nanoseconds */
    SGC_BACKOFF_YIELDS = 16,                /* then looks with other threads in between */
    SGC_BACKOFF_NAP_NS = 16000,             /* then naps: the first, doubled each time */
    SGC_BACKOFF_LONGEST_NS = 1000000,
};

/* After `tries` looks without result, counted from 0, the spinner spins, or yields, or naps so
 * long. */
static inline bool sgc_backoff_spins(uint32_t tries)
{
    return tries < SGC_BACKOFF_SPINS;
}

static inline bool sgc_backoff_yields(uint32_t tries)
{
    return !sgc_backoff_spins(tries) && tries < SGC_BACKOFF_SPINS + SGC_BACKOFF_YIELDS;
}

static inline int64_t sgc_backoff_nap_ns(uint32_t tries)
{
    uint32_t naps = tries - SGC_BACKOFF_SPINS - SGC_BACKOFF_YIELDS;
    int64_t ns = naps < 16 ? (int64_t)SGC_BACKOFF_NAP_NS << naps : SGC_BACKOFF_LONGEST_NS;

    return ns < SGC_BACKOFF_LONGEST_NS ? ns : SGC_BACKOFF_LONGEST_NS;
}

/* How long one of `sleepers` sleeps that are not the spinner: so that all of them together wake up
 * by themselves once a millisecond, be they two or a thousand. */
static inline int64_t sgc_backoff_sleep_ns(uint32_t sleepers)
{
    return (int64_t)SGC_BACKOFF_LONGEST_NS * sleepers;
}

/* ---- the team -------------------------------------------------------------------------------------------------- */

struct sgc_idle {
    _Alignas(SGC_CACHE_LINE_PAIR) sgc_a32_t sleepers;   /* apart: busy markers read it whenever they
                                                           share */
    _Alignas(SGC_CACHE_LINE_PAIR) sgc_a32_t spinner;    /* 1: somebody spins */
    sgc_a32_t signal;                                   /* how often somebody was to wake up */
};

/* A marker's own, all zero when it becomes idle. */
struct sgc_rest {
    uint32_t seen;                          /* `signal` before it looked last */
    uint32_t tries;                         /* as spinner, since there was a signal */
    bool spins;
};

/* Before the team's first mark, or when its threads are gone. */
static inline void sgc_idle_init(struct sgc_idle *idle)
{
    sgc_a32_store(&idle->sleepers, 0);
    sgc_a32_store(&idle->spinner, 0);
    sgc_a32_store(&idle->signal, 0);
}

/* Work for up to `count` others has been made public. */
static inline void sgc_idle_wake(struct sgc_idle *idle, int count)
{
    if (__builtin_expect(sgc_a32_load(&idle->sleepers) == 0, 1))
        return;
    sgc_a32_add(&idle->signal, 1);
    sgc_wake(&idle->signal, count);
}

/* Marking is finished, and each marker that looks will find that out. */
static inline void sgc_idle_wake_all(struct sgc_idle *idle)
{
    sgc_a32_add(&idle->signal, 1);
    sgc_wake(&idle->signal, INT_MAX);
}

/* ---- an idle marker -------------------------------------------------------------------------------------------- */

/* I am going to look. */
static inline void sgc_idle_note_signal(struct sgc_idle *idle, struct sgc_rest *rest)
{
    uint32_t signal = sgc_a32_load_acq(&idle->signal);

    if (signal != rest->seen)
        rest->tries = 0;
    rest->seen = signal;
}

static inline void sgc_idle_pause(uint32_t tries)
{
    for (int i = 0; sgc_backoff_spins(tries) && i < SGC_BACKOFF_HINTS; i++)
        sgc_spin_hint();
    if (sgc_backoff_yields(tries))
        sgc_yield();
}

/* I have looked in vain.  True, after a pause, if I spin: I look again.  False: I am to sleep.  On
 * a machine with fewer free processors than markers a spinner thus soon gives way to those that
 * work. */
static inline bool sgc_idle_spin(struct sgc_idle *idle, struct sgc_rest *rest)
{
    if (!rest->spins)
        rest->spins = sgc_a32_load(&idle->spinner) == 0 && sgc_a32_cas(&idle->spinner, 0, 1);
    if (!rest->spins || rest->tries >= SGC_BACKOFF_SPINS + SGC_BACKOFF_YIELDS)
        return false;
    sgc_idle_pause(rest->tries++);
    return true;
}

/* I sleep for a bounded time, unless there was a signal since I looked, or nobody spins. */
static inline void sgc_idle_sleep(struct sgc_idle *idle, struct sgc_rest *rest)
{
    uint32_t others = sgc_a32_add(&idle->sleepers, 1);

    if (rest->spins)
        sgc_wait(&idle->signal, rest->seen, sgc_backoff_nap_ns(rest->tries++));
    else if (sgc_a32_load(&idle->spinner) != 0)
        sgc_wait(&idle->signal, rest->seen, sgc_backoff_sleep_ns(others + 1));
    sgc_a32_add(&idle->sleepers, UINT32_MAX);
}

/* I am not idle any more, or leave; `found`: because there is work. */
static inline void sgc_idle_end(struct sgc_idle *idle, struct sgc_rest *rest, bool found)
{
    if (rest->spins) {
        sgc_a32_store_rel(&idle->spinner, 0);
        if (found)
            sgc_idle_wake(idle, 1);
    }
    *rest = (struct sgc_rest){ 0 };
}

#endif
