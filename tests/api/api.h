/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the public interface share.  They include only gc.h (and gc_mark.h), so with API_PEER they
 * also build and run against bdwgc's library, which checks what they expect:
 *
 *     gcc -DAPI_PEER -D_GNU_SOURCE tests/api/test_malloc.c -lgc -lpthread
 *
 * Is an object alive?  The tests ask GC_base, of objects so large that both
 * collectors free them at once (API_LARGE).  An address that a test remembers without keeping the object alive
 * is hidden (GC_HIDE_POINTER).  Addresses left behind in dead stack frames and registers would keep objects
 * alive by accident: what must die is made by a thread of its own, which is gone when the collection runs.
 */
#ifndef TESTS_API_API_H
#define TESTS_API_API_H

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#define GC_OOM_FUNC_RETURNS_ALIAS       /* test hooks do; and the compiler must not reason about allocation here */

#include <gc.h>
#include <gc/gc_mark.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/scrub.h"
#include "../lib/tap.h"

#define API_LARGE 10000                 /* bytes; an object of its own block in both collectors */

#ifdef API_PEER
enum { api_on_sgc = 0 };
#else
enum { api_on_sgc = 1 };
#endif

/* ---- running things where they leave nothing behind ------------------------------------------ */

/* Runs fn(arg) in a registered thread that is gone when this returns. */
TEST_NOINLINE static void *api_in_thread(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    void *result = NULL;
    int error = GC_pthread_create(&thread, NULL, fn, arg);

    if (error != 0 || GC_pthread_join(thread, &result) != 0)
        tap_bail("no thread: %s", strerror(error));
    return result;
}

static void *api_call(void *fn)
{
    (*(void (**)(void))fn)();
    return NULL;
}

TEST_UNUSED static void api_run(void (*fn)(void))
{
    api_in_thread(api_call, &fn);
}

/* Runs fn(arg) in such a thread while nothing collects: an object that dies would leave its
 * address to one that fn makes later. */
TEST_UNUSED static void api_make_in_thread(void *(*fn)(void *), void *arg)
{
    GC_disable();
    api_in_thread(fn, arg);
    GC_enable();
}

TEST_UNUSED static void api_make(void (*fn)(void))
{
    api_make_in_thread(api_call, &fn);
}

/* Starts a registered thread, which runs fn(arg). */
TEST_UNUSED static pthread_t api_start(void *(*fn)(void *), void *arg)
{
    pthread_t thread;

    if (GC_pthread_create(&thread, NULL, fn, arg) != 0)
        tap_bail("no thread");
    return thread;
}

/* Starts registered threads, which run fn(0) to fn(n - 1). */
TEST_UNUSED static void api_start_all(pthread_t *thread, int n, void *(*fn)(void *))
{
    for (intptr_t i = 0; i < n; i++)
        thread[i] = api_start(fn, (void *)i);
}

/* Waits for the threads to end, and sums the numbers that they return. */
TEST_UNUSED static intptr_t api_join_all(const pthread_t *thread, int n)
{
    intptr_t sum = 0;

    for (int i = 0; i < n; i++) {
        void *result = NULL;

        if (GC_pthread_join(thread[i], &result) != 0)
            tap_bail("a thread cannot be joined");
        sum += (intptr_t)result;
    }
    return sum;
}

/* Runs fn(arg) in a thread that nobody has registered, and that is gone when this returns. */
TEST_NOINLINE static void *api_in_plain_thread(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    void *result = NULL;

    if (pthread_create(&thread, NULL, fn, arg) != 0 || pthread_join(thread, &result) != 0)
        tap_bail("no thread");
    return result;
}

/* A thread or a callback can run this. */
TEST_UNUSED static void *api_invoke_finalizers(void *unused)
{
    GC_invoke_finalizers();
    return unused;
}

/* The function of a thread, or with the allocation lock. */
TEST_UNUSED static void *api_give_back(void *arg)
{
    return arg;
}

