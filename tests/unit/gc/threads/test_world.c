/* SPDX-License-Identifier: MIT */
/*
 * gc/threads/world.c: stopping and resuming threads in every state, and giving up on those that
 * cannot be stopped.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "gc/events/events.h"
#include "tests/lib/capture.h"
#include "tests/lib/white.h"
#include "sgc.h"

/* ---- nobody moves while the world is stopped ------------------------------------------------------------ */

enum { THREADS = 8, BLOCKED_THREADS = 3 };

static sgc_a32_t ready, ending;
static sgc_aw_t counter[THREADS];

static void count(void *mine)
{
    sgc_a32_add(&ready, 1);
    while (!sgc_a32_load_acq(&ending)) {
        sgc_aw_add(mine, 1);
        if (sgc_aw_load(mine) % 64 == 0)
            sgc_allocate(40, WHITE_KIND);
        if (sgc_aw_load(mine) % 1024 == 0)
            sgc_yield();
    }
}

static void wait_for_end(TEST_UNUSED void *unused)
{
    white_reached(&ending, 1);
}

static void block(TEST_UNUSED void *unused)
{
    sgc_a32_add(&ready, 1);
    white_blocked(wait_for_end, NULL);
}

static uintptr_t sum_of_counters(void)
{
    uintptr_t sum = 0;

    for (int i = 0; i < THREADS; i++)
        sum += sgc_aw_load_acq(&counter[i]);
    return sum;
}

/* Stops by hand, as GC_stop_world_external does; true if nothing moved while it lasted. */
static bool stands_still(void)
{
    uintptr_t before, after;

    if (!sgc_external_stop(sgc_mutator_self()))
        return false;
    before = sum_of_counters();
    for (int i = 0; i < 20; i++)
        sgc_yield();
    sgc_sleep_ns(WHITE_MS);
    after = sum_of_counters();
    sgc_external_resume(sgc_mutator_self());
    return before == after;
}

static struct { sgc_a32_t stopped, blocked, cycles; } seen;

static void note_cycle(TEST_UNUSED void *unused, const struct sgc_cycle_record *record)
{
    sgc_a32_store(&seen.stopped, (uint32_t)record->threads.stopped);
    sgc_a32_store(&seen.blocked, (uint32_t)record->threads.blocked);
    sgc_a32_add(&seen.cycles, 1);
}

static const struct sgc_listener listener = { .cycle_end = note_cycle };

static void collect_often(void *result)
{
    bool good = true;

    for (int i = 0; i < 50; i++)
        good = good && sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL) == SGC_COLLECTED;
    sgc_a32_store_rel(result, good);
}

/* They allocate, so there may be a cycle at any time. */
static bool run_again(uintptr_t before)
{
    for (int ms = 0; ms < 10000; ms++) {
        if (sum_of_counters() > before && !sgc_world_stopped())
            return true;
        sgc_sleep_ns(WHITE_MS);
    }
    return false;
}

static void test_many(void)
{
    pthread_t thread[THREADS + BLOCKED_THREADS], collector[2];
    sgc_a32_t result[2] = { SGC_ATOMIC_INIT(0), SGC_ATOMIC_INIT(0) };
    int still = 0;

    for (int i = 0; i < THREADS; i++)
        thread[i] = white_start(count, &counter[i]);
    for (int i = 0; i < BLOCKED_THREADS; i++)
        thread[THREADS + i] = white_start(block, NULL);
    white_reached(&ready, THREADS + BLOCKED_THREADS);
    sgc_sleep_ns(20 * WHITE_MS);
    for (int i = 0; i < 20; i++)
        still += stands_still();
    tap_ok(still == 20, "%d running threads stand still in each of 20 stops (%d)", THREADS, still);
    tap_ok(run_again(sum_of_counters()), "and run again after");
    white_collect();
    tap_ok(sgc_a32_load(&seen.blocked) >= BLOCKED_THREADS, "threads in blocked regions are not signalled (%u)",
           sgc_a32_load(&seen.blocked));
    tap_ok(sgc_a32_load(&seen.stopped) + sgc_a32_load(&seen.blocked) >= THREADS + BLOCKED_THREADS,
           "the others are, but those that sleep for a lock of ours (%u)", sgc_a32_load(&seen.stopped));
    for (int i = 0; i < 2; i++)
        collector[i] = white_start(collect_often, &result[i]);
    white_join(collector[0]);
    white_join(collector[1]);
    tap_ok(sgc_a32_load(&result[0]) == 1 && sgc_a32_load(&result[1]) == 1, "two threads stop the world by turns");
    sgc_a32_store_rel(&ending, 1);
    white_join_all(thread, THREADS + BLOCKED_THREADS);
}

