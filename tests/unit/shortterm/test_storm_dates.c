/* SPDX-License-Identifier: MIT */
/*
 * Four threads that keep objects by dates of their own clocks, and share objects by global time, while others collect, fork,
 * end and are cancelled: what a thread may read is there, whole, and in the end nothing is left.
 *
 * Also: shortterm/expire.c, shortterm/expire_stopped.c, shortterm/global_time.c.
 *
 * Shared objects lie in slots.  In each round a thread refreshes the objects of all slots, looks at them, puts new ones into a
 * few, and ticks once: never without having refreshed what is there.  An object that was in its slot when a thread looked there
 * is not over before that thread ticks: whoever took it out had refreshed it in the same round, and needs three ticks.
 */
#define GC_THREADS

#include "gc/gc.h"
#include "shortterm/global_time.h"
#include "tests/lib/child.h"
#include "tests/unit/shortterm/storm.h"

enum { WORKERS = 4, SLOTS = 64, OWN = 200, LARGEST = 10 };

struct object {
    uintptr_t self;                     /* its address and a secret */
    uintptr_t words;                    /* behind these, each the object's address and its place */
    uintptr_t word[];
};

static struct storm {
    int collect, step;
    unsigned extension;
    const char *torture;
    bool others;                        /* threads that end, are cancelled, collect; forks */
    double seconds;
} this_storm;

static sgc_aw_t slot[SLOTS];            /* roots, which does not matter: dates decide */
static sgc_a32_t made;

/* ---- objects ---- */

static const uintptr_t SECRET = (uintptr_t)0x5a5ac3c300000000;

static struct object *make(uint64_t *random)
{
    uintptr_t words = random_below(random, 64) == 0 ? 5000 : random_below(random, 30);
    struct object *o = GC_MALLOC_ATOMIC(sizeof *o + words * sizeof(uintptr_t));

    o->self = (uintptr_t)o ^ SECRET;
    o->words = words;
    for (uintptr_t i = 0; i < words; i++)
        o->word[i] = (uintptr_t)o + i;
    sgc_a32_add(&made, 1);
    return o;
}

static void look(const struct object *o)
{
    bool whole = o->self == ((uintptr_t)o ^ SECRET) && o->words <= 5000;

    for (uintptr_t i = 0; whole && i < o->words; i++)
        whole = o->word[i] == (uintptr_t)o + i;
    if (!whole)
        sgc_a32_add(&wrong, 1);
}

/* The stack has the object until it has its date: a thread's other memory is no root. */
static struct object *make_dated(uint64_t *random, int (*refresh)(void *, unsigned), unsigned extension)
{
    struct object *o = make(random);

    must(refresh(o, extension));
    GC_reachable_here(o);
    return o;
}

/* ---- objects of one thread ---- */

struct own {
    struct object *object[OWN];
    unsigned left[OWN];                 /* rounds for which it is refreshed */
};

/* Refreshed with e an object lives e rounds after that. */
static void round_of_own(struct own *own, uint64_t *random)
{
    unsigned e = this_storm.extension < LARGEST ? this_storm.extension + 1 : LARGEST;

    for (int i = 0; i < OWN; i++) {
        if (own->left[i] == 0) {
            own->object[i] = make_dated(random, SGC_refresh, e);
            own->left[i] = 1 + random_below(random, 8);
        } else if (--own->left[i] % e == 0) {
            must(SGC_refresh(own->object[i], e));
        }
        look(own->object[i]);
    }
    must(SGC_tick());
}

/* ---- objects of all ---- */

/* What it has seen is there until it ticks, however long that takes. */
static void round_of_shared(uint64_t *random)
{
    struct object *seen[SLOTS];

    for (int i = 0; i < SLOTS; i++)
        seen[i] = (struct object *)sgc_aw_load_acq(&slot[i]);
    if (random_below(random, 3) == 0)
        doze(150);
    for (int i = 0; i < SLOTS; i++) {
        if (seen[i] != NULL) {
            must(SGC_refresh_global(seen[i], this_storm.extension));
            look(seen[i]);
        }
        if (seen[i] == NULL || random_below(random, 16) == 0) {
            struct object *fresh = make_dated(random, SGC_refresh_global, this_storm.extension);

            sgc_aw_cas(&slot[i], (uintptr_t)seen[i], (uintptr_t)fresh);
        }
    }
    must(SGC_tick_global());
}

static void *sleep_there(void *unused)
{
    doze(500);
    return unused;
}

