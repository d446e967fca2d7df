/* SPDX-License-Identifier: MIT */
/*
 * Heap control of gc.h: collections that do and do not happen, the heap limit, settings.  Each subject that
 * changes the whole process runs in a child of its own.
 *
 * Also: gc/api/settings.c.
 */
#include "api.h"

#include <setjmp.h>
#include <sys/time.h>

#define MB ((size_t)1 << 20)

/* Makes n objects of `size` bytes that nothing points at when the thread is over; arg: struct litter. */
struct litter {
    size_t size;
    int count;
    GC_hidden_pointer hidden[1000];
};

static void *make_litter(void *arg)
{
    struct litter *litter = arg;

    for (int i = 0; i < litter->count; i++)
        litter->hidden[i] = GC_HIDE_POINTER(GC_malloc(litter->size));
    return NULL;
}

static struct litter litter;

static int litter_alive(void)
{
    return api_alive(litter.hidden, litter.count);
}

static void drop_litter(int count, size_t size)
{
    litter.size = size;
    litter.count = count;
    api_in_thread(make_litter, &litter);
}

/* ---- collect --------------------------------------------------------------------------------- */

static void check_collect(void)
{
    GC_word before;

    drop_litter(1000, API_LARGE);
    before = GC_get_gc_no();
    GC_gcollect();
    tap_ok(GC_get_gc_no() > before, "GC_gcollect collects");
    api_collect();
    tap_ok(litter_alive() < 10, "what nothing points at is gone (%d of 1000 left)", litter_alive());
    before = GC_get_gc_no();
    GC_gcollect_and_unmap();
    tap_ok(GC_get_gc_no() > before, "GC_gcollect_and_unmap collects");
    tap_ok(GC_collect_a_little() == 0, "GC_collect_a_little leaves nothing to do");
}

static void check_disable(void)
{
    GC_word before;

    GC_disable();
    GC_disable();
    before = GC_get_gc_no();
    GC_gcollect();
    drop_litter(1000, 5 * API_LARGE);
    GC_enable();
    GC_gcollect();
    tap_ok(GC_is_disabled() && GC_get_gc_no() == before, "disabled twice, enabled once: no collection");
    tap_ok(litter_alive() == 1000, "and nothing is lost");
    GC_enable();
    GC_gcollect();
    tap_ok(!GC_is_disabled() && GC_get_gc_no() > before, "enabled as often: they happen again");
    GC_set_disable_automatic_collection(1);
    before = GC_get_gc_no();
    drop_litter(1000, 5 * API_LARGE);
    tap_ok(GC_get_disable_automatic_collection() && GC_get_gc_no() == before, "automatic collections can be left out");
    GC_gcollect();
    tap_ok(GC_get_gc_no() > before, "while explicit ones happen");
    GC_set_disable_automatic_collection(0);
}

/* ---- stop functions -------------------------------------------------------------------------- */

static int stop_calls, stop_answer;

static int stop(void)
{
    stop_calls++;
    return stop_answer;
}

/* Without a collection before the one that is asked for. */
static void litter_undisturbed(void)
{
    GC_set_disable_automatic_collection(1);
    drop_litter(1000, API_LARGE);
    GC_set_disable_automatic_collection(0);
}

static int stages;

static void count_stage(GC_EventType event)
{
    stages += event != GC_EVENT_END;
}

/* Who says no at once (a program that is busy) has nobody stopped. */
static void check_stop(void)
{
    GC_stop_func original = GC_get_stop_func();

    api_collect();
    litter_undisturbed();
    stop_answer = 1;
    GC_set_on_collection_event(count_stage);
    tap_ok(GC_try_to_collect(stop) == 0 && stop_calls > 0, "a stop function ends the collection");
    tap_ok(stages == 0, "it is asked before anything begins (%d)", stages);
    GC_set_on_collection_event(NULL);
    tap_ok(litter_alive() == 1000, "which then has freed nothing");
    stop_answer = stop_calls = 0;
    tap_ok(GC_try_to_collect(stop) == 1 && stop_calls > 0, "or lets it finish");
    api_collect();
    tap_ok(litter_alive() < 10, "with everything freed");
    litter_undisturbed();
    GC_set_stop_func(stop);
    stop_answer = 1;
    GC_gcollect();
    tap_ok(GC_get_stop_func() == stop && litter_alive() == 1000, "GC_gcollect asks the stop function");
    scrub_stack();
    GC_gcollect_and_unmap();
    tap_ok(litter_alive() < 10, "GC_gcollect_and_unmap does not");
    GC_set_stop_func(original);
    GC_disable();
    stop_answer = 0;
    tap_ok(GC_try_to_collect(stop) == 0, "GC_try_to_collect says that collections are disabled");
    GC_enable();
}

