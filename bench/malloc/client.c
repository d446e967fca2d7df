/* SPDX-License-Identifier: MIT */
/* See bench/malloc/client.h.  Main thread, but for the bodies of client_together and the ends. */
#include "bench/malloc/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- ends ---- */

static _Noreturn void end(int status, const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    _exit(status);
}

void client_wrong(const char *what)
{
    char text[200];

    snprintf(text, sizeof text, "WRONG: %s", what);
    end(1, text);
}

void client_no_memory(size_t bytes)
{
    char text[200];

    snprintf(text, sizeof text, "no memory for a block of %zu bytes: %s", bytes, strerror(errno));
    end(3, text);
}

void client_need(bool done, const char *what)
{
    char text[200];

    if (done)
        return;
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    end(3, text);
}

/* ---- whose malloc this is ---- */

static const char *file_of(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    Dl_info file;

    if (function == NULL || dladdr(function, &file) == 0 || file.dli_fname == NULL)
        client_wrong("a function of the malloc family is in no file");
    return file.dli_fname;
}

void client_begin(void)
{
    const char *others[] = { "free", "calloc", "realloc" };
    const char *first = file_of("malloc");

    alarm(CLIENT_SECONDS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(file_of(others[i]), first) != 0)
            client_wrong("malloc and its relatives are of two libraries");
    printf("allocator malloc %s\n", first);
}

/* ---- figures ---- */

void client_figure(const char *name, double value, const char *unit)
{
    printf("%s %.10g %s\n", name, value, unit);
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;

    client_need(clock_gettime(clock, &t) == 0, "read a clock");
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double client_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

/* No stdio, which allocates.  The line's number is in kilobytes. */
static double status_mb(const char *name)
{
    char text[4096];
    const char *line;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);

    client_need(length > 0, "/proc/self/status");
    close(file);
    text[length > 0 ? length : 0] = '\0';
    line = strstr(text, name);
    if (line == NULL)
        client_wrong("/proc/self/status does not say how much memory is resident");
    return strtod(line + strlen(name), NULL) / 1024;
}

double client_resident_mb(void)
{
    return status_mb("\nVmRSS:");
}

double client_peak_mb(void)
{
    return status_mb("\nVmHWM:");
}

long client_faults(void)
{
    struct rusage used;

    client_need(getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
    return used.ru_minflt;
}

static void rest(void)
{
    const char *asked = getenv("BENCH_REST_MS");
    long ms = asked == NULL ? 1000 : strtol(asked, NULL, 10);
    struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

int client_end(struct client_run run, double operations)
{
    double peak = client_peak_mb();

    client_figure("seconds", run.seconds, "s");
    client_figure("ns_per_operation", run.seconds * 1e9 / operations, "ns");
    client_figure("result", (double)(uint32_t)(run.result ^ run.result >> 32), "-");
    client_figure("faults", (double)client_faults(), "faults");
    client_figure("peak_mb", peak, "MB");
    fflush(stdout);
    rest();
    client_figure("resting_mb", client_resident_mb(), "MB");
    client_figure("cpu_seconds", seconds_of(CLOCK_PROCESS_CPUTIME_ID), "s");
    return fflush(stdout) == 0 ? 0 : 1;
}

/* ---- threads ---- */

struct runner {
    client_part *work;
    void *arg;
    long i, threads;
    pthread_t thread;
    double began, ended;
    uint64_t result;
};

static struct runner runners[CLIENT_THREADS_MAX];
static atomic_long ready;

/* None begins while another is still to be woken: with few processors that takes milliseconds. */
static void *run_thread(void *arg)
{
    struct runner *r = arg;

    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < r->threads)
        sched_yield();
    r->began = client_now();
    r->result = r->work(r->arg, r->i);
    r->ended = client_now();
    return NULL;
}

static void start(long i, client_part *work, void *arg, long threads)
{
    runners[i] = (struct runner){ .work = work, .arg = arg, .i = i, .threads = threads };
    errno = pthread_create(&runners[i].thread, NULL, run_thread, &runners[i]);
    client_need(errno == 0, "a thread cannot be created; use fewer");
}

static struct client_run run_alone(client_part *work, void *arg)
{
    double began = client_now();
    uint64_t result = work(arg, 0);

    return (struct client_run){ client_now() - began, result };
}

struct client_run client_together(client_part *work, void *arg, long threads)
{
    double began, ended;
    uint64_t result = 0;

    if (threads == 1)
        return run_alone(work, arg);
    atomic_store(&ready, 0);
    for (long i = 0; i < threads; i++)
        start(i, work, arg, threads);
    for (long i = 0; i < threads; i++)
        pthread_join(runners[i].thread, NULL);
    began = runners[0].began;
    ended = runners[0].ended;
    for (long i = 0; i < threads; i++) {
        began = runners[i].began < began ? runners[i].began : began;
        ended = runners[i].ended > ended ? runners[i].ended : ended;
        result += runners[i].result;
    }
    return (struct client_run){ ended - began, result };
}
