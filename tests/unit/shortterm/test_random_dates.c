/* SPDX-License-Identifier: MIT */
/*
 * Random calls of short-term memory beside a plain model of it (tests/unit/shortterm/date_model.h), in each mode, lazily and
 * eagerly: refreshes by all clocks, holds, what is to be done at the end, regions, threads that begin and end, collections.
 *
 * Threads do what they are told, one call at a time.  After each call all that has a date is whole, with as many dates as the
 * model says, and of what is over that has become which the mode says.  Nothing but dates keeps an object: its address is kept
 * inverted, unless it has none and is to have one again.
 *
 * Also: shortterm/refresh.c, shortterm/tick.c, shortterm/expire.c, shortterm/holds.c, shortterm/regions.c,
 * shortterm/orphan_dates.c.
 *
 * test_random_dates [SEEDS [FIRST]]: so many runs with each setting; a run that fails says its seed.
 */
#define GC_THREADS

#include <errno.h>
#include <semaphore.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/date_model.h"
#include "tests/unit/shortterm/shortterm.h"

enum { CALLS = 2500, WORDS = 4, INSIDE = 200 };

static int mode, collect, seeds = 2, first_seed = 1;
static uint64_t random_state;
static int wrong, calls_wanted, calls_made;
static uint64_t freed;
static const char *doing;

static unsigned below(unsigned n)
{
    return random_below(&random_state, n);
}

static void expect_at(bool right, int line)
{
    if (!right && wrong++ == 0) {
        printf("# line %d: %s\n", line, doing);
        fflush(stdout);
    }
}

#define expect(right) expect_at(right, __LINE__)

/* ---- objects ---- */

static struct {
    uintptr_t hidden;                   /* the address, inverted; 0: none is there */
    uintptr_t secret;
    bool debug, freeable, proc, stays;
} object[OBJECTS];
static void *rooted[OBJECTS];           /* those that have no date */
static uintptr_t secrets;
static int over[OBJECTS], overs;        /* freed by this call */

static uintptr_t *address(int i)
{
    return (uintptr_t *)~object[i].hidden;
}

static bool frees(int i)
{
    return mode == SGC_SHORTTERM_FREE || (mode == SGC_SHORTTERM_HYBRID && object[i].freeable);
}

/* It is done when there is nothing that frees it; a collection may call what is to be done then. */
static void forget(int i)
{
    if (object[i].proc)
        SGC_set_expiry_proc(address(i), NULL);
    rooted[i] = NULL;
    object[i].hidden = 0;
}

static void object_is_over(int i)
{
    bool stays = !frees(i) || (object[i].proc && object[i].stays);

    if (frees(i) && object[i].proc) {
        calls_wanted++;
        object[i].proc = false;
    }
    if (stays) {
        rooted[i] = address(i);
        return;
    }
    over[overs++] = i;
    freed++;
}

static int at_the_end(void *raw)
{
    uintptr_t *words = raw;

    calls_made++;
    return object[words[0]].stays;
}

static void look_at_object(int i)
{
    const uintptr_t *words = address(i);

    expect(words[0] == (uintptr_t)i && words[1] == object[i].secret && words[2] == ~object[i].secret);
    if (mode == SGC_SHORTTERM_PIN)
        expect(SGC_dates(words) == -1);
    else if (mode == SGC_SHORTTERM_VERIFY)
        expect(SGC_dates(words) >= model.of[i]);
    else
        expect(SGC_dates(words) == model.of[i]);
}

/* ---- regions ---- */

static struct {
    SGC_region_t *handle;               /* a root */
    int objects;
    uintptr_t hidden[INSIDE];
} region[REGIONS];

static void region_is_emptied(int r)
{
    region[r].objects = 0;
    if (model.region[r].closed)
        region[r].handle = NULL;
}

/* What was in a region that is over, and that its owner has not used since, is not looked at. */
static void look_at_region(int r)
{
    for (int k = 0; k < region[r].objects && !model.region[r].over; k++) {
        const uintptr_t *words = (const uintptr_t *)~region[r].hidden[k];

        expect(words[0] == ~(uintptr_t)words && words[1] == (uintptr_t)r && SGC_region_of(words) == region[r].handle);
    }
}

