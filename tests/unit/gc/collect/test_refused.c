/* SPDX-License-Identifier: MIT */
/*
 * System calls that are refused.  Each that the library makes when it starts, when a thread registers, when the world stops
 * and when it collects fails in turn, as the kernel or a sandbox's filter makes it fail, in a process of its own
 * (refused_run.c), from each of up to three moments on:
 *
 *   s   before the library starts
 *   r   before threads register
 *   c   before the first collection
 *
 * That process works (refused_threads.c): it holds objects from every kind of root, collects, and
 * allocates over what was freed.  Then either everything is right; or something was refused to the
 * program and it was told: NULL by way of the hook for memory, an error from GC_pthread_create or
 * fork, a message, said once, that no collection is made or that the collector cannot start.
 * Whatever is lost or damaged, a crash, or a process that does not come to its end fails.  So does
 * a row whose call was not made in one of its moments: it shows nothing.
 *
 * Left out are waking by futex and setting signal masks back, without which the C library's own threads cannot go on either,
 * and calls that only the C library makes.
 */
#include "tests/unit/gc/collect/refused.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/lib/module.h"
#include "tests/lib/sanitized.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

#define ALWAYS 0, 0, 0
#define IF(argument, mask, value) argument, mask, value

static const uint32_t WHOLE = UINT32_MAX;

struct row {
    const char *name;
    struct refused_call call;
    const char *moments;        /* at which it is refused */
    int once_in;                /* once in so many times it is not; 0: always */
    int errors[5];              /* up to a 0 */
};

static const struct row rows[] = {
    /* files of /proc and /sys: limits, caches, stacks, what lies where */
    { "openat", { SYS_openat, ALWAYS }, "s", 0, { EPERM, EACCES, ENOSYS, EMFILE } },
    { "openat, every second time", { SYS_openat, ALWAYS }, "s", 2, { EMFILE } },
    { "read", { SYS_read, ALWAYS }, "s", 0, { EPERM, EIO } },
    { "read, three times of four", { SYS_read, ALWAYS }, "s", 4, { EINTR } },
    { "read, every second time", { SYS_read, ALWAYS }, "s", 2, { EIO } },
    { "close", { SYS_close, ALWAYS }, "s", 0, { EPERM } },
    { "faccessat", { SYS_faccessat, ALWAYS }, "s", 0, { EPERM, ENOSYS } },

    /* what there is of everything */
    { "prlimit64", { SYS_prlimit64, ALWAYS }, "s", 0, { EPERM, ENOSYS } },
    { "sysinfo", { SYS_sysinfo, ALWAYS }, "s", 0, { EPERM, ENOSYS } },
    { "sched_getaffinity", { SYS_sched_getaffinity, ALWAYS }, "s", 0, { EPERM, ENOSYS } },

    /* memory: reserved, committed, given back */
    { "mmap of address space", { SYS_mmap, IF(3, MAP_NORESERVE, MAP_NORESERVE) }, "src", 0, { ENOMEM, EPERM } },
    { "mmap of address space, every second time", { SYS_mmap, IF(3, MAP_NORESERVE, MAP_NORESERVE) }, "src", 2, { ENOMEM } },
    { "mmap of address space, four times of five", { SYS_mmap, IF(3, MAP_NORESERVE, MAP_NORESERVE) }, "src", 5, { ENOMEM } },
    { "mprotect that commits", { SYS_mprotect, IF(2, WHOLE, PROT_READ | PROT_WRITE) }, "src", 0,
      { ENOMEM, EACCES, EPERM } },
    { "mprotect that commits, every second time", { SYS_mprotect, IF(2, WHOLE, PROT_READ | PROT_WRITE) }, "src", 2,
      { ENOMEM } },
    { "munmap", { SYS_munmap, ALWAYS }, "sr", 0, { ENOMEM, EPERM } },
    { "madvise, whatever it says", { SYS_madvise, ALWAYS }, "src", 0, { EPERM, ENOSYS, ENOMEM } },
    { "madvise(MADV_DONTNEED)", { SYS_madvise, IF(2, WHOLE, MADV_DONTNEED) }, "src", 0, { EINVAL } },
    { "madvise(MADV_POPULATE_WRITE)", { SYS_madvise, IF(2, WHOLE, MADV_POPULATE_WRITE) }, "sr", 0, { EINVAL, EFAULT } },
    { "madvise(MADV_POPULATE_WRITE), two times of three", { SYS_madvise, IF(2, WHOLE, MADV_POPULATE_WRITE) }, "s", 3,
      { EAGAIN } },
    { "mincore", { SYS_mincore, ALWAYS }, "src", 0, { EPERM, ENOSYS, EAGAIN } },
    { "mincore, every second time", { SYS_mincore, ALWAYS }, "src", 2, { EAGAIN } },

    /* what can be read */
    { "process_vm_readv", { SYS_process_vm_readv, ALWAYS }, "src", 0, { EPERM, ENOSYS } },
    { "process_vm_readv, every second time", { SYS_process_vm_readv, ALWAYS }, "src", 2, { EPERM } },

    /* threads */
    { "clone3", { SYS_clone3, ALWAYS }, "src", 0, { EPERM, ENOSYS, EAGAIN } },
    { "clone3, every second time", { SYS_clone3, ALWAYS }, "src", 2, { EAGAIN } },
    { "clone", { SYS_clone, ALWAYS }, "src", 0, { EPERM, EAGAIN, ENOMEM } },
    { "gettid", { SYS_gettid, ALWAYS }, "src", 0, { EPERM, ENOSYS } },
    { "getpid", { SYS_getpid, ALWAYS }, "src", 0, { EPERM, ENOSYS } },
    { "prctl(PR_SET_NAME)", { SYS_prctl, IF(0, WHOLE, PR_SET_NAME) }, "src", 0, { EPERM, ENOSYS } },
    { "sigaltstack", { SYS_sigaltstack, ALWAYS }, "src", 0, { EPERM, ENOSYS } },

    /* stopping threads, waiting for them */
    { "rt_sigaction", { SYS_rt_sigaction, ALWAYS }, "s", 0, { EPERM, EINVAL } },
    { "rt_sigprocmask that looks at an address", { SYS_rt_sigprocmask, IF(0, WHOLE, (uint32_t)-1) }, "src", 0,
      { EPERM, ENOSYS } },
    { "rt_sigprocmask that blocks", { SYS_rt_sigprocmask, IF(0, WHOLE, SIG_BLOCK) }, "src", 0, { EPERM, ENOSYS } },
    { "tgkill", { SYS_tgkill, ALWAYS }, "src", 0, { EPERM, ENOSYS, EACCES } },
    { "tgkill, three times of four", { SYS_tgkill, ALWAYS }, "src", 4, { EAGAIN } },
    { "futex(FUTEX_WAIT)", { SYS_futex, IF(1, WHOLE, FUTEX_WAIT_PRIVATE) }, "src", 0, { EPERM, ENOSYS } },
    { "futex(FUTEX_WAIT), three times of four", { SYS_futex, IF(1, WHOLE, FUTEX_WAIT_PRIVATE) }, "src", 4,
      { EINTR, EAGAIN } },
};

