/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/write_watch.c: what can be refused or go wrong around the sources of written pages, at the start and in the
 * middle of a cycle, under SGC_VERIFY=marks (tests/lib/moving.h).  What only protected pages can get wrong is in
 * test_write_watch_protected.c.
 */
#include "gc/collect/write_watch.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include "tests/lib/failing_calls.h"
#include "tests/lib/hostile.h"
#include "tests/lib/moving.h"
#include "tests/lib/refuse.h"

/* ---- refused at the start ---- */

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static bool no_descriptors(void)
{
    struct rlimit none = { 3, 3 };

    return setrlimit(RLIMIT_NOFILE, &none) == 0;
}

/* Nobody asks again. */
static int few_descriptors_at_first(void)
{
    int status;

    limit_descriptors(3);
    status = whole_run(STOPPED);
    limit_descriptors(100);
    return status != 0 ? status : end(BESIDE);
}

static bool no_proc(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/proc", "tmpfs", 0, NULL) == 0;
}

/* Another user's process: its own files in /proc are root's. */
static bool become_nobody(void)
{
    return getuid() == 0 && setresuid(65534, 65534, 65534) == 0 && access("/proc/self/pagemap", R_OK) != 0;
}

#define PAGEMAP_SCAN_ORDER ((uint32_t)_IOWR('f', 16, uint64_t[12]))

/* False: it cannot be refused here. */
#define AT_THE_START(refused, reason)                                                                                       \
    says_of((refused) ? whole_run(STOPPED) : CHILD_SKIPS,                                                                   \
            "SGC_DIRTY=async does not work here: " reason "; collections stop the program", "at the start, %s", reason)

static void test_start(void)
{
    AT_THE_START(refuse_call(SYS_userfaultfd), "userfaultfd: Operation not permitted");
    AT_THE_START(refuse_in_all(SYS_userfaultfd, 0, O_CLOEXEC | 1, ENOSYS), "userfaultfd: Function not implemented");
    AT_THE_START(refuse_in_all(SYS_ioctl, 1, (uint32_t)UFFDIO_API, EINVAL),
                 "asynchronous write protection by userfaultfd: Invalid argument");
    AT_THE_START(refuse_in_all(SYS_ioctl, 1, PAGEMAP_SCAN_ORDER, ENOTTY), "PAGEMAP_SCAN: Inappropriate ioctl for device");
    AT_THE_START(no_descriptors(), "userfaultfd: Too many open files");
    AT_THE_START(no_proc(), "/proc/self/pagemap: No such file or directory");
    AT_THE_START(become_nobody(), "/proc/self/pagemap: Permission denied");
    says(few_descriptors_at_first, "SGC_DIRTY=async does not work here: userfaultfd: Too many open files; collections stop the "
                                  "program for their whole mark until it has descriptors again. Let it have more (ulimit -n",
         "no descriptors at the start, and some later");
}

/* ---- lost in the middle ---- */

static bool orders_refused(void)
{
    return refuse_in_all(SYS_ioctl, 1, PAGEMAP_SCAN_ORDER, EPERM) &&
           refuse_in_all(SYS_ioctl, 1, (uint32_t)UFFDIO_API, EPERM);
}

static bool barrier_refused(void)
{
    return refuse_in_all(SYS_membarrier, 0, MEMBARRIER_CMD_PRIVATE_EXPEDITED, EPERM);
}

/* All would go on without, with everything written. */
static bool has_userfaultfd(void)
{
    char path[32], target[64];

    for (int n = 3; n < FD_MAX; n++) {
        ssize_t length;

        snprintf(path, sizeof path, "/proc/self/fd/%d", n);
        length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, "userfaultfd") != NULL)
            return true;
    }
    return false;
}

/* Its child, too, has the program's files where its parent's sources were. */
static bool fork_works(enum mode mode, bool (*as_well)(void))
{
    pid_t child = fork();

    if (child == 0)
        _exit(end(mode) == 0 && as_well() ? 0 : 1);
    return child_wait(child) == 0;
}

static int descriptors(bool in_the_middle)
{
    int status;

    GC_set_handle_fork(1);
    status = disturbed(in_the_middle, replace_descriptors, BESIDE);
    if (status != 0)
        return status;
    if (!theirs_untouched() || !has_userfaultfd())
        return 5;
    return replace_descriptors() && fork_works(BESIDE, theirs_untouched) && theirs_untouched() ? 0 : 6;
}

static bool all_descriptors_lost(void)
{
    for (int n = 3; n < FD_MAX; n++)
        close(n);
    limit_descriptors(3);
    return true;
}

