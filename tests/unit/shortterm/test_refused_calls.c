/* SPDX-License-Identifier: MIT */
/*
 * Calls of short-term memory that are wrong, or that cannot be done, in each mode: they return what the header says, change
 * nothing, and do no harm.
 *
 * Also: shortterm/refresh.c, shortterm/objects.c, shortterm/start.c, shortterm/dates/date_pages.c.
 */
#define GC_THREADS

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "gc/gc.h"
#include "gc/gc_mark.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"
#include "tests/unit/shortterm/shortterm.h"

enum { EXTENSION = 10 };

static int mode;

/* Has the object so many dates?  With pin nobody counts. */
static bool has_dates(const void *object, int dates)
{
    return SGC_dates(object) == (mode == SGC_SHORTTERM_PIN ? -1 : dates);
}

/* ---- addresses ---- */

static SGC_clock_t *rhythm;
static char static_data[64];

static int set_proc(TEST_UNUSED void *object)
{
    return 0;
}

/* How many calls do not say so of the address. */
static int not_refused(void *address, int error)
{
    int wrong = SGC_refresh(address, 0) != error;

    wrong += SGC_refresh_global(address, EXTENSION) != error;
    wrong += SGC_refresh_clock(address, 1, rhythm) != error || SGC_refresh_clock(address, 0, NULL) != error;
    wrong += SGC_hold(address) != error || SGC_set_expiry_proc(address, set_proc) != error;
    wrong += SGC_unhold(address) != EINVAL || SGC_region_of(address) != NULL;
    return wrong + (SGC_dates(address) > 0);
}

static void *unmapped(void)
{
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap(page, 4096);
    return page;
}

/* Once before anything has a date, and once when the objects beside have some. */
static int addresses(void)
{
    char stack[64], *object = GC_MALLOC(100), *large = GC_MALLOC(1 << 20), *libcs = malloc(64);
    void *none[] = {
        NULL, object + 1, object + 16, object + 96, object + 99, large + 16, large + 4096, large + 65536, stack, static_data,
        libcs, libcs + 16, (void *)(uintptr_t)0x1000, unmapped(), (void *)(UINTPTR_MAX - 15), (void *)(UINTPTR_MAX / 2 + 1),
        (void *)(uintptr_t)addresses
    };
    int wrong = 0;

    rhythm = SGC_clock_new();
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
            wrong += not_refused(none[i], EINVAL);
        wrong += figures().dates != (round == 0 ? 0 : 2);
        if (round == 0)
            wrong += SGC_refresh(object, 3) != 0 || SGC_refresh(large, 3) != 0;
    }
    free(libcs);
    return wrong != 0;
}

static int beside(void)
{
    char *object = GC_MALLOC(100);
    size_t bytes = GC_size(object);
    int wrong = 0;

    for (int round = 0; round < 2; round++) {
        wrong += SGC_refresh(object + bytes, 0) == 0 || SGC_refresh(object + 5 * bytes, 0) == 0;
        wrong += SGC_refresh_global(object + bytes, 0) == 0 || SGC_hold(object + bytes) == 0;
        wrong += SGC_refresh(object, 3) != 0;
    }
    return wrong != 0 || figures().dates != 2;
}

/* Small, large, pointer-free, aligned; some with a date before. */
static int freed(void)
{
    char *object[] = {
        GC_MALLOC(100), GC_MALLOC_ATOMIC(20), GC_MALLOC(1 << 20), GC_memalign(4096, 100), GC_MALLOC_UNCOLLECTABLE(50)
    };
    enum { N = sizeof object / sizeof object[0] };
    int wrong = 0;

    rhythm = SGC_clock_new();
    for (int i = 0; i < N; i++)
        GC_free(object[i]);
    for (int i = 0; i < N; i++)
        wrong += not_refused(object[i], ESTALE);
    GC_gcollect();
    for (int i = 0; i < N; i++)
        wrong += SGC_refresh(object[i], 0) == 0 || SGC_refresh_global(object[i], 0) == 0;
    return wrong != 0 || figures().dates != 0;
}

