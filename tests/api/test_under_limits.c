/* SPDX-License-Identifier: MIT */
/*
 * RLIMIT_AS and RLIMIT_DATA: a live list takes nearly all of what is left, with one thread and with several; what is dead is
 * collected before the end; the program's own memory is had all the same; each mode, a limit that comes later, a fork.  With
 * API_PEER the other collector says what can be expected of it.
 */
#include "api.h"

#include "../lib/child.h"
#include "../lib/proc.h"
#include "../lib/sanitized.h"

#ifndef API_PEER
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#endif

enum { MB = 1 << 20, CELL = 2000, THREADS_MOST = 32 };

struct cell {
    struct cell *next;
    uintptr_t number, fill[CELL / sizeof(uintptr_t) - 2];
};

static int resource = RLIMIT_AS;
static size_t limit;
static volatile bool full;

static bool set_limit(size_t bytes)
{
    return setrlimit(resource, &(struct rlimit){ bytes, bytes }) == 0;
}

static bool start(void)
{
    GC_INIT();
    GC_set_oom_fn(api_refuse);
    return true;
}

static struct cell *cell_before(struct cell *list, uintptr_t number)
{
    struct cell *cell = GC_malloc(sizeof *cell);

    if (cell == NULL)
        return NULL;
    cell->next = list;
    cell->number = number;
    return cell;
}

/* Bytes of a list that has all there is; 0: something is lost. */
static void *fill(TEST_UNUSED void *unused)
{
    struct cell *list = NULL, *cell;
    uintptr_t n = 0, found = 0;

    for (; !full && (cell = cell_before(list, n)) != NULL; n++)
        list = cell;
    full = true;
    for (cell = list; cell != NULL && cell->number == n - 1 - found; cell = cell->next)
        found++;
    return (void *)(found == n ? n * sizeof(struct cell) : 0);
}

/* At least `share` percent of the limit. */
static int filled(uintptr_t bytes, unsigned share)
{
    tap_diag("%zu MB of %zu", (size_t)bytes / MB, limit / MB);
    return bytes >= limit / 100 * share ? 0 : 2;
}

/* ---- one thread, several ---- */

static int alone(void)
{
    return set_limit(limit) && start() ? filled((uintptr_t)fill(NULL), limit >= 256 * MB ? 88 : 75) : CHILD_SKIPS;
}

static int threads;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *fill_when_all_are_there(void *unused)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return fill(unused);
}

/* Their stacks count: 64 KB each.  The first would leave no memory for the stacks of the last. */
static int together(void)
{
    pthread_t thread[THREADS_MOST];
    pthread_attr_t attributes;
    uintptr_t sum = 0;
    void *bytes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    if (!set_limit(limit) || !start())
        return CHILD_SKIPS;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < threads; i++)
        if (GC_pthread_create(&thread[i], &attributes, fill_when_all_are_there, NULL) != 0)
            return 3;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < threads; i++) {
        if (GC_pthread_join(thread[i], &bytes) != 0)
            return 4;
        sum += (uintptr_t)bytes;
    }
    return filled(sum, 60);
}

static void test_lists(void)
{
    static const int resources[] = { RLIMIT_AS, RLIMIT_DATA };
    static const size_t limits[] = { 64 * MB, 256 * MB };

    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 2; i++) {
            const char *name = r == 0 ? "RLIMIT_AS" : "RLIMIT_DATA";

            resource = resources[r];
            limit = limits[i];
            child_ok(alone, "%s of %zu MB: a live list takes nearly all", name, limit / MB);
            for (threads = 8; threads <= THREADS_MOST; threads *= 4)
                child_ok(together, "%s of %zu MB: of %d threads, too", name, limit / MB, threads);
        }
    resource = RLIMIT_AS;
    limit = 256 * MB;
}

/* ---- what is dead does not count, and the program has memory of its own ---- */

enum { LIVE_CELLS = 20000, DEAD_CELLS = 100000 };

/* A list with garbage between its cells: false if something is lost, or refused. */
static bool work(void)
{
    struct cell *list = NULL, *cell;
    uintptr_t n = 0;

    for (int i = 0; i < DEAD_CELLS; i++) {
        if ((cell = cell_before(list, n)) == NULL)
            return false;
        if (n < LIVE_CELLS && i % 3 == 0) {
            list = cell;
            n++;
        }
    }
    for (cell = list; cell != NULL && cell->number == n - 1; cell = cell->next)
        n--;
    return n == 0;
}

static bool own_memory(size_t bytes)
{
    char *volatile memory = malloc(bytes);

    if (memory == NULL)
        return false;
    memset(memory, 1, bytes);
    free(memory);
    return true;
}

