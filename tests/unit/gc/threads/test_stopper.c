/* SPDX-License-Identifier: MIT */
/*
 * gc/threads/stopper.c: what keeps a stop from succeeding ends it, and nothing else: a signal that is to end the program, a
 * full queue of signals, a system that refuses to send them.  The program's use of the collector's signal does not.
 */
#include <signal.h>

#include "gc/config/public_vars.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/white.h"

static const uint64_t SOON_NS = UINT64_C(8000000000);       /* a stop that waits in vain takes 20 s */

/* ---- a thread that cannot be stopped for a while ----------------------------------------------------------------- */

static sgc_a32_t deaf_ready, deaf_may_hear, deaf_may_end;

static void be_deaf(TEST_UNUSED void *unused)
{
    sigset_t all, saved;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    sgc_a32_store_rel(&deaf_ready, 1);
    white_reached(&deaf_may_hear, 1);
    sigdelset(&all, sgc_options.suspend_signal);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    white_reached(&deaf_may_end, 1);
}

static void *hear_later(void *unused)
{
    sgc_sleep_ns(600 * WHITE_MS);
    sgc_a32_store_rel(&deaf_may_hear, 1);
    return unused;
}

/* Such a thread, or another that says when it is ready. */
static pthread_t start_ready(void (*body)(void *))
{
    pthread_t thread;

    sgc_a32_store(&deaf_ready, 0);
    sgc_a32_store(&deaf_may_hear, 0);
    sgc_a32_store(&deaf_may_end, 0);
    thread = white_start(body, NULL);
    white_reached(&deaf_ready, 1);
    return thread;
}

static void end_ready(pthread_t thread)
{
    sgc_a32_store_rel(&deaf_may_end, 1);
    white_join(thread);
}

/* A thread of which the collector knows nothing and that takes no signals: it sends one to the process a moment later. */
static void *send_later(void *signal)
{
    sgc_sleep_ns(200 * WHITE_MS);
    kill(getpid(), *(int *)signal);
    return NULL;
}

static pthread_t start_aside(void *(*body)(void *), void *arg)
{
    sigset_t saved;
    pthread_t thread;

    sgc_signals_block(&saved);
    thread = thread_start(body, arg);
    sgc_signals_restore(&saved);
    return thread;
}

/* ---- a signal ends the program ------------------------------------------------------------------------------------ */

static int signal_to_send;

static int collect_until_ended(void)
{
    start_aside(send_later, &signal_to_send);
    white_collect();
    sgc_sleep_ns(100 * WHITE_MS);
    return 1;
}

static int collect_with_deaf(void)
{
    white_init();
    start_ready(be_deaf);
    return collect_until_ended();
}

/* It takes no other signals. */
static void wait_registered(TEST_UNUSED void *unused)
{
    sigset_t others;

    sgc_signals_all_but(sgc_options.suspend_signal, &others);
    pthread_sigmask(SIG_BLOCK, &others, NULL);
    sgc_a32_store_rel(&deaf_ready, 1);
    white_reached(&deaf_may_end, 1);
}

static void use_queue(void)
{
    char number[12];

    snprintf(number, sizeof number, "%d", SIGRTMIN + 3);
    setenv("SGC_SUSPEND_SIGNAL", number, 1);
    white_init();
    start_ready(wait_registered);
    set_queue(0);
}

static int collect_with_full_queue(void)
{
    use_queue();
    return collect_until_ended();
}

static void check_ends(int signal, int (*body)(void), const char *while_what)
{
    uint64_t began = sgc_clock_ns();
    int status;

    signal_to_send = signal;
    status = run_in_child(body);
    tap_ok(status == 128 + signal && sgc_clock_ns() - began < SOON_NS,
           "signal %d ends a program while %s (status %d after %u ms)", signal, while_what, status,
           (unsigned)((sgc_clock_ns() - began) / WHITE_MS));
}

/* ---- a full queue --------------------------------------------------------------------------------------------------- */

static void *make_room_later(void *length)
{
    sgc_sleep_ns(300 * WHITE_MS);
    set_queue(*(rlim_t *)length);
    return NULL;
}

static int wait_for_room(void)
{
    struct rlimit limit;
    enum sgc_collect_result result;

    getrlimit(RLIMIT_SIGPENDING, &limit);
    use_queue();
    start_aside(make_room_later, &limit.rlim_cur);
    capture_begin();
    result = white_collect();
    return capture_end()[0] != '\0' ? 1 : result == SGC_COLLECTED ? 0 : 2;
}