/* Of objects that have expired, where these are freed. */
static int expired(void)
{
    char *object[] = {
        GC_MALLOC(100), GC_MALLOC_ATOMIC(20), GC_MALLOC(1 << 20), SGC_malloc_dated(70, 0, SGC_SHORTTERM_FREEABLE)
    };
    enum { N = sizeof object / sizeof object[0] };
    int wrong = 0;

    rhythm = SGC_clock_new();
    for (int i = 0; i < N; i++)
        wrong += SGC_refresh(object[i], 0) != 0;
    wrong += SGC_tick() != 0;
    for (int i = 0; i < N; i++)
        if (mode == SGC_SHORTTERM_FREE || (mode == SGC_SHORTTERM_HYBRID && i == 3))
            wrong += not_refused(object[i], ESTALE);
        else
            wrong += SGC_refresh(object[i], 0) != 0;
    return wrong != 0;
}

/* ---- numbers ---- */

static int extensions(void)
{
    static const unsigned large[] = { EXTENSION + 1, EXTENSION + 2, EXTENSION + 3, 65536, INT_MAX, UINT_MAX - 1, UINT_MAX };
    void *object = GC_MALLOC(40);
    SGC_region_t *region = SGC_region_new();
    int wrong = 0;

    rhythm = SGC_clock_new();
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        wrong += SGC_refresh(object, large[i]) != ERANGE || SGC_refresh_global(object, large[i]) != ERANGE;
        wrong += SGC_refresh_clock(object, large[i], rhythm) != ERANGE || SGC_refresh_clock(object, large[i], NULL) != ERANGE;
        wrong += SGC_region_refresh(region, large[i]) != ERANGE || SGC_region_refresh_global(region, large[i]) != ERANGE;
        wrong += SGC_region_refresh_clock(region, large[i], rhythm) != ERANGE;
        errno = 0;
        wrong += SGC_malloc_dated(40, large[i], 0) != NULL || errno != ERANGE;
        errno = 0;
        wrong += SGC_malloc_dated(40, large[i], SGC_SHORTTERM_GLOBAL) != NULL || errno != ERANGE;
    }
    return wrong != 0 || figures().dates != 0 || !has_dates(object, 0);
}

static int sizes(void)
{
    static const size_t huge[] = { (size_t)PTRDIFF_MAX, SIZE_MAX - 3, SIZE_MAX - 15, SIZE_MAX };
    SGC_region_t *region = SGC_region_new();
    void *none = SGC_malloc_dated(0, 0, 0);
    int wrong = none == NULL || SGC_refresh(none, 0) != 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        wrong += SGC_malloc_dated(huge[i], 0, 0) != NULL || SGC_malloc_dated(huge[i], 0, SGC_SHORTTERM_ATOMIC) != NULL;
        wrong += SGC_region_malloc(region, huge[i]) != NULL;
    }
    return wrong != 0 || figures().dates != 2;
}

/* What SGC_region_new returns when there is no memory; and a region that is closed already. */
static int no_region(void)
{
    SGC_region_t *region = SGC_region_new();
    int wrong = SGC_region_refresh(NULL, 0) != EINVAL || SGC_region_refresh_global(NULL, 0) != EINVAL;

    wrong += SGC_region_refresh_clock(NULL, 0, NULL) != EINVAL || SGC_region_close(NULL) != EINVAL;
    errno = 0;
    wrong += SGC_region_malloc(NULL, 16) != NULL || errno != EINVAL;
    wrong += SGC_region_close(region) != 0 || SGC_region_close(region) != EALREADY;
    return wrong != 0 || figures().dates != 0;
}

/* More than there is room for in a number: the object stays, in each mode, until a collection has counted anew. */
static int dates_200(void)
{
    static void *object;
    int wrong = 0;

    object = GC_MALLOC(40);
    for (unsigned i = 0; i < 200; i++)
        wrong += (i % 2 == 0 ? SGC_refresh : SGC_refresh_global)(object, i % (EXTENSION + 1)) != 0;
    wrong += figures().dates != 200;
    for (int i = 0; i < EXTENSION + 3; i++)
        wrong += SGC_tick() != 0 || SGC_tick_global() != 0 || GC_base(object) != object;
    wrong += figures().dates != 0;
    GC_gcollect();
    GC_gcollect();
    wrong += !has_dates(object, 0) || SGC_refresh(object, 0) != 0 || !has_dates(object, 1) || SGC_tick() != 0;
    return wrong != 0 || (GC_base(object) == NULL) != (mode == SGC_SHORTTERM_FREE);
}

/* ---- frees by hand ---- */