enum { ROWS = sizeof rows / sizeof *rows };

static struct refused_outcome outcome;

/* ---- rows ------------------------------------------------------------------------------------ */

struct tally {
    int runs, right, bad;
    bool hung;
};

/* Where only collections meet refusals they are made under torture: then both markers mark, however small the heap is.  Under
 * it no memory is populated, so that the other runs are without. */
static void run_at(const struct refused_run *run)
{
    setenv("SGC_TORTURE", run->moment == REFUSED_COLLECT ? "1000000" : "0", 1);
    run_refused(run, &outcome);
}

static void one_run(const struct row *row, int error, int moment, struct tally *tally)
{
    struct refused_run run = { row->call, error, row->once_in, moment, run_work };
    const char *why;

    run_at(&run);
    why = verdict(&outcome, moment);
    if (why == NULL && atomic_load(&report->fired) == 0)
        why = "the call was not made: the row shows nothing";
    tally->runs++;
    tally->right += why == NULL && all_right(&outcome);
    tally->hung = outcome.hung;
    if (why == NULL)
        return;
    tally->bad++;
    tap_diag("%s, %s at %c: %s", row->name, strerror(error), "src"[moment], why);
    describe(&outcome);
}

/* The errors behind a row's first are tried at its first moment alone; with TEST_EVERY=1 in the environment, as make check-long
 * has it, at each. */
static bool is_tried(const struct row *row, const int *error, int moment)
{
    const char *at = strchr(row->moments, "src"[moment]);

    return at != NULL && (error == row->errors || at == row->moments || getenv("TEST_EVERY") != NULL);
}

/* Where a process hangs, the rest of the row is left out: the whole must end in time. */
static void check_row(const struct row *row)
{
    struct tally tally = { 0, 0, 0, false };
    char errors[160] = "";

    for (const int *error = row->errors; *error != 0; error++) {
        strcat(strcat(errors, ", "), strerror(*error));
        for (int moment = 0; moment < REFUSED_MOMENTS && !tally.hung; moment++)
            if (is_tried(row, error, moment))
                one_run(row, *error, moment, &tally);
    }
    tap_ok(tally.bad == 0, "%s%s at %s: of %d runs %d are right, %d are told of what is refused", row->name, errors,
           row->moments, tally.runs, tally.right, tally.runs - tally.right - tally.bad);
}

/* ---- what the rows rely on ------------------------------------------------------------------- */

static void check_unrefused(int moment, const char *how)
{
    struct refused_run run = { { SYS_reboot, ALWAYS }, EPERM, 0, moment, run_work };

    run_at(&run);
    if (!tap_ok(verdict(&outcome, moment) == NULL && all_right(&outcome) && outcome.said[0] == '\0',
                "nothing refused%s: all is right, nothing said", how))
        describe(&outcome);
}

static void check_planted(void)
{
    struct refused_run run = { { SYS_reboot, ALWAYS }, EPERM, 0, REFUSED_START, run_planted_work };

    run_refused(&run, &outcome);
    tap_ok(atomic_load(&report->wrong) > 0, "a chain that the collector cannot see is found lost");
}

static void nothing(void)
{
}

static bool is_possible(void)
{
    struct refused_run run = { { SYS_reboot, ALWAYS }, EPERM, 0, REFUSED_START, nothing };

    run_refused(&run, &outcome);
    return outcome.status == 0;
}

/* Its variables are where only the dynamic thread vectors lead to. */
static void load_module(void)
{
    void *symbol = module_symbol(module_load("module_large"), "module_tls_address");

    memcpy(&module_variable, &symbol, sizeof symbol);
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer's own system calls would be refused, too");
    setenv("GC_MARKERS", "2", 1);
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    setenv("SGC_STOP_WARN_MS", "200", 1);
    setenv("SGC_VERIFY", "nothing", 1);         /* which ends the process where it gets no memory for its copies */
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        tap_bail("no shared memory");
    tick();
    if (!is_possible())
        tap_skip_all("no seccomp filter that asks its parent can be set up here");
    load_module();
    tap_plan(ROWS + 3);
    check_unrefused(REFUSED_START, "");
    check_unrefused(REFUSED_COLLECT, ", under torture");
    check_planted();
    for (int i = 0; i < ROWS; i++)
        check_row(&rows[i]);
    return tap_done();
}