static void *work(void *raw)
{
    uint64_t random = (uint64_t)(intptr_t)raw + 1;
    struct own *own = calloc(1, sizeof *own);

    must(SGC_join_time());
    while (sgc_a32_load(&over) == 0) {
        round_of_own(own, &random);
        round_of_shared(&random);
        if (random_below(&random, 40) == 0)
            GC_do_blocking(sleep_there, NULL);
    }
    free(own);
    return NULL;
}

/* ---- beside ---- */

/* Lives for some rounds; it may be cancelled where it sleeps, or ends with dates of both clocks. */
static void *live_shortly(void *raw)
{
    uint64_t random = (uint64_t)(intptr_t)raw + 100;
    struct own *own = calloc(1, sizeof *own);

    pthread_cleanup_push(free, own);
    must(SGC_join_time());
    for (int round = 0; round < 4 && sgc_a32_load(&over) == 0; round++) {
        round_of_own(own, &random);
        round_of_shared(&random);
        doze(50);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

static int in_fork_child(void)
{
    uint64_t random = 7;
    struct object *o = make(&random);

    alarm(20);
    must(SGC_refresh(o, 0));
    GC_gcollect();
    look(o);
    must(SGC_tick());
    SGC_expire(SIZE_MAX);
    return SGC_dates(o) >= 0;
}

static void disturb(int round)
{
    pthread_t thread = thread_start(live_shortly, (void *)(intptr_t)round);

    if (round % 3 == 0 && !TEST_SANITIZED)      /* one that is cancelled where it sleeps is not followed by them, */
        pthread_cancel(thread);
    if (round % 4 == 0)
        GC_gcollect();
    if (round % 8 == 0 && !TEST_SANITIZED)      /* nor locks over a fork */
        must(run_in_child(in_fork_child));
    pthread_join(thread, NULL);
}

/* ---- the storm ---- */

static void start(void)
{
    if (this_storm.torture != NULL)
        setenv("SGC_TORTURE", this_storm.torture, 1);
    GC_set_handle_fork(1);
    choose(SGC_SHORTTERM_FREE, LARGEST, this_storm.collect, this_storm.step, 512);
}

/* The dates of threads that are gone are over when time has gone on: those that came late at the second turn.  Collections
 * take off what is over. */
static bool nothing_is_left(void)
{
    struct SGC_shortterm_stats s;
    uint32_t count = sgc_a32_load(&made);

    memset(slot, 0, sizeof slot);
    for (int i = 0; i < 2 * (LARGEST + 4); i++)
        must(SGC_tick_global());
    must(SGC_leave_time());
    GC_gcollect();
    GC_gcollect();
    s = figures();
    printf("# %u objects, %lu of them freed by their dates; %lu dates, %lu of them over; %zu KB live\n", count,
           (unsigned long)s.freed, (unsigned long)s.dates, (unsigned long)s.expired, GC_get_memory_use() >> 10);
    fflush(stdout);
    return s.dates == 0 && s.expired == 0 && s.active == 0 && (this_storm.others || s.freed > count / 10 * 9);
}

static int storm(void)
{
    double end = now() + this_storm.seconds;
    pthread_t thread[WORKERS];

    start();
    threads_start(thread, WORKERS, work);
    for (int round = 1; now() < end; round++)
        if (this_storm.others)
            disturb(round);
        else
            doze(1000);
    sgc_a32_store(&over, 1);
    threads_join(thread, WORKERS);
    if (!all_right())
        return 1;
    return nothing_is_left() ? 0 : 2;
}

static void check(int collect, int step, unsigned extension, bool others, const char *torture, const char *what)
{
    this_storm = (struct storm){ collect, step, extension, torture, others, 0.7 };
    child_ok(storm, "%s, extension %u", what, extension);
}

int main(void)
{
    tap_plan(8);
    check(SGC_SHORTTERM_EAGER, -1, 0, false, NULL, "eagerly");
    check(SGC_SHORTTERM_LAZY, 1, 0, false, NULL, "lazily");
    check(SGC_SHORTTERM_EAGER, -1, 3, true, NULL, "eagerly, beside others");
    check(SGC_SHORTTERM_LAZY, 2, 3, true, NULL, "lazily, beside others");
    check(SGC_SHORTTERM_EAGER, -1, LARGEST, true, NULL, "eagerly, beside others");
    check(SGC_SHORTTERM_LAZY, 1, LARGEST, true, NULL, "lazily, beside others");
    check(SGC_SHORTTERM_EAGER, -1, 0, true, "997", "eagerly, under torture");
    check(SGC_SHORTTERM_LAZY, 1, 3, true, "997", "lazily, under torture");
    return tap_done();
}