/* What has a date is freed with pin only; what comes to its place afterwards has none, and its tick does it no harm. */
static int freed_with_date(void)
{
    void *object = GC_MALLOC(40);
    int wrong = 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    wrong += SGC_refresh(object, 1) != 0;
    GC_free(object);
    wrong += (GC_base(object) == NULL) != (mode == SGC_SHORTTERM_PIN);
    for (int i = 0; i < 1000; i++) {
        uint64_t *other = GC_MALLOC(40);

        wrong += (void *)other == object && mode != SGC_SHORTTERM_PIN;
        other[1] = 17;
        wrong += i == 500 && (SGC_tick() != 0 || SGC_tick() != 0);
        wrong += other[1] != 17 || GC_base(other) != other;
    }
    return wrong != 0;
}

static int freed_twice(void)
{
    void *object = GC_MALLOC(40);

    SGC_refresh(object, 3);
    GC_free(object);
    GC_free(object);
    return figures().dates != 1;
}

/* ---- where no call can be done ---- */

static SGC_region_t *region;
static void *dated;

static int not_busy_clocks(void)
{
    int wrong = SGC_tick_global() != EBUSY || SGC_tick_clock(rhythm) != EBUSY;

    wrong += SGC_join_time() != EBUSY || SGC_leave_time() != EBUSY;
    wrong += SGC_clock_release(rhythm) != EBUSY || SGC_clock_new() != NULL || errno != EBUSY;
    return wrong + (SGC_expire(SIZE_MAX) != 0 || SGC_shortterm_check(NULL, NULL) != 0);
}

static int not_busy_regions(void)
{
    int wrong = SGC_region_new() != NULL || errno != EBUSY;

    errno = 0;
    wrong += SGC_region_malloc(region, 16) != NULL || errno != EBUSY || SGC_region_close(region) != EBUSY;
    wrong += SGC_region_refresh(region, 0) != EBUSY || SGC_region_refresh_global(region, 0) != EBUSY;
    return wrong + (SGC_region_refresh_clock(region, 0, rhythm) != EBUSY);
}

/* How many calls do not say EBUSY. */
static int not_busy(void)
{
    int wrong = SGC_refresh_clock(dated, 0, rhythm) != EBUSY;

    wrong += SGC_hold(dated) != EBUSY || SGC_unhold(dated) != EBUSY || SGC_set_expiry_proc(dated, set_proc) != EBUSY;
    wrong += SGC_malloc_dated(30, 0, 0) != NULL || errno != EBUSY;
    wrong += not_busy_clocks();
    return wrong + not_busy_regions() + (SGC_shortterm_mode() != mode);
}

static void have_dates(void)
{
    dated = GC_MALLOC(40);
    rhythm = SGC_clock_new();
    region = SGC_region_new();
    SGC_region_malloc(region, 40);
    SGC_refresh(dated, 3);
    SGC_refresh_global(dated, 3);
    SGC_refresh_clock(dated, 3, rhythm);
    SGC_region_refresh(region, 3);
}

/* Nothing has changed, and all goes on. */
static int not_as_before(void)
{
    int wrong = figures().dates != 4 || !has_dates(dated, 3) || figures().ticks != 0 || figures().global_ticks != 0;

    for (int i = 0; i < 6; i++)
        wrong += SGC_tick() != 0 || SGC_tick_global() != 0 || SGC_tick_clock(rhythm) != 0;
    return wrong + (figures().dates != 0 || (mode == SGC_SHORTTERM_FREE && GC_base(dated) != NULL));
}

static void *inside(TEST_UNUSED void *unused)
{
    return (void *)(intptr_t)(not_busy() + (SGC_refresh(dated, 0) != EBUSY || SGC_refresh_global(dated, 0) != EBUSY ||
                                            SGC_tick() != EBUSY || SGC_tick_clock(NULL) != EBUSY));
}

static int blocked(void)
{
    have_dates();
    return GC_do_blocking(inside, NULL) != NULL || not_as_before() != 0;
}

static int hooks, wrong_in_hooks;

static void from_hook(void)
{
    hooks++;
    wrong_in_hooks += not_busy();
}

static int in_root_hook(void)
{
    have_dates();
    GC_set_push_other_roots(from_hook);
    GC_gcollect();
    GC_set_push_other_roots(NULL);
    return hooks == 0 || wrong_in_hooks != 0 || not_as_before() != 0;
}

static void on_event(GC_EventType event)
{
    if (event == GC_EVENT_POST_STOP_WORLD || event == GC_EVENT_MARK_START || event == GC_EVENT_MARK_END ||
        event == GC_EVENT_PRE_START_WORLD)
        from_hook();
}