static void look_at_all(void)
{
    for (int k = 0; k < overs; k++) {
        expect(SGC_dates(address(over[k])) == -1);
        forget(over[k]);
    }
    overs = 0;
    for (int i = 0; i < OBJECTS; i++)
        if (object[i].hidden != 0)
            look_at_object(i);
    for (int r = 0; r < REGIONS; r++)
        if (model.region[r].there)
            look_at_region(r);
    expect(calls_made == calls_wanted);
}

/* ---- calls, by any thread ---- */

static SGC_clock_t *clock_of[THREADS][CLOCKS];

static int refresh_by(void *what, unsigned e, int t, int clock)
{
    return clock == LOCAL ? SGC_refresh(what, e) : clock == GLOBAL ? SGC_refresh_global(what, e)
                                                 : SGC_refresh_clock(what, e, clock_of[t][clock - FIRST_CLOCK]);
}

/* One that the thread has. */
static int any_clock(int t)
{
    int clock = (int)below(FIRST_CLOCK + CLOCKS);

    return clock >= FIRST_CLOCK && !model.thread[t].clock[clock - FIRST_CLOCK] ? LOCAL : clock;
}

TEST_NOINLINE static void allocate(int t, int i)
{
    int flags = (below(2) != 0 ? SGC_SHORTTERM_FREEABLE : 0) | (below(2) != 0 ? SGC_SHORTTERM_ATOMIC : 0);
    unsigned e = below(N + 1);
    size_t bytes = below(20) == 0 ? 40000 : WORDS * sizeof(uintptr_t) + below(100);
    uintptr_t *words;
    bool global = below(3) == 0;

    object[i].debug = below(4) == 0;
    if (object[i].debug) {
        words = GC_debug_malloc(bytes, GC_EXTRAS);
        expect(words != NULL && refresh_by(words, e, t, global ? GLOBAL : LOCAL) == 0);
    } else {
        words = SGC_malloc_dated(bytes, e, flags | (global ? SGC_SHORTTERM_GLOBAL : 0));
    }
    words[0] = (uintptr_t)i;
    words[1] = object[i].secret = ++secrets * 77;
    words[2] = ~words[1];
    object[i].hidden = ~(uintptr_t)words;
    object[i].freeable = !object[i].debug && (flags & SGC_SHORTTERM_FREEABLE) != 0;
    object[i].proc = false;
    if (global)
        model_join(t);
    model_date(i, t, global ? GLOBAL : LOCAL, e);
}

static void date_object(int t, int i)
{
    int clock = any_clock(t);
    unsigned e = below(N + 1);

    if (!model_has_room(i))
        return;
    expect(refresh_by(address(i), e, t, clock) == 0);
    if (clock == GLOBAL)
        model_join(t);
    model_date(i, t, clock, e);
    rooted[i] = NULL;
}

static void hold(int i)
{
    if (model.holds[i] != 0 && below(2) != 0) {
        model_unhold(i);
        expect(SGC_unhold(address(i)) == 0);
    } else {
        expect(SGC_hold(address(i)) == 0);
        model_hold(i);
        rooted[i] = NULL;
    }
}

/* Dates that are over and not taken off are not the model's: with pin and verify what is freed might have some. */
static void free_by_hand(int i)
{
    if (mode == SGC_SHORTTERM_PIN || mode == SGC_SHORTTERM_VERIFY)
        return;
    (object[i].debug ? GC_debug_free : GC_free)(address(i));
    object[i].proc = false;
    if (model.of[i] == 0)
        forget(i);
}

static void set_proc(int i)
{
    object[i].stays = below(2) != 0;
    object[i].proc = frees(i) && below(4) != 0;
    expect(SGC_set_expiry_proc(address(i), object[i].proc ? at_the_end : NULL) == 0);
}

static void use_object(int t)
{
    int i = (int)below(OBJECTS);

    if (object[i].hidden == 0) {
        allocate(t, i);
        return;
    }
    switch (below(10)) {
    case 0: hold(i); break;
    case 1: set_proc(i); break;
    case 2: free_by_hand(i); break;
    case 3:
        if (rooted[i] != NULL)
            forget(i);
        break;
    default: date_object(t, i);
    }
}

