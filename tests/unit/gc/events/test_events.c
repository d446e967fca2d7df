/* SPDX-License-Identifier: MIT */
/*
 * Events: who is called and with what, registering and removing (beside running events, too), and the
 * record of a cycle, whose parts must sum up to the pause.
 */
#include <string.h>

#include "gc/events/events.h"
#include "tests/lib/threads.h"

enum { CALLBACKS = 13 };

struct calls {
    int count[CALLBACKS];
    const void *record;
    size_t bytes;
    sgc_tid_t tid;
};

typedef const struct sgc_cycle_record *record_t;

/* Each event, its number, what its callback is told and keeps, and with what it is fired. */
#define EVENTS_ALL(EVENT) \
    EVENT(cycle_start, 0, record_t, record, record) \
    EVENT(stop_requested, 1, record_t, record, record) \
    EVENT(stopped, 2, record_t, record, record) \
    EVENT(roots_done, 3, record_t, record, record) \
    EVENT(marked, 4, record_t, record, record) \
    EVENT(flipped, 5, record_t, record, record) \
    EVENT(resumed, 6, record_t, record, record) \
    EVENT(cycle_end, 7, record_t, record, record) \
    EVENT(heap_grown, 8, size_t, bytes, (size_t)123) \
    EVENT(heap_returned, 9, size_t, bytes, (size_t)456) \
    EVENT(thread_registered, 10, sgc_tid_t, tid, 77) \
    EVENT(thread_gone, 11, sgc_tid_t, tid, 78) \
    EVENT(stop_failed, 12, record_t, record, record)

#define DEFINE_CALLBACK(name, index, type, member, argument) \
    static void on_##name(void *context, type value) \
    { \
        struct calls *calls = context; \
        calls->count[index]++; \
        calls->member = value; \
    }
EVENTS_ALL(DEFINE_CALLBACK)

static struct sgc_listener full_listener(struct calls *calls)
{
#define SET_CALLBACK(name, index, type, member, argument) .name = on_##name,
    struct sgc_listener listener = { .context = calls, EVENTS_ALL(SET_CALLBACK) };
    return listener;
}

/* ---- calling ------------------------------------------------------------------------------------------ */

/* The n-th event. */
static void fire(int n, const struct sgc_cycle_record *record)
{
#define FIRE(name, index, type, member, argument) case index: SGC_EVENT(name, argument); break;
    switch (n) { EVENTS_ALL(FIRE) }
}

static bool only_called(const struct calls *calls, int n, int times)
{
    for (int i = 0; i < CALLBACKS; i++)
        if (calls->count[i] != (i == n ? times : 0))
            return false;
    return true;
}

static void check_calls(void)
{
    struct sgc_cycle_record record;
    struct calls calls;
    struct sgc_listener listener = full_listener(&calls);
    bool right = sgc_listener_add(&listener);

    for (int i = 0; i < CALLBACKS; i++) {
        memset(&calls, 0, sizeof calls);
        fire(i, &record);
        right &= only_called(&calls, i, 1);
        right &= (i >= 8 && i != 12) || calls.record == &record;
        right &= calls.bytes == (i == 8 ? 123u : i == 9 ? 456u : 0u);
        right &= calls.tid == (i == 10 ? 77 : i == 11 ? 78 : 0);
    }
    tap_ok(right, "each event calls its callback once, with its argument");
    sgc_listener_remove(&listener);
    memset(&calls, 0, sizeof calls);
    for (int i = 0; i < CALLBACKS; i++)
        fire(i, &record);
    tap_ok(only_called(&calls, 0, 0) && sgc_a32_load(&sgc_listeners.used) == 0, "a removed listener is not called");
}

static void check_partial(void)
{
    struct calls calls = { .bytes = 0 }, second = { .bytes = 0 };
    struct sgc_listener listener = { .context = &calls, .marked = on_marked };
    struct sgc_listener other = full_listener(&second);
    struct sgc_cycle_record record;

    sgc_listener_add(&listener);
    sgc_listener_add(&other);
    for (int i = 0; i < CALLBACKS; i++)
        fire(i, &record);
    tap_ok(only_called(&calls, 4, 1), "callbacks may be missing");
    tap_ok(second.count[0] == 1 && second.count[4] == 1 && second.count[11] == 1, "all listeners are called");
    sgc_listener_remove(&listener);
    fire(4, &record);
    tap_ok(calls.count[4] == 1 && second.count[4] == 2, "the other one stays when one is removed");
    sgc_listener_remove(&other);
}