/* ---- entering and leaving blocked regions under stops -------------------------------------------------------- */

static sgc_a32_t flips_over;

static void nothing(TEST_UNUSED void *unused)
{
    sgc_yield();
}

static void flip_blocked(TEST_UNUSED void *unused)
{
    void **object = sgc_allocate(16, WHITE_KIND);

    while (!sgc_a32_load_acq(&flips_over)) {
        *object = sgc_allocate(32, WHITE_KIND);
        white_blocked(nothing, NULL);
    }
}

static void test_blocked_edges(void)
{
    pthread_t thread[4];
    bool good = true;

    white_start_all(thread, 4, flip_blocked);
    for (int i = 0; i < 300; i++)
        good = white_collect() == SGC_COLLECTED && good;
    sgc_a32_store_rel(&flips_over, 1);
    white_join_all(thread, 4);
    tap_ok(good, "stops meet threads that enter and leave blocked regions");
}

/* ---- a thread that blocks the signal --------------------------------------------------------------------------- */

static sgc_a32_t deaf_ready, deaf_may_hear, deaf_heard;
static sgc_a32_t deaf_tid;

static void be_deaf(TEST_UNUSED void *unused)
{
    sigset_t all, saved;
    void *volatile object;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    sgc_a32_store(&deaf_tid, (uint32_t)sgc_thread_id());
    sgc_a32_store_rel(&deaf_ready, 1);
    white_reached(&deaf_may_hear, 1);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    object = sgc_allocate(100, WHITE_KIND);
    (void)object;
    sgc_a32_store_rel(&deaf_heard, 1);
    white_reached(&deaf_may_hear, 2);
}

static void check_goes_on(void)
{
    uint64_t began = sgc_clock_ns();

    capture_begin();
    for (int i = 0; i < 30000 && sgc_clock_ns() - began < UINT64_C(15000000000); i++)
        sgc_allocate(1000, WHITE_KIND);
    capture_end();
    tap_ok(sgc_clock_ns() - began < UINT64_C(8000000000), "a program with such a thread allocates 30 MB in bearable time "
           "(%u ms)", (unsigned)((sgc_clock_ns() - began) / WHITE_MS));
}

static void test_deaf(void)
{
    pthread_t thread = white_start(be_deaf, NULL);
    enum sgc_collect_result result;
    uint64_t began, took;
    char name[32];
    const char *text;

    white_reached(&deaf_ready, 1);
    snprintf(name, sizeof name, "thread %u blocks signal", sgc_a32_load(&deaf_tid));
    sgc_options.stop_warn_ms = 50;
    capture_begin();
    began = sgc_clock_ns();
    result = white_collect();
    took = sgc_clock_ns() - began;
    text = capture_end();
    tap_ok(result == SGC_COLLECT_GIVEN_UP, "a thread blocks every signal: the collection is given up");
    tap_ok(took < UINT64_C(5000000000), "after a time (%u ms)", (unsigned)(took / WHITE_MS));
    tap_ok(strstr(text, name) != NULL && strstr(text, "GC_do_blocking") != NULL, "the thread is named, with advice");
    tap_ok(!sgc_world_stopped(), "and the world runs");
    tap_ok(strstr(capture_said(white_collect()), name) == NULL, "it is named once");
    check_goes_on();
    sgc_a32_store_rel(&deaf_may_hear, 1);
    tap_ok(white_reached(&deaf_heard, 1), "the late signal of a stop that was given up does no harm");
    tap_ok(white_collect() == SGC_COLLECTED, "and the next collection succeeds");
    sgc_a32_store_rel(&deaf_may_hear, 2);
    white_join(thread);
    sgc_options.stop_warn_ms = 2000;
}

/* ---- a thread that the system has stopped ---------------------------------------------------------------------------- */

static sgc_a32_t spinner_tid, spinner_end;

static void spin(TEST_UNUSED void *unused)
{
    sgc_a32_store_rel(&spinner_tid, (uint32_t)sgc_thread_id());
    while (!sgc_a32_load_acq(&spinner_end))
        sgc_sleep_ns(WHITE_MS);
}

/* A child, acting as a debugger, holds one thread of ours: "held" and "let go" go over pipes. */
static pid_t start_tracer(pid_t tid, int *said, int *told)
{
    int up[2], down[2];
    pid_t child = -1;
    char byte;

    if (pipe(up) == 0 && pipe(down) == 0)
        child = fork();
    if (child < 0)
        tap_bail("no child");
    if (child != 0) {
        prctl(PR_SET_PTRACER, child, 0, 0, 0);
        if (write(down[1], "g", 1) != 1)
            tap_bail("no pipe");
        *said = up[0];
        *told = down[1];
        return child;
    }
    if (read(down[0], &byte, 1) != 1 || ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0
        || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 || waitpid(tid, NULL, __WALL) != tid)
        _exit(1);
    if (write(up[1], "h", 1) != 1 || read(down[0], &byte, 1) != 1)
        _exit(2);
    ptrace(PTRACE_DETACH, tid, NULL, NULL);
    _exit(0);
}