/* When the reason is gone the collector finds it out; the program may ask before. */
static int lost_and_found(bool asks)
{
    int status = disturbed(true, all_descriptors_lost, STOPPED);

    if (status != 0)
        return status;
    limit_descriptors(100);
    if (asks)
        GC_enable_incremental();
    return end(BESIDE);
}

static int later_other_user(void)
{
    return disturbed(true, become_nobody, BESIDE);
}

/* Its child cannot open a source. */
static int fork_of_other_user(void)
{
    int status;

    GC_set_handle_fork(1);
    status = later_other_user();
    return status != 0 ? status : fork_works(STOPPED, right) ? 0 : 5;
}

static bool child_works(void)
{
    return fork_works(STOPPED, right);
}

/* A server, with children of its children. */
static int forks_of_other_user(void)
{
    int status = fork_of_other_user();

    return status != 0 ? status : fork_works(STOPPED, child_works) && fork_works(STOPPED, right) ? 0 : 6;
}

/* Each source that watches pages anew beside the program needs it. */
static void test_barrier(void)
{
    static const char *const sources[] = { "software", "async", "mprotect" };
    char message[160];

    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        setenv("SGC_DIRTY", sources[i], 1);
        snprintf(message, sizeof message, "SGC_DIRTY=%s does not work any more: membarrier; collections stop", sources[i]);
        says_of(disturbed(true, barrier_refused, STOPPED), message,
                "SGC_DIRTY=%s, and no barrier from the middle of a cycle on", sources[i]);
        says_of(disturbed(false, barrier_refused, STOPPED), message, "or from between two cycles on");
    }
}

static void test_middle(void)
{
    says_of(disturbed(true, orders_refused, STOPPED), "SGC_DIRTY=async does not work any more: ",
            "a filter of system calls that is set up later");
    says_of(descriptors(true), NULL, "all descriptors closed and used anew in the middle of a cycle");
    says_of(descriptors(false), NULL, "and between cycles");
    says_of(lost_and_found(false), "SGC_DIRTY=async does not work any more: userfaultfd: Too many open files",
            "all closed, and none to be had for some time");
    says_of(lost_and_found(true), "SGC_DIRTY=async does not work any more: userfaultfd: Too many open files",
            "or until the program asks again");
    says(later_other_user, NULL, "another user in the middle of a cycle");
    says(fork_of_other_user, "SGC_DIRTY=async does not work any more: /proc/self/pagemap: Permission denied",
         "whose child stops for its collections");
    says(forks_of_other_user, "SGC_DIRTY=async does not work any more: /proc/self/pagemap: Permission denied",
         "or many children, for which that is said once");
}

/* The source is lost and found, again and again; sometimes for good. */
static int fails_now_and_then(void)
{
    failing = 200;
    failing_error = EPERM;
    over_and_over = counting = true;
    GC_set_warn_proc(GC_ignore_warn_proc);
    return whole_run(EITHER);
}

/* ---- programs and settings ---- */

static int writes_everything(void)
{
    uint64_t until = world_patience();

    begin();
    while (world_waits_for(CYCLES, until)) {
        world_write_all(&world);
        change_often(300);
    }
    return sgc_a32_load(&world_cycles.concurrent) >= CYCLES ? end(BESIDE) : 3;
}

/* A heap that has met its limit is collected in stops for a while, so only the first round waits for a mark. */
static int runs_out(void)
{
    void **kept = NULL;

    GC_set_warn_proc(GC_ignore_warn_proc);
    begin();
    for (int round = 0; round < 3; round++) {
        if (round == 0 && !work_until_marking(true))
            return 6;
        change_often(50);
        for (void **more; (more = GC_malloc(100000)) != NULL; kept = more)
            *more = kept;
        kept = NULL;
        if (!right())
            return 5;
    }
    return end(EITHER);
}

static void *enable(void *arg)
{
    GC_enable_incremental();
    return arg;
}

static int enabled_by_many(void)
{
    pthread_t thread[4];

    begin();
    for (int i = 0; i < 4; i++)
        GC_pthread_create(&thread[i], NULL, enable, NULL);
    threads_join(thread, 4);
    return end(BESIDE);
}

/* ---- a fork while a source is opened or closed ---- */

enum { FORKS_BETWEEN = 200 };

static sgc_a32_t forked_enough;

