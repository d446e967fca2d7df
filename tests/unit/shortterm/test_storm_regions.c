/* SPDX-License-Identifier: MIT */
/*
 * Owners of regions, threads that refresh these, and threads that end, in each mode, while others collect and fork: what a
 * thread may look at is whole, no memory is handed out twice, and in the end no date is left.
 *
 * Also: shortterm/regions.c, shortterm/orphan_dates.c.
 *
 * In each round an owner refreshes its region, fills it with objects, and ticks: it is over by that, and filled again, unless
 * somebody else has a date of it, which may end at any moment.  Now and then the owner puts the objects into a slot, with a
 * date of global time.  Others refresh what they see in slots, by all their clocks, look at it, and tick.  An object that was
 * in its slot when a thread looked there is not over before that thread ticks: its owner refreshes what is there in each
 * round, and has done so in the round in which it takes it out.  Owners close regions, too, and go on with others; some
 * threads end after a few rounds, with dates of all their clocks.
 */
#define GC_THREADS

#include <errno.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/unit/shortterm/storm.h"

enum { OWNERS = 2, OTHERS = 2, OBJECTS = 60, SHARED = 4, LARGEST = 4 };

static int mode, collect;
static const char *torture;

/* What lies in a region: each object has the round's secret, which nobody else has. */
struct object {
    uintptr_t self, secret;
    struct object *next;
};

static sgc_aw_t slot[SHARED];           /* the last object of a region, which leads to the others */
static sgc_aw_t secrets;
static sgc_a32_t rounds, looked;

/* ---- objects ---- */

static struct object *fill(SGC_region_t *region, uint64_t *random)
{
    uintptr_t secret = sgc_aw_add(&secrets, 1);
    struct object *last = NULL;

    for (int i = 0; i < OBJECTS; i++) {
        size_t more = random_below(random, 40) == 0 ? 6000 : random_below(random, 200);
        struct object *o = SGC_region_malloc(region, sizeof *o + more);

        if (o == NULL) {
            must(ENOMEM);
            return NULL;
        }
        o->self = (uintptr_t)o;
        o->secret = secret;
        o->next = last;
        last = o;
    }
    return last;
}

static void look(const struct object *last)
{
    uintptr_t secret = last->secret;
    int count = 0;

    for (const struct object *o = last; o != NULL && count <= OBJECTS; o = o->next, count++)
        if (o->self != (uintptr_t)o || o->secret != secret)
            break;
    if (count != OBJECTS)
        sgc_a32_add(&wrong, 1);
    sgc_a32_add(&looked, 1);
}

/* ---- owners ---- */

/* What it has in its slot gets a date, and may leave it then. */
static void see_to_slot(int which, bool ends, uint64_t *random)
{
    struct object *there = (struct object *)sgc_aw_load(&slot[which]);

    if (there == NULL)
        return;
    must(SGC_refresh_global(there, random_below(random, LARGEST + 1)));
    look(there);
    if (ends || random_below(random, 3) == 0)
        sgc_aw_store_rel(&slot[which], 0);
}

static void share(int which, struct object *last, uint64_t *random)
{
    if (sgc_aw_load(&slot[which]) != 0 || random_below(random, 8) != 0)
        return;
    must(SGC_refresh_global(last, random_below(random, 2)));
    sgc_aw_store_rel(&slot[which], (uintptr_t)last);
}

static void round_of_owner(SGC_region_t *region, int which, uint64_t *random)
{
    struct object *last;

    must(SGC_region_refresh(region, random_below(random, 8) == 0));
    last = fill(region, random);
    if (last == NULL)
        return;
    if (random_below(random, 4) == 0)
        doze(50);
    share(which, last, random);
    look(last);
    must(SGC_tick());
    sgc_a32_add(&rounds, 1);
}

/* Nobody else has that slot meanwhile. */
static void own(int which, int most, uint64_t *random)
{
    SGC_region_t *region = SGC_region_new();

    must(SGC_join_time());
    for (int i = 0; i < most && sgc_a32_load(&over) == 0; i++) {
        bool closes = random_below(random, 30) == 0;

        for (int j = 0; j < 4; j++)
            round_of_owner(region, which, random);
        see_to_slot(which, closes, random);
        if (closes) {
            must(SGC_region_close(region));
            region = SGC_region_new();
        }
        must(SGC_tick_global());
    }
    must(SGC_region_refresh_global(region, 1));
    see_to_slot(which, true, random);
}

/* ---- others ---- */

static void *do_nothing(void *unused)
{
    doze(300);
    return unused;
}

static void round_of_other(uint64_t *random, SGC_clock_t *clock)
{
    struct object *seen[SHARED];

    for (int i = 0; i < SHARED; i++)
        seen[i] = (struct object *)sgc_aw_load_acq(&slot[i]);
    if (random_below(random, 4) == 0)
        doze(150);
    for (int i = 0; i < SHARED; i++)
        if (seen[i] != NULL && random_below(random, 4) != 0) {
            must(SGC_refresh(seen[i], 0));
            look(seen[i]);
            if (random_below(random, 3) == 0)
                must(SGC_refresh_clock(seen[i], random_below(random, LARGEST), clock));
            if (random_below(random, 3) == 0)
                must(SGC_refresh_global(seen[i], random_below(random, LARGEST)));
            look(seen[i]);
        }
    must(SGC_tick());
    must(SGC_tick_clock(clock));
    must(SGC_tick_global());
}

