/* SPDX-License-Identifier: MIT */
/*
 * Detection of the end of marking.  Each marker calls in from its own thread, in a stopped world or
 * beside the program; no locks.
 *
 * The claim: when sgc_termination_detect finds the end, every piece of work there was has been
 * processed, this happened before (in C11's sense), and so no theft can succeed any more.
 *
 * Both proofs begin alike.  Suppose there are thefts in busy periods that the detection has
 * overlooked; take a first one of them, in the order in which things cause each other: thief m
 * took, after becoming busy, a piece from marker v that v had made public in a busy period which is
 * not overlooked (it is v's own work, or came to v by a theft that is not overlooked either).  v
 * ended that period by becoming idle, and before that it found its stack empty.  So it found the
 * piece gone: with the theft's release and the look's acquire
 *
 *      m becomes busy -> m takes -> v finds nothing left -> v becomes idle                              (1)
 *
 * is a chain of happens-before.
 *
 * Counter.  Becoming busy [A] and idle [S] are read-modify-writes of one variable, so its
 * modification order is a history of how many are busy.  N read a zero; overlooked periods are
 * those that begin behind that zero, and all others end before it.  By (1) m's A happens before v's
 * S, so it precedes it in the history, and the zero: m's period is none of the overlooked ones, a
 * contradiction.  And N acquires from every S: they are one release sequence.
 *
 * Flags.  One variable a marker, so that nobody waits for a line that all others write.  A detector
 * needs a moment at which all flags were idle together, but it can only look at one after another.
 * So a marker that becomes busy says afterwards that any detection under way is void
 * ("interrupted").  [Endo] has a flag for that, which the detector clears; but with two detectors
 * one would clear the other's interruption.  Here it is a word, `ticket`: zero when interrupted,
 * otherwise the ticket of the detection under way.  Tickets are drawn once and never again.
 *
 *   becoming busy:  F  flag = busy          a detector:  W  w = ticket; if that is 0: ticket = w = a new ticket
 *                   I  read ticket                       L  read each flag: one is busy: no
 *                   Z  if not 0: ticket = 0              E  ticket is still w: finished
 *   then the theft; becoming idle:  X  flag = idle
 *
 * F, I, X, W and L are sequentially consistent: they are in one order that all threads agree on.  W
 * is the store if there was one, else the load.
 *
 * A detector succeeds.  Its L of marker j read some X of j (or the beginning); the overlooked
 * periods of j are the later ones.  The F of such a period comes after L in the one order, or L
 * would have read it or something later.  So for the thief m of (1):  W, L of m, F of m, I of m, in
 * this order.  Hence I read w or something later in the modification order of `ticket`:
 *   - w itself, or a later ticket: then m wrote zero, Z, later in that order;
 *   - zero, which somebody wrote later than w.
 * Either way, something later than w was read or written by m before its theft.  By (1) the theft
 * is before v's X, and v's period not being overlooked, that is an X (or followed by one) that L of
 * v acquired, before E.  So E must read that later value, or one later still.  But w was stored
 * once: E did not read w.  Contradiction.
 *
 * Z may thus be relaxed, and so may E: (1) carries them.  F and I against W and L need the
 * store-load order on both sides, which only sequential consistency gives.  If F came after I, m
 * could read zero, be held up, and become busy with the flag read already.  Any number of detectors
 * may be at it at once; they share w if they come late enough, and if two draw tickets at the same
 * time, the one overwritten fails and tries again.  tests/unit/mark/work/test_termination_order.c
 * shows what happens without each of these orders.
 *
 * Somebody does succeed, provided that each marker asks after its last X.  X is sequentially
 * consistent, too.  The marker with the last X of all reads all flags idle, and nobody writes zero
 * any more, so at most some detectors that had read zero still store their tickets.  Each of them
 * reads the flags afterwards, and the one whose ticket stays succeeds, or a detector that joined
 * it, if nobody did before.  With X a release only, two that become idle at once could miss each
 * other and go to sleep.
 *
 * A mark that is interrupted is finished by nobody: D, the detector's and the interrupter's, are
 * compare-and-swaps from "running", and one of them succeeds.  If it is the detector's, the above
 * holds, and there is nothing to go on with.  If it is the other, no more follows than that all are
 * told to leave; a marker that is busy leaves its work on its stack, and the thread that goes on
 * finds it there because it has waited until everybody was out.  Whether a detection that came too
 * late was right is of no account.
 *
 * The costs: becoming busy, a store to the own line and a load; becoming idle, a store there.  The
 * shared line is written only if a detection was begun, and detectors look around before they begin
 * one, first at the marker that was busy last time, so that happens near the end.
 */
