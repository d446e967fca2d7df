/* SPDX-License-Identifier: MIT */
/*
 * Storm of threads: they are made and end all the time, up to LIVE_MAX at once, in every way that
 * gc.h knows, and the only reference to what they work on passes through the argument and the
 * result of a thread, a thread-local variable or thread-specific data.
 *
 * The creators are storm.threads threads; a joinable child waits in the pool (under its lock) until
 * some creator joins it.
 */
#include "tests/stress/storm.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "tests/stress/object.h"

enum { JOINED, DETACHED, DETACHED_LATER, EXITED, CANCELLED, CANCEL_RESULT, RAW, RAW_TWICE, TLS, TLS_MAIN, TSD,
       TSD_DESTRUCTOR, NESTED, COLLECT };
static const char *const parts[] = { "joined", "detached", "detached-later", "exited", "cancelled", "cancel-result",
                                     "raw", "raw-twice", "tls", "tls-main", "tsd", "tsd-destructor", "nested",
                                     "collect", NULL };

/* A thread cancelled inside one of TSan's interceptors no longer tells TSan of what it does. */
#ifdef STORM_TSAN
#define OPTIONAL (1ul << CANCELLED | 1ul << CANCEL_RESULT)
#else
#define OPTIONAL 0
#endif

#define LIVE_MAX 64

static _Atomic int live;

static __thread struct message *only_here;
static __thread void *some_room[300];
static pthread_key_t plain_key, destructor_key;

/* Lets others collect. */
static void linger(struct rng *rng)
{
    storm_scrub_stack();
    if (rng_once_in(rng, 6))
        storm_collect();
    else if (rng_once_in(rng, 2))
        storm_doze_us((unsigned)rng_below(rng, 1500));
    else
        sched_yield();
}

/* ---- what children do ---- */

static __attribute__((noinline)) void through_tls(struct rng *rng)
{
    size_t place = rng_below(rng, sizeof some_room / sizeof *some_room);
    only_here = message_make(rng, TLS);
    some_room[place] = message_make(rng, TLS);
    linger(rng);
    message_check(only_here, "a thread-local variable");
    message_check(some_room[place], "a thread-local array");
    only_here = NULL;
    some_room[place] = NULL;
}

static __attribute__((noinline)) void through_tsd(struct rng *rng)
{
    storm_must(pthread_setspecific(plain_key, message_make(rng, TSD)), "pthread_setspecific");
    linger(rng);
    message_check(pthread_getspecific(plain_key), "thread-specific data");
    storm_must(pthread_setspecific(plain_key, NULL), "pthread_setspecific");
}

/* The documented way: an uncollectable object, freed by the key's destructor. */
static void through_destructor(struct rng *rng)
{
    struct ref *holder = GC_malloc_uncollectable(sizeof *holder);
    STORM_CHECK(holder, "no memory");
    *holder = graph_make(rng, 500);
    storm_must(pthread_setspecific(destructor_key, holder), "pthread_setspecific");
}

static void register_here(void)
{
    struct GC_stack_base base;
    storm_must(GC_get_stack_base(&base), "GC_get_stack_base");
    int result = GC_register_my_thread(&base);
    STORM_CHECK(result == GC_SUCCESS || result == GC_DUPLICATE, "GC_register_my_thread returned %d", result);
    STORM_CHECK(GC_register_my_thread(&base) == GC_DUPLICATE, "a thread registers twice");
    STORM_CHECK(GC_thread_is_registered(), "a registered thread is not");
}

/* Destructors run after the thread has left the collector, so they register it again. */
static void destroy(void *value)
{
    bool ours = !GC_thread_is_registered();
    if (ours)
        register_here();
    graph_check(value);
    graph_free(*(struct ref *)value);
    GC_free(value);
    storm_ran(TSD_DESTRUCTOR);
    if (ours)
        GC_unregister_my_thread();
}

static void create(struct rng *rng, int style);

static void child_work(struct rng *rng)
{
    if (storm_may(TLS, rng, 3))
        through_tls(rng);
    if (storm_may(TSD, rng, 3))
        through_tsd(rng);
    if (storm_has(TSD_DESTRUCTOR) && rng_once_in(rng, 3))
        through_destructor(rng);
    if (storm_may(NESTED, rng, 6))
        create(rng, DETACHED);
}