static int beside_malloc(void)
{
    if (!set_limit(limit) || !start())
        return CHILD_SKIPS;
    for (int i = 0; i < 3; i++)
        if (!own_memory(64 * MB) || !work())
            return 2;
    return 0;
}

static int comes_later(void)
{
    void *bytes;
    pthread_t thread;

    start();
    if (!work() || !set_limit(limit))
        return CHILD_SKIPS;
    if (!own_memory(64 * MB))
        return 2;
    if (GC_pthread_create(&thread, NULL, fill, NULL) != 0 || GC_pthread_join(thread, &bytes) != 0)
        return 3;
    return filled((uintptr_t)bytes, 40);
}

static int holds_later(void)
{
    start();
    if (!set_limit(limit))
        return CHILD_SKIPS;
    return (uintptr_t)fill(NULL) <= limit ? 0 : 2;
}

static int fill_in_child(void)
{
    return filled((uintptr_t)fill(NULL), 50);
}

static int forks(void)
{
    GC_set_handle_fork(1);
    if (!set_limit(limit) || !start() || !work())
        return CHILD_SKIPS;
    for (int i = 0; i < 3; i++)
        if (run_in_child(fill_in_child) != 0 || !work())
            return 2;
    return 0;
}

/* ---- concurrent mode ---- */

static const char *source;

static int concurrent(void)
{
    setenv("SGC_MODE", "concurrent", 1);
    setenv("SGC_DIRTY", source, 1);
    if (!set_limit(limit) || !start())
        return CHILD_SKIPS;
    for (int i = 0; i < 3; i++)
        if (!work())
            return 2;
    return 0;
}

static int huge(void)
{
    setenv("SGC_HUGE_PAGES", "on", 1);
    return alone();
}

static int checked(void)
{
    setenv("SGC_VERIFY", "marks", 1);
    return concurrent();
}

static void test_modes(void)
{
    static const char *const sources[] = { "async", "softdirty", "mprotect", "software", "auto" };

    for (int i = 0; i < 5; i++) {
        source = sources[i];
        child_ok(concurrent, "concurrent mode, SGC_DIRTY=%s", source);
    }
    child_ok(checked, "with copies of the marks");
    child_ok(huge, "with huge pages");
}

/* ---- what is cut is said ---- */

#ifndef API_PEER
/* So much that less than that is left in one piece. */
static int cut(void)
{
    size_t bytes = (size_t)40 << 40;

    for (int i = 0; i < 2; i++)
        if (mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
            return CHILD_SKIPS;
    setenv("SGC_RESERVE", "64t", 1);
    GC_INIT();
    return sgc_option_origin(SGC_OPT_SGC_RESERVE) == SGC_ORIGIN_CLAMPED && sgc_options.reserve < (size_t)64 << 40 ? 0 : 2;
}

/* Addresses do not count against the limit: nothing is cut. */
static int not_cut(void)
{
    setenv("SGC_RESERVE", "4g", 1);
    if (!set_limit(limit))
        return CHILD_SKIPS;
    GC_INIT();
    return sgc_option_origin(SGC_OPT_SGC_RESERVE) == SGC_ORIGIN_ENVIRONMENT ? 0 : 2;
}

static void test_told(void)
{
    child_ok(cut, "SGC_RESERVE of more addresses than there are is clamped");
    child_ok(not_cut, "of more than the limit is not");
}
#else
static void test_told(void) {}
#endif

/* ---- where it starts ---- */

static int starts(void)
{
    if (!set_limit(limit))
        return CHILD_SKIPS;
    GC_INIT();
    return GC_malloc(100) != NULL && GC_malloc(10000) != NULL ? 0 : 2;
}

/* Not at some sizes by luck: what the heap takes first must leave room for the rest. */
static void test_start(void)
{
    static const struct { int resource; size_t from; const char *name; } rows[] = {
        { RLIMIT_AS, 12 * MB, "RLIMIT_AS" }, { RLIMIT_DATA, 3 * MB, "RLIMIT_DATA" },
    };

    for (int i = 0; i < 2; i++)
        for (size_t more = 0; more <= 8 * MB; more += MB / 2) {
            resource = rows[i].resource;
            limit = rows[i].from + more;
            child_ok(starts, "%s of %zu KB is enough to begin with", rows[i].name, limit >> 10);
        }
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has taken the address space");
    setenv("SGC_VERIFY", "nothing", 1);         /* a copy of the marks has no room in these limits */
    test_lists();
    child_ok(beside_malloc, "the program has memory of its own beside the heap");
    child_ok(comes_later, "so has it when the limit comes later");
    child_ok(holds_later, "to which the heap keeps");
    child_ok(forks, "children, too");
    return tap_all(test_modes, test_told, test_start);
}