static int in_event_hook(void)
{
    have_dates();
    GC_set_on_collection_event(on_event);
    GC_gcollect();
    GC_set_on_collection_event(NULL);
    return hooks == 0 || wrong_in_hooks != 0 || not_as_before() != 0;
}

static void refresh_from_hook(void)
{
    wrong_in_hooks += SGC_refresh(dated, 0) != EBUSY;
}

static void tick_from_hook(void)
{
    wrong_in_hooks += SGC_tick() != EBUSY;
}

static int in_hook(void (*hook)(void))
{
    have_dates();
    GC_set_push_other_roots(hook);
    GC_gcollect();
    return wrong_in_hooks;
}

static int refresh_in_hook(void) { return in_hook(refresh_from_hook); }
static int tick_in_hook(void) { return in_hook(tick_from_hook); }

/* With the collector's lock, while the program runs, and in finalizers, all is well. */
static int not_well(void)
{
    void *object = GC_MALLOC(24);
    SGC_clock_t *clock = SGC_clock_new();
    int wrong = SGC_refresh(object, 1) != 0 || SGC_refresh_global(object, 1) != 0 || SGC_refresh_clock(object, 1, clock) != 0;

    wrong += SGC_hold(object) != 0 || SGC_tick() != 0 || SGC_tick_global() != 0 || SGC_tick_clock(clock) != 0;
    wrong += SGC_clock_release(clock) != 0 || SGC_unhold(object) != 0 || SGC_leave_time() != 0 || SGC_join_time() != 0;
    return wrong + (SGC_malloc_dated(24, 0, 0) == NULL || SGC_region_malloc(SGC_region_new(), 10) == NULL);
}

static void *with_lock(TEST_UNUSED void *unused)
{
    return (void *)(intptr_t)not_well();
}

static int under_lock(void)
{
    return GC_call_with_alloc_lock(with_lock, NULL) != NULL || not_well() != 0;
}

static void finalize(TEST_UNUSED void *object, TEST_UNUSED void *unused)
{
    hooks++;
    wrong_in_hooks += not_well();
}

TEST_NOINLINE static void make_finalized(void)
{
    for (int i = 0; i < 100; i++)
        GC_register_finalizer_no_order(GC_MALLOC(32), finalize, NULL, NULL, NULL);
}

static int in_finalizer(void)
{
    make_finalized();
    GC_gcollect();
    GC_invoke_finalizers();
    return hooks == 0 || wrong_in_hooks != 0;
}

/* ---- the system has no memory ---- */

enum { MANY = 20000 };

static void *object[MANY];

/* What needs memory at once is refused. */
static int not_without(void)
{
    int wrong = SGC_refresh_global(object[0], 0) != ENOMEM || SGC_join_time() != ENOMEM || SGC_tick_global() != ENOMEM;

    errno = 0;
    wrong += SGC_clock_new() != NULL || errno != ENOMEM || figures().active != 0;
    return wrong + (SGC_region_refresh(region, 0) != ENOMEM);
}

/* Refreshes until that is refused; the object's number. */
static int refresh_until_refused(void)
{
    int i = 0;

    while (i < MANY && SGC_refresh(object[i], 0) == 0)
        i++;
    return i;
}

static int no_memory(void)
{
    int given, wrong;

    region = SGC_region_new();
    for (int i = 0; i < MANY; i++)
        object[i] = GC_MALLOC(32);
    SGC_region_malloc(region, 40);
    SGC_refresh(GC_MALLOC(32), 0);
    SGC_tick();
    if (TEST_SANITIZED || !limit_memory(LIMIT_NOTHING))
        return CHILD_SKIPS;
    wrong = not_without();
    given = refresh_until_refused();
    wrong += given == MANY || given < 100 || SGC_refresh(object[given], 0) != ENOMEM || !has_dates(object[given], 0);
    errno = 0;
    wrong += SGC_malloc_dated(32, 0, 0) != NULL || errno != ENOMEM || figures().dates != (uint64_t)given;
    wrong += SGC_tick() != 0 || figures().dates != 0;
    if (mode == SGC_SHORTTERM_VERIFY && !limit_memory(RLIM_INFINITY))
        return 1;                       /* dates that are over wait there for a collection, in their pages */
    wrong += SGC_refresh(object[given], 0) != 0 || figures().dates != 1;
    if (!limit_memory(RLIM_INFINITY))
        return 1;
    for (int i = given + 1; i < MANY; i++)
        wrong += GC_base(object[i]) != object[i] || !has_dates(object[i], 0) || SGC_refresh(object[i], 0) != 0;
    return wrong != 0 || figures().dates != (uint64_t)(MANY - given) || SGC_tick() != 0 || figures().dates != 0;
}

