/* SPDX-License-Identifier: MIT */
/*
 * Where what has expired is not freed, an object has expired at exactly the tick that is due.  From that tick on, and not
 * before, a collection lets go what nothing but its date kept; with verify it also says of an object that static data leads to
 * that it has expired.
 *
 * A collection follows each tick.  Each case is a process of its own, since settings are chosen once.
 *
 * Also: shortterm/verify.c, shortterm/layer.c, shortterm/tick.c.
 */
#include "shortterm/verify.h"

#include <errno.h>
#include <limits.h>

#include "shortterm/global_time.h"
#include "tests/lib/findings.h"
#include "tests/unit/shortterm/shortterm.h"

enum { HIDDEN = 40, STRAY = 6 };        /* so many may be seen by old words on the stack */

static uintptr_t kept[HIDDEN];          /* objects that nothing but dates keeps, inverted */
static int living;

static void make_kept(TEST_UNUSED void *unused)
{
    for (int i = 0; i < HIDDEN; i++)
        kept[i] = white_hidden(make_node(NULL, NULL));
}

static void count_living(TEST_UNUSED void *unused)
{
    living = 0;
    for (int i = 0; i < HIDDEN; i++)
        living += white_alive(kept[i]);
}

/* ---- one thread ---- */

static struct SGC_shortterm settings;

static SGC_clock_t *rhythm;

static int refresh_by_rhythm(void *object, unsigned e) { return SGC_refresh_clock(object, e, rhythm); }
static int tick_rhythm(void) { return SGC_tick_clock(rhythm); }

static const struct time {
    int (*refresh)(void *object, unsigned e);
    int (*tick)(void);
    unsigned more;                      /* than the extension, ticks until it is over */
} times[] = {
    { SGC_refresh, SGC_tick, 1 },
    { SGC_refresh_global, SGC_tick_global, 3 },
    { refresh_by_rhythm, tick_rhythm, 1 },
};

TEST_NOINLINE static int refresh_all(const struct time *t, unsigned e)
{
    int wrong = t->refresh(root, e) != 0;

    for (int i = 0; i < HIDDEN; i++)
        wrong += t->refresh((void *)~kept[i], e) != 0;
    return wrong;
}

/* How many certain findings there are; 0 in other modes. */
static int look(void)
{
    if (settings.mode == SGC_SHORTTERM_VERIFY) {
        check();
    } else {
        scrub_stack();
        GC_gcollect();
    }
    elsewhere(count_living, NULL);
    return with_certainty(SGC_FINDING_CERTAIN);
}

/* Nobody counts with pin. */
static bool has_dates(int dates)
{
    return SGC_dates(root) == (settings.mode == SGC_SHORTTERM_PIN ? -1 : dates);
}

/* Of objects that have not expired nothing is said, and all of them live. */
static bool all_live(void)
{
    return look() == 0 && finds == 0 && has_dates(1) && living == HIDDEN;
}

static bool all_expired(void)
{
    return look() == (settings.mode == SGC_SHORTTERM_VERIFY) && has_dates(0) && living <= STRAY;
}

static int expire_exactly(const struct time *t, unsigned e)
{
    int wrong;

    elsewhere(make_one, &root);
    elsewhere(make_kept, NULL);
    wrong = refresh_all(t, e);
    for (unsigned i = 1; i < e + t->more; i++)
        wrong += t->tick() != 0 || !all_live();
    return wrong + (t->tick() != 0 || !all_expired() || look() != 0);
}

/* What is too large is refused, and nothing is kept by it. */
static int refuse_exactly(const struct time *t, unsigned n)
{
    int wrong = 0;

    for (unsigned k = 0; k < 2; k++) {
        unsigned e = k == 0 ? n + 1 : UINT_MAX;

        wrong += t->refresh(root, e) != ERANGE || !has_dates(0);
        errno = 0;
        wrong += SGC_malloc_dated(10, e, k == 0 ? SGC_SHORTTERM_GLOBAL : 0) != NULL || errno != ERANGE;
    }
    return wrong;
}

static bool at_the_end;                 /* of global time, which begins again */