static void test_held_by_debugger(void)
{
    pthread_t thread = white_start(spin, NULL);
    int said, told;
    char byte;
    pid_t tracer;

    white_reached(&spinner_tid, 1);
    tracer = start_tracer((pid_t)sgc_a32_load(&spinner_tid), &said, &told);
    struct pollfd answer = { .fd = said, .events = POLLIN };

    if (poll(&answer, 1, 5000) == 1 && read(said, &byte, 1) == 1) {
        sgc_options.stop_warn_ms = 50;
        capture_begin();
        enum sgc_collect_result result = white_collect();
        tap_ok(result == SGC_COLLECT_GIVEN_UP && strstr(capture_end(), "has not stopped") != NULL,
               "a thread held by a debugger is named and the collection given up");
        sgc_options.stop_warn_ms = 2000;
        if (write(told, "g", 1) != 1)
            tap_bail("no pipe");
        waitpid(tracer, NULL, 0);
        tap_ok(white_collect() == SGC_COLLECTED, "let go, it is stopped as any other");
    } else {
        kill(tracer, SIGKILL);
        waitpid(tracer, NULL, 0);
        tap_skip("this system lets no child trace us");
    }
    sgc_a32_store_rel(&spinner_end, 1);
    white_join(thread);
}

/* ---- errno ---------------------------------------------------------------------------------------------------------- */

static sgc_a32_t errno_over, errno_changed;

static void watch_errno(TEST_UNUSED void *unused)
{
    errno = 4711;
    while (!sgc_a32_load_acq(&errno_over))
        if (errno != 4711) {
            sgc_a32_store(&errno_changed, (uint32_t)errno);
            errno = 4711;
        }
}

static void test_errno(void)
{
    pthread_t thread = white_start(watch_errno, NULL);

    for (int i = 0; i < 50; i++)
        white_collect();
    sgc_a32_store_rel(&errno_over, 1);
    white_join(thread);
    tap_ok(sgc_a32_load(&errno_changed) == 0, "a stopped thread's errno stays (%u)", sgc_a32_load(&errno_changed));
}

/* ---- asked again in the middle of a section, with the handler on an alternate stack above its own ------------------ */

enum { HALF = 1 << 22 };            /* a sanitizer wants a megabyte */

static sgc_a32_t in_section;
static bool was_asked_again, was_repaired;

TEST_NOINLINE static void stay_in_section(void)
{
    struct sgc_section *s = &sgc_self->section;

    sgc_section_enter(s);
    sgc_a32_store_rel(&in_section, 1);
    for (int i = 0; i < 5000 && !(sgc_a32_load_acq(&s->state) & SGC_STATE_AGAIN) && s->sp != 0; i++)
        sgc_sleep_ns(WHITE_MS);
    was_asked_again = (sgc_a32_load_acq(&s->state) & SGC_STATE_AGAIN) != 0;
    for (int i = 0; i < 100; i++)
        sgc_sleep_ns(WHITE_MS);
    was_repaired = s->sp == 0;
    if (!was_repaired)
        sgc_section_leave(s);
}

static void *on_low_stack(void *upper_half)
{
    stack_t above = { .ss_sp = upper_half, .ss_size = HALF }, none = { .ss_flags = SS_DISABLE };

    sigaltstack(&above, NULL);
    sgc_mutator_register(0);
    stay_in_section();
    sgc_mutator_unregister(sgc_mutator_self());
    sigaltstack(&none, NULL);
    return NULL;
}

static void test_asked_again(void)
{
    char *memory = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, HALF);
    if (pthread_create(&thread, &attributes, on_low_stack, memory + HALF) != 0)
        tap_bail("no thread on a stack of our own");
    white_reached(&in_section, 1);
    white_collect();
    white_join(thread);
    pthread_attr_destroy(&attributes);
    munmap(memory, 2 * HALF);
    tap_ok(was_asked_again && !was_repaired, "asked again on an alternate stack above its own, a thread stays in its section "
           "(asked %d, repaired %d)", was_asked_again, was_repaired);
}

int main(void)
{
    white_init();
    sgc_listener_add(&listener);
    tap_each(test_many, test_blocked_edges, test_deaf, test_held_by_debugger, test_errno, test_asked_again);
    sgc_verify(SGC_check() == 0);
    tap_ok(sgc_a32_load(&seen.cycles) > 0, "cycles were seen by their listener");
    return tap_done();
}
