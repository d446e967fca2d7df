/* SPDX-License-Identifier: MIT */
/*
 * Threads that do nothing but look at the clock: when more has passed than they can have used, they were away, because the
 * collector stopped them or because the system gave their processor to somebody else.
 *
 * With a period they sleep between two looks, and a gap is what they wake too late; a stop that begins and ends while they
 * sleep is not seen then.
 *
 * The probe can be told to work, too: each millisecond it allocates a few objects and stores into a few old ones, and times
 * each.  The time of one is the begin of the next look, so that nothing falls between them.
 *
 * A thread that looks ends with its process; or when the main thread has ended by pthread_exit and no other thread of the
 * program's is left, since a process ends with its last thread.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include "gc/gc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/pauses/watch.h"

enum {
    STACK_BYTES = 256 << 10,
    WORK_NS = 1000000,                  /* between two pieces of work */
    OLD_OBJECTS = 1024,
    OLD_BYTES = 4000,                   /* about an OS page */
    ALLOCATIONS = 16,                   /* in a piece of work */
    ALLOCATION_BYTES = 256,
    STORES = 4,
    LOOKS_FOR_OTHERS = 100              /* pieces of work between two looks at whether threads of the program are there */
};

/* One for each thread that looks; its thread owns it. */
struct watch {
    struct sgc_pauses_file *file;
    enum sgc_pauses_kind kind;
    bool works;
    void **old;                         /* OLD_OBJECTS of them if it works */
    uint64_t last_ns, work_ns;          /* last look; when to work next */
    unsigned chores, random, alone;     /* alone: so many looks in a row */
};

static const char own_name[] = "sgc-pauses";

uint64_t sgc_pauses_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- looking ---- */