static int wait_in_vain(void)
{
    use_queue();
    sgc_options.stop_warn_ms = 30;
    capture_begin();
    for (int i = 0; i < 2; i++)
        if (white_collect() != SGC_COLLECT_GIVEN_UP)
            return 1;
    return capture_count(capture_end(), "queue of real-time signals is full") == 1 ? 0 : 2;
}

/* ---- a system that refuses ---------------------------------------------------------------------------------------------- */

static sgc_a32_t object_good;

static void hold_object(TEST_UNUSED void *unused)
{
    char *volatile object;

    object = memset(sgc_allocate(WHITE_BYTES, WHITE_KIND), 7, WHITE_BYTES);
    sgc_a32_store_rel(&deaf_ready, 1);
    white_reached(&deaf_may_end, 1);
    sgc_a32_store_rel(&object_good, object[0] == 7 && object[WHITE_BYTES - 1] == 7 ? 1 : 2);
}

static int lose_nothing(void)
{
    bool given_up = true;
    pthread_t thread;

    white_init();
    sgc_options.stop_warn_ms = 20;
    thread = start_ready(hold_object);
    if (!refuse_call(SYS_tgkill))
        return CHILD_SKIPS;
    capture_begin();
    for (int i = 0; i < 3; i++) {
        given_up = white_collect() == SGC_COLLECT_GIVEN_UP && given_up;
        for (int n = 0; n < 20; n++)
            memset(sgc_allocate(WHITE_BYTES, WHITE_KIND), 0xff, WHITE_BYTES);
    }
    end_ready(thread);
    if (capture_count(capture_end(), "refuses to send signal") != 1)
        return 3;
    return !given_up ? 1 : sgc_a32_load_acq(&object_good) != 1 ? 2 : 0;
}

static void *register_numberless(void *unused)
{
    return refuse_call(SYS_gettid) ? sgc_mutator_register(0) : unused;
}

static int stay_out(void)
{
    pthread_t thread;
    void *result;
    int dummy;

    white_init();
    capture_begin();
    thread = thread_start(register_numberless, &dummy);
    pthread_join(thread, &result);
    if (result == &dummy)
        return CHILD_SKIPS;
    if (strstr(capture_end(), "gettid") == NULL || result != NULL)
        return 1;
    return white_collect() == SGC_COLLECTED ? 0 : 2;
}

/* ---- a signal that the program handles -------------------------------------------------- */

static sgc_a32_t handled;

static void on_signal(TEST_UNUSED int signal)
{
    sgc_a32_add(&handled, 1);
}

static void check_handler(void)
{
    static int interrupt = SIGINT;
    pthread_t deaf = start_ready(be_deaf), sender;
    uint64_t began = sgc_clock_ns();
    enum sgc_collect_result result;
    const char *text;

    signal(SIGINT, on_signal);
    sender = start_aside(send_later, &interrupt);
    text = capture_said(result = white_collect());
    tap_ok(result == SGC_COLLECT_GIVEN_UP && sgc_a32_load(&handled) == 1 && sgc_clock_ns() - began < SOON_NS,
           "a handler runs soon though a collection waits for a thread (%u ms)",
           (unsigned)((sgc_clock_ns() - began) / WHITE_MS));
    tap_ok(text[0] == '\0', "without a word (%s)", text);
    white_join(sender);
    white_join(start_aside(hear_later, NULL));
    end_ready(deaf);
}

static void check_external(void)
{
    static int interrupt = SIGINT;
    pthread_t deaf = start_ready(be_deaf), sender, hearer;
    bool stopped;

    sgc_a32_store(&handled, 0);
    sender = start_aside(send_later, &interrupt);
    hearer = start_aside(hear_later, NULL);
    stopped = sgc_external_stop(sgc_mutator_self());
    if (stopped)
        sgc_external_resume(sgc_mutator_self());
    white_join(sender);
    tap_ok(stopped && sgc_a32_load(&handled) == 1, "a stop that the program wants is made after the handler has run");
    end_ready(deaf);
    white_join(hearer);
}

/* ---- memory has run out ------------------------------------------------------------------- */

enum { LIMIT_MB = 32 };