static int exactly(void)
{
    unsigned n = (unsigned)settings.extension;
    int wrong;

    setenv("SGC_MODE", "stop", 1);
    GC_INIT();
    wrong = SGC_shortterm_init(&settings, sizeof settings) != 0 || SGC_shortterm_mode() != settings.mode;
    if (at_the_end)
        sgc_time_reset(UINT32_MAX - 4);
    rhythm = SGC_clock_new();
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        for (unsigned e = 0; e <= n; e += e == 1 && n > 3 ? n - 2 : 1)
            wrong += expire_exactly(&times[i], e);
        wrong += refuse_exactly(&times[i], n);
    }
    return wrong != 0 || (at_the_end && sgc_time_phase() > 1000);
}

static const struct row {
    int extension, collect, step, page;
    bool at_the_end;
    const char *name;
} rows[] = {
    { 0, -1, -1, -1, false, "largest extension 0" },
    { 1, -1, -1, -1, false, "largest extension 1" },
    { 10, -1, -1, -1, false, "largest extension 10" },
    { 10, SGC_SHORTTERM_LAZY, 0, -1, false, "lazily, none at a time" },
    { 3, SGC_SHORTTERM_LAZY, 1000, -1, false, "lazily, 1000 at a time" },
    { 3, SGC_SHORTTERM_EAGER, -1, -1, false, "eagerly" },
    { 10, -1, -1, 24, false, "pages of one date" },
    { 3, -1, -1, -1, true, "when global time begins again" },
};

/* ---- several threads ---- */

enum { THREADS = 4, N = 10 };

static struct node *of_thread[THREADS];
static struct { sgc_a32_t go, done; } turn[THREADS];
static int threads;
static unsigned extension;

/* A step for each turn: the first refreshes, the others tick. */
static void step_in_turn(void *raw)
{
    intptr_t self = (intptr_t)raw;
    bool wrong = false;

    for (uint32_t i = 1; i <= extension + 3 + 1; i++) {
        if (!white_reached(&turn[self].go, i) || wrong)
            return;
        if (i == 1)
            wrong = SGC_refresh_global(of_thread[self], extension) != 0;
        else
            wrong = SGC_tick_global() != 0;
        sgc_a32_store_rel(&turn[self].done, wrong ? 0 : i);
    }
}

static bool takes_turn(int t, uint32_t i)
{
    sgc_a32_store_rel(&turn[t].go, i);
    return white_reached(&turn[t].done, i);
}

/* After the last of a thread's ticks, its object, and no other's. */
static int wrong_at(int t, uint32_t i)
{
    bool due = i == extension + 3 + 1;

    if (!takes_turn(t, i))
        return 1;
    check();
    return with_certainty(SGC_FINDING_CERTAIN) != due || SGC_dates(of_thread[t]) != !due;
}

static int together(void)
{
    pthread_t thread[THREADS];
    int wrong = 0;

    for (int t = 0; t < threads; t++)
        elsewhere(make_one, &of_thread[t]);
    white_start_all(thread, threads, step_in_turn);
    for (uint32_t i = 1; i <= extension + 3 + 1 && wrong == 0; i++)
        for (int t = 0; t < threads; t++)
            wrong += wrong_at(t, i);
    for (int t = 0; t < threads; t++)
        sgc_a32_store_rel(&turn[t].go, UINT32_MAX);
    white_join_all(thread, threads);
    return wrong != 0;
}

static void check_row(int mode, const struct row *r)
{
    settings = (struct SGC_shortterm){ mode, r->extension, r->collect, r->step, r->page };
    at_the_end = r->at_the_end;
    if (TEST_SANITIZED)
        tap_skip("%s, %s: sanitizers keep old words on stacks", mode_names[mode], r->name);
    else
        child_ok(exactly, "%s: objects expire exactly in time, %s", mode_names[mode], r->name);
}

int main(void)
{
    static const unsigned es[] = { 0, 1, N - 1, N };

    unsetenv("SGC_SHORTTERM");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(SGC_SHORTTERM_VERIFY, &rows[i]);
        check_row(SGC_SHORTTERM_PIN, &rows[i]);
        check_row(SGC_SHORTTERM_HYBRID, &rows[i]);
    }
    for (threads = 1; threads <= THREADS; threads *= 2)
        for (int i = 0; i < 4; i++) {
            extension = es[i];
            finding_ok(together, "verify, %d threads, extension %u: each object at its thread's tick that is due", threads,
                     extension);
        }
    return tap_done();
}
