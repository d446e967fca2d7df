/* SPDX-License-Identifier: MIT */
/*
 * gc/threads/registry.c, gc/threads/stopper.c: threads that end without a word.  The next stop finds that they are gone,
 * whoever has their number now, and their records serve others.
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include "alloc/free.h"
#include "gc/events/events.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"
#include "sgc.h"

enum { MANY = 300, STRANGERS = 4 };

static const uint64_t SOON_NS = UINT64_C(8000000000);       /* a stop that waits in vain takes 20 s */

static sgc_a32_t went, vanished_tid;

static void note_gone(TEST_UNUSED void *unused, TEST_UNUSED sgc_tid_t tid)
{
    sgc_a32_add(&went, 1);
}

static const struct sgc_listener listener = { .thread_gone = note_gone };

/* But for threads of ours, which start when they are needed. */
static uint32_t registered(void)
{
    uint32_t count = 0;

    sgc_lock(&sgc_registry.lock, sgc_section_of(sgc_mutator_self()));
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        count += !m->service;
    sgc_unlock(&sgc_registry.lock, sgc_section_of(sgc_mutator_self()));
    return count;
}

/* Makes a collection, soon and without a word. */
static bool collects(void)
{
    uint64_t began = sgc_clock_ns();
    enum sgc_collect_result result;
    const char *text;

    text = capture_said(result = white_collect());
    if (text[0] != '\0')
        tap_diag("%s", text);
    return result == SGC_COLLECTED && sgc_clock_ns() - began < SOON_NS && text[0] == '\0';
}

/* ---- ways to vanish ------------------------------------------------------------------------------------------- */

static void leave(void)
{
    sgc_a32_store_rel(&vanished_tid, (uint32_t)sgc_thread_id());
    syscall(SYS_exit, 0);
}

static void *vanish(void *unused)
{
    sgc_mutator_register(0);
    for (int i = 0; i < 20; i++)
        sgc_allocate(100, WHITE_KIND);
    leave();
    return unused;
}

/* As in a signal handler that has interrupted one. */
static void *vanish_in_section(void *unused)
{
    sgc_mutator_register(0);
    sgc_allocate(100, WHITE_KIND);
    sgc_section_enter(&sgc_self->section);
    leave();
    return unused;
}

static void leave_blocked(TEST_UNUSED void *unused)
{
    leave();
}

static void *vanish_blocked(void *unused)
{
    sgc_mutator_register(0);
    white_blocked(leave_blocked, NULL);
    return unused;
}

static pthread_key_t key;

/* In the last round, too: then it is registered again when no round is left in which it could be unregistered. */
static void allocate_late(void *value)
{
    sgc_allocate(100, WHITE_KIND);
    pthread_setspecific(key, value);
}

static void *end_late(void *unused)
{
    sgc_mutator_register(0);
    pthread_setspecific(key, &key);
    return unused;
}

static void check_many(void *(*body)(void *), const char *how)
{
    uint32_t before = registered(), went_before = sgc_a32_load(&went), caches;

    for (int round = 0; round < 2; round++) {
        caches = sgc_a32_load(&sgc_cache_count);
        for (int i = 0; i < MANY; i++)
            white_join(thread_start(body, NULL));
        tap_ok(collects() && registered() == before, "%d threads %s: none is left after a collection", MANY, how);
    }
    caches = sgc_a32_load(&sgc_cache_count) - caches;
    tap_ok(caches < 10, "and their records were used again (%u)", caches);
    tap_ok(sgc_a32_load(&went) - went_before >= 2 * MANY, "each is said to be gone (%u)", sgc_a32_load(&went) - went_before);
    sgc_verify(SGC_check() == 0);
}

/* ---- what others do with their memory -------------------------------------------------------------------------- */

static void *held[MANY];

static void *leave_objects(void *unused)
{
    sgc_mutator_register(0);
    for (int i = 0; i < MANY; i++)
        held[i] = memset(sgc_allocate(200, WHITE_KIND), i % 100, 200);
    leave();
    return unused;
}

static void check_memory(void)
{
    bool good = true;

    white_join(thread_start(leave_objects, NULL));
    for (int round = 0; round < 3; round++) {
        good = good && collects();
        for (int i = 0; i < MANY; i++) {
            good = good && ((char *)held[i])[199] == i % 100;
            memset(sgc_allocate(200, WHITE_KIND), 0xff, 200);
        }
    }
    for (int i = 0; i < MANY; i++)
        sgc_object_free(sgc_self, held[i]);
    memset(held, 0, sizeof held);
    tap_ok(good && collects(), "what a vanished thread has allocated lives, and is freed by others");
    sgc_verify(SGC_check() == 0);
}

/* ---- its number is somebody else's ------------------------------------------------------------------------------ */

