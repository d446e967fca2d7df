/* SPDX-License-Identifier: MIT */
/*
 * The figures of what was allocated and freed, asked for while threads allocate and free and cycles come and go: what a thread
 * knows to have been allocated, or freed, before it asks is in the answer, and a sum never shrinks.
 *
 *   allocated, freed   the workers, after the call, with release    the askers: acquire, before they ask
 *   waiting            each worker its own; the other takes out     same, acquire and release
 *   wrong, asked       the askers, adds                             main, after they have ended
 */
#include "api.h"

#include <sgc.h>
#include <stdatomic.h>

#include "tests/lib/child.h"

enum { WORKERS = 2, ASKERS = 2, SMALL = 1024, SPAN = 100000, KEPT = 20, MILLISECONDS = 700 };

static atomic_int done;
static atomic_size_t allocated, freed;
static _Atomic(void *) waiting[WORKERS];
static atomic_ulong asked;
static size_t kept_bytes;
static bool cycles;             /* there are some, so that what is counted since the last begins anew */

enum figure { TOTAL, BEFORE_AND_SINCE, USED_SAFELY, STATS, STATS_FREED, IN_USE, SINCE, FREED_SINCE, FIGURES };
static const char *const names[FIGURES] = {
    "GC_get_total_bytes", "GC_get_prof_stats", "GC_get_heap_usage_safe", "SGC_get_stats: allocated", "SGC_get_stats: freed",
    "GC_get_memory_use", "GC_get_bytes_since_gc", "GC_get_expl_freed_bytes_since_gc",
};
static atomic_ulong wrong[FIGURES];

/* ---- the workers ---- */

static void *counted(size_t bytes)
{
    void *object = GC_malloc_atomic(bytes);

    atomic_fetch_add(&allocated, bytes);
    return object;
}

static void freed_one(void *object, size_t bytes)
{
    GC_free(object);
    atomic_fetch_add(&freed, bytes);
}

/* A small object is freed by the other worker: what a thread frees of its own it hands out again, and counts as never freed
 * then. */
static void free_others(int self)
{
    void *object = atomic_exchange(&waiting[1 - self], NULL);

    if (object != NULL)
        freed_one(object, SMALL);
    if (atomic_load(&waiting[self]) == NULL)
        atomic_store(&waiting[self], counted(SMALL));
}

static void *work(void *number)
{
    int self = (int)(intptr_t)number;

    while (!atomic_load(&done)) {
        free_others(self);
        freed_one(counted(SPAN), SPAN);
    }
    return NULL;
}

/* ---- the askers ---- */

static size_t ask(enum figure which)
{
    struct GC_prof_stats_s prof;
    struct SGC_stats stats;
    GC_word total;

    switch (which) {
    case TOTAL:
        return GC_get_total_bytes();
    case BEFORE_AND_SINCE:
        GC_get_prof_stats(&prof, sizeof prof);
        return prof.allocd_bytes_before_gc + prof.bytes_allocd_since_gc;
    case USED_SAFELY:
        GC_get_heap_usage_safe(NULL, NULL, NULL, NULL, &total);
        return total;
    case IN_USE:
        return GC_get_memory_use();
    case SINCE:
        return GC_get_bytes_since_gc();
    case FREED_SINCE:
        return GC_get_expl_freed_bytes_since_gc();
    default:
        SGC_get_stats(&stats, sizeof stats);
        return which == STATS ? stats.allocated_bytes : stats.freed_bytes;
    }
}

static size_t known(enum figure which)
{
    if (which == IN_USE)
        return kept_bytes;
    return atomic_load(which == STATS_FREED || which == FREED_SINCE ? &freed : &allocated);
}

/* Those that take the GC lock are asked less often: cycles need it, too. */
static bool is_turn(enum figure which, unsigned long round)
{
    if (which == SINCE || which == FREED_SINCE)
        return !cycles;
    return (which != STATS && which != STATS_FREED) || round % 16 == 0;
}

static void *asker(void *number)
{
    size_t last[FIGURES] = { 0 };

    for (unsigned long round = 0; !atomic_load(&done); round++)
        for (enum figure which = 0; which < FIGURES; which++) {
            size_t least = known(which), answer;

            if (!is_turn(which, round))
                continue;
            answer = ask(which);
            if (answer < least || answer < last[which])
                atomic_fetch_add(&wrong[which], 1);
            last[which] = which != IN_USE && answer > last[which] ? answer : last[which];
            atomic_fetch_add(&asked, 1);
        }
    return number;
}

/* ---- the whole ---- */

static int report(void)
{
    int short_ones = 0;

    for (enum figure which = 0; which < FIGURES; which++)
        if (atomic_load(&wrong[which]) != 0) {
            tap_diag("%s was too small %lu times", names[which], atomic_load(&wrong[which]));
            short_ones++;
        }
    return short_ones != 0 ? 1 : atomic_load(&asked) < 100 ? 2 : 0;
}

static int ask_beside(const char *mode, bool with_cycles)
{
    static void *keep[KEPT];
    pthread_t workers[WORKERS], askers[ASKERS];

    setenv("SGC_MODE", mode, 1);
    GC_INIT();
    cycles = with_cycles;
    if (!cycles)
        GC_disable();
    for (int i = 0; i < KEPT; i++)
        keep[i] = counted(SPAN);
    kept_bytes = KEPT * (size_t)SPAN;
    api_start_all(workers, WORKERS, work);
    api_start_all(askers, ASKERS, asker);
    for (long until = api_milliseconds() + MILLISECONDS; api_milliseconds() < until;)
        if (cycles)
            GC_gcollect();
        else
            usleep(1000);
    atomic_store(&done, 1);
    api_join_all(workers, WORKERS);
    api_join_all(askers, ASKERS);
    return keep[0] == NULL ? 4 : report();
}

int main(void)
{
    tap_plan(3);
    child_ok_of(ask_beside("stop", false), "no figure is short of what is known while threads count");
    child_ok_of(ask_beside("stop", true), "nor while cycles stop the program, too");
    child_ok_of(ask_beside("concurrent", true), "nor while cycles run beside it");
    return tap_done();
}
