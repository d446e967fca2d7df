/* SPDX-License-Identifier: MIT */
/*
 * The incremental mode as the interface has it: when it can be enabled, by whom, and what its settings do; and reports of
 * writes, which may come at any time, from anywhere, about any address.  Also: gc/api/settings.c, gc/api/objects.c,
 * gc/api/collect.c.
 */
#include "api.h"

#include <sgc.h>

enum { SECONDS = 20 };

static void *volatile held[4];

static void report_anything(void)
{
    void *local = NULL, *outside = &local;
    uintptr_t addresses[] = { 1, 4096, (uintptr_t)&local, (uintptr_t)held, UINTPTR_MAX, UINTPTR_MAX / 2 };

    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        GC_end_stubborn_change((const void *)addresses[i]);
        SGC_dirty((const void *)addresses[i], sizeof(void *));
        SGC_dirty((const void *)addresses[i], SIZE_MAX);
    }
    SGC_dirty(NULL, 0);
    GC_ptr_store_and_dirty(&local, outside);
    API_CHILD(local == outside);
    if (held[0] == NULL)
        return;
    GC_end_stubborn_change((char *)held[0] + 7);
    GC_PTR_STORE_AND_DIRTY((void **)held[0] + 1, held[0]);
    API_CHILD(((void **)held[0])[1] == held[0]);
}

static void *report_in_thread(void *arg)
{
    report_anything();
    return arg;
}

static void report_in_handler(TEST_UNUSED int signal)
{
    report_anything();
}

static void report_from_everywhere(void)
{
    report_anything();
    api_in_plain_thread(report_in_thread, NULL);
    GC_INIT();
    held[0] = GC_malloc(100000);
    held[1] = GC_malloc(20);
    report_anything();
    api_in_thread(report_in_thread, NULL);
    api_in_plain_thread(report_in_thread, NULL);
    signal(SIGUSR1, report_in_handler);
    raise(SIGUSR1);
    GC_stop_world_external();
    report_anything();
    GC_start_world_external();
    GC_free(held[0]);
    GC_end_stubborn_change(held[0]);
    API_CHILD(SGC_check() == 0);
}

static void report_when_enabled(void)
{
    GC_set_manual_vdb_allowed(1);
    GC_enable_incremental();
    API_CHILD(GC_get_manual_vdb_allowed() == 1);
    report_from_everywhere();
    GC_set_manual_vdb_allowed(0);
    API_CHILD(GC_get_manual_vdb_allowed() == 0);
    report_from_everywhere();
}

/* ---- stores that are reported ---- */

enum { HOLDERS = 50000, CYCLES = 40 };

struct cell {
    struct cell *next;
    uintptr_t id, rest[6];
};

/* Each holder leads to a cell that nothing else leads to; where it is and what it should say are kept out of the collector's
 * sight. */
static uintptr_t hidden[HOLDERS], ids[HOLDERS];
static struct cell **holders;

static struct cell *new_cell(bool debug)
{
    return debug ? GC_debug_malloc(sizeof(struct cell), __FILE__, __LINE__) : GC_malloc(sizeof(struct cell));
}

static void put(struct cell *holder, struct cell *cell, void (*report)(const void *))
{
    *(struct cell *volatile *)&holder->next = cell;
    report(holder);
    GC_reachable_here(cell);
}

static bool is_whole(int i)
{
    struct cell *cell = holders[i]->next;

    return (uintptr_t)cell == ~hidden[i] && cell->id == ids[i];
}

static void make_holders(bool debug)
{
    holders = GC_malloc_uncollectable(HOLDERS * sizeof *holders);
    for (int i = 0; i < HOLDERS; i++)
        GC_PTR_STORE_AND_DIRTY(&holders[i], new_cell(debug));
}

/* Cells go from holder to holder, to some that the mark has seen from others that it has not; what is lost is soon another
 * object. */