static sgc_a32_t others, other_tid[STRANGERS], end_others;

static void *be_other(void *registers)
{
    uint32_t mine;

    if (registers != NULL)
        sgc_mutator_register(0);
    mine = sgc_a32_add(&others, 1) - 1;
    sgc_a32_store_rel(&other_tid[mine % STRANGERS], (uint32_t)sgc_thread_id());
    white_reached(&end_others, 1);
    if (registers != NULL)
        sgc_mutator_unregister(sgc_mutator_self());
    return NULL;
}

/* The records of vanished threads say other numbers now, as if the system had given out theirs. */
static void give_numbers_out(void)
{
    int next = 0;

    sgc_lock(&sgc_registry.lock, sgc_section_of(sgc_mutator_self()));
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_thread_kill(sgc_process_id(), m->tid, 0) != 0)
            m->tid = (sgc_tid_t)sgc_a32_load(&other_tid[next++ % STRANGERS]);
    sgc_unlock(&sgc_registry.lock, sgc_section_of(sgc_mutator_self()));
}

static void check_number_taken(bool registers, const char *by)
{
    uint32_t before = registered();
    pthread_t thread[STRANGERS];
    bool good = true;

    sgc_a32_store(&others, 0);
    sgc_a32_store(&end_others, 0);
    for (int i = 0; i < STRANGERS; i++)
        sgc_a32_store(&other_tid[i], 0);
    for (int i = 0; i < STRANGERS; i++)
        white_join(thread_start(vanish, NULL));
    for (int i = 0; i < STRANGERS; i++)
        thread[i] = thread_start(be_other, registers ? thread : NULL);
    for (int i = 0; i < STRANGERS; i++)
        good = good && white_reached(&other_tid[i], 1);
    give_numbers_out();
    tap_ok(good && collects() && registered() == before + (registers ? STRANGERS : 0),
           "the numbers of vanished threads are those of %s: nobody waits for them", by);
    tap_ok(collects(), "nor later");
    sgc_a32_store_rel(&end_others, 1);
    white_join_all(thread, STRANGERS);
    tap_ok(collects() && registered() == before, "and the others end as usual");
}

/* The same by the system itself, which gives out the next number from the one written there. */
static bool set_next_number(sgc_tid_t tid)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%d", tid - 1);
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
    bool done = fd >= 0 && write(fd, text, (size_t)length) == length;

    if (fd >= 0)
        close(fd);
    return done;
}

static void *tell_number(void *arg)
{
    sgc_a32_store_rel(arg, (uint32_t)sgc_thread_id());
    white_reached(&end_others, 1);
    return NULL;
}

/* Others on this machine take numbers, too. */
static void check_number_given_out(void)
{
    sgc_a32_t number = SGC_ATOMIC_INIT(0);
    bool same = false, good = true;

    for (int i = 0; i < 20 && !same && good; i++) {
        uint32_t before = registered();
        pthread_t thread;

        sgc_a32_store(&end_others, 0);
        sgc_a32_store(&number, 0);
        white_join(thread_start(vanish, NULL));
        if (!set_next_number((sgc_tid_t)sgc_a32_load_acq(&vanished_tid)))
            break;
        thread = thread_start(tell_number, &number);
        white_reached(&number, 1);
        same = sgc_a32_load(&number) == sgc_a32_load(&vanished_tid);
        good = collects() && registered() == before;
        sgc_a32_store_rel(&end_others, 1);
        white_join(thread);
    }
    if (same)
        tap_ok(good, "the system gives a vanished thread's number to another one");
    else
        tap_skip("this system lets nobody choose the number of a thread");
    collects();
}

/* ---- the first thread --------------------------------------------------------------------------------------------- */

static void *go_on_alone(void *unused)
{
    sgc_mutator_register(0);
    sgc_sleep_ns(50 * WHITE_MS);
    _exit(collects() && registered() == 1 ? 0 : 1);
    return unused;
}

static int first_thread_vanishes(void)
{
    white_init();
    thread_start(go_on_alone, NULL);
    syscall(SYS_exit, 0);
    return 2;
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer must see how threads end");
    child_ok(first_thread_vanishes, "the first thread vanishes, which the system remembers: nobody waits for it");
    white_init();
    sgc_listener_add(&listener);
    pthread_key_create(&key, allocate_late);
    white_collect();
    check_many(vanish, "that the system ends");
    check_many(vanish_in_section, "that it ends in a section");
    check_many(vanish_blocked, "that it ends in a blocked region");
    check_many(end_late, "that register again at their end");
    check_memory();
    check_number_taken(true, "registered threads");
    check_number_taken(false, "threads that are not registered");
    check_number_given_out();
    return tap_done();
}
