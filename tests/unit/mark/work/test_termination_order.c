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

static enum sgc_termination_form form;
static uint32_t busy_at_first;              /* markers, a bit each */
static uint32_t markers;
static uintptr_t first_ticket;
static struct sgc_termination t;
static struct sgc_termination_slot slots[WEAK_THREADS];
static sgc_aw_t public;                     /* pieces that may be stolen */
static sgc_a32_t marked;                    /* what comes of one */
static bool in_hand, told, unseen, must_end;

static void before(void)
{
    memset(slots, 0, sizeof slots);
    t = (struct sgc_termination){ .slot = slots, .most = WEAK_THREADS, .form = form, .markers = markers };
    t.ticket.value = first_ticket;
    for (uint32_t i = 0; i < WEAK_THREADS; i++) {
        slots[i].busy.value = busy_at_first >> i & 1;
        t.busy.value += busy_at_first >> i & 1;
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

static const struct play {
    const char *name;
    enum sgc_termination_form form;
    uint32_t markers, busy;
    uintptr_t ticket;
    void (*body[WEAK_THREADS])(void);
    bool long_one;                          /* the others say all that it says about single accesses */
} plays[] = {
    { "flags, what was marked is seen", SGC_TERMINATION_FLAGS, 2, 1, 0, { worker, asker, late_one }, false },
    { "counter, what was marked is seen", SGC_TERMINATION_COUNTER, 2, 1, 0, { worker, asker, late_one }, false },
    { "flags, two out at once", SGC_TERMINATION_FLAGS, 2, 3, 0, { first_out, second_out }, true },
    { "flags, two look at once", SGC_TERMINATION_FLAGS, 2, 3, 0, { first_look, second_look }, false },
    { "counter, two out at once", SGC_TERMINATION_COUNTER, 2, 3, 0, { first_out, second_out }, false },
    { "counter, a theft", SGC_TERMINATION_COUNTER, 3, 2, 0, { thief, victim, detector }, false },
    { "flags, a theft", SGC_TERMINATION_FLAGS, 3, 2, 0, { thief, victim, detector }, false },
    { "flags, a theft, a detection begun", SGC_TERMINATION_FLAGS, 3, 2, SGC_TERMINATION_MARKERS,
        { thief, victim, detector }, false },
    { "flags, a theft, no look around", SGC_TERMINATION_FLAGS, 3, 2, 0, { thief, victim, quick_detector }, false },
    { "flags, a theft, a detection begun, no look around", SGC_TERMINATION_FLAGS, 3, 2, SGC_TERMINATION_MARKERS,
        { thief, victim, quick_detector }, false },
};

enum { PLAYS = sizeof plays / sizeof *plays };

static const char *run_play(const struct play *play, size_t *runs)
{
    form = play->form;
    markers = play->markers;
    busy_at_first = play->busy;
    first_ticket = play->ticket;
    return weak_explore_sc(before, play->body, after, runs);
}

static void test_right(void)
{
    for (size_t i = 0; i < PLAYS; i++) {
        size_t runs;
        const char *complaint = run_play(&plays[i], &runs);

        tap_ok(complaint == NULL && runs > 10, "%s: %zu runs, %s", plays[i].name, runs,
               complaint == NULL ? "all right" : complaint);
    }
}

/* ---- weaker ---- */

enum result { MISSED, NOT_MISSED, RELAXED };

/* Every access to a variable that markers share, and what happens when its order is weaker. */
static const struct access {
    const char *function, *operation;
    unsigned order;                     /* taken away */
    enum result result;
    const char *why;
} accesses[] = {
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

enum { ACCESSES = sizeof accesses / sizeof *accesses };

static bool same(const struct access *access, const struct weak_site *site)
{
    return strcmp(access->function, site->function) == 0 && strcmp(access->operation, site->operation) == 0;
}

static const struct access *listed(const struct weak_site *site, unsigned order)
{
    for (size_t i = 0; i < ACCESSES; i++)
        if (same(&accesses[i], site) && accesses[i].order == order)
            return &accesses[i];
    return NULL;
}

/* What some play says to the site without this order, or NULL. */
static const char *weaker(const struct weak_site *site, unsigned order, const char **where)
{
    const char *complaint = NULL;

    weak_weaken(site, (enum weak_order)order);
    for (size_t i = 0; complaint == NULL && i < PLAYS; i++) {
        size_t runs;

        if (plays[i].long_one)
            continue;
        *where = plays[i].name;
        complaint = run_play(&plays[i], &runs);
    }
    weak_weaken(NULL, WEAK_RELAXED);
    return complaint;
}

static void test_weaker(const struct weak_site *site, unsigned order, const char *name)
{
    const struct access *access = listed(site, order);
    const char *where = "", *complaint;

    if (!tap_ok(access != NULL, "%s, %s: its %s is in the table", site->function, site->operation, name))
        return;
    complaint = weaker(site, order, &where);
    if (access->result == MISSED)
        tap_ok(complaint != NULL, "without it: %s (%s; it is for %s)",
               complaint != NULL ? complaint : "nothing happens", where, access->why);
    else
        tap_ok(complaint == NULL, "without it: %s (%s)", complaint != NULL ? complaint : "nothing happens",
               access->why);
}

static void test_site(const struct weak_site *site)
{
    static const struct { unsigned order; const char *name; } orders[] = {
        { WEAK_ACQUIRE, "acquire" }, { WEAK_RELEASE, "release" }, { WEAK_SC, "place in the one order" },
    };

    if (site->order == WEAK_RELAXED)
        tap_ok(listed(site, WEAK_RELAXED) != NULL, "%s, %s: is in the table, relaxed", site->function, site->operation);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if ((site->order & orders[i].order) != 0)
            test_weaker(site, orders[i].order, orders[i].name);
}

static void test_table(void)
{
    for (size_t i = 0; i < ACCESSES; i++) {
        bool made = false;

        for (int k = 0; k < weak.sites; k++)
            made = made || (same(&accesses[i], &weak.site[k]) &&
                            (accesses[i].order == 0 || (weak.site[k].order & accesses[i].order) != 0));
        if (!made)
            tap_ok(made, "%s, %s: the table has what the code has not", accesses[i].function, accesses[i].operation);
    }
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer does not follow coroutines");
    tap_plan(0);
    test_right();
    for (int i = 0, sites = weak.sites; i < sites; i++)
        test_site(&weak.site[i]);
    test_table();
    return tap_done();
}