static bool nothing_lost(bool debug, void (*report)(const void *))
{
    uintptr_t next_id = 1;
    long until = api_milliseconds() + SECONDS * 1000L;

    GC_INIT();
    make_holders(debug);
    for (int i = 0; i < HOLDERS; i++) {
        struct cell *cell = new_cell(debug);

        cell->id = ids[i] = next_id++;
        hidden[i] = ~(uintptr_t)cell;
        put(holders[i], cell, report);
    }
    for (uint64_t n = 0; GC_get_gc_no() < CYCLES && api_milliseconds() < until; n++) {
        int a = (int)(n * 7919 % HOLDERS), b = (int)((n * 104729 + 1) % HOLDERS);
        struct cell *one = holders[a]->next, *other = holders[b]->next;
        uintptr_t id = ids[a], where = hidden[a];

        if (!is_whole(a) || !is_whole(b))
            return false;
        put(holders[a], other, report);
        put(holders[b], one, report);
        ids[a] = ids[b], hidden[a] = hidden[b];
        ids[b] = id, hidden[b] = where;
        for (int k = 0; k < 4; k++)
            new_cell(debug)->id = 0;
    }
    return GC_get_gc_no() >= CYCLES;
}

static void report_memory(const void *object)
{
    SGC_dirty(object, sizeof(void *));
}

static void report_nothing(TEST_UNUSED const void *object)
{
}

static void check_reports(const char *settings, bool debug, void (*report)(const void *), bool loses, const char *name)
{
    api_settings = settings;
    api_check_child_of(API_CHILD(nothing_lost(debug, report) != loses), NULL, name);
    api_settings = NULL;
}

/* ---- enabling ---- */

/* Both say which memory is protected, that is none. */
static void enable_twice(void)
{
    API_CHILD(!GC_is_incremental_mode());
    GC_enable_incremental();
    API_CHILD(GC_is_init_called() && GC_is_incremental_mode() == 1);
    GC_enable_incremental();
    API_CHILD(GC_is_incremental_mode() == 1 && GC_incremental_protection_needs() == GC_PROTECTS_NONE);
}

static void protected(void)
{
    GC_INIT();
    API_CHILD(GC_incremental_protection_needs() == GC_PROTECTS_NONE);
    GC_enable_incremental();
    API_CHILD(GC_incremental_protection_needs() == GC_PROTECTS_POINTER_HEAP);
}

static void enable_while_disabled(void)
{
    GC_INIT();
    GC_disable();
    GC_enable_incremental();
    API_CHILD(!GC_is_incremental_mode());
    GC_start_incremental_collection();
    GC_enable();
    GC_enable_incremental();
    API_CHILD(GC_is_incremental_mode());
}

static void enable_while_finding_leaks(void)
{
    GC_INIT();
    GC_enable_incremental();
    API_CHILD(!GC_is_incremental_mode());
}

static pthread_barrier_t together;

static void *enable(TEST_UNUSED void *arg)
{
    pthread_barrier_wait(&together);
    GC_enable_incremental();
    return (void *)(intptr_t)(GC_is_incremental_mode() != 0);
}

static void enable_in_threads(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];

    GC_INIT();
    pthread_barrier_init(&together, NULL, THREADS);
    api_start_all(thread, THREADS, enable);
    API_CHILD(api_join_all(thread, THREADS) == THREADS);
}

static void *enable_in_callback(void *unused)
{
    GC_enable_incremental();
    GC_start_incremental_collection();
    API_CHILD(GC_collect_a_little() >= 0);
    return unused;
}

static void enable_with_lock(void)
{
    GC_INIT();
    GC_call_with_alloc_lock(enable_in_callback, NULL);
    API_CHILD(GC_is_incremental_mode() == 1);
}

/* ---- a collection, a little at a time ---- */

static void *make_list(int count)
{
    void *list = NULL;

    for (int i = 0; i < count; i++) {
        void **cell = GC_malloc(48);

        GC_PTR_STORE_AND_DIRTY(cell, list);
        list = cell;
    }
    return list;
}

static int length(void *list)
{
    int n = 0;

    for (; list != NULL; list = *(void **)list)
        n++;
    return n;
}

