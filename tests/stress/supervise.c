/* SPDX-License-Identifier: MIT */
/*
 * The supervisor of a storm: options, the two processes, the watch over the child, the TAP output.
 * Everything here runs on one thread, in the parent; the collector is never started in it.
 */
#include "tests/stress/supervise.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct storm_shared *storm_shared;

static const struct storm_program *const program = &storm_program;
static double stall_seconds = 60;       /* no thread gets on for so long: a hang */
static int parts;

/* ---- options ---- */

static double number(const char *text, const char *what, double low, double high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || value < low || value > high) {
        fprintf(stderr, "%s: %s is \"%s\"; give a number from %g to %g\n", program->name, what, text, low, high);
        exit(2);
    }
    return value;
}

static void from_environment(const char *name, double *value, double low, double high)
{
    const char *text = getenv(name);
    if (text && *text)
        *value = number(text, name, low, high);
}

static int part_named(const char *name)
{
    for (int i = 0; i < parts; i++)
        if (!strcmp(program->parts[i], name))
            return i;
    fprintf(stderr, "%s: there is no part \"%s\"; the parts are:", program->name, name);
    for (int i = 0; i < parts; i++)
        fprintf(stderr, " %s", program->parts[i]);
    fprintf(stderr, "\n");
    exit(2);
}

/* The parts to leave out in every storm that has them: names separated by blanks or commas. */
static void leave_out_from_environment(void)
{
    char names[256];
    const char *text = getenv("STORM_WITHOUT");
    snprintf(names, sizeof names, "%s", text ? text : "");
    for (char *save, *name = strtok_r(names, " ,", &save); name; name = strtok_r(NULL, " ,", &save))
        for (int i = 0; i < parts; i++)
            if (!strcmp(program->parts[i], name))
                atomic_fetch_and(&storm_shared->enabled, ~(1ul << i));
}

static void switch_part(const char *option, const char *name)
{
    if (!name) {
        fprintf(stderr, "%s: %s needs the name of a part\n", program->name, option);
        exit(2);
    }
    unsigned long bit = 1ul << part_named(name);
    if (!strcmp(option, "--with"))
        atomic_fetch_or(&storm_shared->enabled, bit);
    else
        atomic_fetch_and(&storm_shared->enabled, ~bit);
}

static void positional(int place, const char *text)
{
    if (place == 0)
        storm.seconds = number(text, "SECONDS", 0.1, 100000);
    else if (place == 1)
        storm.threads = (int)number(text, "THREADS", 1, 200);
    else
        storm.seed = strtoull(text, NULL, 0);
}

static void read_options(int argc, char **argv)
{
    double threads = storm.threads, live = (double)storm.live_bytes / 1024, seed = 0;
    from_environment("STORM_SECONDS", &storm.seconds, 0.1, 100000);
    from_environment("STORM_THREADS", &threads, 1, 200);
    from_environment("STORM_SEED", &seed, 0, 9e15);
    from_environment("STORM_LIVE_KB", &live, 64, 1e7);
    from_environment("STORM_STALL", &stall_seconds, 1, 10000);
    storm.threads = (int)threads;
    storm.live_bytes = (size_t)live * 1024;
    storm.seed = (uint64_t)seed;
    leave_out_from_environment();
    int place = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--alone"))
            atomic_store(&storm_shared->alone, 1);
        else if (!strcmp(argv[i], "--with") || !strcmp(argv[i], "--without"))
            switch_part(argv[i], argv[i + 1]), i++;
        else
            positional(place++, argv[i]);
    }
    if (storm.seed == 0)
        storm.seed = storm_mix((uint64_t)time(NULL) * 1000003u + (uint64_t)getpid()) >> 40;
}

static void share(void)
{
    storm_shared = mmap(NULL, sizeof *storm_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (storm_shared == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    while (program->parts[parts])
        parts++;
    atomic_store(&storm_shared->enabled, ((1ul << parts) - 1) & ~program->optional);
    for (int i = 0; i < STORM_SLOTS; i++)
        atomic_store(&storm_shared->slot[i].doing, "starting");
}

/* ---- the child ---- */

static void run_storm(void)
{
    storm_catch_crashes();
    storm_enter();
    if (program->before_init)
        program->before_init();
    GC_INIT();
    GC_allow_register_threads();
    program->body();
    storm_step("counting");
    atomic_store(&storm_shared->collections, GC_get_gc_no());
    atomic_store(&storm_shared->heap_bytes, GC_get_heap_size());
    atomic_store(&storm_shared->total_bytes, GC_get_total_bytes());
}

/* ---- looking at a storm that failed ---- */

static void say_threads(void)
{
    for (int i = 0; i < STORM_SLOTS; i++) {
        struct storm_slot *slot = &storm_shared->slot[i];
        if (atomic_load(&slot->tid) || (i == 0 && atomic_load(&slot->steps)))
            printf("# thread %d: %llu steps, now: %s\n", atomic_load(&slot->tid),
                   (unsigned long long)atomic_load(&slot->steps), atomic_load(&slot->doing));
    }
}

/* The process group of a process, from its stat line: the third word after the name. */
static int group_of(int pid)
{
    char path[64], line[512] = "";
    int group = -1;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    if (fgets(line, sizeof line, file) && strrchr(line, ')'))
        sscanf(strrchr(line, ')'), ") %*c %*d %d", &group);
    fclose(file);
    return group;
}

static void say_stacks_of(int pid)
{
    const char *wanted = getenv("STORM_GDB");
    char command[400];
    if (wanted && !strcmp(wanted, "0"))
        return;
    printf("# stacks of process %d:\n", pid);
    fflush(stdout);
    snprintf(command, sizeof command,
             "command -v gdb >/dev/null && timeout 120 gdb -nx -p %d -batch -ex 'set pagination off' "
             "-ex 'thread apply all bt 30' </dev/null 2>&1 | grep -v '^\\[New LWP' | cut -c1-300 | sed 's/^/# /'", pid);
    if (system(command) == -1)
        perror("# gdb");
}

/* The storm and the children it forked are one process group. */
static void say_stacks_of_group(int group)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]) && group_of(atoi(entry->d_name)) == group)
            say_stacks_of(atoi(entry->d_name));
    closedir(proc);
}

