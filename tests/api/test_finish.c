/* SPDX-License-Identifier: MIT */
/*
 * GC_finish_and_disable: a collection that marks beside the program is over when it returns, with its finalizers; and no other
 * one begins.  In stop mode, in a callback, by several threads.
 *
 * Also: gc/collect/collect.c, gc/api/collect.c.
 */
#include "api.h"

#include <sgc.h>

enum { CELLS = 400000, TRIES = 20, THREADS = 4, ROUNDS = 200 };

struct cell {
    struct cell *next;
    void *pad[3];
};

static struct cell *list;

/* So long that a mark of it is not over at once. */
static void make_list(int cells)
{
    for (int i = 0; i < cells; i++) {
        struct cell *cell = GC_malloc(sizeof *cell);

        cell->next = list;
        list = cell;
    }
}

static volatile int begun, stops, ended;

static void count_event(GC_EventType event)
{
    begun += event == GC_EVENT_START;
    stops += event == GC_EVENT_POST_START_WORLD;
    ended += event == GC_EVENT_END;
}

/* Has a collection marked, and is it not over?  It begins while the program allocates. */
static bool is_marking(void)
{
    long until = api_milliseconds() + 5000;

    begun = stops = ended = 0;
    GC_start_incremental_collection();
    while (stops == 0 && api_milliseconds() < until)
        GC_reachable_here(GC_malloc(100));
    return begun == 1 && ended == 0;
}

static void of_concurrent(void)
{
    bool found = false;
    GC_word before;

    GC_INIT();
    GC_set_disable_automatic_collection(1);
    make_list(CELLS);
    GC_set_on_collection_event(count_event);
    for (int i = 0; i < TRIES && !found; i++) {
        GC_gcollect();
        before = GC_get_gc_no();
        found = is_marking();
        GC_finish_and_disable();
        API_CHILD(GC_is_disabled() && begun == ended);
        API_CHILD(!found || GC_get_gc_no() == before + 1);
        API_CHILD(GC_collect_a_little() == 0);
        before = GC_get_gc_no();
        GC_start_incremental_collection();
        GC_gcollect();
        API_CHILD(GC_get_gc_no() == before && begun == ended);
        GC_enable();
    }
    API_CHILD(found && !GC_is_disabled() && SGC_check() == 0);
}

static GC_hidden_pointer dead;

static void make_dead(void)
{
    GC_register_finalizer(api_large(&dead), api_count, NULL, NULL, NULL);
}

/* Found dead by the cycle that was on its way. */
static void of_finalizers(void)
{
    GC_INIT();
    GC_set_disable_automatic_collection(1);
    make_list(CELLS);
    GC_set_on_collection_event(count_event);
    api_make(make_dead);
    for (int i = 0; i < TRIES && api_finalized == 0; i++) {
        (void)is_marking();
        GC_finish_and_disable();
        GC_enable();
    }
    API_CHILD(api_finalized == 1);
}

static void of_stopped(void)
{
    GC_word before;

    GC_finish_and_disable();
    GC_INIT();
    before = GC_get_gc_no();
    GC_finish_and_disable();
    GC_gcollect();
    API_CHILD(GC_is_disabled() == 2 && GC_get_gc_no() == before);
    GC_enable();
    GC_enable();
    GC_gcollect();
    API_CHILD(GC_get_gc_no() == before + 1);
}

static void *disable_it(void *unused)
{
    GC_finish_and_disable();
    return unused;
}

static void finish_at_start(void)
{
    GC_finish_and_disable();
}

static void of_callbacks(void)
{
    GC_INIT();
    GC_set_start_callback(finish_at_start);
    GC_gcollect();
    GC_set_start_callback(NULL);
    API_CHILD(GC_is_disabled() == 1);
    GC_call_with_alloc_lock(disable_it, NULL);
    API_CHILD(GC_is_disabled() == 2);
}

static void *disable_and_enable(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        GC_finish_and_disable();
        GC_reachable_here(GC_malloc(i % 10 == 0 ? API_LARGE : 30));
        GC_enable();
        GC_start_incremental_collection();
        if (i % 50 == 0)
            GC_gcollect();
    }
    return unused;
}

static void of_threads(void)
{
    pthread_t threads[THREADS];

    GC_INIT();
    make_list(CELLS / 10);
    api_start_all(threads, THREADS, disable_and_enable);
    api_join_all(threads, THREADS);
    API_CHILD(!GC_is_disabled() && SGC_check() == 0);
}

#define CONCURRENT "SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0"

int main(void)
{
    api_check_child_with(CONCURRENT, of_concurrent, "a collection that marks beside the program is finished, and none begins");
    api_check_child_with(CONCURRENT " GC_MARKERS=8", of_finalizers, "and the finalizers run of what it has found dead");
    api_check_child_with("SGC_MODE=stop", of_stopped, "in stop mode it disables, before the start, too, and is counted");
    api_check_child(of_callbacks, NULL, "in callbacks it only disables");
    api_check_child_with(CONCURRENT " GC_MARKERS=2", of_threads, "several threads finish and disable");
    return tap_done();
}
