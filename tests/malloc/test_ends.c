/* SPDX-License-Identifier: MIT */
/*
 * malloc and the ends of threads: in destructors of all kinds, in threads that end without any, and
 * in thousands that come and go.
 *
 * CONFORM_THREADS in the environment says how many there are in turn, CONFORM_AT_ONCE how many at
 * once.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/lib/child.h"
#include "tests/lib/module.h"
#include "tests/lib/threads.h"
#include "tests/malloc/conform.h"

enum { ENDING = 300, KEYS = 40, TURNS = 1500, WARM = 200, AT_ONCE = 300, MODULES = 3, STACK_BYTES = 64 << 10 };
enum { FLAT_KB = 4096 };

static bool small_work(unsigned seed)
{
    bool right = true;

    for (size_t size = 1; size < 2000; size += size / 2 + 8)
        right = conform_free(conform_new(size, seed), size, seed) && right;
    return right;
}

/* A number that the environment may give, above `low`. */
static long wanted(const char *name, long otherwise, long low)
{
    const char *given = getenv(name);
    long count = given == NULL ? otherwise : strtol(given, NULL, 10);

    if (count <= low)
        tap_bail("%s is \"%s\", expected a number above %ld", name, given, low);
    return count;
}

static bool turns_are_right(int turns, void *(*body)(void *))
{
    atomic_store(&conform_wrong, 0);
    for (int i = 0; i < turns; i++)
        pthread_join(thread_start(body, (void *)(intptr_t)i), NULL);
    return atomic_load(&conform_wrong) == 0;
}

/* ---- destructors of thread-specific data ---- */

static pthread_key_t keys[KEYS];
static atomic_long rounds;

static void set_value(int key, int left)
{
    int *value = malloc(2 * sizeof *value);

    value[0] = left;
    value[1] = key;
    pthread_setspecific(keys[key], value);
}

/* In each round a block is freed, and allocated for the next one. */
static void destroy_value(void *block)
{
    int *value = block, left = value[0] - 1, key = value[1];

    free(value);
    atomic_fetch_add(&rounds, 1);
    conform_expect(conform_free(conform_new(100, (unsigned)key), 100, (unsigned)key));
    if (left > 0)
        set_value(key, left);
}

static void set_values(int left)
{
    for (int key = 0; key < KEYS; key++)
        set_value(key, left);
}

static void *end_slowly(void *arg)
{
    set_values(PTHREAD_DESTRUCTOR_ITERATIONS);
    return arg;
}

static bool destructors_are_right(void)
{
    atomic_store(&rounds, 0);
    return turns_are_right(ENDING, end_slowly) && atomic_load(&rounds) == ENDING * KEYS * PTHREAD_DESTRUCTOR_ITERATIONS;
}

/* The first block of such a thread is had when no round follows. */
static pthread_key_t last_key;

static void destroy_late(void *value)
{
    uintptr_t round = (uintptr_t)value;

    if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(last_key, (void *)(round + 1));
    else
        conform_expect(small_work((unsigned)round));
}

static void *begin_late(void *arg)
{
    pthread_setspecific(last_key, (void *)1);
    return arg;
}

/* ---- destructors of thread-local variables, as C++ has them ---- */

/* The C library's, for which no header is: the function is called when the thread ends. */
int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *module);
static char this_module;

static void destroy_variable(void *block)
{
    conform_expect(conform_free(block, 300, 3) && small_work(4));
}

static void *with_variable(void *arg)
{
    __cxa_thread_atexit_impl(destroy_variable, conform_new(300, 3), &this_module);
    return arg;
}

/* ---- no destructors at all ---- */

static void *end_raw(void *arg)
{
    conform_expect(small_work(5) && conform_work(6));
    syscall(SYS_exit, 0);
    return arg;
}

/* ---- interrupted ---- */

enum { INTERRUPTED = 100, KEPT = 40000, HANG_SECONDS = 60 };

static atomic_int interruptions;
static atomic_bool in_its_end;
static pthread_key_t end_key;           /* one of the first 32, for which the C library frees nothing in the
                                         * end of a thread, which a handler might interrupt */

/* In the first round. */
static void begin_end(TEST_UNUSED void *value)
{
    atomic_store(&in_its_end, true);
}

static void allocate_in_handler(TEST_UNUSED int number)
{
    int saved = errno;

    conform_expect(small_work(7));
    free(malloc(100000));
    if (atomic_load(&in_its_end))
        atomic_fetch_add(&interruptions, 1);
    errno = saved;
}

static void take_signals(int how)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(how, &one, NULL);
}

/* It has a cache with many pages, and takes the signal from then on. */
static void *end_with_many(void *arg)
{
    void **kept = arg;

    for (size_t i = 0; i < KEPT; i++)
        kept[i] = malloc(i % 1000);
    pthread_setspecific(end_key, kept);
    take_signals(SIG_UNBLOCK);
    return NULL;
}

