/* SPDX-License-Identifier: MIT */
/*
 * Where a program that runs one thread is stopped by cycles that run beside it: where it allocates.  It changes what its mark
 * procedure looks at with the allocation lock held, and says where that is afterwards, as programs do that move their stacks;
 * and its hooks come on its own thread.  Not with API_PEER: that has no such cycles.
 *
 * Also: gc/collect/lead.c, gc/threads/stopper.c.
 */
#include "api.h"

#include <stdatomic.h>

static pthread_t program;
static volatile bool allocates;                 /* elsewhere nobody expects a collection */
static volatile bool half_done;                 /* moved, and not published */
static atomic_int looks, elsewhere, too_early;  /* of the procedure; where the program did not allocate; while half done */
static atomic_int hooks, strange;               /* on the program's thread; on another */

/* ---- what the collector calls ------------------------------------------------------------------- */

static struct GC_ms_entry *look(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    (void)object, (void)limit, (void)env;
    looks++;
    elsewhere += !allocates;
    too_early += half_done;
    return top;
}

static void count_hook(void)
{
    if (pthread_equal(pthread_self(), program))
        hooks++;
    else
        strange++;
}

static void on_event(TEST_UNUSED GC_EventType event)
{
    count_hook();
}

/* ---- the program ---------------------------------------------------------------------------------- */

static void *move(void *unused)
{
    half_done = true;
    for (volatile int i = 0; i < 2000; i++)
        continue;
    return unused;
}

TEST_NOINLINE static void move_and_publish(void)
{
    GC_call_with_alloc_lock(move, NULL);
    half_done = false;
}

static void *keep(void *list, long n)
{
    void **cell;

    allocates = true;
    cell = GC_malloc(64);
    allocates = false;
    *cell = n % 50000 == 0 ? NULL : list;
    return cell;
}

static void *volatile watched, *volatile last;

static void begin(void)
{
    unsigned procedure;

    GC_set_on_collection_event(on_event);
    GC_set_push_other_roots(count_hook);
    GC_set_start_callback(count_hook);
    GC_INIT();
    program = pthread_self();
    procedure = GC_new_proc(look);
    watched = GC_generic_malloc(64, (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(procedure, 0), 0, 1));
    API_CHILD(watched != NULL && GC_is_incremental_mode());
}

static void run_for(long ms, GC_word cycles)
{
    long until = api_milliseconds() + ms;
    GC_word before = GC_get_gc_no();

    for (long n = 0; api_milliseconds() < until && GC_get_gc_no() - before < cycles; n++) {
        last = keep(last, n);
        move_and_publish();
    }
    API_CHILD(GC_get_gc_no() - before >= cycles);
}

static void one_thread(void)
{
    begin();
    run_for(18000, 40);
    API_CHILD(looks > 0 && too_early == 0);
    API_CHILD(elsewhere == 0);
    API_CHILD(hooks > 0 && strange == 0);
}

/* ---- beside it, a thread that counts as stopped --------------------------------------------------- */

static void *wait_until_over(void *unused)
{
    api_stay();
    return unused;
}

static void *stay_blocked(void *unused)
{
    return GC_do_blocking(wait_until_over, unused);
}

static void beside_blocked(void)
{
    pthread_t thread;

    begin();
    API_CHILD(GC_pthread_create(&thread, NULL, stay_blocked, NULL) == 0);
    api_wait(&api_there);
    run_for(18000, 20);
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
    run_for(18000, 10);
    API_CHILD(looks > 0 && elsewhere == 0 && too_early == 0 && strange == 0);
}

/* ---- a program that does not allocate ------------------------------------------------------------- */

static bool is_over(GC_word before)
{
    return GC_get_gc_no() != before;
}

static void start_cycle(void)
{
    begin();
    run_for(18000, 2);
    GC_start_incremental_collection();
}

static void computes(void)
{
    GC_word before;

    start_cycle();
    before = GC_get_gc_no();
    while (!is_over(before))
        move_and_publish();
}

/* Its signal may end the sleep early. */
static void sleeps(void)
{
    GC_word before;

    start_cycle();
    for (before = GC_get_gc_no(); !is_over(before);)
        poll(NULL, 0, 1000);
}

static void *wait_for_cycle(void *before)
{
    while (!is_over(*(GC_word *)before))
        poll(NULL, 0, 1);
    return before;
}

static void is_blocked(void)
{
    GC_word before;

    start_cycle();
    before = GC_get_gc_no();
    GC_do_blocking(wait_for_cycle, &before);
}

static void forks(void)
{
    int status;
    pid_t child;

    start_cycle();
    child = fork();
    if (child == 0) {
        run_for(9000, 3);
        _exit(elsewhere != 0 || strange != 0);
    }
    API_CHILD(waitpid(child, &status, 0) == child && status == 0);
    run_for(9000, 3);
    API_CHILD(elsewhere == 0 && strange == 0);
}

/* ---- the checks ----------------------------------------------------------------------------------- */

static void check(const char *settings, void (*fn)(void), const char *name)
{
    char errors[4000];

    api_settings = settings;
    if (!tap_ok(api_child(fn, errors, sizeof(errors)) == 0, "%s (%s)", name, settings))
        tap_diag("%s", errors);
    api_settings = NULL;
}

#define CONCURRENT "SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0 SGC_DIRTY="

int main(void)
{
    check(CONCURRENT "none", one_thread, "one thread is stopped where it allocates, and has all hooks");
    check(CONCURRENT "mprotect", one_thread, "likewise");
    check(CONCURRENT "software", one_thread, "likewise");
    check(CONCURRENT "none", beside_blocked, "so is one beside a blocked one, and when that has ended");
    check(CONCURRENT "none", forks, "and in the child of a fork that comes in a cycle, and in its parent");
    check(CONCURRENT "none", computes, "while it does not allocate for long, a cycle ends all the same");
    check(CONCURRENT "none", sleeps, "nor when it sleeps");
    check(CONCURRENT "none", is_blocked, "nor in a blocked region");
    return tap_done();
}