static void end_by_little(long until)
{
    while (GC_collect_a_little() != 0 && api_milliseconds() < until)
        continue;
}

/* One that is at its end already, and counted, would take the place of the one that is asked for. */
static bool collect_by_little(void)
{
    long until = api_milliseconds() + SECONDS * 1000;
    GC_word before;

    end_by_little(until);
    before = GC_get_gc_no();
    GC_start_incremental_collection();
    end_by_little(until);
    return GC_get_gc_no() > before;
}

/* The first that is asked for waits for a thread that allocates, and none does; the collection that is made meanwhile takes its
 * place, but not that of the one that is asked for after it. */
static void ask_after_a_collection(void)
{
    long until = api_milliseconds() + SECONDS * 1000;
    GC_word before;

    GC_set_time_limit(0);
    GC_enable_incremental();
    held[0] = make_list(1000);
    for (int i = 0; i < 20; i++) {
        end_by_little(until);
        GC_start_incremental_collection();
        usleep(20000);
        GC_gcollect();
        before = GC_get_gc_no();
        GC_start_incremental_collection();
        while (GC_get_gc_no() == before && api_milliseconds() < until)
            GC_collect_a_little();
        API_CHILD(GC_get_gc_no() > before);
    }
    API_CHILD(length(held[0]) == 1000 && SGC_check() == 0);
}

static void collect_at_rates(void)
{
    static const int rates[] = { 1, 10, 1000000 };

    GC_set_time_limit(0);
    GC_enable_incremental();
    API_CHILD(GC_get_rate() == 10);
    held[0] = make_list(50000);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        GC_set_rate(rates[i]);
        API_CHILD(GC_get_rate() == rates[i] && collect_by_little() && length(held[0]) == 50000);
    }
}

static void collect_after_attempts(void)
{
    GC_set_time_limit(0);
    GC_enable_incremental();
    API_CHILD(GC_get_max_prior_attempts() == 3);
    held[0] = make_list(50000);
    for (int attempts = 0; attempts < 3; attempts++) {
        GC_set_max_prior_attempts(attempts);
        API_CHILD(GC_get_max_prior_attempts() == attempts && collect_by_little());
    }
    API_CHILD(length(held[0]) == 50000);
}

/* ---- pauses ---- */

static long stops_ns, stop_max_ns;      /* how long the hook has seen the program stopped; at a time */

static long monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Each stop takes a millisecond and more. */
static void measure_stop(GC_EventType event)
{
    static long began;
    long now = monotonic_ns();

    if (event == GC_EVENT_POST_STOP_WORLD) {
        began = now;
        while (monotonic_ns() < began + 1000000)
            continue;
    }
    if (event != GC_EVENT_PRE_START_WORLD)
        return;
    stops_ns += now - began;
    if (now - began > stop_max_ns)
        stop_max_ns = now - began;
}

static int stop_later(void)
{
    static int asked;

    return asked++ != 0;
}

static void count_pauses(void)
{
    struct SGC_stats before, after;

    GC_set_time_limit(0);
    GC_enable_incremental();
    held[0] = make_list(50000);
    end_by_little(api_milliseconds() + SECONDS * 1000);
    SGC_get_stats(&before, sizeof before);
    GC_set_on_collection_event(measure_stop);
    for (int i = 0; i < 5; i++)
        API_CHILD(collect_by_little());
    SGC_get_stats(&after, sizeof after);
    API_CHILD(stops_ns >= 10000000 && after.pause_ns - before.pause_ns >= (uint64_t)stops_ns);
    API_CHILD(after.pause_max_ns >= (uint64_t)stop_max_ns && after.pause_max_ns <= after.pause_ns);
    API_CHILD(after.pause_ns == after.stop_ns + after.mark_ns + after.other_ns && after.stop_max_ns <= after.stop_ns);
    before = after;
    API_CHILD(GC_try_to_collect(stop_later) == 0);
    SGC_get_stats(&after, sizeof after);
    API_CHILD(after.collections == before.collections && after.pause_ns > before.pause_ns + 1000000);
}