static void check_full(void)
{
    static struct calls calls[SGC_LISTENERS_MAX + 1];
    static struct sgc_listener listeners[SGC_LISTENERS_MAX + 1];
    bool added = true;

    for (int i = 0; i <= SGC_LISTENERS_MAX; i++)
        listeners[i] = full_listener(&calls[i]);
    for (int i = 0; i < SGC_LISTENERS_MAX; i++)
        added &= sgc_listener_add(&listeners[i]);
    tap_ok(added && !sgc_listener_add(&listeners[SGC_LISTENERS_MAX]), "there is room for %d listeners",
           SGC_LISTENERS_MAX);
    sgc_listener_remove(&listeners[3]);
    tap_ok(sgc_listener_add(&listeners[SGC_LISTENERS_MAX]), "a freed place is used again");
    SGC_EVENT(heap_grown, (size_t)1);
    int called = 0;
    for (int i = 0; i <= SGC_LISTENERS_MAX; i++)
        called += calls[i].count[8];
    tap_ok(called == SGC_LISTENERS_MAX && calls[3].count[8] == 0, "each registered one was called");
    for (int i = 0; i <= SGC_LISTENERS_MAX; i++)
        sgc_listener_remove(&listeners[i]);
    tap_ok(sgc_a32_load(&sgc_listeners.used) == 0, "all are removed, one of them twice");
}

/* ---- registering beside running events ---------------------------------------------------------------- */

enum { EVENTS = 200000, CHANGES = 20000 };

static sgc_aw_t seen[2];                /* callbacks of the listener that stays, and of the others */

static void count_grown(void *context, size_t bytes)
{
    sgc_aw_add_relaxed(context, bytes);
}

static void *fire_events(TEST_UNUSED void *unused)
{
    for (int i = 0; i < EVENTS; i++)
        SGC_EVENT(heap_grown, (size_t)1);
    return NULL;
}

static void *change_listeners(void *listener)
{
    for (int i = 0; i < CHANGES; i++)
        if (sgc_listener_add(listener))
            sgc_listener_remove(listener);
    return NULL;
}

static void check_threads(void)
{
    static struct sgc_listener stays = { .context = &seen[0], .heap_grown = count_grown };
    static struct sgc_listener changing[2] = { { .context = &seen[1], .heap_grown = count_grown },
                                               { .context = &seen[1], .heap_grown = count_grown } };
    pthread_t threads[4];

    sgc_listener_add(&stays);
    for (int i = 0; i < 4; i++)
        threads[i] = thread_start(i < 2 ? fire_events : change_listeners, &changing[i & 1]);
    threads_join(threads, 4);
    tap_ok(sgc_aw_load(&seen[0]) == 2 * EVENTS, "a listener misses no event while others come and go");
    tap_ok(sgc_aw_load(&seen[1]) <= 4 * (uintptr_t)EVENTS, "those see no event more than once each");
    sgc_listener_remove(&stays);
    tap_ok(sgc_a32_load(&sgc_listeners.used) == 0, "and nothing stays behind");
}

/* ---- the record of a cycle ---------------------------------------------------------------------------- */

static void pass_time(unsigned n)
{
    for (volatile unsigned i = 0; i < n; i++)
        ;
}

static bool random_cycle(unsigned *seed, struct sgc_cycle_record *record)
{
    uint64_t sum = 0;

    sgc_cycle_begin(record, 7, SGC_REASON_LIMIT);
    sgc_cycle_stop_begin(record);
    for (int i = 0; i < 20; i++) {
        *seed = *seed * 1103515245 + 12345;
        pass_time(*seed >> 22);
        sgc_cycle_phase(record, (enum sgc_phase)(*seed >> 8) % SGC_PHASE_RESUME);   /* any but the last */
    }
    sgc_cycle_phase(record, SGC_PHASE_RESUME);
    for (int i = 0; i < SGC_PHASES; i++)
        sum += record->times.phase_ns[i];
    return sum == sgc_cycle_pause_ns(record) && sum == record->times.resumed_ns - record->times.stop_begin_ns && sum > 0;
}

static void check_record(void)
{
    struct sgc_cycle_record record;
    unsigned seed = 42;
    bool right = true;

    for (int i = 0; i < 1000; i++)
        right &= random_cycle(&seed, &record);
    tap_ok(right, "the sum of the parts equals the pause, whatever their order and number");
    sgc_cycle_begin(&record, 3, SGC_REASON_TORTURE);
    tap_ok(record.cycle == 3 && record.reason == SGC_REASON_TORTURE && record.times.request_ns != 0 &&
           record.marked.bytes == 0 && record.times.stop_begin_ns == 0, "a new record");
    sgc_cycle_stop_begin(&record);
    sgc_cycle_phase(&record, SGC_PHASE_STOP);
    pass_time(100000);
    sgc_cycle_phase(&record, SGC_PHASE_MARK);
    tap_ok(record.times.stopped_ns - record.times.stop_begin_ns == record.times.phase_ns[SGC_PHASE_STOP] &&
           record.times.resumed_ns == 0 && record.times.phase_ns[SGC_PHASE_MARK] > 0 &&
           record.times.phase_ns[SGC_PHASE_ROOTS] == 0, "time to stop is a part");
    sgc_cycle_phase(&record, SGC_PHASE_RESUME);
    tap_ok(sgc_cycle_check(&record), "a finished record is in order");
}

