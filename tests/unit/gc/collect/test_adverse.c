/* SPDX-License-Identifier: MIT */
/*
 * Concurrent mode where things are against it: no time to stop in, or an hour; no memory; a limit in the middle of a cycle;
 * many threads; a program that runs in real time on the only processor, or that is frozen half of the time, as by a cgroup's
 * quota; a hook that takes its time; collections that are disabled nearly always.  Nothing is lost, nothing hangs, and the
 * records of cycles say why they stopped the program.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define GC_THREADS 1
#include <gc/gc.h>

#include "gc/collect/concurrent.h"
#include "tests/lib/child.h"
#include "tests/lib/kept.h"

enum { KEPT_MB = 24, LIMIT_MB = 64, THREADS = TEST_SANITIZED ? 8 : 64, SECONDS = 120 };

static const struct sgc_listener listener = { .cycle_end = kept_note };

static int start(void)
{
    alarm(SECONDS);                     /* a hang ends the child */
    GC_INIT();
    GC_allow_register_threads();
    sgc_verify(sgc_listener_add(&listener));
    return sgc_concurrent_enabled() ? 0 : CHILD_SKIPS;
}

static void churn(void)
{
    sgc_verify(keep(KEPT_MB * MB));
    drop(4 * KEPT_MB * MB);
}

/* ---- programs: 0 if all that they keep is there ---- */

static int usual(void)
{
    churn();
    return kept_bytes() != KEPT_MB * MB;
}

/* All that there is memory for. */
static int until_memory_ends(void)
{
    size_t found;

    while (keep(MB))
        continue;
    found = kept_bytes();
    return !(found > LIMIT_MB * MB / 2 && found <= LIMIT_MB * MB);
}

static int many_threads(void)
{
    keep_and_drop(KEPT_MB * MB, THREADS, 2 * MB);
    return kept_bytes() != KEPT_MB * MB;
}

/* Of this thread, and of those that it creates from now on. */
static void leave_one_processor(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    sgc_verify(sched_setaffinity(0, sizeof one, &one) == 0);
}

/* What leads the cycles has begun before, as a thread without such rights. */
static int in_real_time(void)
{
    struct sched_param priority = { .sched_priority = 1 };

    leave_one_processor();
    churn();
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        return CHILD_SKIPS;
    *kept_report = (struct kept_report){ 0 };
    drop(4 * KEPT_MB * MB);
    return kept_bytes() != KEPT_MB * MB;
}

static int mostly_disabled(void)
{
    sgc_verify(keep(KEPT_MB * MB));
    for (int i = 0; i < 200; i++) {
        GC_disable();
        drop(3 * MB);
        GC_enable();
        drop(MB);
    }
    if (kept_bytes() != KEPT_MB * MB)
        return 1;
    return GC_get_heap_size() < 4 * KEPT_MB * MB ? 0 : 2;
}

static GC_ToggleRefStatus answers_late(TEST_UNUSED void *object)
{
    sgc_sleep_ns(15 * (uint64_t)WHITE_MS);
    return GC_TOGGLE_REF_STRONG;
}

/* What the program does before a stop is no part of it. */
static int slow_to_answer(void)
{
    GC_set_toggleref_func(answers_late);
    GC_toggleref_add(GC_malloc(16), 1);
    churn();
    return kept_bytes() != KEPT_MB * MB || kept_report->stopped_for[SGC_FOR_ATTEMPTS] * 2 > kept_report->beside;
}

/* ---- circumstances ---- */

static int (*program)(void);

static int run(void)
{
    int started = start();

    return started != 0 ? started : program();
}

static bool put(pid_t child, int signal)
{
    struct timespec half = { 0, 50000000 };

    return kill(child, signal) == 0 && nanosleep(&half, NULL) == 0;
}

/* As long as the child and this process are there. */
static void freeze(pid_t child, pid_t parent)
{
    sgc_verify(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    while (getppid() == parent && put(child, SIGSTOP) && put(child, SIGCONT))
        continue;
    _exit(0);
}

/* It runs half of each tenth of a second, all threads at once.  It is waited for when nobody freezes it any more. */
static int run_with_half_a_processor(void)
{
    pid_t parent = getpid(), child = child_start(run), freezer;
    siginfo_t info;

    sgc_verify(child > 0);
    freezer = fork();
    if (freezer == 0)
        freeze(child, parent);
    sgc_verify(freezer > 0);
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    kill(freezer, SIGKILL);
    waitpid(freezer, NULL, 0);
    return child_wait(child);
}

static const struct circumstance {
    const char *name;
    int (*program)(void);
    const char *target_ms, *limit;
    bool frozen;
    enum sgc_stopped_for some;          /* some cycles stop the program for that */
} circumstances[] = {
    { "no time to stop in", usual, "0", NULL, false, SGC_FOR_ATTEMPTS },
    { "an hour to stop in", usual, "3600000", NULL, false, SGC_FOR_SHORT },
    { "a program that keeps all until memory ends", until_memory_ends, NULL, "64m", false, SGC_FOR_MEMORY },
    { "a limit that little more than what is kept fits into", usual, NULL, "40m", false, SGC_FOR_MEMORY },
    { "64 threads", many_threads, NULL, NULL, false, SGC_FOR_NOTHING },
    { "a program that runs in real time on the only processor", in_real_time, NULL, NULL, false, SGC_FOR_NOTHING },
    { "a program that is frozen half of the time", usual, NULL, NULL, true, SGC_FOR_NOTHING },
    { "a hook that takes longer before a stop than a stop may", slow_to_answer, NULL, NULL, false, SGC_FOR_NOTHING },
    { "collections that are disabled nearly always", mostly_disabled, NULL, NULL, false, SGC_FOR_NOTHING },
};

static void set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void tell(void)
{
    for (unsigned i = 0; i < SGC_STOPPED_FOR; i++)
        if (kept_report->stopped_for[i] != 0)
            tap_diag("%u cycles stopped the program for: %s", kept_report->stopped_for[i],
                     sgc_stopped_for_name((enum sgc_stopped_for)i));
    tap_diag("%u in one stop, %u beside the program, %zu MB", kept_report->stops, kept_report->beside, kept_report->heap >> 20);
}

static void check(const struct circumstance *c)
{
    int status;

    *kept_report = (struct kept_report){ 0 };
    program = c->program;
    set("GC_PAUSE_TIME_TARGET", c->target_ms);
    set("GC_MAXIMUM_HEAP_SIZE", c->limit);
    status = c->frozen ? run_with_half_a_processor() : run_in_child(run);
    if (status == CHILD_SKIPS) {
        tap_skip("%s: not to be had here", c->name);
        return;
    }
    tap_ok(status == 0, "%s: nothing is lost (%d)", c->name, status);
    tell();
    tap_ok(kept_report->stopped_for[c->some] != 0 && kept_report->stopped_for[SGC_FOR_MODE] == 0,
           "%s: cycles stop the program for %s", c->name, sgc_stopped_for_name(c->some));
}

int main(void)
{
    kept_report = child_shared(sizeof *kept_report);
    environment("SGC_MODE=concurrent", "GC_MARKERS=1");        /* or, with many, all that is kept were marked in a short stop */
    if (run_in_child(start) != 0)
        tap_skip_all("nothing tells written pages here");
    for (size_t i = 0; i < sizeof circumstances / sizeof circumstances[0]; i++)
        check(&circumstances[i]);
    return tap_done();
}