static void fill_region(int t, int r)
{
    for (int n = (int)below(40); n > 0; n--) {
        size_t bytes = below(50) == 0 ? 5000 : 16 + below(300);
        uintptr_t *words = SGC_region_malloc(region[r].handle, bytes);

        if (model.region[r].owner != t) {
            expect(words == NULL && errno == EPERM);
            return;
        }
        model_use(r);
        if (model.region[r].closed) {
            expect(words == NULL && errno == EALREADY);
            return;
        }
        expect(words != NULL);
        words[0] = ~(uintptr_t)words;
        words[1] = (uintptr_t)r;
        if (region[r].objects < INSIDE)
            region[r].hidden[region[r].objects++] = ~(uintptr_t)words;
    }
}

static void date_region(int t, int r)
{
    int clock = any_clock(t);
    unsigned e = below(N + 1);
    bool inside = region[r].objects != 0 && !model.region[r].over && below(2) != 0;
    uintptr_t place = inside ? ~region[r].hidden[below((unsigned)region[r].objects)] : (uintptr_t)region[r].handle;
    int error;

    if (!model_has_room(OBJECTS + r))
        return;
    error = refresh_by((void *)place, e, t, clock);
    if (clock == GLOBAL)
        model_join(t);
    if (model.region[r].owner == t)
        model_use(r);
    expect(error == (model.region[r].over ? ESTALE : 0));
    if (error == 0)
        model_date(OBJECTS + r, t, clock, e);
}

static void close_region(int t, int r)
{
    int error = SGC_region_close(region[r].handle);

    if (model.region[r].owner != t) {
        expect(error == EPERM);
        return;
    }
    expect(error == (model.region[r].closed ? EALREADY : 0));
    if (!model.region[r].closed)
        model_use(r);
    model.region[r].closed = true;
}

/* Without a date nobody needs it. */
static void drop_region(int r)
{
    if (model.of[OBJECTS + r] != 0)
        return;
    region[r].handle = NULL;
    region[r].objects = 0;
    model.region[r].there = false;
}

static void use_region(int t)
{
    int r = (int)below(REGIONS);

    if (!model.region[r].there) {
        region[r].handle = SGC_region_new();
        memset(&model.region[r], 0, sizeof model.region[r]);
        model.region[r].there = true;
        model.region[r].owner = t;
        return;
    }
    switch (below(12)) {
    case 0: close_region(t, r); break;
    case 1: drop_region(r); break;
    case 2: case 3: case 4: case 5: case 6: fill_region(t, r); break;
    default: date_region(t, r);
    }
}

static void use_clock(int t)
{
    int c = (int)below(CLOCKS);
    bool *there = &model.thread[t].clock[c];

    if (!*there) {
        clock_of[t][c] = SGC_clock_new();
        *there = clock_of[t][c] != NULL;
        return;
    }
    model_tick(t, FIRST_CLOCK + c, below(6) == 0 ? (*there = false, true) : false);
    expect((*there ? SGC_tick_clock : SGC_clock_release)(clock_of[t][c]) == 0);
}

static void use_time(int t)
{
    switch (below(8)) {
    case 0:
        expect(SGC_leave_time() == (model_leave_time(t) ? 0 : EALREADY));
        break;
    case 1: case 2: case 3:
        model_tick(t, LOCAL, false);
        expect(SGC_tick() == 0);
        break;
    default:
        model_tick_global(t);
        expect(SGC_tick_global() == 0);
    }
}

static void any_call(int t)
{
    switch (below(16)) {
    case 0: doing = "a collection", GC_gcollect(); break;
    case 1: doing = "a clock", use_clock(t); break;
    case 2: case 3: doing = "time", use_time(t); break;
    case 4: case 5: case 6: doing = "a region", use_region(t); break;
    default: doing = "an object", use_object(t);
    }
    SGC_expire(SIZE_MAX);
    model.thread[t].has_called = true;
}

