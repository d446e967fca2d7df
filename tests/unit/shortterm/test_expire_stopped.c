/* SPDX-License-Identifier: MIT */
/*
 * shortterm/expire_stopped.c: a collection takes off dates that are over for threads that wait, do nothing or have ended, and
 * frees what has expired, though the program still points at it; counts are put right where threads have left dates behind.
 */
#define GC_THREADS

#include <sys/syscall.h>
#include <string.h>
#include <time.h>

#include "gc/gc.h"
#include "platform/atomics.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/scrub.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { OBJECTS = 3000, LARGE = 3 };

static void *object[OBJECTS];           /* a root: nothing dies by itself */
static sgc_a32_t waits, goes_on;        /* flags of a thread and of who waits for it */

/* By 0 nothing but a collection takes dates off. */
static void lazily(int mode, int step)
{
    choose(mode, 3, SGC_SHORTTERM_LAZY, step, 256);
}

static int there(void)
{
    int count = 0;

    for (int i = 0; i < OBJECTS; i++)
        count += SGC_dates(object[i]) >= 0;
    return count;
}

/* Small ones of several sizes, and a few large ones. */
static void make(void)
{
    for (int i = 0; i < OBJECTS; i++)
        object[i] = i < LARGE ? GC_MALLOC(200000) : GC_MALLOC((size_t)16 << i % 6);
}

static void expire(void)
{
    for (int i = 0; i < OBJECTS; i++)
        SGC_refresh(object[i], 0);
    SGC_tick();
}

/* ---- threads that do not take their dates off ---- */

static int own_thread(void)
{
    lazily(SGC_SHORTTERM_FREE, 0);
    make();
    expire();
    if (figures().expired != OBJECTS || there() != OBJECTS)
        return 1;
    GC_gcollect();
    return figures().expired != 0 || there() != 0 || figures().freed != OBJECTS;
}

/* Sleeps that a signal ends: under ThreadSanitizer it comes late elsewhere. */
static void wait_for(sgc_a32_t *flag)
{
    struct timespec moment = { 0, 1000000 };

    while (sgc_a32_load_acq(flag) == 0)
        nanosleep(&moment, NULL);
}

static void *wait_there(void *unused)
{
    sgc_a32_store_rel(&waits, 1);
    wait_for(&goes_on);
    return unused;
}

static void *expires_and_waits(void *in_region)
{
    make();
    expire();
    if (in_region != NULL)
        GC_do_blocking(wait_there, NULL);
    else
        wait_there(NULL);
    return (void *)(intptr_t)(figures().freed == OBJECTS ? SGC_refresh(GC_MALLOC(8), 0) : 1);
}

static int waiting(bool in_region)
{
    pthread_t thread;
    void *wrong;
    int left;

    lazily(SGC_SHORTTERM_FREE, 0);
    thread = thread_start(expires_and_waits, in_region ? &waits : NULL);
    wait_for(&waits);
    GC_gcollect();
    left = (int)figures().expired + there();
    sgc_a32_store_rel(&goes_on, 1);
    pthread_join(thread, &wrong);
    return left != 0 || wrong != NULL;
}

static int several_collections(void)
{
    lazily(SGC_SHORTTERM_FREE, 0);
    for (int round = 1; round <= 20; round++) {
        make();
        expire();
        GC_gcollect();
        if (figures().expired != 0 || figures().freed != (uint64_t)round * OBJECTS)
            return 1;
    }
    return 0;
}

static int kept(void)
{
    lazily(SGC_SHORTTERM_HYBRID, 0);
    make();
    object[0] = SGC_malloc_dated(40, 0, SGC_SHORTTERM_FREEABLE);
    expire();
    GC_gcollect();
    return figures().expired != 0 || there() != OBJECTS - 1 || SGC_dates(object[0]) >= 0 || SGC_dates(object[1]) != 0;
}

