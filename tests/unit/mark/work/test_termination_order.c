/* SPDX-License-Identifier: MIT */
/*
 * mark/work/termination.c under the memory orders of C11, every run of small plays (tests/lib/weak.h), as its proof claims
 * that they suffice.
 *
 * First each play must be right.  Then each order is taken away, one at a time; the table says which of them some play
 * misses.  An access that is not in the table is an error, so this is also the list of all of them.
 */
#include "tests/lib/weak_sc.h"

#include "platform/platform.h"
#include "platform/report.h"
#include "tests/lib/sanitized.h"

#undef sgc_assert
#define sgc_assert(e) ((void)sizeof(e))         /* their loads are not part of the protocol */

#include "mark/work/termination.c"

/* ---- plays ---- */

static const struct weak_play *now;
static struct sgc_termination t;
static struct sgc_termination_slot slots[WEAK_THREADS];
static sgc_aw_t public;                     /* pieces that may be stolen */
static sgc_a32_t marked;                    /* what comes of one */
static bool in_hand, told, unseen, must_end;

static void before(void)
{
    memset(slots, 0, sizeof slots);
    t = (struct sgc_termination){
        .slot = slots, .slots = WEAK_THREADS, .form = (enum sgc_termination_form)now->form, .markers = (uint32_t)now->with[0],
    };
    t.ticket.value = now->with[2];
    for (uint32_t i = 0; i < WEAK_THREADS; i++) {
        slots[i].busy.value = now->with[1] >> i & 1;
        t.busy.value += now->with[1] >> i & 1;
    }
    public.value = 1;
    marked.value = 0;
    in_hand = told = unseen = must_end = false;
}

static const char *after(void)
{
    if (in_hand && told)
        return "finished while somebody has work";
    if (unseen)
        return "finished, but not all that was done is seen";
    return must_end && !told ? "nobody finds out" : NULL;
}

/* As whoever is told leaves, or looks at what has been marked. */
static bool ask(uint32_t i, bool looks_at_mark)
{
    if (!sgc_termination_detect(&t, i))
        return false;
    told = true;
    if (looks_at_mark && sgc_a32_load(&marked) == 0)
        unseen = true;
    return true;
}

static bool take(void)
{
    return sgc_aw_load_acq(&public) != 0 && sgc_aw_cas(&public, 1, 0);
}

/* Steals, and never gets done. */
static void thief(void)
{
    sgc_termination_busy(&t, 0);
    in_hand = sgc_aw_cas(&public, 1, 0);
    if (!in_hand)
        sgc_termination_idle(&t, 0);
}

/* Does its piece unless that is stolen. */
static void victim(void)
{
    take();
    sgc_termination_idle(&t, 1);
}

static void detector(void)
{
    ask(2, false);
}

/* In small teams the look around alone would hide what the order of the rest is for. */
static void quick_detector(void)
{
    told = run_detection(&t, 2);
}

/* Marks, and is done. */
static void worker(void)
{
    sgc_a32_store(&marked, 1);
    sgc_termination_idle(&t, 0);
}

static void asker(void)
{
    ask(1, true);
}

/* Is told by another. */
static void late_one(void)
{
    if (sgc_termination_finished(&t))
        unseen = unseen || sgc_a32_load(&marked) == 0;
}

/* Two become idle at once, and each asks once. */
static void first_out(void)
{
    must_end = true;
    sgc_termination_idle(&t, 0);
    ask(0, false);
}

static void second_out(void)
{
    sgc_termination_idle(&t, 1);
    ask(1, false);
}

/* What that depends on. */
static void first_look(void)
{
    must_end = true;
    sgc_termination_idle(&t, 0);
    told = all_flags_idle(&t, 0) || told;
}

static void second_look(void)
{
    sgc_termination_idle(&t, 1);
    told = all_flags_idle(&t, 1) || told;
}

/* With so many markers, of which these are busy at first, a bit each, and a ticket. */
static const struct weak_play plays[] = {
    { "flags, what was marked is seen", SGC_TERMINATION_FLAGS, { 2, 1, 0 }, { worker, asker, late_one }, false, NULL },
    { "counter, what was marked is seen", SGC_TERMINATION_COUNTER, { 2, 1, 0 }, { worker, asker, late_one }, false, NULL },
    { "flags, two out at once", SGC_TERMINATION_FLAGS, { 2, 3, 0 }, { first_out, second_out }, true, NULL },
    { "flags, two look at once", SGC_TERMINATION_FLAGS, { 2, 3, 0 }, { first_look, second_look }, false, NULL },
    { "counter, two out at once", SGC_TERMINATION_COUNTER, { 2, 3, 0 }, { first_out, second_out }, false, NULL },
    { "counter, a theft", SGC_TERMINATION_COUNTER, { 3, 2, 0 }, { thief, victim, detector }, false, NULL },
    { "flags, a theft", SGC_TERMINATION_FLAGS, { 3, 2, 0 }, { thief, victim, detector }, false, NULL },
    { "flags, a theft, a detection begun", SGC_TERMINATION_FLAGS, { 3, 2, SGC_TERMINATION_MARKERS },
        { thief, victim, detector }, false, NULL },
    { "flags, a theft, no look around", SGC_TERMINATION_FLAGS, { 3, 2, 0 }, { thief, victim, quick_detector }, false, NULL },
    { "flags, a theft, a detection begun, no look around", SGC_TERMINATION_FLAGS, { 3, 2, SGC_TERMINATION_MARKERS },
        { thief, victim, quick_detector }, false, NULL },
};

