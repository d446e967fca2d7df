/* SPDX-License-Identifier: MIT */
/*
 * gc/threads/registry.c: threads come and go, in every way a thread can end.
 *
 * Also: gc/collect/start.c.
 */
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "alloc/free.h"
#include "gc/events/events.h"
#include "tests/lib/child.h"
#include "tests/lib/trap.h"
#include "tests/lib/white.h"
#include "sgc.h"

static uint32_t registered(void)
{
    uint32_t count;

    sgc_lock(&sgc_registry.lock, sgc_section_of(sgc_mutator_self()));
    count = sgc_registry.count;
    sgc_unlock(&sgc_registry.lock, sgc_section_of(sgc_mutator_self()));
    return count;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

static sgc_a32_t came, went;

static void note_came(TEST_UNUSED void *unused, TEST_UNUSED sgc_tid_t tid)
{
    sgc_a32_add(&came, 1);
}

static void note_gone(TEST_UNUSED void *unused, TEST_UNUSED sgc_tid_t tid)
{
    sgc_a32_add(&went, 1);
}

static const struct sgc_listener listener = { .thread_registered = note_came, .thread_gone = note_gone };

/* ---- one thread -------------------------------------------------------------------------------------------- */

static struct sgc_mutator *records[3];

static void *register_thrice(void *unused)
{
    for (int i = 0; i < 3; i++)
        records[i] = sgc_mutator_register(0);
    if (records[0] != NULL)
        sgc_mutator_unregister(records[0]);
    if (sgc_self != NULL)
        records[2] = NULL;
    return unused;
}

static void test_one(void)
{
    struct sgc_mutator *first;

    white_join(thread_start(register_thrice, NULL));
    tap_ok(records[0] != NULL && records[1] == records[0] && records[2] == records[0],
           "registering twice gives the same record");
    tap_ok(sgc_a32_load(&came) == 1 && sgc_a32_load(&went) == 1, "and is one event, as is the end");
    first = records[0];
    white_join(thread_start(register_thrice, NULL));
    tap_ok(records[0] == first, "the next thread gets the record of the one that ended");
}

/* ---- every way to end ----------------------------------------------------------------------------------------- */

static pthread_key_t key;
static sgc_a32_t blocked_now;

static void *end_without_word(void *unused)
{
    sgc_mutator_register(0);
    sgc_allocate(100, WHITE_KIND);
    return unused;
}

static void *end_by_exit(void *unused)
{
    sgc_mutator_register(0);
    pthread_exit(unused);
}

static void sleep_for_ever(TEST_UNUSED void *unused)
{
    sgc_a32_store_rel(&blocked_now, 1);
    for (;;)
        pause();
}

static void *be_cancelled(void *unused)
{
    sgc_mutator_register(0);
    white_blocked(sleep_for_ever, NULL);
    return unused;
}

static void allocate_late(TEST_UNUSED void *unused)
{
    sgc_allocate(100, WHITE_KIND);
}

static void *end_with_destructor(void *unused)
{
    sgc_mutator_register(0);
    pthread_setspecific(key, &key);
    return unused;
}

/* TSan loses the order of a thread that is cancelled inside one of its interceptors. */
static void test_cancelled(uint32_t before)
{
    pthread_t thread;

    if (TEST_SANITIZED) {
        tap_skip("cancelling in a blocked region: sanitizers lose track of a cancelled thread");
        return;
    }
    thread = thread_start(be_cancelled, NULL);
    white_reached(&blocked_now, 1);
    white_collect();
    pthread_cancel(thread);
    white_join(thread);
    tap_ok(registered() == before, "and one that is cancelled in a blocked region");
}

static void test_ends(void)
{
    uint32_t before;

    white_collect();
    sgc_sleep_ns(100 * WHITE_MS);       /* for the service thread to be there */
    before = registered();
    white_join(thread_start(end_without_word, NULL));
    tap_ok(registered() == before, "a thread that ends without a word is unregistered");
    white_join(thread_start(end_by_exit, NULL));
    tap_ok(registered() == before, "so is one that ends by pthread_exit");
    pthread_key_create(&key, allocate_late);
    white_join(thread_start(end_with_destructor, NULL));
    tap_ok(registered() == before, "and one whose destructors still allocate");
    test_cancelled(before);
    tap_ok(white_collect() == SGC_COLLECTED, "the world stops without them");
    sgc_verify(SGC_check() == 0);
}

/* ---- storms ------------------------------------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 500 };

static sgc_a32_t wrong;

static void *come_and_go(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct sgc_mutator *self = sgc_mutator_register(0);
        long *object = sgc_allocate(64, WHITE_KIND);

        *object = i;
        if (i % 100 == 0)
            sgc_collect(self, SGC_REASON_EXPLICIT, NULL);
        if (*object != i || self != sgc_mutator_self())
            sgc_a32_add(&wrong, 1);
        sgc_mutator_unregister(self);
        if (sgc_self != NULL)
            sgc_a32_add(&wrong, 1);
    }
    return unused;
}

static void test_storm(void)
{
    pthread_t thread[THREADS];
    uint32_t before = registered(), caches;

    threads_start(thread, THREADS, come_and_go);
    white_join_all(thread, THREADS);
    caches = sgc_a32_load(&sgc_cache_count);
    tap_ok(sgc_a32_load(&wrong) == 0, "%d threads register and unregister %d times each", THREADS, ROUNDS);
    tap_ok(registered() == before, "nobody is left over");
    tap_ok(caches < 32, "and records were used again (%u)", caches);
    sgc_verify(SGC_check() == 0);
}

/* ---- where its stack ends -------------------------------------------------------------------------------------------- */

static void *check_bottom(void *result)
{
    struct sgc_mutator *self = sgc_mutator_register((uintptr_t)__builtin_frame_address(0));

    *(bool *)result = self->bottom == self->stack.high && self->tid == sgc_thread_id();
    sgc_mutator_unregister(self);
    self = sgc_mutator_register(64);
    *(bool *)result = *(bool *)result && self->bottom == 64;
    sgc_mutator_unregister(self);
    return NULL;
}

static void test_bottom(void)
{
    bool good = false;

    white_join(thread_start(check_bottom, &good));
    tap_ok(good, "a bottom inside the thread's stack widens to all of it; one elsewhere is believed");
}

/* ---- handlers that allocate while it unregisters ---------------------------------------------------------------------- */

#if defined(__x86_64__)

enum { HANDLED_BYTES = 32, HANDLED = 4096, ENDS = 3 };

static long *volatile handled[HANDLED];         /* what the handlers have allocated */
static volatile int handlers;

/* At each instruction where a handler of the program may come. */
static void on_trap(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    long *object;

    if (sgc_self == NULL || sgc_section_inside(&sgc_self->section) || sgc_brief_recorded(&sgc_self->section) != 0 ||
        sigismember(&interrupted->uc_sigmask, SIGUSR1))
        return;
    object = sgc_allocate(HANDLED_BYTES, WHITE_KIND);
    *object = handlers;
    handled[handlers++ % HANDLED] = object;
}

static void *end_stepwise(void *unused)
{
    struct sgc_mutator *self = sgc_mutator_register(0);

    for (size_t bytes = 16; bytes < 8000; bytes += 16)
        sgc_allocate(bytes, WHITE_KIND);
    trap_on();
    sgc_mutator_unregister(self);
    trap_off();
    return unused;
}

static sgc_a32_t overwritten;

/* It may have the record of a thread that has ended. */
static void *fill_and_check(void *unused)
{
    enum { OBJECTS = 2000 };
    static long *volatile own[OBJECTS];

    sgc_mutator_register(0);
    for (int i = 0; i < OBJECTS; i++) {
        own[i] = sgc_allocate(HANDLED_BYTES, WHITE_KIND);
        *own[i] = -i;
    }
    for (int i = 0; i < OBJECTS; i++)
        sgc_a32_add(&overwritten, *own[i] != -i);
    sgc_mutator_unregister(sgc_mutator_self());
    return unused;
}

static int ends_interrupted(void)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
    int first;

    alarm(60);
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < ENDS; i++)
        white_join(thread_start(end_stepwise, NULL));
    white_join(thread_start(fill_and_check, NULL));
    first = handlers < HANDLED ? 0 : handlers - HANDLED;
    for (int i = first; i < handlers; i++)
        if (*handled[i % HANDLED] != i || sgc_object_free(sgc_self, handled[i % HANDLED]) != SGC_FREE_DONE)
            return 1;
    white_collect();
    white_join(thread_start(fill_and_check, NULL));
    sgc_verify(SGC_check() == 0);
    return handlers == 0 ? 2 : sgc_a32_load(&overwritten) != 0 ? 3 : 0;
}

static void test_interrupted(void)
{
    if (TEST_SANITIZED)
        tap_skip("single steps go through the sanitizer's own code");
    else
        child_ok(ends_interrupted, "threads whose handlers allocate wherever they come while these unregister");
}

#else

static void test_interrupted(void)
{
    tap_skip("single steps are for x86-64");
}

#endif

int main(void)
{
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    white_init();
    sgc_listener_add(&listener);
    return tap_all(test_one, test_ends, test_storm, test_bottom, test_interrupted);
}