/* The tracer finds out itself when such objects are dead. */
static int registered(void)
{
    void *link = NULL;

    lazily(SGC_SHORTTERM_FREE, 0);
    make();
    GC_REGISTER_FINALIZER(object[LARGE], count_finalization, NULL, NULL, NULL);
    GC_REGISTER_FINALIZER(object[0], count_finalization, NULL, NULL, NULL);
    GC_general_register_disappearing_link(&link, object[LARGE + 1]);
    expire();
    GC_gcollect();
    GC_invoke_finalizers();
    return figures().expired != 0 || there() != 3 || SGC_dates(object[0]) != 0 || SGC_dates(object[LARGE + 1]) != 0 ||
           finalizations != 0;
}

static int missing;

static void collect_first(void *o, TEST_UNUSED void *data)
{
    if (finalizations++ == 0)
        GC_gcollect();
    missing += SGC_dates(o) < 0;
}

/* The first finalizer collects while the other objects wait, whose dates are over. */
static int queued(void)
{
    lazily(SGC_SHORTTERM_FREE, 0);
    make();
    for (int i = 0; i < OBJECTS; i++)
        GC_REGISTER_FINALIZER(object[i], collect_first, NULL, NULL, NULL);
    expire();
    GC_finalize_all();
    return finalizations != OBJECTS || missing != 0 || figures().expired != 0;
}

/* ---- links that lie in what is freed ---- */

enum { LINKED = 100, PLACE = 3, VALUE = 0x1234 };

static void *target[LINKED];

__attribute__((noinline))
static void make_linked(void)
{
    for (int i = 0; i < LINKED; i++) {
        void **made = SGC_malloc_dated(64, 0, 0);

        object[i] = made;
        made[PLACE] = target[i] = GC_MALLOC(64);
        if (GC_general_register_disappearing_link(&made[PLACE], target[i]) != GC_SUCCESS)
            exit(101);
    }
}

/* How many of their places new objects have got; these are kept, with a number where the link was. */
__attribute__((noinline))
static int use_places_again(void)
{
    int found = 0;

    for (int made = 0; made < 100000 && found < LINKED; made++) {
        void **again = GC_MALLOC(64);

        for (int i = 0; i < LINKED; i++)
            if (object[i] == again) {
                again[PLACE] = (void *)VALUE;
                found++;
            }
    }
    return found;
}

static int asked;

static int GC_CALLBACK goes_on_once(void)
{
    return asked++ > 0;
}

/* The collection that frees the objects is given up, so nothing that comes after the mark is done.  Some targets may seem to be
 * alive later, by words on the stack. */
static int linked(void)
{
    lazily(SGC_SHORTTERM_FREE, 0);
    make_linked();
    SGC_tick();
    if (GC_try_to_collect(goes_on_once) || figures().freed != LINKED)
        return 1;
    if (use_places_again() != LINKED)
        return 2;
    memset(target, 0, sizeof target);
    scrub_stack();
    GC_gcollect();
    GC_gcollect();
    for (int i = 0; i < LINKED; i++)
        if (((void **)object[i])[PLACE] != (void *)VALUE)
            return 3;
    return 0;
}

static int others(void)
{
    size_t before;

    lazily(SGC_SHORTTERM_FREE, 0);
    before = GC_get_non_gc_bytes();
    for (int i = 0; i < OBJECTS; i++)
        object[i] = i % 2 == 0 ? GC_MALLOC_UNCOLLECTABLE(i < LARGE ? 300000 : 64) : GC_debug_malloc(100, "here", i);
    expire();
    GC_gcollect();
    for (int i = 1; i < OBJECTS; i += 2)
        if (GC_base(object[i]) != NULL)
            return 1;
    return there() != 0 || figures().expired != 0 || figures().freed != OBJECTS || GC_get_non_gc_bytes() != before;
}

/* ---- dates left behind ---- */

static void *leaves_dates(void *unused)
{
    make();
    for (int i = 0; i < OBJECTS; i++)
        SGC_refresh_global(object[i], 1);
    return unused;
}

static int ended_thread(void)
{
    lazily(SGC_SHORTTERM_FREE, 0);
    pthread_join(thread_start(leaves_dates, NULL), NULL);
    GC_gcollect();
    if (there() != OBJECTS || SGC_dates(object[0]) != 1)
        return 1;
    for (int i = 0; i < 2 * (3 + 3) && figures().expired == 0; i++)
        SGC_tick_global();
    if (there() != OBJECTS)
        return 2;
    GC_gcollect();
    return there() != 0 || figures().expired != 0 || figures().dates != 0;
}