static struct message *child_body(struct message *message, struct rng *rng)
{
    linger(rng);
    message_check(message, "pthread_create");
    storm_step("child works");
    child_work(rng);
    return message_make(rng, (int)message->style);
}

static void child_ends(void *message)
{
    if (message)
        message_check(message, "a cleanup handler");
    storm_leave();
    atomic_fetch_sub(&live, 1);
}

static void *child(void *argument)
{
    storm_enter();
    struct rng rng = rng_make(((struct message *)argument)->stream);
    bool by_exit = ((struct message *)argument)->style == EXITED;
    struct message *result = child_body(argument, &rng);
    child_ends(NULL);
    if (by_exit)
        GC_pthread_exit(result);
    return result;
}

/* Allocates and waits until it is cancelled, at a system call or between allocations. */
static void *child_to_cancel(void *argument)
{
    struct rng rng;
    storm_enter();
    pthread_cleanup_push(child_ends, argument);
    rng = rng_make(((struct message *)argument)->stream);
    for (;;) {
        struct ref graph = graph_make(&rng, 1000);
        linger(&rng);
        graph_check(&graph);
        pthread_testcancel();
        storm_step("waits to be cancelled");
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* ---- threads that the collector did not make ---- */

/* Static data keeps the message until the child has registered. */
struct mailbox { _Atomic int taken; struct message *message; sem_t taken_over; };
static struct mailbox mailbox[LIVE_MAX];

static void registered_work(struct mailbox *box, struct rng *rng)
{
    struct message *message = box->message;
    box->message = NULL;
    child_body(message, rng);
    box->message = message_make(rng, RAW);
    message_check(message, "a registered thread");
}

static void *raw_child(void *argument)
{
    struct mailbox *box = argument;
    storm_enter();
    struct rng rng = rng_make(storm_mix((uintptr_t)box) ^ storm_ns());
    int rounds = storm_has(RAW_TWICE) ? 1 + (int)rng_below(&rng, 2) : 1;
    for (int i = 0; i < rounds; i++) {
        register_here();
        registered_work(box, &rng);
        storm_must(GC_unregister_my_thread(), "GC_unregister_my_thread");
        storm_ran(i ? RAW_TWICE : RAW);
    }
    sem_post(&box->taken_over);
    child_ends(NULL);
    return NULL;
}

static struct mailbox *take_mailbox(void)
{
    for (int i = 0; i < LIVE_MAX; i++) {
        int no = 0;
        if (atomic_compare_exchange_strong(&mailbox[i].taken, &no, 1))
            return &mailbox[i];
    }
    return NULL;
}

static void create_raw(struct rng *rng)
{
    pthread_t thread;
    struct mailbox *box = take_mailbox();
    if (!box)
        return;
    box->message = message_make(rng, RAW);
    atomic_fetch_add(&live, 1);
    storm_must(pthread_create(&thread, NULL, raw_child, box), "pthread_create");
    while (sem_wait(&box->taken_over))
        STORM_CHECK(errno == EINTR, "sem_wait: error %d", errno);
    message_check(box->message, "static data");
    box->message = NULL;
    storm_must(pthread_join(thread, NULL), "pthread_join");
    atomic_store(&box->taken, 0);
}

/* ---- creators ---- */

struct pending { pthread_t thread; int style; };
static struct pending pool[2 * LIVE_MAX];
static int pooled;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static bool wait_for(struct pending *who)
{
    storm_lock(&pool_lock);
    bool some = pooled > 0;
    if (some)
        *who = pool[--pooled];
    pthread_mutex_unlock(&pool_lock);
    return some;
}

static void put_in_pool(struct pending who)
{
    storm_lock(&pool_lock);
    pool[pooled++] = who;           /* there is room: see pool_has_room */
    pthread_mutex_unlock(&pool_lock);
}

/* A collector that restores the cancel state in its handler makes glibc 2.36 end the thread without
 * setting this result. */
static void cancel(pthread_t thread)
{
    void *result = NULL;
    storm_must(GC_pthread_cancel(thread), "GC_pthread_cancel");
    storm_must(GC_pthread_join(thread, &result), "GC_pthread_join of a cancelled thread");
    if (storm_has(CANCEL_RESULT)) {
        STORM_CHECK(result == PTHREAD_CANCELED, "a cancelled thread returned %p", result);
        storm_ran(CANCEL_RESULT);
    }
}

static void join(pthread_t thread, struct rng *rng)
{
    void *result = NULL;
    storm_must(GC_pthread_join(thread, &result), "GC_pthread_join");
    linger(rng);
    message_check(result, "the result of a thread");
}

static bool join_one(struct rng *rng)
{
    struct pending who;
    if (!wait_for(&who))
        return false;
    if (who.style == DETACHED_LATER)
        storm_must(GC_pthread_detach(who.thread), "GC_pthread_detach");
    else if (who.style == CANCELLED)
        cancel(who.thread);
    else
        join(who.thread, rng);
    storm_ran(who.style);
    return true;
}

static __attribute__((noinline)) void create(struct rng *rng, int style)
{
    pthread_attr_t attributes;
    struct pending who = { 0, style };
    if (atomic_fetch_add(&live, 1) >= LIVE_MAX) {
        atomic_fetch_sub(&live, 1);
        return;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    if (style == DETACHED)
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    storm_must(GC_pthread_create(&who.thread, &attributes, style == CANCELLED ? child_to_cancel : child,
                                 message_make(rng, style)), "GC_pthread_create");
    pthread_attr_destroy(&attributes);
    if (style == DETACHED)
        storm_ran(DETACHED);
    else
        put_in_pool(who);
}

/* Every creator may ask before any of them puts one in; they are fewer than LIVE_MAX. */
static bool pool_has_room(void)
{
    storm_lock(&pool_lock);
    bool room = pooled < LIVE_MAX;
    pthread_mutex_unlock(&pool_lock);
    return room;
}

static void creator(int index)
{
    static const int styles[] = { JOINED, DETACHED, DETACHED_LATER, EXITED, CANCELLED, RAW };
    struct rng rng = rng_make((uint64_t)index);
    while (storm_running()) {
        int style = styles[rng_below(&rng, 6)];
        storm_step(parts[style]);
        if (style == RAW && storm_has(RAW))
            create_raw(&rng);
        else if (style != RAW && storm_has(style) && pool_has_room())
            create(&rng, style);
        storm_scrub_stack();
        if (!pool_has_room() || rng_once_in(&rng, 2))
            join_one(&rng);
        if (storm_may(COLLECT, &rng, 20))
            storm_collect();
    }
}

static __attribute__((noinline)) void main_tls(bool check)
{
    struct rng rng = rng_make(99);
    if (!check)
        only_here = message_make(&rng, TLS_MAIN);
    else
        message_check(only_here, "a thread-local variable of the main thread");
}

static void wait_for_detached(void)
{
    while (atomic_load(&live) > 0) {
        storm_step("waiting for detached threads");
        storm_doze_us(1000);
    }
}

static void body(void)
{
    struct rng rng = rng_make(1);
    for (int i = 0; i < LIVE_MAX; i++)
        sem_init(&mailbox[i].taken_over, 0, 0);
    storm_must(pthread_key_create(&plain_key, NULL), "pthread_key_create");
    storm_must(pthread_key_create(&destructor_key, destroy), "pthread_key_create");
    if (storm_has(TLS_MAIN))
        main_tls(false);
    storm_on_threads(storm.threads < LIVE_MAX / 2 ? storm.threads : LIVE_MAX / 2, creator);
    while (join_one(&rng))
        storm_step("joining the rest");
    wait_for_detached();
    if (storm_has(TLS_MAIN)) {
        main_tls(true);
        storm_ran(TLS_MAIN);
    }
}

const struct storm_program storm_program = {
    "storm_threads", parts, OPTIONAL, 1ul << TLS_MAIN, NULL, body,
    "AddressSanitizer fails a check of its own when threads are cancelled",
};
