/* SPDX-License-Identifier: MIT */
/*
 * A process that is short of something, or treats its threads badly.  Each case runs in a child: it
 * works, or it says clearly what is wrong and the program goes on; it never crashes or hangs.
 */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <time.h>

#include "gc/config/public_vars.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

enum { MB = 1 << 20, NOBODY = 65534, REFUSED = 2 };

static const char *last_text;

/* Runs the case in a child with an alarm; what it wrote to stderr is in last_text. */
static int (*current)(void);

static int with_alarm(void)
{
    alarm(60);
    return current();
}

static int run_case(int (*body)(void))
{
    int status;

    current = body;
    last_text = capture_said(status = run_in_child(with_alarm));
    return status;
}

static bool said(const char *part)
{
    return strstr(last_text, part) != NULL;
}

/* One check: it works, and says `part`, if any; or, if it may, it refuses and says so. */
TAP_PRINTF(4, 5) static int check(int (*body)(void), const char *part, bool may_refuse, const char *format, ...)
{
    int status = run_case(body);
    char name[128];

    tap_format(name, format);
    if (status == CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", name);
    else if (!tap_ok((status == 0 && (part == NULL || said(part))) || (may_refuse && status == REFUSED && said("SGC: ")),
                     "%s%s", name, !may_refuse ? "" : status == 0 ? ": works" : ": says so"))
        tap_diag("status %d, said: %.600s", status, last_text);
    return status;
}

/* ---- using the heap in whatever there is --------------------------------------------------------------------- */

struct link {
    struct link *next;
    char rest[200];
};

/* A few megabytes live, many times that allocated: 0 if all is well, REFUSED if memory was refused. */
static int use_heap(void)
{
    struct link *volatile chain = NULL;
    int links = 0;

    for (int i = 0; i < 200000; i++) {
        struct link *l = sgc_allocate(sizeof *l, WHITE_KIND);
        if (l == NULL)
            return REFUSED;
        l->rest[199] = 1;
        if (i % 64 == 0) {
            l->next = chain;
            chain = l;
            links++;
        }
    }
    for (const struct link *l = chain; l != NULL; l = l->next)
        links--;
    return links == 0 ? 0 : 1;
}

static int start_and_use(void)
{
    if (!sgc_init_now())
        return REFUSED;
    return use_heap();
}

static void limit(int resource, rlim_t bytes)
{
    struct rlimit l = { bytes, bytes };

    setrlimit((__rlimit_resource_t)resource, &l);
}

/* ---- ulimit -v, and -d, which is as if overcommit were off ---------------------------------------------------- */

static int limited, limit_mb;

static int under_limit(void)
{
    limit(limited, (rlim_t)limit_mb * MB);
    return start_and_use();
}

static void test_sizes(int resource, const char *what, const int *sizes, int enough)
{
    for (limited = resource; *sizes != 0; sizes++) {
        int status;

        limit_mb = *sizes;
        status = check(under_limit, NULL, true, "%s of %d MB", what, limit_mb);
        if (limit_mb >= enough)
            tap_ok(status == 0, "%d MB are enough", limit_mb);
    }
}

/* ---- locked memory ------------------------------------------------------------------------------------------------- */

static int lock_and_use(void)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return CHILD_SKIPS;
    return start_and_use();
}

static int lock_with_little(void)
{
    limit(RLIMIT_MEMLOCK, 64 * MB);
    if (geteuid() == 0 && setuid(NOBODY) != 0)
        return CHILD_SKIPS;
    return lock_and_use();
}

/* ---- the heap limit ------------------------------------------------------------------------------------------------ */

static sgc_a32_t hooked;

static void *count_oom(TEST_UNUSED size_t bytes)
{
    sgc_a32_add(&hooked, 1);
    return NULL;
}