/* Ends without a word, after a tick, before it has taken anything off. */
static void *vanish_after_tick(void *unused)
{
    for (int i = 0; i < OBJECTS; i++)
        SGC_refresh(GC_MALLOC(16), 0);
    SGC_tick();
    syscall(SYS_exit, 0);
    return unused;
}

enum { VANISHED = 200 };

/* The stop that finds the thread gone is no collection, so nobody has taken its dates off. */
static int vanished_threads(void)
{
    const uint64_t bytes = (uint64_t)VANISHED * OBJECTS * sizeof(void *);

    if (TEST_SANITIZED)
        return CHILD_SKIPS;
    lazily(SGC_SHORTTERM_FREE, 0);
    GC_disable();
    for (int i = 0; i < VANISHED; i++) {
        pthread_join(thread_start(vanish_after_tick, NULL), NULL);
        figures();
        figures();
    }
    return figures().date_bytes > bytes / 4;
}

static void *refreshes_and_waits(void *unused)
{
    for (int i = 0; i < OBJECTS; i++)
        SGC_refresh_global(object[i], 1);
    return wait_there(unused);
}

/* In the child the other threads' dates are gone. */
static int in_fork_child(void)
{
    for (int i = 0; i < OBJECTS; i++)
        SGC_refresh(object[i], 0);
    GC_gcollect();
    for (int i = 0; i < OBJECTS; i++)
        if (SGC_dates(object[i]) != 1)
            return 1;
    SGC_tick();
    SGC_expire(SIZE_MAX);
    if (there() != 0 || figures().active != 0)
        return 2;
    SGC_refresh_global(object[0] = GC_MALLOC(40), 0);
    for (int i = 0; i < 3; i++)
        SGC_tick_global();
    SGC_expire(SIZE_MAX);
    return SGC_dates(object[0]) >= 0;
}

static int forked(void)
{
    pthread_t thread;
    int status;

    if (TEST_SANITIZED)
        return CHILD_SKIPS;
    GC_set_handle_fork(1);
    lazily(SGC_SHORTTERM_FREE, 0);
    make();
    thread = thread_start(refreshes_and_waits, NULL);
    wait_for(&waits);
    status = run_in_child(in_fork_child);
    sgc_a32_store_rel(&goes_on, 1);
    pthread_join(thread, NULL);
    return status;
}

/* Each period makes 200 KB that have dates and loses 50 KB that never had one; 64 MB in all. */
static int lose(int step)
{
    unsigned long before;

    lazily(SGC_SHORTTERM_FREE, step);
    before = (unsigned long)GC_get_gc_no();
    for (int period = 0; period < 256; period++) {
        for (int i = 0; i < 250; i++) {
            void *made = GC_MALLOC_ATOMIC(1000);

            if (i % 5 != 0 && SGC_refresh(made, 1) != 0)
                return 1;
        }
        SGC_tick();
    }
    return GC_get_heap_size() > (size_t)8 << 20 || (unsigned long)GC_get_gc_no() - before < 4;
}

int main(void)
{
    tap_plan(14);
    child_ok(own_thread, "a collection frees what its thread has not taken off");
    child_ok_of(waiting(false), "of a thread that does nothing");
    child_ok_of(waiting(true), "of one that blocks");
    child_ok(several_collections, "each time, and the places are used again");
    child_ok(kept, "and leaves what may not be freed");
    child_ok(registered, "or has a finalizer, or a link to it");
    child_ok(queued, "or waits for its finalizer");
    child_ok(linked, "a link that lies in what is freed is none in the next object there");
    child_ok(others, "uncollectable objects, and those with guards");
    child_ok_of(lose(1), "what never had a date and is lost is collected");
    child_ok_of(lose(0), "likewise if only collections take dates off");
    child_ok(ended_thread, "of a thread that has ended, when time has gone on");
    child_ok(vanished_threads, "pages with dates of threads that are gone without a word are used again");
    child_ok(forked, "in a fork's child the other threads' dates do not count");
    return tap_done();
}