#include "mark/work/termination.h"

#include "platform/platform.h"
#include "platform/report.h"

enum { IDLE, BUSY };

/* Tickets are (how many this marker drew before) * SGC_TERMINATION_MARKERS + its number: never 0,
 * never twice. */
static uintptr_t draw_ticket(struct sgc_termination *t, uint32_t i)
{
    sgc_assert(i < t->markers && t->slot[i].tickets < UINTPTR_MAX / SGC_TERMINATION_MARKERS);
    return ++t->slot[i].tickets * SGC_TERMINATION_MARKERS + i;
}

bool sgc_termination_init(struct sgc_termination *t, size_t max_markers)
{
    sgc_assert(max_markers > 0 && max_markers < SGC_TERMINATION_MARKERS);
    *t = (struct sgc_termination){ .slots = max_markers };
    sgc_a32_store(&t->state, SGC_TERMINATION_FINISHED);                                     /* [B] */
    t->slot = sgc_mem_obtain(max_markers * sizeof *t->slot);
    return t->slot != NULL;
}

void sgc_termination_release(struct sgc_termination *t)
{
    sgc_assert(sgc_termination_finished(t));
    sgc_mem_release(t->slot, t->slots * sizeof *t->slot);
    t->slot = NULL;
    t->slots = t->markers = 0;
}

void sgc_termination_begin(struct sgc_termination *t, enum sgc_termination_form form, uint32_t markers)
{
    sgc_assert(sgc_termination_ok(t) && markers > 0 && markers <= t->slots);
    sgc_assert(sgc_termination_finished(t));
    t->form = form;
    t->markers = markers;
    for (uint32_t i = 0; i < markers; i++) {
        sgc_a32_store(&t->slot[i].busy, i == 0 ? BUSY : IDLE);                              /* [B] */
        t->slot[i].suspect = 0;
    }
    sgc_aw_store(&t->ticket, 0);                                                            /* [B] */
    sgc_a32_store(&t->busy, 1);                                                             /* [B] */
    sgc_a32_store_rel(&t->state, SGC_TERMINATION_RUNNING);                                  /* [B] */
}

/* ---- becoming busy and idle ------------------------------------------------------------------------------------ */

__attribute__((unused))        /* without assertions */
static bool is(const struct sgc_termination *t, uint32_t i, uint32_t what)
{
    return sgc_termination_ok(t) && i < t->markers && sgc_a32_load(&t->slot[i].busy) == what;                        /* own */
}

static void flag_busy(struct sgc_termination *t, uint32_t i)
{
    sgc_a32_store_sc(&t->slot[i].busy, BUSY);                                               /* [F] */
    if (sgc_aw_load_sc(&t->ticket) != 0)                                                    /* [I] */
        sgc_aw_store(&t->ticket, 0);                                                        /* [Z] */
}

/* The counter does not need the flags, but the assertions do. */
void sgc_termination_busy(struct sgc_termination *t, uint32_t i)
{
    sgc_assert(is(t, i, IDLE));
    if (t->form == SGC_TERMINATION_FLAGS) {
        flag_busy(t, i);
        return;
    }
    sgc_a32_store(&t->slot[i].busy, BUSY);                                                  /* own */
    sgc_a32_add(&t->busy, 1);                                                               /* [A] */
}

void sgc_termination_idle(struct sgc_termination *t, uint32_t i)
{
    sgc_assert(is(t, i, BUSY));
    if (t->form == SGC_TERMINATION_FLAGS) {
        sgc_a32_store_sc(&t->slot[i].busy, IDLE);                                           /* [X] */
        return;
    }
    sgc_a32_store(&t->slot[i].busy, IDLE);                                                  /* own */
    sgc_a32_add(&t->busy, UINT32_MAX);                                                      /* [S]: minus one */
}

/* ---- detection ------------------------------------------------------------------------------------------------- */