static void sleep_until(uint64_t ns)
{
    struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void look(struct watch *w)
{
    uint64_t begin = w->last_ns, now;

    if (w->file->period_ns > 0) {
        begin += w->file->period_ns;
        sleep_until(begin);
    }
    now = sgc_pauses_now();
    if (now > begin && now - begin >= w->file->area[w->kind].least_ns)
        sgc_pauses_add(w->file, w->kind, begin, now);
    w->last_ns = now;
}

/* ---- working ---- */

/* What was done since the last look is an interval of that kind. */
static void note(struct watch *w, enum sgc_pauses_kind kind)
{
    uint64_t now = sgc_pauses_now();

    w->file->area[kind].calls++;
    sgc_pauses_add(w->file, kind, w->last_ns, now);
    w->last_ns = now;
}

static unsigned next_random(struct watch *w)
{
    w->random = w->random * 1664525 + 1013904223;
    return w->random >> 8;
}

static bool make_old_objects(struct watch *w)
{
    w->old = GC_malloc(OLD_OBJECTS * sizeof *w->old);
    for (int i = 0; w->old != NULL && i < OLD_OBJECTS; i++)
        w->old[i] = GC_malloc(OLD_BYTES);
    return w->old != NULL;
}

static void work(struct watch *w)
{
    void *volatile fresh = NULL;

    w->last_ns = sgc_pauses_now();
    for (int i = 0; i < ALLOCATIONS; i++) {
        fresh = GC_malloc(ALLOCATION_BYTES);
        note(w, SGC_PAUSES_ALLOCATIONS);
    }
    for (int i = 0; i < STORES; i++) {
        void *volatile *object = w->old[next_random(w) % OLD_OBJECTS];

        if (object == NULL)
            continue;
        w->last_ns = sgc_pauses_now();
        object[next_random(w) % (OLD_BYTES / sizeof *object)] = fresh;
        note(w, SGC_PAUSES_STORES);
    }
}

/* ---- the end ---- */

/* /proc/self/task/TID/FILE; empty if the thread is gone. */
static void read_task(const char *tid, const char *file, char *text, size_t size)
{
    char path[320];
    ssize_t length = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%s/%s", tid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        length = read(fd, text, size - 1);
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
}

static bool has_ended(const char *tid)
{
    char text[256];
    const char *state;

    read_task(tid, "stat", text, sizeof text);
    state = strrchr(text, ')');
    return state == NULL || strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0;
}

/* A thread of ours, or one by which the collector marks or gives memory back: it serves the program's, and goes on for ever. */
static bool serves(const char *tid)
{
    static const char *const names[] = { own_name, "sgc-marker", "sgc-service", "GC-marker-" };
    char name[32];
    bool does = false;

    read_task(tid, "comm", name, sizeof name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        does = does || strncmp(name, names[i], strlen(names[i])) == 0;
    return does;
}

/* Has the main thread ended, and has every other one of the program's?  If the system does not tell, no.  Where threads come
 * and go meanwhile one may be missed. */
static bool seems_left_alone(void)
{
    char main_tid[16];
    struct dirent *entry;
    bool others = false;
    DIR *tasks;

    snprintf(main_tid, sizeof main_tid, "%d", (int)getpid());
    tasks = has_ended(main_tid) ? opendir("/proc/self/task") : NULL;
    if (tasks == NULL)
        return false;
    while (!others && (entry = readdir(tasks)) != NULL)
        others = entry->d_name[0] != '.' && !has_ended(entry->d_name) && !serves(entry->d_name);
    closedir(tasks);
    return !others;
}

/* At two looks in a row. */
static bool is_left_alone(struct watch *w)
{
    w->alone = seems_left_alone() ? w->alone + 1 : 0;
    return w->alone > 1;
}

/* False: it is time to end. */
static bool do_chores(struct watch *w)
{
    bool goes_on = ++w->chores % LOOKS_FOR_OTHERS != 0 || !is_left_alone(w);

    if (w->works)
        work(w);
    w->last_ns = sgc_pauses_now();
    w->work_ns = w->last_ns + WORK_NS;
    return goes_on;
}

/* ---- threads ---- */

static void watch(struct watch *w)
{
    prctl(PR_SET_NAME, (unsigned long)own_name);
    prctl(PR_SET_TIMERSLACK, 1UL);
    w->last_ns = sgc_pauses_now();
    do {
        look(w);
        if (w->kind == SGC_PAUSES_GAPS)
            sgc_aw_store(&w->file->last_ns, w->last_ns);
    } while (w->last_ns < w->work_ns || do_chores(w));
}

/* The watch lies on the thread's own stack, where the collector finds the old objects. */
static void *probe(void *file)
{
    struct watch w = { .file = file, .kind = SGC_PAUSES_GAPS };

    w.works = (w.file->flags & SGC_PAUSES_WORK) != 0 && make_old_objects(&w);
    sgc_aw_store(&w.file->begin_ns, sgc_pauses_now());
    watch(&w);
    return NULL;
}

static void *control(void *file)
{
    struct watch w = { .file = file, .kind = SGC_PAUSES_CONTROL };

    watch(&w);
    return NULL;
}

/* Signals that a thread of ours may take: those that it raises itself, and the collector's. */
static void block_others(const int *needed, sigset_t *before)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, 0 };
    sigset_t blocked;

    sigfillset(&blocked);
    for (const int *signal = own; *signal != 0; signal++)
        sigdelset(&blocked, *signal);
    for (; *needed != 0; needed++)
        if (*needed > 0)
            sigdelset(&blocked, *needed);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static int start(sgc_pauses_create_t create, void *(*body)(void *), void *file)
{
    pthread_attr_t attr;
    pthread_t thread;
    int error;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    error = create(&thread, &attr, body, file);
    pthread_attr_destroy(&attr);
    return error;
}

int sgc_pauses_watch(struct sgc_pauses_file *file, const int *needed, sgc_pauses_create_t collected, sgc_pauses_create_t plain)
{
    sigset_t before;
    int error;

    block_others(needed, &before);
    error = start(collected, probe, file);
    if (error == 0 && (file->flags & SGC_PAUSES_BESIDE) != 0)
        error = start(plain, control, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