static int no_heap(void)
{
    int given = 0, wrong;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_max_heap_size(8 << 20);
    while (given < MANY && SGC_malloc_dated(1000, EXTENSION, given % 2 != 0 ? SGC_SHORTTERM_GLOBAL : 0) != NULL)
        given++;
    wrong = given == MANY || given < 1000 || figures().dates != (uint64_t)given;
    for (int i = 0; i < EXTENSION + 3; i++)
        wrong += SGC_tick() != 0 || SGC_tick_global() != 0;
    for (int i = 0; i < 1000; i++)
        wrong += SGC_malloc_dated(1000, 0, 0) == NULL;
    return wrong != 0 || figures().dates != 1000;
}

static int no_memory_to_hold(void)
{
    int held = 0, wrong = 0;

    for (int i = 0; i < MANY; i++)
        object[i] = GC_MALLOC(256);
    if (SGC_hold(dated = GC_MALLOC(16)) != 0)
        return 1;
    if (TEST_SANITIZED || !limit_memory(LIMIT_NOTHING))
        return CHILD_SKIPS;
    while (held < MANY && SGC_hold(object[held]) == 0)
        held++;
    wrong += held == MANY || SGC_hold(object[held]) != ENOMEM || SGC_unhold(object[held]) != EINVAL;
    wrong += SGC_dates(object[held]) > 0;
    if (!limit_memory(RLIM_INFINITY))
        return 1;
    wrong += SGC_hold(object[held]) != 0;
    for (int i = 0; i <= held; i++)
        wrong += SGC_unhold(object[i]) != 0 || SGC_unhold(object[i]) != EINVAL;
    return wrong != 0;
}

/* ---- the table ---- */

static const struct test {
    int (*body)(void);
    const char *name;
} tests[] = {
    { addresses, "an address that is no object's is refused" },
    { beside, "so is a slot that nobody was given" },
    { freed, "so is an object that was freed" },
    { expired, "and one that expired, where it is freed" },
    { extensions, "an extension that is too large is refused" },
    { sizes, "so is a size" },
    { no_region, "so is no region, and one that is closed already" },
    { dates_200, "an object with 200 dates stays" },
    { freed_with_date, "an object with a date is freed with pin only" },
    { blocked, "within GC_do_blocking all calls are refused" },
    { in_root_hook, "so are they by a hook that pushes roots" },
    { in_event_hook, "and by one that is told of a collection" },
    { under_lock, "with the collector's lock calls are done" },
    { in_finalizer, "by a finalizer, too" },
    { no_memory, "without memory a date is refused, and nothing changes" },
    { no_heap, "at the heap's limit a dated object is refused, until others have expired" },
    { no_memory_to_hold, "so is a hold" },
};

static int run(int (*body)(void))
{
    choose(mode, EXTENSION, SGC_SHORTTERM_EAGER, -1, -1);
    return SGC_shortterm_mode() != mode ? 100 : body();
}

/* A common way does not ask: the program ends. */
static void check_hook(int (*body)(void), const char *name, const char *what)
{
    if (mode == SGC_SHORTTERM_VERIFY)
        child_ok_of(run(body), "verify: a %s by a hook is refused", what);
    else
        child_says_of(run(body), 128 + SIGABRT, "called by a callback of a collection",
                      "%s: a %s by a hook is told", name, what);
}

int main(void)
{
    enum { TESTS = sizeof tests / sizeof tests[0], MODES = sizeof mode_names / sizeof mode_names[0] };

    unsetenv("SGC_SHORTTERM");
    setenv("SGC_MODE", "stop", 1);
    for (mode = 0; mode < MODES; mode++) {
        for (int i = 0; i < TESTS; i++)
            child_ok_of(run(tests[i].body), "%s: %s", mode_names[mode], tests[i].name);
        child_says_of(run(freed_twice), 0, mode == SGC_SHORTTERM_PIN ? "freed already" : "expiration dates",
                      "%s: a second free is told", mode_names[mode]);
        check_hook(refresh_in_hook, mode_names[mode], "refresh");
        check_hook(tick_in_hook, mode_names[mode], "tick");
    }
    return tap_done();
}