static void check_failed_stop(void)
{
    struct sgc_cycle_record record;

    sgc_cycle_begin(&record, 3, SGC_REASON_ALLOCATION);
    for (int i = 0; i < 2; i++) {
        sgc_cycle_stop_begin(&record);
        pass_time(1000);
        sgc_cycle_stop_failed(&record);
    }
    sgc_cycle_stop_begin(&record);
    sgc_cycle_phase(&record, SGC_PHASE_STOP);
    sgc_cycle_phase(&record, SGC_PHASE_RESUME);
    tap_ok(sgc_cycle_check(&record) && record.concurrent.earlier_stops == 0, "stops that failed leave nothing behind");
}

/* Of a concurrent cycle the threads are those of its last stop. */
static void check_threads_of_stops(void)
{
    struct sgc_cycle_record record;

    sgc_cycle_begin(&record, 3, SGC_REASON_ALLOCATION);
    for (int i = 0; i < 3; i++) {
        sgc_cycle_stop_begin(&record);
        record.threads.stopped += 4;        /* as gc/threads/stopper.c counts */
        record.threads.blocked += 2;
        sgc_cycle_phase(&record, SGC_PHASE_STOP);
        sgc_cycle_phase(&record, SGC_PHASE_RESUME);
        if (i < 2)
            sgc_cycle_stop_again(&record);
    }
    tap_ok(record.concurrent.earlier_stops == 2 && record.threads.stopped == 4 && record.threads.blocked == 2,
           "threads are those of the last stop (%lu, %lu)", (unsigned long)record.threads.stopped,
           (unsigned long)record.threads.blocked);
}

static void check_the_check(void)
{
    struct sgc_cycle_record right, record;

    sgc_cycle_begin(&right, 1, SGC_REASON_EXPLICIT);
    pass_time(1000);
    sgc_cycle_stop_begin(&right);
    pass_time(1000);
    sgc_cycle_phase(&right, SGC_PHASE_STOP);
    tap_ok(!sgc_cycle_check(&right), "a record without an end is not");
    sgc_cycle_phase(&right, SGC_PHASE_RESUME);
    record = right, record.times.phase_ns[SGC_PHASE_FLIP]++;
    tap_ok(!sgc_cycle_check(&record), "nor one whose parts have a gap");
    record = right, record.times.request_ns = right.times.resumed_ns + 1;
    tap_ok(!sgc_cycle_check(&record), "nor one requested after its end");
    record = right, record.times.stopped_ns = right.times.resumed_ns + 1;
    tap_ok(!sgc_cycle_check(&record), "nor one that stopped after its end");
    record = right, record.reason = SGC_REASONS;
    tap_ok(!sgc_cycle_check(&record), "nor one without a reason");
}

static void check_names(void)
{
    bool right = true;

    for (int i = 0; i < SGC_REASONS; i++)
        for (int j = 0; j < i; j++)
            right &= strcmp(sgc_reason_name((enum sgc_reason)i), sgc_reason_name((enum sgc_reason)j)) != 0;
    for (int i = 0; i < SGC_PHASES; i++)
        for (int j = 0; j < i; j++)
            right &= strcmp(sgc_phase_name((enum sgc_phase)i), sgc_phase_name((enum sgc_phase)j)) != 0;
    for (int i = 0; i < SGC_STOPPED_FOR; i++)
        for (int j = 0; j < i; j++)
            right &= strcmp(sgc_stopped_for_name((enum sgc_stopped_for)i), sgc_stopped_for_name((enum sgc_stopped_for)j)) != 0;
    tap_ok(right && strcmp(sgc_reason_name(SGC_REASON_TORTURE), "torture") == 0 &&
           strcmp(sgc_phase_name(SGC_PHASE_RESCAN), "rescan") == 0 &&
           strcmp(sgc_stopped_for_name(SGC_FOR_NOTHING), "nothing") == 0,
           "reasons, parts and causes of stops have names, each its own");
}

int main(void)
{
    tap_plan(24);
    return tap_all(check_calls, check_failed_stop, check_threads_of_stops, check_partial, check_full, check_threads,
                   check_record, check_the_check, check_names);
}
