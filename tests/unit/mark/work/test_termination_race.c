/* SPDX-License-Identifier: MIT */
/*
 * mark/work/termination.c and mark/work/idle.h under threads: teams that work on a toy pool, many rounds.  A round must not
 * be called finished while there is work, must be called so afterwards, and whoever is told must see all that
 * the others did.  Helpers come when they like, or not at all.
 *
 * The detection is compiled here once more with a chance to lose the processor before each of its accesses to
 * shared variables, so that a wrong order shows in a few rounds even on two processors.
 */
#include <pthread.h>

#include "platform/platform.h"
#include "tests/lib/tap.h"

static __thread uint32_t dice = 1;

static uint32_t roll(uint32_t n)
{
    dice ^= dice << 13;
    dice ^= dice >> 17;
    dice ^= dice << 5;
    return (uint32_t)((uint64_t)dice * n >> 32);
}

static sgc_a32_t seam_odds;                 /* one access in so many; 0: none */

static inline void seam(void)
{
    uint32_t odds = sgc_a32_load(&seam_odds);

    if (odds != 0 && roll(odds) == 0)
        sgc_yield();
}

/* A macro of the same name as the function: not expanded again inside itself. */
#define sgc_a32_store_sc(p, v) (seam(), sgc_a32_store_sc(p, v))
#define sgc_a32_store_rel(p, v) (seam(), sgc_a32_store_rel(p, v))
#define sgc_a32_load_sc(p) (seam(), sgc_a32_load_sc(p))
#define sgc_a32_load_acq(p) (seam(), sgc_a32_load_acq(p))
#define sgc_a32_add(p, v) (seam(), sgc_a32_add(p, v))
#define sgc_a32_cas(p, e, v) (seam(), sgc_a32_cas(p, e, v))
#define sgc_aw_load_sc(p) (seam(), sgc_aw_load_sc(p))
#define sgc_aw_store_sc(p, v) (seam(), sgc_aw_store_sc(p, v))
#define sgc_aw_load(p) (seam(), sgc_aw_load(p))
#define sgc_aw_store(p, v) (seam(), sgc_aw_store(p, v))

#include "mark/work/termination.c"

#include "mark/work/idle.h"

enum { MOST = 6, MS = 1000000, THEFTS = 100, AT_MOST_MS = 10000 };

/* ---- the team -------------------------------------------------------------------------------------------------- */

static const uint32_t OPEN = UINT32_C(1) << 31;

static struct worker {
    _Alignas(128) sgc_aw_t public;          /* pieces that may be stolen */
    size_t own;                             /* pieces in hand */
    size_t done;                            /* in this round: plain, read by others after the end only */
    pthread_t thread;
} worker[MOST];

static struct sgc_termination t;
static struct sgc_idle idle;
static uint32_t markers;
static sgc_a32_t door;                      /* OPEN, plus how many helpers are inside */
static sgc_a32_t round_number, quit;
static sgc_aw_t to_do;                      /* pieces that are not done, wherever they are */
static sgc_aw_t made;                       /* pieces in this round */
static sgc_a32_t early, unseen, thefts, late_thefts;
static uint32_t absent;                     /* helpers that do not come in this round: one bit each */
static uint64_t round_began;

static void leave(void)
{
    sgc_a32_add(&door, UINT32_MAX);
}

/* False if no round is open to this helper. */
static bool enter(uint32_t i)
{
    uint32_t was = sgc_a32_load(&door);

    while ((was & OPEN) != 0 && !sgc_a32_cas(&door, was, was + 1))
        was = sgc_a32_load(&door);
    if ((was & OPEN) == 0)
        return false;
    if (i < markers && (absent & 1u << i) == 0)
        return true;
    leave();
    return false;
}

/* ---- work ------------------------------------------------------------------------------------------------------ */

/* A piece makes up to three others, as long as there are not too many. */
static void process(struct worker *w)
{
    size_t children = sgc_aw_load(&made) < 40 ? roll(4) : 0;

    if (roll(16) == 0)
        sgc_yield();

    sgc_aw_add(&made, children);
    sgc_aw_add(&to_do, children);
    w->own += children;
    w->own--;
    w->done++;
    sgc_aw_add(&to_do, (uintptr_t)-1);
}

static void share(struct worker *w)
{
    if (w->own < 2 || sgc_aw_load(&w->public) != 0)
        return;
    size_t pieces = 1 + roll((uint32_t)w->own - 1);
    w->own -= pieces;
    sgc_aw_add(&w->public, pieces);
    sgc_idle_wake(&idle, 1);
}

/* Takes up to `most` public pieces; the failed look is an acquire. */
static size_t take(struct worker *from, size_t most)
{
    uintptr_t have = sgc_aw_load_acq(&from->public);

    while (have != 0) {
        size_t pieces = have < most ? have : most;
        if (sgc_aw_cas(&from->public, have, have - pieces))
            return pieces;
        have = sgc_aw_load_acq(&from->public);
    }
    return 0;
}

static void work(struct worker *w)
{
    do {
        while (w->own != 0) {
            process(w);
            share(w);
        }
        w->own = take(w, 2);
    } while (w->own != 0);
}

static struct worker *victim(uint32_t i)
{
    uint32_t from = roll(markers);

    for (uint32_t k = 0; k < markers; k++) {
        uint32_t v = (from + k) % markers;
        if (v != i && sgc_aw_load(&worker[v].public) != 0)
            return &worker[v];
    }
    return NULL;
}