/* ---- the heap limit: in children ------------------------------------------------------------- */

static int refusals;
static size_t refused_bytes;

static void *refuse(size_t bytes)
{
    refusals++;
    refused_bytes = bytes;
    return NULL;
}

/* Not a list: one stale word would keep all of it. */
static void *block[1000];

/* Allocates until it is refused; the number of blocks of 1 MB is the result. */
static void *fill_heap(TEST_UNUSED void *unused)
{
    intptr_t count = 0;

    while (count < 1000 && (block[count] = GC_malloc(MB)) != NULL)
        count++;
    return (void *)count;
}

static void reach_limit(void)
{
    intptr_t count;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_max_heap_size(64 * MB);
    GC_set_oom_fn(refuse);
    count = (intptr_t)api_in_thread(fill_heap, NULL);
    API_CHILD(count >= 32 && count <= 64);
    API_CHILD(refusals == 1 && refused_bytes >= MB && refused_bytes < 2 * MB);
    API_CHILD(GC_get_heap_size() <= 64 * MB);
    API_CHILD(GC_malloc(100 * MB) == NULL && refusals == 2);
    API_CHILD(GC_expand_hp(64 * MB) == 0);
    memset(block, 0, sizeof(block));
    api_collect();
    API_CHILD((intptr_t)api_in_thread(fill_heap, NULL) >= 32);
}

static void *reserve;

static void *give_reserve(TEST_UNUSED size_t bytes)
{
    return reserve;
}

static void use_reserve(void)
{
    volatile size_t size = (size_t)1 << 50;

    GC_set_warn_proc(GC_ignore_warn_proc);
    reserve = GC_malloc(100);
    API_CHILD(GC_get_oom_fn()(100) == NULL);
    GC_set_oom_fn(give_reserve);
    API_CHILD(GC_get_oom_fn() == give_reserve);
    API_CHILD(GC_malloc(size) == reserve && GC_malloc_atomic(size) == reserve);
}

static void strings_without_memory(void)
{
    char *big;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_max_heap_size(16 * MB);
    big = api_outside(32 * MB);
    memset(big, 'x', 32 * MB - 1);
    errno = 0;
    API_CHILD(GC_strdup(big) == NULL && errno == ENOMEM);
    errno = 0;
    API_CHILD(GC_strndup(big, 31 * MB) == NULL && errno == ENOMEM);
    API_CHILD(strlen(GC_strndup(big, 1000)) == 1000);
}

/* ---- growth ---------------------------------------------------------------------------------- */

static void check_expand(void)
{
    size_t before = GC_get_heap_size();

    tap_ok(GC_expand_hp(10 * MB) == 1, "GC_expand_hp succeeds");
    tap_ok(GC_get_heap_size() >= before + 10 * MB, "and the heap is larger by that");
    tap_ok(GC_expand_hp(SIZE_MAX / 4) == 0, "GC_expand_hp beyond all limits fails");
}

/* ---- settings: set, get, put back ------------------------------------------------------------ */