static int reach_limit(void)
{
    void **volatile all = NULL;
    bool refused = false;

    setenv("GC_MAXIMUM_HEAP_SIZE", "16m", 1);
    if (!sgc_init_now())
        return REFUSED;
    sgc_aw_store(&sgc_client_oom_fn, (uintptr_t)count_oom);
    for (int i = 0; i < 64 && !refused; i++) {
        void **piece = sgc_allocate(MB, WHITE_KIND);
        refused = piece == NULL;
        if (!refused) {
            *piece = all;
            all = piece;
        }
    }
    if (!refused || sgc_a32_load(&hooked) == 0)
        return 1;
    all = NULL;
    white_collect();
    return use_heap();
}

/* ---- threads refused ------------------------------------------------------------------------------------------------ */

static int refuse_threads(void)
{
    if (geteuid() == 0 && setuid(NOBODY) != 0)
        return CHILD_SKIPS;
    limit(RLIMIT_NPROC, 0);
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    if (!sgc_init_now())
        return REFUSED;
    white_collect();
    return use_heap();
}

static void test_no_threads(void)
{
    check(refuse_threads, "refuses a service thread", false, "no thread can be created: said, and it works");
    tap_ok(capture_count(last_text, "refuses a service thread") <= 1, "said once");
}

/* ---- options ---------------------------------------------------------------------------------------------------------- */

static const char *option_name, *option_value;

static int with_option(void)
{
    setenv(option_name, option_value, 1);
    return start_and_use();
}