static bool try_steal(uint32_t i)
{
    struct worker *from = victim(i);

    if (from == NULL)
        return false;
    sgc_termination_busy(&t, i);
    worker[i].own = take(from, 1 + roll(2));
    if (worker[i].own != 0) {
        sgc_a32_add(&thefts, 1);
        if (sgc_termination_finished(&t))
            sgc_a32_add(&late_thefts, 1);
        return true;
    }
    sgc_termination_idle(&t, i);
    return false;
}

/* ---- a marker -------------------------------------------------------------------------------------------------- */

/* What whoever is told that marking is finished must see. */
static void look_back(void)
{
    size_t done = 0;

    for (uint32_t i = 0; i < markers; i++)
        done += worker[i].done;
    if (sgc_aw_load(&to_do) != 0)
        sgc_a32_add(&early, 1);
    else if (done != sgc_aw_load(&made))
        sgc_a32_add(&unseen, 1);
}

/* A helper goes out to rest, so that nobody waits for a sleeper.  False if it could not come in again. */
static bool rest_a_while(uint32_t i, struct sgc_rest *rest)
{
    if (sgc_idle_spin(&idle, rest))
        return true;
    if (i != 0)
        leave();
    sgc_idle_sleep(&idle, rest);
    return i == 0 || enter(i);
}

static void too_long(uint32_t i)
{
    if (i == 0 && sgc_clock_ns() - round_began > 20000ULL * MS)
        tap_bail("a round takes 20 seconds: it is not found out that it is finished");
}

/* An idle marker: true with work, false at the end; *inside as it says. */
static bool find_work(uint32_t i, bool *inside)
{
    struct sgc_rest rest = { 0 };
    bool found = false;

    do {
        too_long(i);
        sgc_idle_note_signal(&idle, &rest);
        found = try_steal(i);
        if (found)
            break;
        if (sgc_termination_detect(&t, i)) {
            sgc_idle_wake_all(&idle);
            look_back();
            break;
        }
        *inside = rest_a_while(i, &rest);
    } while (*inside);
    sgc_idle_end(&idle, &rest, found);
    return found;
}

static void mark(uint32_t i)
{
    bool inside = true;

    do {
        work(&worker[i]);
        sgc_termination_idle(&t, i);
    } while (find_work(i, &inside));
    if (i != 0 && inside)
        leave();
}

static void *helper(void *number)
{
    uint32_t i = (uint32_t)(uintptr_t)number, seen = 0;
    bool inside;

    dice = i * 2654435761u + 1;
    while (!sgc_a32_load_acq(&quit)) {
        sgc_wait(&round_number, seen, 10 * MS);
        seen = sgc_a32_load_acq(&round_number);
        for (uint32_t late = roll(8); late > 4; late--)
            sgc_yield();
        inside = enter(i);
        if (inside && find_work(i, &inside))
            mark(i);
        else if (inside)
            leave();
    }
    return NULL;
}

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

static void begin_round(enum sgc_termination_form form)
{
    markers = 1 + roll(MOST);
    absent = roll(4) == 0 ? roll(1u << MOST) : 0;
    for (uint32_t i = 0; i < MOST; i++) {
        worker[i].own = worker[i].done = 0;
        sgc_aw_store(&worker[i].public, 0);
    }
    worker[0].own = 1 + roll(3);
    sgc_aw_store(&to_do, worker[0].own);
    sgc_aw_store(&made, worker[0].own);
    round_began = sgc_clock_ns();
    sgc_termination_begin(&t, form, markers);
    sgc_a32_or(&door, OPEN);
    sgc_a32_add(&round_number, 1);
    sgc_wake(&round_number, MOST);
}

static void end_round(void)
{
    sgc_a32_and(&door, ~OPEN);
    while (sgc_a32_load_acq(&door) != 0)
        sgc_yield();
    sgc_termination_check(&t);
}

/* As many as fit in the time, and more where other programs leave the helpers little of it; the number. */
static int rounds(enum sgc_termination_form form, uint32_t seams, uint32_t ms)
{
    uint64_t begin = sgc_clock_ns(), used = 0;
    int n = 0;

    sgc_a32_store(&seam_odds, seams);
    for (; used < ms || (used < AT_MOST_MS && sgc_a32_load(&thefts) <= THEFTS); n++, used = (sgc_clock_ns() - begin) / MS) {
        begin_round(form);
        mark(0);
        end_round();
    }
    return n;
}

static void test_form(const char *name, enum sgc_termination_form form)
{
    int quick = rounds(form, 0, 350), slow = rounds(form, 8, 350);

    tap_diag("%s: %d rounds, and %d with seams, %u thefts", name, quick, slow, (unsigned)sgc_a32_load(&thefts));
    tap_ok(quick > 0 && slow > 0 && sgc_a32_swap(&thefts, 0) > THEFTS, "%s: every round is found finished", name);
    tap_ok(sgc_a32_swap(&early, 0) == 0, "%s: and never while there is work", name);
    tap_ok(sgc_a32_swap(&late_thefts, 0) == 0, "%s: nobody has work afterwards", name);
    tap_ok(sgc_a32_swap(&unseen, 0) == 0, "%s: all that was done is seen by whoever is told", name);
}

int main(void)
{
    tap_plan(8);
    sgc_platform_init();
    sgc_idle_init(&idle);
    if (!sgc_termination_init(&t, MOST))
        tap_bail("no memory");
    for (uintptr_t i = 1; i < MOST; i++)
        pthread_create(&worker[i].thread, NULL, helper, (void *)i);
    test_form("flags", SGC_TERMINATION_FLAGS);
    test_form("counter", SGC_TERMINATION_COUNTER);
    sgc_a32_store_rel(&quit, 1);
    for (int i = 1; i < MOST; i++)
        pthread_join(worker[i].thread, NULL);
    return tap_done();
}
