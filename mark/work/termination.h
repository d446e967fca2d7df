/* SPDX-License-Identifier: MIT */
/*
 * How the markers of a team find out that marking is finished.
 *
 * Marker 0 is the collecting thread; the others are helpers that come late, or not at all.  A
 * marker is busy or idle.  Only a busy one holds work, processes it, shares it or takes it; so
 * marking is finished when all are idle.  At the beginning marker 0 is busy and all others are
 * idle, whether or not there is a thread behind them: nobody waits for one that does not come, and
 * one that comes is an idle marker that looks for work.
 *
 *            sees work that can be stolen: sgc_termination_busy, then the theft
 *          .--------------------------------------------------------------------.
 *        idle                                                                  busy
 *          '--------------------------------------------------------------------'
 *            found its own stack empty, both parts (also after a theft that failed): sgc_termination_idle
 *
 *   sgc_termination_detect says true to an idle marker: it leaves, and will find nothing to do in
 *   this mark.
 *
 * The callers owe:
 *   - busy before the theft, idle after the stack was found empty, in program order;
 *   - a theft releases, and the look by which an owner finds its public part empty acquires, both
 *     on the variable that says what is public (so that a thief's victim sees all that the thief
 *     did before it took something); taking work from a common place releases, too, and finding
 *     that place empty acquires;
 *   - sgc_termination_begin is called when nobody is inside: every helper that has called any of
 *     these functions in the mark before was idle then, or left its work because it was told that
 *     the mark is over, has said that it is out, and will call none of them until it is in again;
 *   - a marker is one thread's at a time; the thread that takes it over acquires what its last
 *     owner has released.
 *
 * Two forms: "flags", the non-serialising detection of [Endo] 3.4.3, and "counter", one number for
 * all.  Why they are right stands in termination.c; the model is tests/model/termination.pml.
 */
#ifndef SGC_MARK_WORK_TERMINATION_H
#define SGC_MARK_WORK_TERMINATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/compiler.h"

enum sgc_termination_form { SGC_TERMINATION_FLAGS, SGC_TERMINATION_COUNTER };

enum sgc_termination_state {
    SGC_TERMINATION_RUNNING,
    SGC_TERMINATION_FINISHED,       /* everything reachable is marked */
    SGC_TERMINATION_ABANDONED,      /* the mark was given up: everybody drops what he has and
                                       leaves */
    SGC_TERMINATION_INTERRUPTED,    /* it goes on later: everybody leaves what he has where it lies,
                                       and leaves */
};

enum {
    SGC_TERMINATION_MARKERS = 1 << 20,      /* more than any machine has; a ticket keeps that many
                                               bits for a number */
};

/*
 * Letters in brackets name the accesses in termination.c and in its proof.
 *
 *   what             written by                         read by          order                    why enough
 *   slot[i].busy     marker i: busy [F], idle [X]       detectors [L]    all seq. consistent      X hands over what i did;
 *                                                                                                 the rest: the proof
 *   slot[i].suspect  marker i                           marker i                                  own
 *   slot[i].tickets  marker i                           marker i                                  own
 *   ticket           who becomes busy: 0 [Z];           the same [I],    I and W seq. consistent; the proof
 *                    a detector: a ticket [W]           detectors        Z and E relaxed
 *                                                       [W], [E]
 *   busy             who becomes busy [A], idle [S]     detectors [N]    A, S acquire and         S hands over, N takes
 *                                                                        release; N acquire
 *   state            the first detector that succeeds   everybody [T]    acquire and release      who leaves has seen all
 *                    [D]; who gives the mark up [D],                                              that was marked
 *                    or interrupts it [D]
 *   form, markers    sgc_termination_begin [B], as      everybody        plain; B relaxed         nobody is inside, and
 *                    all of the above                                                             waking orders it
 */
struct sgc_termination_slot {
    _Alignas(SGC_CACHE_LINE_PAIR) sgc_a32_t busy;
    uint32_t suspect;               /* the marker that was found busy last: the first to look at
                                       next time */
    uintptr_t tickets;              /* drawn so far; never goes back */
};

struct sgc_termination {
    struct sgc_termination_slot *slot;
    size_t slots;                                           /* slots there are */
    enum sgc_termination_form form;
    uint32_t markers;
    sgc_a32_t state;                                        /* enum sgc_termination_state */
    _Alignas(SGC_CACHE_LINE_PAIR) sgc_aw_t ticket;          /* flags: 0: detection is interrupted */
    _Alignas(SGC_CACHE_LINE_PAIR) sgc_a32_t busy;           /* counter: of busy markers */
};

/* Has it been made, for the markers that it counts?  On any marker, or between marks. */
static inline bool sgc_termination_ok(const struct sgc_termination *t)
{
    return t->slot != NULL && t->markers <= t->slots && t->slots < SGC_TERMINATION_MARKERS &&
           (t->form == SGC_TERMINATION_FLAGS || t->form == SGC_TERMINATION_COUNTER);
}

/* Room for teams of up to `max_markers`.  False when the system has no memory.  Until the first
 * begin, marking is finished.  Outside pauses. */
bool sgc_termination_init(struct sgc_termination *t, size_t max_markers);
void sgc_termination_release(struct sgc_termination *t);

/* Marker 0 is busy, the others idle.  The collecting thread, before helpers are told. */
void sgc_termination_begin(struct sgc_termination *t, enum sgc_termination_form form, uint32_t markers);

/* Marker i itself: before a theft; and when it has nothing.  After the latter it asks
 * sgc_termination_detect at least once before it sleeps, or nobody may find out.  The collecting
 * thread may call the first for a helper that it has given work before it told it of the mark: the
 * mark then waits for that helper. */
void sgc_termination_busy(struct sgc_termination *t, uint32_t i);
void sgc_termination_idle(struct sgc_termination *t, uint32_t i);

/* Marker i, idle: is marking finished?  Finds it out, too. */
bool sgc_termination_detect(struct sgc_termination *t, uint32_t i);

/* The mark is given up: from now on everybody is told that it is finished. */
void sgc_termination_abandon(struct sgc_termination *t);

/* The mark is to go on later, unless it is finished already: from now on everybody is told to
 * leave.  A marker that is busy stays so; its work waits for the thread that goes on, which begins
 * anew when nobody is inside. */
void sgc_termination_interrupt(struct sgc_termination *t);

/* Has it been found out, or is it over for another reason?  One load, for loops. */
static inline bool sgc_termination_finished(const struct sgc_termination *t)
{
    return sgc_a32_load_acq(&t->state) != SGC_TERMINATION_RUNNING;                          /* [T] */
}

static inline bool sgc_termination_abandoned(const struct sgc_termination *t)
{
    return sgc_a32_load_acq(&t->state) == SGC_TERMINATION_ABANDONED;                        /* [T] */
}

/* Is everything marked?  When nobody is inside: neither given up nor interrupted. */
static inline bool sgc_termination_complete(const struct sgc_termination *t)
{
    return sgc_a32_load_acq(&t->state) == SGC_TERMINATION_FINISHED;                         /* [T] */
}

/* Assertions about everything.  While nobody is inside. */
void sgc_termination_check(const struct sgc_termination *t);

#endif