/* Looks at everybody, beginning where somebody was busy last time. */
static bool all_flags_idle(struct sgc_termination *t, uint32_t i)
{
    uint32_t k = t->slot[i].suspect;

    sgc_assert(k < t->markers);
    for (uint32_t remaining = t->markers; remaining > 0; remaining--) {
        if (sgc_a32_load_sc(&t->slot[k].busy) == BUSY) {                                    /* [L] */
            t->slot[i].suspect = k;
            return false;
        }
        k = k + 1 < t->markers ? k + 1 : 0;
    }
    return true;
}

/* Joins the detection under way; if that was interrupted, begins one. */
static uintptr_t open_detection(struct sgc_termination *t, uint32_t i)
{
    uintptr_t ticket = sgc_aw_load_sc(&t->ticket);                                          /* [W] */

    if (ticket == 0) {
        ticket = draw_ticket(t, i);
        sgc_aw_store_sc(&t->ticket, ticket);                                                /* [W] */
    }
    return ticket;
}

/* The detection that the proof is about. */
static bool run_detection(struct sgc_termination *t, uint32_t i)
{
    uintptr_t ticket = open_detection(t, i);

    return all_flags_idle(t, i) && sgc_aw_load(&t->ticket) == ticket;                       /* [E] */
}

/* The look around beforehand keeps the shared line from being written; nothing else depends on
 * it. */
static bool detect_by_flags(struct sgc_termination *t, uint32_t i)
{
    return all_flags_idle(t, i) && run_detection(t, i);
}

static bool detect_by_counter(const struct sgc_termination *t)
{
    return sgc_a32_load_acq(&t->busy) == 0;                                                 /* [N] */
}

/* The exchange keeps a mark that was given up from being called finished. */
bool sgc_termination_detect(struct sgc_termination *t, uint32_t i)
{
    if (sgc_termination_finished(t))
        return true;
    sgc_assert(is(t, i, IDLE));
    if (t->form == SGC_TERMINATION_FLAGS ? !detect_by_flags(t, i) : !detect_by_counter(t))
        return false;
    sgc_a32_cas(&t->state, SGC_TERMINATION_RUNNING, SGC_TERMINATION_FINISHED);              /* [D] */
    return true;
}

void sgc_termination_abandon(struct sgc_termination *t)
{
    sgc_assert(sgc_termination_ok(t));
    sgc_a32_store_rel(&t->state, SGC_TERMINATION_ABANDONED);                                /* [D] */
}

void sgc_termination_interrupt(struct sgc_termination *t)
{
    sgc_assert(sgc_termination_ok(t));
    sgc_a32_cas(&t->state, SGC_TERMINATION_RUNNING, SGC_TERMINATION_INTERRUPTED);           /* [D] */
}

/* ---- check ----------------------------------------------------------------------------------------------------- */

void sgc_termination_check(const struct sgc_termination *t)
{
    uint32_t busy = 0;
    uintptr_t ticket = sgc_aw_load(&t->ticket);                                             /* own */

    sgc_assert(t->markers <= t->slots && t->slots < SGC_TERMINATION_MARKERS);
    sgc_assert((t->slot == NULL) == (t->slots == 0));
    sgc_assert(t->form == SGC_TERMINATION_FLAGS || t->form == SGC_TERMINATION_COUNTER);
    for (uint32_t i = 0; i < t->markers; i++) {
        uint32_t flag = sgc_a32_load(&t->slot[i].busy);                                     /* own */

        sgc_assert(flag == IDLE || flag == BUSY);
        sgc_assert(t->slot[i].suspect < t->markers);
        busy += flag;
    }
    sgc_assert(t->form == SGC_TERMINATION_FLAGS || t->markers == 0 || sgc_a32_load(&t->busy) == busy);      /* own */
    sgc_assert(busy == 0 || sgc_a32_load(&t->state) != SGC_TERMINATION_FINISHED);           /* own */
    if (ticket != 0) {
        uintptr_t drawn = ticket / SGC_TERMINATION_MARKERS, by = ticket % SGC_TERMINATION_MARKERS;

        sgc_assert(t->form == SGC_TERMINATION_FLAGS && by < t->markers);
        sgc_assert(drawn > 0 && drawn <= t->slot[by].tickets);
    }
}