static void *open_and_close(void *arg)
{
    while (sgc_a32_load(&forked_enough) == 0) {
        if (sgc_watch_open(false) != SGC_WATCH_OPEN)
            return arg;
        sgc_watch_after_fork();
    }
    return NULL;
}

static int reopened_in_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        alarm(20);
        sgc_watch_after_fork();
        _exit(sgc_watch_open(false) != SGC_WATCH_OPEN);
    }
    return child_wait(child);
}

/* Nobody else uses the watch, since collections stop the program. */
static int forks_between(void)
{
    pthread_t thread;
    void *refused = NULL;
    int status = 0;

    setenv("SGC_MODE", "stop", 1);
    begin();
    thread = thread_start(open_and_close, &thread);
    for (int i = 0; i < FORKS_BETWEEN && status == 0; i++)
        status = reopened_in_child();
    sgc_a32_store(&forked_enough, 1);
    pthread_join(thread, &refused);
    return refused == NULL ? status : 2;
}

static void test_target(const char *target, const char *message)
{
    setenv("GC_PAUSE_TIME_TARGET", target, 1);
    says_of(whole_run(EITHER), message, "GC_PAUSE_TIME_TARGET=%s", target);
    setenv("GC_PAUSE_TIME_TARGET", "0", 1);
}

static void test_settings(void)
{
    says_of(whole_run(BESIDE), NULL, "nothing goes wrong");
    says(writes_everything, NULL, "a program that writes all of its heap all the time");
    says(little_address_space, NULL, "little address space");
    says(locked_memory, NULL, "locked memory");
    setenv("GC_MAXIMUM_HEAP_SIZE", "32m", 1);
    child_ok(runs_out, "a limit of the heap that is met in the middle");
    unsetenv("GC_MAXIMUM_HEAP_SIZE");
    test_target("1", NULL);
    test_target("3600000", NULL);
    test_target("-1", "GC_PAUSE_TIME_TARGET=-1");
    test_target("2ms", "GC_PAUSE_TIME_TARGET=2ms");
    test_target("1e9", "GC_PAUSE_TIME_TARGET=1e9");
    setenv("GC_FIND_LEAK", "1", 1);
    says_of(whole_run(STOPPED), "+SGC_MODE=concurrent: stop is used: GC_FIND_LEAK", "looking for leaks");
    unsetenv("GC_FIND_LEAK");
    setenv("SGC_MODE", "stop", 1);
    says(enabled_by_many, NULL, "several threads ask for it at once");
    setenv("SGC_DIRTY", "none", 1);
    says_of(whole_run(STOPPED), NULL, "a source, and no use for it");
    environment("SGC_DIRTY=auto", "GC_ENABLE_INCREMENTAL=1");
    says_of(whole_run(STOPPED), "GC_ENABLE_INCREMENTAL=1: 0 is used: SGC_MODE=stop is set", "both modes asked for");
    unsetenv("GC_ENABLE_INCREMENTAL");
    setenv("SGC_MODE", "concurrent", 1);
}

static int is_beside(void)
{
    GC_INIT();
    return GC_is_incremental_mode() ? 0 : CHILD_SKIPS;
}

static bool works(const char *source)
{
    setenv("SGC_DIRTY", source, 1);
    return run_in_child(is_beside) == 0;
}

int main(void)
{
    bool has_soft, has_async;

    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has its own idea of this process's pages, signals and forks");
    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0", "SGC_VERIFY=marks");
    if (!sgc_barrier_all_threads())
        tap_skip_all("no barrier of all threads");
    has_async = works("async");
    has_soft = works("softdirty");
    if (!has_async && !has_soft)
        tap_skip_all("no source of written pages works here");
    setenv("SGC_DIRTY", "auto", 1);
    if (has_soft)
        says_of(refuse_call(SYS_userfaultfd) ? whole_run(BESIDE) : CHILD_SKIPS, "soft-dirty bits are used",
                "without userfaultfd soft-dirty bits are used");
    if (!has_async)
        return tap_done();
    setenv("SGC_DIRTY", has_soft ? "async" : "auto", 1);        /* what comes next is refused, and nothing takes its place */
    test_start();
    test_barrier();
    setenv("SGC_DIRTY", has_soft ? "async" : "auto", 1);
    test_middle();
    setenv("SGC_DIRTY", "auto", 1);
    child_ok(fails_now_and_then, "one call in two hundred fails");
    says(forks, NULL, "%d forks, most of them in the middle of cycles", FORKS);
    says(forks_between, NULL, "%d forks while a source is opened or closed: the child opens it anew", FORKS_BETWEEN);
    test_settings();
    return tap_done();
}