/* ---- help from threads that have nothing else to do ---- */

static void *volatile helped;

static void *help(void *arg)
{
    long until = api_milliseconds() + SECONDS * 1000;

    while (helped == NULL && api_milliseconds() < until)
        if (SGC_mark_some(100000))
            helped = arg;
        else
            nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
    return arg;
}

/* Outside of a cycle there is nothing to do.  In one, some call does some of the work; it goes on as objects are allocated. */
static void mark_some(void)
{
    enum { MANY = 100000 };
    long until = api_milliseconds() + SECONDS * 1000;
    pthread_t thread;

    GC_INIT();
    make_holders(false);
    for (int i = 0; i < HOLDERS; i++)
        GC_PTR_STORE_AND_DIRTY(&holders[i]->next, make_list(3));
    GC_gcollect();
    API_CHILD(SGC_mark_some(1000) == 0);
    API_CHILD(GC_pthread_create(&thread, NULL, help, &thread) == 0);
    while (helped == NULL && api_milliseconds() < until)
        for (int i = 0; i < MANY; i++)
            GC_PTR_STORE_AND_DIRTY(&holders[i % HOLDERS]->next, GC_malloc(48));
    GC_pthread_join(thread, NULL);
    API_CHILD(helped != NULL);
}

static void not_at_all(void)
{
    GC_word before = GC_get_gc_no();

    GC_start_incremental_collection();
    API_CHILD(GC_collect_a_little() == 0 && GC_get_gc_no() == before);
}

/* The program enables the mode itself. */
int main(void)
{
    unsetenv("SGC_MODE");
    api_check_child(report_from_everywhere, NULL, "writes are reported from everywhere, and it does not matter");
    api_check_child_with("SGC_MODE=concurrent SGC_DIRTY=software", report_from_everywhere, "and where it does");
    api_check_child(report_when_enabled, NULL, "GC_set_manual_vdb_allowed, then writes are reported");
    check_reports("SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0 SGC_DIRTY=software", false, GC_end_stubborn_change, false,
                  "a store that GC_end_stubborn_change reports keeps an object");
    check_reports("SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0 SGC_DIRTY=software", true, GC_debug_end_stubborn_change,
                  false, "so does one that GC_debug_end_stubborn_change reports");
    check_reports("SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0 SGC_DIRTY=software", false, report_memory, false,
                  "and one in memory that SGC_dirty reports");
    check_reports("SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0 SGC_DIRTY=software SGC_VERIFY=nothing", false, report_nothing,
                  true, "and one that nobody reports does not, else these would show nothing");
    api_check_child_with("SGC_DIRTY=none", enable_twice, "enabled twice");
    api_check_child_with("SGC_DIRTY=mprotect", protected, "pointers are protected from system calls only if the user says so");
    api_check_child_with("SGC_DIRTY=none", enable_while_disabled, "it is not enabled while collections are disabled");
    api_check_child_with("SGC_DIRTY=none GC_FIND_LEAK=1", enable_while_finding_leaks, "nor while leaks are looked for");
    api_check_child_with("SGC_DIRTY=none", enable_in_threads, "enabled by threads at the same time");
    api_check_child_with("SGC_DIRTY=none", enable_with_lock, "enabled with the allocation lock");
    api_check_child_with("SGC_DIRTY=software", collect_at_rates, "GC_collect_a_little ends a collection at any rate");
    api_check_child_with("SGC_DIRTY=none", collect_after_attempts, "so it does after any number of attempts");
    api_check_child_with("SGC_DIRTY=none", ask_after_a_collection, "one that is asked for after another collection is made");
    api_check_child_with("SGC_DIRTY=none", count_pauses, "each stop of a collection is a pause in the statistics");
    api_check_child_with("SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0 GC_MARKERS=2 SGC_CONCURRENT_MARKERS=1 SGC_DIRTY=software",
                         mark_some, "SGC_mark_some marks in a cycle beside the program, and only there");
    api_check_started(not_at_all, NULL, "in stop mode nothing is begun");
    return tap_done();
}