#define CHECK_SETTING(type, name, value) \
    do { \
        type old_ = GC_get_##name(); \
        GC_set_##name(value); \
        tap_ok(GC_get_##name() == (type)(value), #name " keeps its value"); \
        GC_set_##name(old_); \
        tap_ok(GC_get_##name() == old_, #name " can be put back"); \
    } while (0)

static void notify(void) { }

static void check_settings(void)
{
    struct GC_timeval_s limit = { 20, 500000 }, old = GC_get_time_limit_tv();
    struct GC_timeval_s unlimited = { GC_TIME_UNLIMITED, 1000000 };

    CHECK_SETTING(GC_word, free_space_divisor, 5);
    CHECK_SETTING(size_t, min_bytes_allocd, 4096);
    CHECK_SETTING(int, dont_expand, 1);
    CHECK_SETTING(GC_word, max_retries, 2);
    CHECK_SETTING(GC_word, non_gc_bytes, 12345);
    CHECK_SETTING(int, force_unmap_on_gcollect, 1);
    CHECK_SETTING(int, full_freq, 7);
    CHECK_SETTING(int, rate, 3);
    CHECK_SETTING(int, max_prior_attempts, 2);
    CHECK_SETTING(unsigned long, time_limit, 30);
    CHECK_SETTING(int, no_dls, 1);
    CHECK_SETTING(int, finalize_on_demand, 1);
    CHECK_SETTING(GC_finalizer_notifier_proc, finalizer_notifier, notify);
    CHECK_SETTING(size_t, allocd_bytes_per_finalizer, 12345);
    CHECK_SETTING(int, find_leak, 1);
    CHECK_SETTING(int, manual_vdb_allowed, 1);
    CHECK_SETTING(int, dont_precollect, 1);
    GC_set_time_limit_tv(limit);
    tap_ok(GC_get_time_limit_tv().tv_ms == 20 && GC_get_time_limit_tv().tv_nsec == 500000, "time_limit_tv, both parts");
    GC_set_time_limit(30);
    tap_ok(GC_get_time_limit_tv().tv_ms == 30 && GC_get_time_limit_tv().tv_nsec == 500000,
           "GC_set_time_limit leaves the nanoseconds alone");
    GC_set_time_limit_tv(unlimited);
    tap_ok(GC_get_time_limit() == GC_TIME_UNLIMITED, "no limit, whatever the nanoseconds are");
    GC_set_time_limit_tv(old);
    tap_ok(GC_get_version() == (unsigned)(GC_VERSION_MAJOR << 16 | GC_VERSION_MINOR << 8 | GC_VERSION_MICRO),
           "library and header have the same version");
    tap_ok(GC_is_init_called() != 0, "the collector knows that it runs");
    tap_ok(GC_get_all_interior_pointers() == 1, "interior pointers are on by default");
    tap_ok(GC_get_pages_executable() == 0, "executable pages are off");
}

static void not_incremental(void)
{
    GC_enable_incremental();
    API_CHILD(GC_is_init_called());
    API_CHILD(!GC_is_incremental_mode());
    API_CHILD(GC_incremental_protection_needs() == GC_PROTECTS_NONE);
    GC_start_incremental_collection();
    API_CHILD(GC_malloc(10) != NULL);
}

/* With everything counted as written, which any system can do. */
static void incremental(void)
{
    GC_word before;

    GC_enable_incremental();
    API_CHILD(GC_is_incremental_mode());
    API_CHILD(GC_incremental_protection_needs() == GC_PROTECTS_NONE);
    GC_set_time_limit(1);
    before = GC_get_gc_no();
    GC_start_incremental_collection();
    for (int i = 0; i < 10000 && GC_collect_a_little() != 0; i++)
        usleep(1000);
    API_CHILD(GC_get_gc_no() > before && GC_malloc(10) != NULL);
}

/* A program without GC_INIT. */
static void late_start(void)
{
    API_CHILD(!GC_is_init_called());
    API_CHILD(GC_malloc(10) != NULL && GC_is_init_called());
}

/* Tiny limits are limits: from the environment, and from the program before and after the start. */
static void fill_to(size_t limit)
{
    size_t got = 0;
    void **list = NULL, **object;

    GC_set_oom_fn(refuse);
    while (got < 16 * MB && (object = GC_malloc(1000)) != NULL) {
        *object = list;
        list = object;
        got += 1000;
    }
    API_CHILD(got > limit / 2 && got <= limit && refusals == 1 && GC_get_heap_size() <= limit && list != NULL);
}

static void tiny(void) { fill_to(512 << 10); }
static void tiniest(void) { fill_to(64 << 10); }

static void check_tiny(void)
{
    api_check_child_with("GC_MAXIMUM_HEAP_SIZE=512k", tiny, "a limit of 512k");
    api_check_child_with("GC_MAXIMUM_HEAP_SIZE=64k", tiniest, "of 64k");
    api_check_child_of((GC_set_max_heap_size(100000), fill_to(100000)), NULL, "of 100 000 bytes, by the program");
    api_check_child_of((GC_set_max_heap_size(1), fill_to(64 << 10)), NULL, "of 1 byte: 64k");
    api_check_started_of((GC_set_max_heap_size(512 << 10), fill_to(512 << 10)), NULL, "of 512k after the start");
}

/* ---- handlers that jump out of what sweeps the heap, or makes it grow -------------------- */

static sigjmp_buf landing;
static volatile sig_atomic_t armed;

static void jump_out(TEST_UNUSED int signal)
{
    if (armed) {
        armed = 0;
        siglongjmp(landing, 1);
    }
}

static void interrupt_every(long microseconds)
{
    struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };

    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The next collection is put off, since memory is free that was touched: to know that, all is swept. */
static void jump_until_collected(void)
{
    GC_word before = GC_get_gc_no();
    volatile long n = 0;

    while (GC_get_gc_no() == before && n < 1000000) {
        sigsetjmp(landing, 1);
        armed = 1;
        for (int i = 0; i < 200 && GC_get_gc_no() == before; i++, n++)
            *(volatile char *)GC_malloc_atomic(100) = 1;
        armed = 0;
    }
}

static void sweep_and_jump(void)
{
    static void *kept[6000];

    setenv("SGC_BACKGROUND_THREAD", "off", 1);
    setenv("SGC_MODE", "stop", 1);
    GC_INIT();
    signal(SIGALRM, jump_out);
    for (volatile int round = 0; round < 20; round++) {
        for (int i = 0; i < 6000; i++)
            kept[i] = GC_malloc_atomic(2000);
        memset(kept, 0, sizeof(kept));
        GC_gcollect();
        interrupt_every(100);
        jump_until_collected();
        interrupt_every(0);
    }
    GC_gcollect_and_unmap();
    GC_gcollect_and_unmap();
    API_CHILD(GC_get_heap_size() <= 2 * MB);
}

/* Between the locks of growing the memory is asked of the system: most of the time goes there. */
static void expand_and_jump(void)
{
    signal(SIGALRM, jump_out);
    interrupt_every(20);
    for (volatile int i = 0; i < 400; i++) {
        if (sigsetjmp(landing, 1) == 0) {
            armed = 1;
            GC_expand_hp(MB);
        }
        armed = 0;
    }
    interrupt_every(0);
    GC_expand_hp(MB);           /* returns, whether it can grow or not */
}

int main(void)
{
    api_check_started(reach_limit, NULL, "at the heap limit allocation fails through the hook, and goes on afterwards");
    api_check_started(use_reserve, NULL, "the out-of-memory hook's result is the allocation's");
    api_check_started(strings_without_memory, NULL, "GC_strdup and GC_strndup fail with ENOMEM");
    api_check_child(late_start, NULL, "the first allocation starts the collector");
    if (api_on_sgc) {
        check_tiny();
        api_check_child(sweep_and_jump, NULL, "no pages are lost when a handler jumps out of sweeping");
        api_check_started(expand_and_jump, NULL, "the heap can grow when a handler has jumped out of its growing");
        api_check_child_with("GC_DISABLE_INCREMENTAL=1 SGC_MODE=stop", not_incremental,
                             "the incremental mode is declined if the user says so");
        api_check_child_with("SGC_DIRTY=none", incremental, "a collection beside the program begins and ends");
    }
    setenv("SGC_MODE", "stop", 1);
    GC_INIT();
    return tap_all(check_collect, check_disable, check_stop, check_expand, check_settings);
}