static void be_other(int most, uint64_t *random)
{
    SGC_clock_t *clock = SGC_clock_new();

    must(SGC_join_time());
    for (int i = 0; i < most && sgc_a32_load(&over) == 0; i++) {
        round_of_other(random, clock);
        if (random_below(random, 50) == 0)
            GC_do_blocking(do_nothing, NULL);
        if (random_below(random, 20) == 0) {
            must(SGC_clock_release(clock));
            clock = SGC_clock_new();
        }
    }
}

static void *work(void *raw)
{
    int which = (int)(intptr_t)raw;
    uint64_t random = (uint64_t)which + 11;

    if (which < OWNERS)
        own(which, INT32_MAX, &random);
    else
        be_other(INT32_MAX, &random);
    return NULL;
}

/* Lives for some rounds, as an owner or another, and ends with what it has. */
static void *live_shortly(void *raw)
{
    int number = (int)(intptr_t)raw;
    uint64_t random = (uint64_t)number * 77 + 5;

    if (number % 2 == 0)
        own(OWNERS + number / 2 % (SHARED - OWNERS), 6, &random);
    else
        be_other(6, &random);
    return NULL;
}

static int in_fork_child(void)
{
    uint64_t random = 3;
    SGC_region_t *region = SGC_region_new();
    struct object *last = fill(region, &random);

    alarm(20);
    must(SGC_region_refresh(region, 0));
    GC_gcollect();
    look(last);
    must(SGC_tick());
    return sgc_a32_load(&refused) != 0 || sgc_a32_load(&wrong) != 0;
}

/* ---- the storm ---- */

static void disturb(double seconds)
{
    double end = now() + seconds;

    for (int round = 1; now() < end; round++) {
        pthread_t two[2] = { thread_start(live_shortly, (void *)(intptr_t)round),
                             thread_start(live_shortly, (void *)(intptr_t)(round * 3 + 1)) };

        if (round % 3 == 0)
            GC_gcollect();
        if (round % 10 == 0 && !TEST_SANITIZED)
            must(run_in_child(in_fork_child));
        threads_join(two, 2);
    }
}

static int storm(void)
{
    pthread_t thread[OWNERS + OTHERS];

    if (torture != NULL)
        setenv("SGC_TORTURE", torture, 1);
    GC_set_handle_fork(1);
    choose(mode, LARGEST, collect, -1, 256);
    threads_start(thread, OWNERS + OTHERS, work);
    disturb(0.7);
    sgc_a32_store(&over, 1);
    threads_join(thread, OWNERS + OTHERS);
    memset(slot, 0, sizeof slot);
    for (int i = 0; i < 3 * (LARGEST + 4); i++)
        must(SGC_tick_global());
    GC_gcollect();
    printf("# %u rounds of owners, %u looks\n", sgc_a32_load(&rounds), sgc_a32_load(&looked));
    return !all_right() || figures().dates != 0 || figures().expired != 0 || SGC_check() != 0;
}

/* ---- one owner, and one whose dates end while the owner goes on ---- */

enum { MANY = 32, EACH = 4 };

static SGC_region_t *many[MANY];

static void *refresh_many(void *unused)
{
    while (sgc_a32_load(&over) == 0) {
        for (int i = 0; i < MANY; i++) {
            int error = SGC_region_refresh(many[i], 0);

            must(error == ESTALE ? 0 : error);
        }
        must(SGC_tick());
    }
    return unused;
}

/* The owner's date is not over: what it fills in is there, and nothing of it is handed out twice. */
static void fill_many(uintptr_t round)
{
    uintptr_t *object[MANY][EACH];

    for (int i = 0; i < MANY; i++)
        must(SGC_region_refresh(many[i], 0));
    for (int j = 0; j < EACH; j++)
        for (int i = 0; i < MANY; i++) {
            object[i][j] = SGC_region_malloc(many[i], sizeof(uintptr_t));
            *object[i][j] = round * MANY * EACH + (uintptr_t)(i * EACH + j);
        }
    for (int j = 0; j < EACH; j++)
        for (int i = 0; i < MANY; i++)
            if (*object[i][j] != round * MANY * EACH + (uintptr_t)(i * EACH + j) || SGC_region_of(object[i][j]) != many[i])
                sgc_a32_add(&wrong, 1);
    must(SGC_tick());
}

static int pair(void)
{
    double end = now() + 0.5;
    uintptr_t round = 0;
    pthread_t other;

    choose(mode, LARGEST, collect, -1, -1);
    for (int i = 0; i < MANY; i++)
        many[i] = SGC_region_new();
    other = thread_start(refresh_many, NULL);
    for (; now() < end || round < 100; round++)
        fill_many(round);
    sgc_a32_store(&over, 1);
    pthread_join(other, NULL);
    printf("# %lu rounds\n", (unsigned long)round);
    return !all_right() || figures().dates != 0 || figures().expired != 0;
}

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    tap_plan(12);
    for (mode = 0; mode < 4; mode++) {
        collect = mode % 2 == 0 ? SGC_SHORTTERM_LAZY : SGC_SHORTTERM_EAGER;
        torture = NULL;
        child_ok(storm, "%s", mode_names[mode]);
        torture = "997";
        child_ok(storm, "%s, under torture", mode_names[mode]);
        child_ok(pair, "%s: an owner goes on while another's dates end", mode_names[mode]);
    }
    return tap_done();
}