static void test_options(void)
{
    static const char *const bad[][2] = {
        { "GC_INITIAL_HEAP_SIZE", "" }, { "GC_INITIAL_HEAP_SIZE", "-5" },
        { "GC_MAXIMUM_HEAP_SIZE", "99999999999999999999999" }, { "SGC_DECAY_MS", "soon" },
        { "SGC_SUSPEND_SIGNAL", "SIGKILL" }, { "SGC_SUSPEND_SIGNAL", "65" }, { "SGC_END_BYTE", "some" },
        { "SGC_DECAY_MSEC", "5" }, { "SGC_MODES", "stop" }, { "GC_MARKERS", "-1" },
        { "GC_MARKERS", "100000" }, { "SGC_PRESET", "fast" }, { "SGC_LPS_K", "-1" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        option_name = bad[i][0];
        option_value = bad[i][1];
        check(with_option, option_name, false, "%s=\"%s\" is reported, and the program runs", option_name, option_value);
    }
}

/* ---- threads nobody registered ------------------------------------------------------------------------------------------ */

static sgc_a32_t thread_results;

static void *allocate_unregistered(void *unused)
{
    sgc_a32_add(&thread_results, use_heap() == 0);
    return unused;
}

static int unregistered_threads(void)
{
    pthread_t thread[4];

    if (!sgc_init_now())
        return REFUSED;
    threads_start(thread, 4, allocate_unregistered);
    white_join_all(thread, 4);
    return sgc_a32_load(&thread_results) == 4 ? 0 : 1;
}

/* Before anybody started the collector. */
static int unregistered_first(void)
{
    pthread_t thread[4];

    threads_start(thread, 4, allocate_unregistered);
    threads_join(thread, 4);
    return sgc_a32_load(&thread_results) == 4 ? 0 : 1;
}

/* They write to one section, at the same time. */
static int two_without_cache(void)
{
    struct sgc_section *shared = &sgc_fast_cache->section;

    sgc_brief_enter(shared);
    sgc_aw_store(&shared->brief, sgc_stack_pointer() - (1 << 20));     /* the other thread's stack */
    sgc_brief_end(shared);
    return 0;
}

static bool started(int status)
{
    if (status != 0)
        tap_diag("status %d, said: %.600s", status, last_text);
    return status == 0;
}

static void test_unregistered(void)
{
    int good = 0;

    check(unregistered_threads, "without being registered", false, "threads that are not registered allocate: it works");
    tap_ok(capture_count(last_text, "without being registered") == 1 && said("GC_register_my_thread"),
           "and is said once, with advice");
    for (int i = 0; i < 20; i++)
        good += started(run_case(unregistered_first));
    tap_ok(good == 20, "several start the collector at once by their first allocations (%d of 20)", good);
    check(two_without_cache, NULL, false, "before it is started, what one of them leaves behind means nothing to another");
}

/* ---- clients' system calls --------------------------------------------------------------------------------------------- */

static sgc_a32_t calls_over;

static void collect_all_the_time(TEST_UNUSED void *unused)
{
    while (!sgc_a32_load_acq(&calls_over)) {
        sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
        sgc_sleep_ns(WHITE_MS);
    }
}

static int pipe_ends[2];
static sem_t semaphore;

static void *release_later(void *unused)
{
    sgc_sleep_ns(300 * WHITE_MS);
    sem_post(&semaphore);
    if (write(pipe_ends[1], "x", 1) != 1)
        abort();
    return unused;
}

/* What the system restarts after a handler. */
static int restarted_calls(void)
{
    pthread_t collector, releaser;
    char byte;
    int result = 0;

    if (!sgc_init_now() || pipe(pipe_ends) != 0 || sem_init(&semaphore, 0, 0) != 0)
        return REFUSED;
    collector = white_start(collect_all_the_time, NULL);
    releaser = thread_start(release_later, NULL);
    if (sem_wait(&semaphore) != 0)
        result = 3;
    if (read(pipe_ends[0], &byte, 1) != 1)
        result = 4;
    white_join(releaser);
    sgc_a32_store_rel(&calls_over, 1);
    white_join(collector);
    return result;
}

/* What it does not restart, whatever the handler's flags: each ends early with EINTR, or has waited the
 * whole time; nanosleep says correctly what is left. */
static int sleeping_calls(void)
{
    struct timespec left = { 0, 200 * WHITE_MS };
    struct timeval tv;
    pthread_t collector;
    uint64_t began;
    int n, result = 0;

    if (!sgc_init_now())
        return REFUSED;
    collector = white_start(collect_all_the_time, NULL);
    began = sgc_clock_ns();
    while ((n = nanosleep(&left, &left)) != 0 && errno == EINTR)
        continue;
    if (n != 0 || sgc_clock_ns() - began < 200 * (uint64_t)WHITE_MS)
        result = 3;
    n = poll(NULL, 0, 200);
    if (n != 0 && (n != -1 || errno != EINTR))
        result = 4;
    tv = (struct timeval){ 0, 200000 };
    n = select(0, NULL, NULL, NULL, &tv);
    if (n != 0 && (n != -1 || errno != EINTR))
        result = 5;
    sgc_a32_store_rel(&calls_over, 1);
    white_join(collector);
    return result;
}

static sgc_a32_t slept_well;

static void sleep_long(TEST_UNUSED void *unused)
{
    struct timespec time = { 0, 200 * WHITE_MS };

    sgc_a32_store(&slept_well, nanosleep(&time, NULL) == 0 && poll(NULL, 0, 100) == 0);
}

static int blocked_calls(void)
{
    pthread_t collector;

    if (!sgc_init_now())
        return REFUSED;
    collector = white_start(collect_all_the_time, NULL);
    white_blocked(sleep_long, NULL);
    sgc_a32_store_rel(&calls_over, 1);
    white_join(collector);
    return sgc_a32_load(&slept_well) ? 0 : 1;
}

static void test_calls(void)
{
    check(restarted_calls, NULL, false, "read and sem_wait under constant collections do not end early");
    check(sleeping_calls, NULL, false, "nanosleep, poll and select end with EINTR at worst");
    check(blocked_calls, NULL, false, "in a blocked region they are not interrupted at all");
}

int main(void)
{
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer needs the address space that these tests take away");
    } else {
        test_sizes(RLIMIT_AS, "ulimit -v", (const int[]){ 4000, 1000, 400, 200, 100, 50, 30, 20, 10, 5, 0 }, 200);
        test_sizes(RLIMIT_DATA, "ulimit -d", (const int[]){ 200, 20, 5, 1, 0 }, 4000);
        check(lock_and_use, NULL, false, "mlockall without a limit works");
        check(lock_with_little, NULL, true, "mlockall with 64 MB");
        test_no_threads();
    }
    check(reach_limit, NULL, false, "the heap's limit is reached: the hook's NULL is returned, and the program goes on");
    return tap_all(test_options, test_unregistered, test_calls);
}
