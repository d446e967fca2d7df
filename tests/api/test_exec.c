/* SPDX-License-Identifier: MIT */
/*
 * execve beside collections: a signal that has been sent to a thread survives it, the handler does not.  API_EXECS says how
 * many programs are replaced in each of the last checks (default 15).  With API_PEER the new program is ended now and then.
 */
#include "api.h"

#include <stdatomic.h>

static char *own_name;

/* It is this program, which does something else with that argument. */
static void become(char *what)
{
    char *const arguments[] = { own_name, what, NULL };

    execv("/proc/self/exe", arguments);
    API_CHILD(!"execv returns");
}

/* ---- sent, and not taken yet ------------------------------------------------------------------ */

/* Again and again: the first thread may still be waiting for us to start, where it needs no signal. */
static void *collect(void *unused)
{
    for (int i = 0; i < 10000; i++)
        GC_gcollect();
    return unused;
}

static bool is_pending(int signal)
{
    sigset_t pending;

    sigpending(&pending);
    return sigismember(&pending, signal);
}

static void exec_with_signal(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    api_start(collect, NULL);
    while (!is_pending(GC_get_suspend_signal()))
        poll(NULL, 0, 1);
    become("take");
}

/* The new program has inherited the mask and the signal. */
static int take_signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return 0;
}

/* ---- programs that use the default signal ----------------------------------------------------- */

static atomic_int handled;

static void handler(TEST_UNUSED int signal)
{
    handled++;
}

static void churn(void)
{
    for (int i = 0; i < 20000; i++)
        GC_malloc(100);
}

static void keeps_its_signal(void)
{
    int usual = GC_get_suspend_signal();
    GC_word before;

    signal(usual, handler);
    GC_INIT();
    API_CHILD(GC_get_suspend_signal() != usual);
    before = GC_get_gc_no();
    api_run(churn);
    api_in_thread(collect, NULL);
    API_CHILD(GC_get_gc_no() > before && handled == 0);
    raise(usual);
    API_CHILD(handled == 1);
}

/* ---- at any time -------------------------------------------------------------------------------- */

static int threads;
static bool locks;                      /* the program that becomes another one */
static uint32_t seed;

static void *end(void *unused)
{
    become("end");
    return unused;
}

static void *allocate(void *unused)
{
    void **list = NULL;

    for (int i = 0; ; i++) {
        void **cell = GC_malloc(64);

        *cell = i % 20000 == 0 ? NULL : list;
        list = cell;
    }
    return unused;
}

/* Between two allocations, as programs do. */
static void exec_at_some_time(void)
{
    void *volatile last = NULL;
    long until;

    GC_INIT();
    for (int i = 1; i < threads; i++)
        api_start(allocate, NULL);
    until = api_milliseconds() + 5 + seed % 16;
    for (unsigned n = 0; api_milliseconds() < until || n % 64 != seed % 64; n++) {
        void **cell = GC_malloc(64);

        *cell = n % 20000 == 0 ? NULL : last;
        last = cell;
    }
    if (locks)
        GC_call_with_alloc_lock(end, NULL);
    end(NULL);
}

static int execs(void)
{
    const char *text = getenv("API_EXECS");

    return text != NULL ? atoi(text) : 15;
}

static void check_execs(int of_threads, char *settings)
{
    char errors[2000];
    int ended = 0, count = execs();

    threads = of_threads;
    api_settings = settings;
    for (int i = 0; i < count; i++, seed++)
        ended += api_child(exec_at_some_time, errors, sizeof errors) != 0;
    api_settings = NULL;
    tap_ok(ended == 0, "%d execs beside collections, %d threads, %s: %d ended", count, of_threads, settings, ended);
}

int main(int count, char **arguments)
{
    if (count > 1)
        return strcmp(arguments[1], "take") == 0 ? take_signals() : 0;
    own_name = arguments[0];
    if (api_on_sgc) {
        api_check_started(exec_with_signal, NULL, "a signal that was not taken does not end the program that comes");
        api_check_child(keeps_its_signal, NULL, "a program that handles the default signal before the start keeps it");
    }
    check_execs(1, "SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0");
    check_execs(4, "SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0");
    check_execs(4, "SGC_MODE=stop");
    locks = true;
    check_execs(4, "SGC_MODE=stop SGC_SUSPEND_SIGNAL=SIGPWR");
    return tap_done();
}