/* ---- threads ---- */

static struct {
    sem_t go, done;
    pthread_t thread;
    bool ends;
} worker[THREADS];

static void await(sem_t *s)
{
    while (sem_wait(s) != 0)
        ;
}

static void *work(void *raw)
{
    int t = (int)(intptr_t)raw;

    for (;;) {
        await(&worker[t].go);
        if (worker[t].ends)
            return NULL;
        any_call(t);
        sem_post(&worker[t].done);
    }
}

static void begin_thread(int t)
{
    worker[t].ends = false;
    worker[t].thread = thread_start(work, (void *)(intptr_t)t);
    model.thread[t].there = true;
}

/* Who waits by GC_pthread_join leaves global time for as long. */
#undef pthread_join

static void end_thread(int t)
{
    doing = "the end of a thread";
    worker[t].ends = true;
    sem_post(&worker[t].go);
    pthread_join(worker[t].thread, NULL);
    model_end(t);
}

/* The first one is ours. */
static void one_call(void)
{
    int t = (int)below(THREADS);

    if (t == 0) {
        any_call(0);
    } else if (!model.thread[t].there) {
        begin_thread(t);
    } else if (below(60) == 0) {
        end_thread(t);
    } else {
        sem_post(&worker[t].go);
        await(&worker[t].done);
    }
    look_at_all();
}

/* ---- a run ---- */

static void end_all(void)
{
    struct SGC_shortterm_stats s;

    for (int t = 1; t < THREADS; t++)
        if (model.thread[t].there)
            end_thread(t);
    look_at_all();
    doing = "the end";
    for (int i = 0; i < OBJECTS; i++)
        while (object[i].hidden != 0 && model.holds[i] != 0) {
            model_unhold(i);
            expect(SGC_unhold(address(i)) == 0);
            look_at_all();
        }
    for (int i = 0; i < 3 * (N + 4); i++) {
        model_tick_global(0);
        model_tick(0, LOCAL, false);
        for (int c = 0; c < CLOCKS; c++)
            if (model.thread[0].clock[c]) {
                model_tick(0, FIRST_CLOCK + c, false);
                SGC_tick_clock(clock_of[0][c]);
            }
        SGC_tick_global();
        SGC_tick();
        SGC_expire(SIZE_MAX);
        look_at_all();
    }
    GC_gcollect();
    s = figures();
    expect(model.dates == 0 && s.dates == 0 && s.expired == 0 && s.freed == freed && s.global_time == model.time);
}

static int run(void)
{
    GC_INIT();
    GC_exclude_static_roots(object, object + OBJECTS);
    GC_set_warn_proc(GC_ignore_warn_proc);
    choose(mode, N, collect, -1, below(2) != 0 ? 24 : -1);
    if (freopen("/dev/null", "w", stderr) == NULL)
        return 100;                     /* findings: tables of the test lead to objects */
    model.thread[0].there = true;
    for (int t = 0; t < THREADS; t++) {
        sem_init(&worker[t].go, 0, 0);
        sem_init(&worker[t].done, 0, 0);
    }
    for (int call = 0; call < CALLS && wrong == 0; call++)
        one_call();
    if (wrong == 0)
        end_all();
    return wrong != 0;
}

static int runs(void)
{
    for (int seed = first_seed; seed < first_seed + seeds; seed++) {
        random_state = (uint64_t)seed * 0x9e3779b97f4a7c15;
        if (run_in_child(run) != 0) {
            printf("# seed %d\n", seed);
            fflush(stdout);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seeds = atoi(argv[1]);
    if (argc > 2)
        first_seed = atoi(argv[2]);
    unsetenv("SGC_SHORTTERM");
    tap_plan(8);
    for (mode = 0; mode < 4; mode++)
        for (collect = SGC_SHORTTERM_LAZY; collect <= SGC_SHORTTERM_EAGER; collect++)
            child_ok(runs, "%s, %s: %d runs from seed %d on", mode_names[mode],
                     collect == SGC_SHORTTERM_LAZY ? "lazily" : "eagerly", seeds, first_seed);
    return tap_done();
}