static const char *run_play(const struct weak_play *play, size_t *runs)
{
    now = play;
    return weak_explore_sc(before, play->body, after, runs);
}

static const struct weak_access accesses[] = {
    /* becoming busy and idle, flags */
    { "flag_busy", "store_sc", WEAK_SC, MISSED, "F: before I for everybody" },
    { "flag_busy", "store_sc", WEAK_RELEASE, NOT_MISSED, "F: who becomes busy has nothing to hand over" },
    { "flag_busy", "load_sc", WEAK_SC, MISSED, "I: behind F for everybody" },
    { "flag_busy", "load_sc", WEAK_ACQUIRE, NOT_MISSED, "I: only the value counts" },
    { "flag_busy", "store", 0, RELAXED, "Z: the theft carries it" },
    { "sgc_termination_idle", "store_sc", WEAK_SC, MISSED, "X: one of two that become idle at once is to see both" },
    { "sgc_termination_idle", "store_sc", WEAK_RELEASE, MISSED, "X: what this marker did, and who stole from it" },
    /* the same, counter */
    { "sgc_termination_busy", "store", 0, RELAXED, "for assertions" },
    { "sgc_termination_busy", "add", WEAK_ACQUIRE, NOT_MISSED, "A: only that it was counted matters" },
    { "sgc_termination_busy", "add", WEAK_RELEASE, NOT_MISSED, "A: only that it was counted matters" },
    { "sgc_termination_idle", "store", 0, RELAXED, "for assertions" },
    { "sgc_termination_idle", "add", WEAK_ACQUIRE, NOT_MISSED, "S: detectors acquire" },
    { "sgc_termination_idle", "add", WEAK_RELEASE, MISSED, "S: what this marker did" },
    /* detection */
    { "all_flags_idle", "load_sc", WEAK_SC, MISSED, "L: sees every F that came before" },
    { "all_flags_idle", "load_sc", WEAK_ACQUIRE, MISSED, "L: what the other marker did, and who stole from it" },
    { "open_detection", "load_sc", WEAK_SC, NOT_MISSED, "W: its store was in that order; the proof is shorter" },
    { "open_detection", "load_sc", WEAK_ACQUIRE, NOT_MISSED, "W: only the value counts" },
    { "open_detection", "store_sc", WEAK_SC, MISSED, "W: before the flags are read for everybody" },
    { "open_detection", "store_sc", WEAK_RELEASE, NOT_MISSED, "W: a ticket hands nothing over" },
    { "run_detection", "load", 0, RELAXED, "E: the flags were acquired" },
    { "detect_by_counter", "load_acq", WEAK_ACQUIRE, MISSED, "N: what the others did" },
    /* the state */
    { "sgc_termination_finished", "load_acq", WEAK_ACQUIRE, MISSED, "T: what was done before" },
    { "sgc_termination_detect", "cas", WEAK_ACQUIRE, NOT_MISSED, "D: whoever detects has acquired it all" },
    { "sgc_termination_detect", "cas", WEAK_RELEASE, MISSED, "D: what was done before" },
    /* what callers owe */
    { "thief", "cas", WEAK_ACQUIRE, NOT_MISSED, "a theft acquires the work: mark/work/deque.h" },
    { "thief", "cas", WEAK_RELEASE, MISSED, "a theft: that the thief is busy" },
    { "take", "load_acq", WEAK_ACQUIRE, MISSED, "finding nothing left: that the thief is busy" },
    { "take", "cas", WEAK_ACQUIRE, MISSED, "finding nothing left, too late: that the thief is busy" },
    { "take", "cas", WEAK_RELEASE, NOT_MISSED, "taking back its own" },
    /* of the plays */
    { "worker", "store", 0, RELAXED, "a mark" },
    { "ask", "load", 0, RELAXED, "a mark" },
    { "late_one", "load", 0, RELAXED, "a mark" },
};

int main(void)
{
    static const struct weak_test test = {
        run_play, plays, accesses, sizeof plays / sizeof *plays, sizeof accesses / sizeof *accesses, 10,
    };

    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer does not follow coroutines");
    return weak_test_all(&test);
}