/* The signal comes in the end of a thread, where the C library may have a lock of its own. */
static int ends_interrupted(void)
{
    struct sigaction action = { .sa_handler = allocate_in_handler, .sa_flags = SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
    static void *kept[KEPT];
    timer_t timer;

    alarm(HANG_SECONDS);
    take_signals(SIG_BLOCK);
    sigaction(SIGUSR1, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
        return CHILD_SKIPS;
    for (int i = 0; i < INTERRUPTED; i++) {
        pthread_join(thread_start(end_with_many, kept), NULL);
        atomic_store(&in_its_end, false);
        for (size_t k = 0; k < KEPT; k++)
            free(kept[k]);
    }
    return atomic_load(&conform_wrong) == 0 && atomic_load(&interruptions) >= INTERRUPTED / 2 ? 0 : 1;
}

/* ---- one after the other ---- */

/* Their thread-local data is allocated when a thread comes to it. */
static void *(*tls_address[MODULES])(void);

static void load_modules(void)
{
    static const char *const names[MODULES] = { "module_small", "module_large", "../foreign/.libs/libgc" };

    for (int i = 0; i < MODULES; i++) {
        void *address = module_symbol(module_load(names[i]), "module_tls_address");

        memcpy(&tls_address[i], &address, sizeof address);
    }
}

static void *brief(void *arg)
{
    unsigned i = (unsigned)(intptr_t)arg;

    for (int m = 0; m < MODULES; m++) {
        char *data = tls_address[m]();

        conform_expect(data[0] == 1 && data[1] == 0);
        data[1] = 1;
    }
    set_values(2);
    conform_expect(small_work(i) && (i % 16 != 0 || conform_work(i)));
    return NULL;
}

static void *mixed(void *arg)
{
    void *(*const kinds[])(void *) = { brief, brief, begin_late, end_raw };

    return kinds[(intptr_t)arg % 4](arg);
}

static bool memory_stays_flat(void *(*body)(void *), const char *name)
{
    long count = wanted("CONFORM_THREADS", TURNS, WARM), before = 0;

    atomic_store(&conform_wrong, 0);
    for (long i = 0; i < count; i++) {
        if (i == WARM)
            before = conform_resident_kb();
        pthread_join(thread_start(body, (void *)(intptr_t)i), NULL);
    }
    tap_diag("%ld threads %s, %ld KB more than after %d", count, name, conform_resident_kb() - before, WARM);
    return atomic_load(&conform_wrong) == 0 && conform_resident_kb() - before < FLAT_KB;
}

/* ---- all at once ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* Allocates, waits until all are there, and frees. */
static void *wait_and_free(void *arg)
{
    unsigned seed = (unsigned)(intptr_t)arg;
    void *block = conform_new(100, seed);

    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    conform_expect(conform_free(block, 100, seed));
    return NULL;
}

/* As many as there can be, if that is less than what is wanted. */
static void test_at_once(void)
{
    long count = wanted("CONFORM_AT_ONCE", AT_ONCE, 1), made = 0;
    pthread_t *thread = calloc((size_t)count, sizeof *thread);
    pthread_attr_t attributes;

    atomic_store(&conform_wrong, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_mutex_lock(&gate);
    while (made < count && pthread_create(&thread[made], &attributes, wait_and_free, (void *)(intptr_t)made) == 0)
        made++;
    pthread_mutex_unlock(&gate);
    for (long i = 0; i < made; i++)
        pthread_join(thread[i], NULL);
    pthread_attr_destroy(&attributes);
    free(thread);
    if (atomic_load(&conform_wrong) == 0 && made < count)
        tap_skip("%ld threads at once: the system lets there be %ld, which was right", count, made);
    else
        tap_ok(atomic_load(&conform_wrong) == 0 && made == count, "%ld threads at once", made);
}

int main(void)
{
    load_modules();
    tap_plan(8);
    if (pthread_key_create(&end_key, begin_end) != 0)
        tap_bail("no key");
    for (int key = 0; key < KEYS; key++)
        if (pthread_key_create(&keys[key], destroy_value) != 0)
            tap_bail("no %d keys", KEYS);
    if (pthread_key_create(&last_key, destroy_late) != 0)
        tap_bail("no %d keys", KEYS + 2);
    tap_ok(destructors_are_right(), "in destructors of thread-specific data, of all rounds");
    tap_ok(turns_are_right(ENDING, begin_late), "for the first time in the last of these rounds");
    tap_ok(turns_are_right(ENDING, with_variable), "in destructors of thread-local variables");
    tap_ok(turns_are_right(ENDING, end_raw), "in threads that end by the system call");
    if (conform_is_sgc())
        child_ok(ends_interrupted, "in handlers that interrupt the end of a thread");
    else
        tap_skip("handlers that interrupt the end of a thread: this malloc does not promise anything");
    tap_ok(memory_stays_flat(brief, "in turn"),
           "threads that come and go, with %d keys and %d modules, leave nothing behind", KEYS, MODULES);
    tap_ok(conform_is_c_library() || memory_stays_flat(mixed, "of several kinds"),
           "nor do those whose destructors do not come, if the malloc promises it");
    test_at_once();
    return tap_done();
}