/* Garbage up to the limit, of which nothing is collected meanwhile. */
static void fill_heap(void)
{
    char limit[32];

    snprintf(limit, sizeof limit, "%d", LIMIT_MB << 20);
    setenv("GC_MAXIMUM_HEAP_SIZE", limit, 1);
    white_init();
    sgc_a32_store(&sgc_allocate_settings.manual, 1);
    sgc_a32_store(&sgc_client_dont_gc, 1);
    while (sgc_allocate_slow_or_null(WHITE_BYTES, WHITE_KIND, SGC_GRANULE) != NULL)
        continue;
    sgc_a32_store(&sgc_client_dont_gc, 0);
    scrub_stack();
}

/* 0: there is an object, though another thread takes its time to stop. */
static int allocate_beside_deaf(int *signal_to_come)
{
    pthread_t deaf = start_ready(be_deaf), hearer = start_aside(hear_later, NULL);
    bool found;

    if (signal_to_come != NULL)
        start_aside(send_later, signal_to_come);
    found = sgc_allocate_slow_or_null(WHITE_BYTES, WHITE_KIND, SGC_GRANULE) != NULL;
    end_ready(deaf);
    white_join(hearer);
    return found ? 0 : 1;
}

static int allocate_when_handled(void)
{
    static int interrupt = SIGINT;
    int result;

    fill_heap();
    signal(SIGINT, on_signal);
    result = allocate_beside_deaf(&interrupt);
    return result != 0 ? result : sgc_a32_load(&handled) == 1 ? 0 : 2;
}

static int allocate_when_left_pending(void)
{
    sigset_t terminate;

    fill_heap();
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &terminate, NULL);
    raise(SIGTERM);
    return allocate_beside_deaf(NULL);
}

/* ---- the collector's own signal, in the program's hands -------------------------------------------------- */

static void live_on(TEST_UNUSED void *unused)
{
    sgc_a32_store_rel(&deaf_ready, 1);
    white_reached(&deaf_may_end, 1);
}

/* 0: collections are made with another thread, whatever the program does when the signal comes; and what was said is
 * `wanted` times what names the signal. */
static int collect_beside(void (*handler)(int), size_t wanted)
{
    pthread_t thread;
    bool made = true;
    size_t said;

    white_init();
    thread = start_ready(live_on);
    capture_begin();
    for (int i = 0; i < 3; i++) {
        signal(sgc_options.suspend_signal, handler);
        made = white_collect() == SGC_COLLECTED && made;
    }
    said = capture_count(capture_end(), "has installed a handler for signal");
    end_ready(thread);
    return !made ? 1 : said != wanted ? 2 : sgc_a32_load(&handled) > 3 ? 3 : 0;
}

static void check_own_signal(void)
{
    child_ok_of(collect_beside(SIG_DFL, 0), "a program that sets all signals to their defaults is not ended by a collection");
    child_ok_of(collect_beside(SIG_IGN, 0), "one that ignores them collects");
    child_ok_of(collect_beside(on_signal, 1), "one that handles them, too, and is told once");
}

/* ---- one that nobody takes -------------------------------------------------- */

static void check_left_pending(void)
{
    pthread_t deaf, hearer;
    enum sgc_collect_result first, second;
    sigset_t terminate, saved;

    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &terminate, &saved);
    raise(SIGTERM);
    deaf = start_ready(be_deaf);
    first = white_collect();
    hearer = start_aside(hear_later, NULL);
    second = white_collect();
    tap_ok(first == SGC_COLLECT_GIVEN_UP && second == SGC_COLLECTED,
           "one that the program leaves pending keeps one collection from waiting, not more (%d, %d)", first, second);
    end_ready(deaf);
    white_join(hearer);
    signal(SIGTERM, on_signal);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    signal(SIGTERM, SIG_DFL);
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer delivers signals in its own time");
    check_ends(SIGTERM, collect_with_deaf, "a collection waits for a thread that blocks all signals");
    check_ends(SIGINT, collect_with_deaf, "a collection waits for a thread that blocks all signals");
    check_ends(SIGTERM, collect_with_full_queue, "a collection waits for room in the queue of signals");
    check_own_signal();
    child_ok(allocate_when_handled, "memory is not refused because a signal comes that the program handles");
    child_ok(allocate_when_left_pending, "nor because one is left pending");
    child_ok(wait_for_room, "a full queue is waited for");
    child_ok(wait_in_vain, "not for ever, and that is explained once");
    child_ok(lose_nothing, "a system that refuses to send the signal keeps collections away, and costs no object");
    child_ok(stay_out, "a thread that does not learn its number is not registered");
    white_init();
    return tap_all(check_handler, check_external, check_left_pending);
}