/* ---- the watch ---- */

enum end { RUNNING, ENDED, CHECK_FAILED, KILLED, HANGS };

static uint64_t total_steps(void)
{
    uint64_t steps = 0;
    for (int i = 0; i < STORM_SLOTS; i++)
        steps += atomic_load(&storm_shared->slot[i].steps);
    return steps;
}

static bool every_part_ran(unsigned long but)
{
    unsigned long needed = atomic_load(&storm_shared->enabled) & ~but;
    for (int i = 0; i < parts; i++)
        if (((needed >> i) & 1) && !atomic_load(&storm_shared->part[i]))
            return false;
    return true;
}

/* The time is over; but what has not run yet gets as long again as a hang would. */
static void stop_in_time(void)
{
    uint64_t now = storm_ns(), deadline = atomic_load(&storm_shared->deadline_ns);
    uint64_t patience = (uint64_t)(stall_seconds * 1e9);
    if (now > deadline && (every_part_ran(program->at_end) || now > deadline + patience))
        atomic_store(&storm_shared->stop, 1);
}

static enum end look_once(int child, int *status)
{
    if (atomic_load(&storm_shared->failed_pid))
        return CHECK_FAILED;
    int got = waitpid(child, status, WNOHANG);
    if (got == child)
        return WIFEXITED(*status) && WEXITSTATUS(*status) == 0 ? ENDED : KILLED;
    stop_in_time();
    return RUNNING;
}

static enum end watch(int child, int *status)
{
    uint64_t steps = 0, moved = storm_ns();
    for (;;) {
        enum end end = look_once(child, status);
        if (end != RUNNING)
            return end;
        if (total_steps() != steps) {
            steps = total_steps();
            moved = storm_ns();
        }
        if ((double)(storm_ns() - moved) > stall_seconds * 1e9)
            return HANGS;
        storm_doze_us(20000);
    }
}

static void say_end(enum end end, int child, int status)
{
    if (end == ENDED)
        return;
    if (end == CHECK_FAILED)
        printf("# failed in process %d: %s\n", atomic_load(&storm_shared->failed_pid), storm_shared->message);
    else if (end == HANGS)
        printf("# hangs: no thread got on for %g s\n", stall_seconds);
    else if (WIFSIGNALED(status))
        printf("# ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        printf("# ended with status %d\n", WEXITSTATUS(status));
    say_threads();
    if (end == CHECK_FAILED)
        say_stacks_of(atomic_load(&storm_shared->failed_pid));
    else if (end == HANGS)
        say_stacks_of_group(child);
}

static void say_parts(void)
{
    for (int i = 0; i < parts; i++) {
        unsigned long long times = atomic_load(&storm_shared->part[i]);
        bool on = (atomic_load(&storm_shared->enabled) >> i) & 1;
        printf("%s %d - %s: %s (%llu times)%s\n", times || !on ? "ok" : "not ok", i + 1, program->name,
               program->parts[i], times, on ? "" : " # SKIP switched off");
    }
}

static bool say_result(enum end end)
{
    bool good = end == ENDED && every_part_ran(0);
    say_parts();
    printf("# %llu collections, heap %llu KB at the end, %llu MB allocated\n",
           (unsigned long long)atomic_load(&storm_shared->collections),
           (unsigned long long)atomic_load(&storm_shared->heap_bytes) >> 10,
           (unsigned long long)atomic_load(&storm_shared->total_bytes) >> 20);
    printf("%s %d - %s: nothing lost, nothing hangs\n", good ? "ok" : "not ok", parts + 1, program->name);
    return good;
}

static int supervise(int child)
{
    int status = 0;
    enum end end = watch(child, &status);
    say_end(end, child, status);
    kill(-child, SIGKILL);
    bool good = say_result(end);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    return good ? 0 : 1;
}

/* The child leads a process group, so that all it forked can be ended with it. */
static int start_child(void)
{
    int parent = getpid(), child = fork();
    if (child != 0) {
        setpgid(child, child);
        return child;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(3);
    run_storm();
    exit(0);
}

/* Usage: PROGRAM [SECONDS [THREADS [SEED]]] [--without PART] [--with PART] [--alone].  Prints TAP. */
int main(int argc, char **argv)
{
    if (STORM_ASAN && program->not_with_asan) {
        printf("1..0 # SKIP %s\n", program->not_with_asan);
        return 0;
    }
    share();
    read_options(argc, argv);
    atomic_store(&storm_shared->deadline_ns, storm_ns() + (uint64_t)(storm.seconds * 1e9));
    printf("# %s %g %d %llu  (seconds, threads, seed)\n1..%d\n", program->name, storm.seconds, storm.threads,
           (unsigned long long)storm.seed, parts + 1);
    fflush(stdout);
    if (atomic_load(&storm_shared->alone)) {
        run_storm();
        return say_result(ENDED) ? 0 : 1;
    }
    int child = start_child();
    if (child < 0) {
        perror("fork");
        return 2;
    }
    return supervise(child);
}
