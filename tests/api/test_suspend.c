/* SPDX-License-Identifier: MIT */
/*
 * One thread suspended (javaxfc.h): it stands still, its objects live, and nobody else waits for it.
 */
#include "api.h"

#include <gc/javaxfc.h>

#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "../lib/sanitized.h"

enum { WORKERS = 3, ROUNDS = TEST_SANITIZED ? 40 : 150 };

static void rest(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* ---- threads that do something in a loop ----------------------------------------------------- */

struct worker {
    pthread_t thread;
    void (*step)(struct worker *w);
    atomic_ulong turns;
    atomic_int over;
    sem_t ready;
    GC_hidden_pointer held;             /* an object that only its stack holds */
};

static _Thread_local struct worker *me;

static void *work(void *raw)
{
    struct worker *w = raw;
    char *volatile object = GC_malloc(API_LARGE);

    me = w;
    w->held = GC_HIDE_POINTER(object);
    strcpy(object, "held");
    sem_post(&w->ready);
    while (!atomic_load(&w->over)) {
        w->step(w);
        atomic_fetch_add(&w->turns, 1);
    }
    return strcmp(object, "held") == 0 ? w : NULL;
}

static void start(struct worker *w, void (*step)(struct worker *w))
{
    memset(w, 0, sizeof(*w));
    w->step = step;
    sem_init(&w->ready, 0, 0);
    w->thread = api_start(work, w);
    api_wait(&w->ready);
}

/* True if all was well with it. */
static bool finish(struct worker *w)
{
    void *result = NULL;

    atomic_store(&w->over, 1);
    return GC_pthread_join(w->thread, &result) == 0 && result == w;
}

static bool advances(const struct worker *w)
{
    unsigned long before = atomic_load(&w->turns);

    for (int i = 0; i < 5000 && atomic_load(&w->turns) == before; i++)
        rest(1);
    return atomic_load(&w->turns) != before;
}

/* Where a signal comes in, under sanitizers too. */
static void pause_a_little(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
}

static void idle(TEST_UNUSED struct worker *w)
{
    pause_a_little();
}

static void allocate(struct worker *w)
{
    static const size_t bytes[] = { 16, 100, 3000, 40000, 300000 };
    void *object = GC_malloc(bytes[atomic_load(&w->turns) % 5]);

    if (atomic_load(&w->turns) % 2 == 0)
        GC_free(object);
}

static void collect(TEST_UNUSED struct worker *w)
{
    GC_gcollect();
}

/* Inside the loader's lock for most of the time; not for all of it, since that lock is not fair: who has just given it back
 * takes it again before those who wait have woken up. */
static int look_at_module(TEST_UNUSED struct dl_phdr_info *info, TEST_UNUSED size_t size, TEST_UNUSED void *data)
{
    pause_a_little();
    return 0;
}

static void ask_loader(TEST_UNUSED struct worker *w)
{
    dl_iterate_phdr(look_at_module, NULL);
    pause_a_little();
}

/* ---- it stands still ------------------------------------------------------------------------- */

/* Everything that could need something of a thread that is stopped in the middle. */
static void *keep[64];

static void use_everything(void)
{
    pthread_t other;

    for (int i = 0; i < 64; i++)
        keep[i] = GC_malloc((size_t)1 << (4 + i % 15));
    memset(keep[14], 0xff, 1 << 18);
    GC_register_finalizer(GC_malloc(16), (GC_finalization_proc)0, NULL, NULL, NULL);
    GC_expand_hp(1 << 20);
    api_collect();
    if (GC_pthread_create(&other, NULL, (void *(*)(void *))GC_base, NULL) == 0)
        GC_pthread_join(other, NULL);
}

static void check_stands_still(void)
{
    struct worker w;
    unsigned long before;

    start(&w, idle);
    tap_ok(!GC_is_thread_suspended(w.thread) && advances(&w), "a thread runs, and is not suspended");
    GC_suspend_thread(w.thread);
    before = atomic_load(&w.turns);
    tap_ok(GC_is_thread_suspended(w.thread), "a suspended thread is said to be");
    rest(20);
    use_everything();
    tap_ok(atomic_load(&w.turns) == before, "it stands still through collections, and after them");
    tap_ok(api_alive(&w.held, 1) == 1, "what its stack holds is alive");
    GC_suspend_thread(w.thread);
    GC_resume_thread(w.thread);
    tap_ok(!GC_is_thread_suspended(w.thread) && advances(&w), "suspended twice and resumed once it goes on");
    GC_resume_thread(w.thread);
    tap_ok(!GC_is_thread_suspended(w.thread) && advances(&w), "resuming a thread that runs does nothing");
    tap_ok(finish(&w), "and its object was never touched");
}

static void check_moments(void (*step)(struct worker *w), const char *what)
{
    struct worker w[WORKERS];
    int moved = 0, lost = 0, dead = 0;

    for (int i = 0; i < WORKERS; i++)
        start(&w[i], step);
    for (int i = 0; i < ROUNDS; i++) {
        struct worker *one = &w[i % WORKERS];
        unsigned long before;

        GC_suspend_thread(one->thread);
        before = atomic_load(&one->turns);
        lost += !GC_is_thread_suspended(one->thread);
        if (i % 10 == 0)
            use_everything();
        else
            GC_gcollect();
        moved += atomic_load(&one->turns) != before;
        dead += api_alive(&one->held, 1) != 1;
        GC_resume_thread(one->thread);
    }
    for (int i = 0; i < WORKERS; i++)
        lost += !finish(&w[i]);
    tap_ok(moved == 0 && lost == 0 && dead == 0, "at any moment: threads that %s (%d moved, %d lost, %d dead)", what, moved,
           lost, dead);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static struct worker *_Atomic victim;
static atomic_int calls, called_by_victim;

static void on_start(void)
{
    atomic_fetch_add(&calls, 1);
    if (me != NULL && me == atomic_load(&victim))
        atomic_fetch_add(&called_by_victim, 1);
}

/* A thread that waits for the allocation lock when it is suspended must not go on to collect, nor swallow the wake-up
 * that another one waits for. */
static void check_waiting_for_lock(void)
{
    struct worker w[WORKERS];
    int by_victim = 0, stuck = 0;

    GC_set_start_callback(on_start);
    for (int i = 0; i < WORKERS; i++)
        start(&w[i], collect);
    for (int i = 0; i < ROUNDS; i++) {
        GC_alloc_lock();                /* the others come to wait */
        rest(1);
        GC_alloc_unlock();
        GC_suspend_thread(w[i % WORKERS].thread);
        atomic_store(&called_by_victim, 0);
        atomic_store(&victim, &w[i % WORKERS]);
        stuck += !advances(&w[(i + 1) % WORKERS]) || !advances(&w[(i + 2) % WORKERS]);
        by_victim += atomic_load(&called_by_victim);
        GC_call_with_alloc_lock((GC_fn_type)GC_base, NULL);
        atomic_store(&victim, NULL);
        GC_resume_thread(w[i % WORKERS].thread);
    }
    for (int i = 0; i < WORKERS; i++)
        finish(&w[i]);
    GC_set_start_callback(NULL);
    tap_ok(atomic_load(&calls) > ROUNDS && by_victim == 0 && stuck == 0,
           "a suspended thread does not collect, and keeps nobody from it (%d calls, %d by it, %d stuck)",
           atomic_load(&calls), by_victim, stuck);
}

/* ---- oneself, blocked, ended ----------------------------------------------------------------- */

static void suspend_self(TEST_UNUSED struct worker *w)
{
    GC_suspend_thread(pthread_self());
}

static bool becomes_suspended(const struct worker *w)
{
    for (int i = 0; i < 5000 && !GC_is_thread_suspended(w->thread); i++)
        rest(1);
    return GC_is_thread_suspended(w->thread) != 0;
}

static void check_self(void)
{
    struct worker w;
    int good = 0;

    start(&w, suspend_self);
    for (int i = 0; i < 10; i++) {
        good += becomes_suspended(&w) && atomic_load(&w.turns) == (unsigned long)i;
        GC_gcollect();
        if (i == 9)
            atomic_store(&w.over, 1);
        GC_resume_thread(w.thread);
        while (atomic_load(&w.turns) == (unsigned long)i)
            sched_yield();
    }
    tap_ok(good == 10 && finish(&w), "a thread suspends itself, and returns when it is resumed (%d of 10)", good);
}

static void *wait_inside(void *arg)
{
    api_stay();
    return arg;
}

static void block(struct worker *w)
{
    GC_do_blocking(wait_inside, w);
}

static void check_blocked(void)
{
    struct worker w;

    start(&w, block);
    api_wait(&api_there);
    GC_suspend_thread(w.thread);
    tap_ok(GC_is_thread_suspended(w.thread), "a thread in GC_do_blocking is suspended at once");
    sem_post(&api_may_go);
    rest(20);
    GC_gcollect();
    tap_ok(atomic_load(&w.turns) == 0 && api_alive(&w.held, 1) == 1, "and stops when it leaves that");
    atomic_store(&w.over, 1);
    GC_resume_thread(w.thread);
    tap_ok(finish(&w) && atomic_load(&w.turns) == 1, "until it is resumed");
}

static void check_cancelled(void)
{
    struct worker w;
    void *result = NULL;
    pthread_t thread;

    start(&w, block);
    api_wait(&api_there);
    GC_suspend_thread(w.thread);
    GC_pthread_cancel(w.thread);
    rest(20);
    tap_ok(GC_is_thread_suspended(w.thread), "a suspended thread that is cancelled stays");
    thread = w.thread;
    GC_resume_thread(w.thread);
    tap_ok(GC_pthread_join(w.thread, &result) == 0 && result == PTHREAD_CANCELED, "until it is resumed: then it ends");
    tap_ok(!GC_is_thread_suspended(thread) && !GC_is_thread_suspended((pthread_t)0),
           "a thread that has ended is not suspended");
    GC_resume_thread(thread);
    GC_resume_thread((pthread_t)0);
}

static atomic_int ended;

static void *short_life(void *arg)
{
    GC_malloc(100);
    atomic_fetch_add(&ended, 1);
    return arg;
}

/* Suspended and resumed once, and joined. */
static bool suspended_and_ends(pthread_t thread)
{
    bool was, is;

    GC_suspend_thread(thread);
    GC_suspend_thread(thread);
    was = GC_is_thread_suspended(thread);
    GC_gcollect();
    GC_resume_thread(thread);
    is = GC_is_thread_suspended(thread);
    GC_resume_thread(thread);
    return GC_pthread_join(thread, NULL) == 0 && was && !is;
}

/* Suspended while they end: who does that cannot know whether they still run, until it joins them. */
static void check_ending(void)
{
    GC_warn_proc usual = GC_get_warn_proc();
    int good = 0;

    GC_set_warn_proc(api_count_warning);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;

        if (GC_pthread_create(&thread, NULL, short_life, NULL) != 0)
            continue;
        for (int j = i % 30; j > 0; j--)
            sched_yield();
        good += suspended_and_ends(thread);
    }
    tap_ok(good == ROUNDS && atomic_load(&ended) == ROUNDS,
           "threads that end meanwhile count as suspended until they are resumed (%d of %d)", good, ROUNDS);
    tap_ok(api_warnings == 0, "and none is reported as unknown (%d)", api_warnings);
    GC_set_warn_proc(usual);
}

/* ---- signals and fork ------------------------------------------------------------------------ */

static atomic_int signals;

static void on_signal(TEST_UNUSED int number)
{
    atomic_fetch_add(&signals, 1);
}

static void check_signals(void)
{
    struct worker w;

    signal(SIGUSR1, on_signal);
    start(&w, allocate);
    GC_suspend_thread(w.thread);
    pthread_kill(w.thread, SIGUSR1);
    rest(20);
    tap_ok(atomic_load(&signals) == 0, "no handler of the program runs on a suspended thread");
    GC_resume_thread(w.thread);
    advances(&w);
    tap_ok(finish(&w) && atomic_load(&signals) == 1, "but afterwards");
}

static struct worker across_fork;

static void in_child(void)
{
    API_CHILD(!GC_is_thread_suspended(across_fork.thread));
    GC_resume_thread(across_fork.thread);
    API_CHILD(api_alive(&across_fork.held, 1) == 1);
    API_CHILD(api_survive(&across_fork.held, 1) == 0 && GC_malloc(100) != NULL);
}

static void check_fork(void)
{
    unsigned long before;

    start(&across_fork, allocate);
    GC_suspend_thread(across_fork.thread);
    before = atomic_load(&across_fork.turns);
    api_check_child(in_child, NULL, "in the child of a fork a suspended thread does not exist, nor what it held");
    GC_gcollect();
    tap_ok(GC_is_thread_suspended(across_fork.thread) && atomic_load(&across_fork.turns) == before,
           "in the parent it is suspended still");
    GC_resume_thread(across_fork.thread);
    tap_ok(finish(&across_fork), "and goes on when it is resumed");
}

/* ---- wrong calls ----------------------------------------------------------------------------- */

static void suspend_nobody(void)
{
    GC_suspend_thread((pthread_t)12345);
    API_CHILD(!GC_is_thread_suspended((pthread_t)12345));
}

static void suspend_locked(void)
{
    GC_alloc_lock();
    GC_suspend_thread(pthread_self());
    API_CHILD(!GC_is_thread_suspended(pthread_self()));
    GC_alloc_unlock();
}

/* The world is stopped already, and this thread has done it. */
static void ask_stopped(void)
{
    GC_stop_world_external();
    API_CHILD(!GC_is_thread_suspended(pthread_self()));
    GC_resume_thread(pthread_self());
    GC_start_world_external();
}

static void *foreign(void *raw)
{
    struct worker *w = raw;
    bool was = GC_is_thread_suspended(w->thread) != 0;

    GC_resume_thread(w->thread);
    return was && !GC_thread_is_registered() ? w : NULL;
}

static atomic_int leaving;

static void *end_silently(void *arg)
{
    atomic_store(&leaving, 1);
    syscall(SYS_exit, 0);
    return arg;
}

/* A thread that has ended without a word is registered until a stop finds it out.  From then on it is as any other that has
 * ended and was not joined. */
static void suspend_ended(void)
{
    pthread_t thread = api_start(end_silently, NULL);

    while (!atomic_load(&leaving))
        rest(1);
    rest(50);
    GC_suspend_thread(thread);
    API_CHILD(GC_is_thread_suspended(thread));
    GC_gcollect();
    GC_resume_thread(thread);
    API_CHILD(!GC_is_thread_suspended(thread) && GC_pthread_join(thread, NULL) == 0);
    GC_suspend_thread(thread);
    API_CHILD(!GC_is_thread_suspended(thread));
}

static void suspend_joined(void)
{
    pthread_t thread;

    API_CHILD(GC_pthread_create(&thread, NULL, short_life, NULL) == 0 && GC_pthread_join(thread, NULL) == 0);
    GC_suspend_thread(thread);
    API_CHILD(!GC_is_thread_suspended(thread));
}

static void check_wrong(void)
{
    struct worker w;

    api_check_child(suspend_nobody, "no registered thread has this id", "a thread that nobody knows is reported");
    api_check_child(suspend_locked, "holds the allocation lock", "so is a call with the allocation lock");
    api_check_child(ask_stopped, NULL, "asking and resuming are possible with the world stopped");
    api_check_child(suspend_ended, "no registered thread has this id", "and a joined one that has ended without a word");
    api_check_child(suspend_joined, "no registered thread has this id", "and one that has been joined");
    start(&w, idle);
    GC_suspend_thread(w.thread);
    GC_resume_thread((pthread_t)12345);
    tap_ok(!GC_is_thread_suspended((pthread_t)12345) && GC_is_thread_suspended(w.thread), "nobody's id is nobody else's");
    tap_ok(api_in_plain_thread(foreign, &w) == &w && advances(&w), "and by a thread that is not registered");
    finish(&w);
}

int main(void)
{
    GC_INIT();
    check_stands_still();
    check_moments(allocate, "allocate");
    check_moments(collect, "collect");
    if (TEST_SANITIZED)
        tap_skip("threads that ask the loader get no signal there");
    else
        check_moments(ask_loader, "ask the loader");
    tap_each(check_waiting_for_lock, check_self, check_blocked);
    if (TEST_SANITIZED)
        tap_skip("a sanitizer loses track of a thread that is cancelled inside sem_wait");
    else
        check_cancelled();
    check_ending();
    check_signals();
    if (TEST_SANITIZED)
        tap_skip("ThreadSanitizer allows no new threads in the child of a fork");
    else
        check_fork(), check_wrong();
    return tap_done();
}