/* Of GC_set_oom_fn. */
TEST_UNUSED static void *api_refuse(TEST_UNUSED size_t bytes)
{
    return NULL;
}

/* A finalizer. */
TEST_UNUSED static void api_ignore(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
}

/* One that counts. */
static int api_finalized;

TEST_UNUSED static void api_count(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    __atomic_fetch_add(&api_finalized, 1, __ATOMIC_RELAXED);
}

/* Of GC_set_warn_proc. */
static int api_warnings;

TEST_UNUSED static void api_count_warning(TEST_UNUSED char *format, TEST_UNUSED GC_word arg)
{
    __atomic_fetch_add(&api_warnings, 1, __ATOMIC_RELAXED);
}

/* Collects, twice: what the first one met on the way (a cached word, a late sweep) is gone for the second. */
TEST_NOINLINE static void api_collect(void)
{
    scrub_stack();
    GC_gcollect();
    scrub_stack();
    GC_gcollect();
}

/* How many of these hidden objects are allocated still. */
TEST_NOINLINE static int api_alive(const GC_hidden_pointer *hidden, int count)
{
    int alive = 0;

    for (int i = 0; i < count; i++)
        alive += hidden[i] != 0 && GC_base(GC_REVEAL_POINTER(hidden[i])) == GC_REVEAL_POINTER(hidden[i]);
    scrub_stack();
    return alive;
}

/* Collects first. */
TEST_NOINLINE static int api_survive(const GC_hidden_pointer *hidden, int count)
{
    api_collect();
    return api_alive(hidden, count);
}

/* Makes large objects, to which these words lead. */
TEST_NOINLINE static void api_fill(void *volatile *object, GC_hidden_pointer *hidden, int count)
{
    for (int i = 0; i < count; i++) {
        object[i] = GC_malloc(API_LARGE);
        hidden[i] = GC_HIDE_POINTER(object[i]);
    }
}

/* Makes a large object; the address at *place is hidden, and does not keep it. */
TEST_UNUSED static void *api_large(GC_hidden_pointer *place)
{
    void *object = GC_malloc(API_LARGE);

    *place = GC_HIDE_POINTER(object);
    return object;
}

/* How many of them are no objects any more. */
TEST_NOINLINE static int api_lost(void *volatile *object, int count)
{
    int lost = 0;

    for (int i = 0; i < count; i++)
        lost += GC_base(object[i]) != object[i];
    return lost;
}

/* Whatever signals come. */
TEST_UNUSED static void api_wait(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

/* A thread that is to stand still stays: the test waits until it is there, and says when it may go. */
static sem_t api_there, api_may_go;

__attribute__((constructor)) static void api_begin(void)
{
    sem_init(&api_there, 0, 0);
    sem_init(&api_may_go, 0, 0);
}

TEST_UNUSED static void api_stay(void)
{
    sem_post(&api_there);
    api_wait(&api_may_go);
}

/* Memory that is no root: from the system, not from malloc, which may lie in static data. */
TEST_UNUSED static void *api_outside(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        tap_bail("no memory: %s", strerror(errno));
    return memory;
}

/* Of a clock that nobody sets. */
TEST_UNUSED static long api_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- children -------------------------------------------------------------------------------- */

/* The condition of a check inside a child: a false one ends it, with the place on stderr. */
#define API_CHILD(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: false: %s\n", __FILE__, __LINE__, #condition); \
            _exit(3); \
        } \
    } while (0)

/* In a child: collects with much stack between the caller's frame and the collector's, so that nothing of later calls lies in
 * what a jump out of the collection leaves. */
TEST_NOINLINE static void api_collect_below(void)
{
    volatile char room[65536] = { 0 };

    GC_gcollect();
    API_CHILD(room[0] == 0);
}

enum { API_CHILD_MS = 20000 };

/* As read(), but when `until` has come the child is killed: an alarm of its own would wait for ever with its world
 * stopped, all signals blocked. */
TEST_UNUSED static ssize_t api_read_from(pid_t child, int fd, char *to, size_t size, long until)
{
    struct pollfd end = { .fd = fd, .events = POLLIN };
    long left = until - api_milliseconds();

    if (poll(&end, 1, left > 0 ? (int)left : 0) == 0)
        kill(child, SIGKILL);
    return read(fd, to, size);
}

/* Settings of the next children: NAME=VALUE, separated by blanks; or NULL. */
static const char *api_settings;

TEST_UNUSED static void api_set(void)
{
    char text[200], *rest = text, *setting;

    snprintf(text, sizeof(text), "%s", api_settings != NULL ? api_settings : "");
    while (api_settings != NULL && (setting = strsep(&rest, " ")) != NULL) {
        char *value = strchr(setting, '=');

        *value = '\0';
        setenv(setting, value + 1, 1);
    }
}

struct api_child {
    pid_t pid;                          /* 0 in the child */
    int errors;                         /* what it writes to stderr */
};

TEST_NOINLINE static struct api_child api_child_begin(void)
{
    struct api_child child = { -1, -1 };
    int ends[2];

    if (pipe(ends) != 0 || (child.pid = fork()) < 0)
        tap_bail("no child: %s", strerror(errno));
    if (child.pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        api_set();
    }
    close(ends[1]);
    child.errors = ends[0];
    return child;
}

/* The child's wait status; what it wrote to stderr is in `errors`, cut to `size`.  A child that
 * hangs is ended after 20 seconds. */
TEST_NOINLINE static int api_child_end(struct api_child child, char *errors, size_t size)
{
    int status = -1;
    long until = api_milliseconds() + API_CHILD_MS;
    size_t length = 0;
    ssize_t got;
    char rest[256];

    while (length + 1 < size &&
           (got = api_read_from(child.pid, child.errors, errors + length, size - 1 - length, until)) > 0)
        length += (size_t)got;
    errors[length] = '\0';
    while (api_read_from(child.pid, child.errors, rest, sizeof(rest), until) > 0)
        continue;
    close(child.errors);
    waitpid(child.pid, &status, 0);
    return status;
}

/* Runs fn in a child: both at once. */
TEST_NOINLINE static int api_child(void (*fn)(void), char *errors, size_t size)
{
    struct api_child child = api_child_begin();

    if (child.pid == 0) {
        fn();
        _exit(0);
    }
    return api_child_end(child, errors, size);
}

/* One check: the child ends well; and if `message` is not NULL, it said that, otherwise it said nothing. */
TEST_NOINLINE static void api_child_has_said(struct api_child child, const char *message, const char *name)
{
    static char errors[4096];
    int status = api_child_end(child, errors, sizeof(errors));
    bool said = message != NULL ? strstr(errors, message) != NULL : errors[0] == '\0';

    if (!tap_ok(status == 0 && said, "%s", name)) {
        tap_diag("status %#x; stderr should have %s, and is:", status, message != NULL ? message : "nothing");
        for (char *line = strtok(errors, "\n"); line != NULL; line = strtok(NULL, "\n"))
            tap_diag("  %s", line);
    }
}

/* One check of a child that does so. */
#define api_check_child_of(action, message, name)               \
    do {                                                        \
        struct api_child child_now = api_child_begin();         \
        if (child_now.pid == 0) {                               \
            action;                                             \
            _exit(0);                                           \
        }                                                       \
        api_child_has_said(child_now, message, name);           \
    } while (0)

TEST_NOINLINE static void api_check_child(void (*fn)(void), const char *message, const char *name)
{
    api_check_child_of(fn(), message, name);
}

/* The same with the collector started. */
#define api_check_started_of(action, message, name) api_check_child_of(GC_INIT(); action, message, name)

TEST_NOINLINE static void api_check_started(void (*fn)(void), const char *message, const char *name)
{
    api_check_started_of(fn(), message, name);
}

/* Without that, but with such settings, and not a word. */
TEST_NOINLINE static void api_check_child_with(const char *settings, void (*fn)(void), const char *name)
{
    api_settings = settings;
    api_check_child(fn, NULL, name);
    api_settings = NULL;
}

#endif
