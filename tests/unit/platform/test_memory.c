/* SPDX-License-Identifier: MIT */
/*
 * platform/memory_linux.c: reservations, commits and their refusal, what is mapped, and limits on
 * memory.  Limits are set in child processes.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "platform/platform.h"
#include "tests/lib/bytes.h"
#include "tests/lib/child.h"
#include "tests/lib/proc.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

enum { MB = 1 << 20 };
static size_t page;

/* ---- reservations ---------------------------------------------------------------------------------- */

static void test_alignment(void)
{
    bool aligned = true, held = true;
    for (size_t align = 1; align <= (size_t)1 << 30; align *= 2) {
        char *start = sgc_mem_reserve(3 * page, align);
        aligned = aligned && start && (uintptr_t)start % align == 0 && (uintptr_t)start % page == 0;
        held = held && sgc_mem_mapped_from((uintptr_t)start, (uintptr_t)start + 3 * page) == (uintptr_t)start;
        sgc_mem_release(start, 3 * page);
    }
    tap_ok(aligned, "reservations are aligned to 1 byte up to 1 GB");
    tap_ok(held, "and mapped throughout");
}

/* What the kernel gives is rarely aligned to 1 GB, so this goes through the trimming of both ends. */
static void test_no_excess(void)
{
    size_t before = proc_address_space(), bytes = 4 * MB;
    char *first = sgc_mem_reserve(bytes, (size_t)1 << 30), *second = sgc_mem_reserve(bytes, (size_t)1 << 30);
    tap_ok(first && second && proc_address_space() - before == 2 * bytes,
           "what was mapped too much for the alignment is given back (%zu left)",
           proc_address_space() - before - 2 * bytes);
    sgc_mem_release(first, bytes);
    sgc_mem_release(second, bytes - 1);
    tap_ok(proc_address_space() == before, "a released reservation is unmapped");
}

/* The kernel sees to it by itself; tests/check/check_valgrind runs this where it does not. */
static void test_above_integers(void)
{
    size_t bytes = 32 * (size_t)MB;
    char *start = sgc_mem_reserve(bytes, 4 * MB);

    tap_ok((uintptr_t)start > UINT32_MAX, "no integer of 32 bits looks like an address of a reservation");
    sgc_mem_release(start, bytes);
}

static void test_impossible(void)
{
    errno = EDOM;
    tap_ok(sgc_mem_reserve((size_t)1 << 60, page) == NULL, "a reservation beyond the address space is refused");
    tap_ok(sgc_mem_reserve(16 * page, (size_t)1 << 62) == NULL, "so is an impossible alignment");
    tap_ok(sgc_mem_reserve(SIZE_MAX, page) == NULL, "and SIZE_MAX");
    tap_ok(sgc_mem_reserve(0, page) == NULL, "and nothing");
    tap_ok(errno == EDOM, "errno is as before");
}

/* ---- commit, discard -------------------------------------------------------------------------------- */

static char *no_access;

static int touch(void)
{
    signal(SIGSEGV, SIG_DFL);
    return *(volatile char *)no_access;
}

static void test_commit(void)
{
    size_t bytes = 1024 * page;
    char *start = sgc_mem_reserve(bytes, page);
    no_access = start;
    tap_ok(run_in_child(touch) == 128 + SIGSEGV, "reserved memory cannot be read");
    tap_ok(sgc_mem_resident(start, bytes) == 0, "and has no backing");
    tap_ok(sgc_mem_commit(start, 600 * page), "a part is committed");
    tap_ok(sgc_mem_resident(start, bytes) == 0, "which backs nothing yet");
    tap_ok(all_zero(start, 600 * page), "it reads as zero");
    memset(start, 1, 600 * page);
    tap_ok(sgc_mem_resident(start, bytes) == 600 * page, "what is written is resident");
    tap_ok(sgc_mem_resident(start + 590 * page + 1, 20 * page) == 10 * page, "bounds are rounded outward");
    no_access = start + 600 * page;
    tap_ok(run_in_child(touch) == 128 + SIGSEGV, "what follows stays reserved");
    tap_ok(sgc_mem_discard(start + page, 500 * page), "backing is given back");
    tap_ok(sgc_mem_resident(start, bytes) == 100 * page, "and gone");
    tap_ok(start[0] == 1 && start[501 * page] == 1 && all_zero(start + page, 500 * page),
           "it reads as zero, its neighbours as before");
    no_access = start + 501 * page;
    tap_ok(sgc_mem_close(start + 501 * page, 2 * page) && run_in_child(touch) == 128 + SIGSEGV,
           "what is closed cannot be read");
    tap_ok(start[503 * page] == 1, "what follows can");
    tap_ok(sgc_mem_commit(start + 501 * page, 2 * page) && start[501 * page] == 1, "it is opened again with its contents");
    sgc_mem_release(start, bytes);
}

static void test_populate(void)
{
    char *start = sgc_mem_reserve(16 * page, page);

    sgc_mem_commit(start, 8 * page);
    start[3 * page] = 7;
    errno = EDOM;
    sgc_mem_populate(start + page + 1, start + 4 * page + 1);
    tap_ok(errno == EDOM, "populating keeps errno");
    if (madvise(start + 6 * page, page, 23) != 0)
        tap_skip("Linux before 5.14 cannot populate memory");
    else
        tap_ok(sgc_mem_resident(start, 6 * page) == 4 * page, "what is populated is resident, bounds are rounded outward");
    tap_ok(start[3 * page] == 7 && all_zero(start, 3 * page) && all_zero(start + 4 * page, 2 * page), "contents stay");
    sgc_mem_release(start, 16 * page);
}

/* ---- core dumps: " dd" is MADV_DONTDUMP ------------------------------------------------------------------- */

static void test_dumps(void)
{
    char *start = sgc_mem_reserve(16 * page, page);
    if (proc_flag(start, " dd") < 0) {
        tap_skip("this kernel does not say what it dumps");
    } else {
        sgc_mem_commit(start, 4 * page);
        tap_ok(proc_flag(start + 8 * page, " dd") == 1 && proc_flag(start, " dd") == 0,
               "core dumps leave out what is only reserved, not what is committed");
    }
    sgc_mem_release(start, 16 * page);
}

/* ---- what is mapped -------------------------------------------------------------------------------------- */

static void test_mapped_from(void)
{
    size_t pages = 3000;
    uintptr_t lo = (uintptr_t)sgc_mem_reserve(pages * page, page), hi = lo + pages * page;
    static const size_t holes[] = { 0, 1, 2, 7, 511, 512, 513, 1024, 1500, 2998, 2999 };
    bool right = sgc_mem_mapped_from(lo, hi) == lo;
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
        munmap((void *)(lo + holes[i] * page), page);
        uintptr_t from = sgc_mem_mapped_from(lo, hi);
        if (from != lo + (holes[i] + 1) * page)
            tap_diag("hole at page %zu: answer %zd", holes[i], (ssize_t)(from - lo) / (ssize_t)page);
        right = right && from == lo + (holes[i] + 1) * page;
    }
    tap_ok(right, "the lowest address without a hole above it is found, wherever the hole is");
    tap_ok(sgc_mem_mapped_from(lo + 1, lo + page) == lo + page, "a range that is not mapped ends where it begins");
    uintptr_t odd = lo + 1600 * page;
    tap_ok(sgc_mem_mapped_from(odd + 5, odd + 2 * page - 5) == odd, "bounds are rounded outward");
    tap_ok(sgc_mem_mapped_from(odd, odd) == odd, "an empty range is its own answer");
    sgc_mem_release((void *)lo, pages * page);
}

/* ---- limits, each in a child ------------------------------------------------------------------------------ */

static int reserve_under_address_space_limit(void)
{
    if (!limit_to(RLIMIT_AS, proc_address_space() + 64 * MB))
        return CHILD_SKIPS;
    if (sgc_mem_reserve(256 * MB, 4 * MB))
        return 1;               /* more than the limit */
    char *start = sgc_mem_reserve(32 * MB, 4 * MB);
    if (!start || (uintptr_t)start % (4 * MB))
        return 2;               /* fits with its slack for the alignment */
    if (!sgc_mem_commit(start, 32 * MB))
        return 3;
    memset(start, 1, 32 * MB);
    if (sgc_mem_reserve(48 * MB, 4 * MB))
        return 4;               /* what is left is less */
    sgc_mem_release(start, 32 * MB);
    return sgc_mem_reserve(48 * MB, page) ? 0 : 5;
}

/* RLIMIT_DATA counts private writable memory, so that mprotect is refused as it is when the system
 * may not promise more. */
static int commit_beyond_data_limit(void)
{
    char *start = sgc_mem_reserve(256 * MB, page);
    if (!start || !limit_to(RLIMIT_DATA, 64 * MB))
        return CHILD_SKIPS;
    if (sgc_mem_commit(start, 256 * MB))
        return 1;
    no_access = start;
    if (run_in_child(touch) != 128 + SIGSEGV)
        return 2;               /* refused, but readable */
    if (!sgc_mem_commit(start, 8 * MB))
        return 3;
    memset(start, 1, 8 * MB);
    return 0;
}

/* Without privileges the whole reservation counts against the limit on locked memory. */
static int reserve_under_lock_limit(void)
{
    if (!limit_to(RLIMIT_MEMLOCK, 8 * MB) || (geteuid() == 0 && setuid(65534) != 0))
        return CHILD_SKIPS;
    if (mlockall(MCL_FUTURE) != 0)
        return CHILD_SKIPS;
    if (sgc_mem_reserve(1024 * (size_t)MB, page))
        return 1;
    char *start = sgc_mem_reserve(2 * MB, page);
    if (!start || !sgc_mem_commit(start, 2 * MB))
        return 2;
    memset(start, 1, 2 * MB);
    if (sgc_mem_discard(start, 2 * MB))
        return 3;               /* locked pages cannot be given back */
    start[MB] = 2;
    return start[MB] == 2 ? 0 : 4;
}

static int reserve_with_future_locked(void)
{
    if (mlockall(MCL_FUTURE) != 0)
        return CHILD_SKIPS;
    char *start = sgc_mem_reserve(4096 * (size_t)MB, page);
    if (!start)
        return CHILD_SKIPS;     /* no privilege: the other case */
    if (sgc_mem_resident(start, 4096 * (size_t)MB) != 0)
        return 1;
    if (!sgc_mem_commit(start, 4 * MB))
        return 2;
    memset(start, 1, 4 * MB);
    return sgc_mem_resident(start, 4096 * (size_t)MB) == 4 * MB ? 0 : 3;
}

/* Only where the machine is set so already: it is set for everybody. */
static void test_strict_overcommit(void)
{
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "r");
    int mode = file ? getc(file) : 0;
    if (file)
        fclose(file);
    if (mode != '2') {
        tap_skip("vm.overcommit_memory is not 2");
        return;
    }
    size_t bytes = (size_t)1 << 40;
    char *start = sgc_mem_reserve(bytes, page);
    tap_ok(start != NULL, "strict overcommit: a terabyte can be reserved");
    tap_ok(start && !sgc_mem_commit(start, bytes) && sgc_mem_commit(start, MB), "but not committed, as a megabyte can");
    sgc_mem_release(start, bytes);
}

static void test_limits(void)
{
    if (TEST_SANITIZED) {
        tap_skip("limits on memory do not go with a sanitizer's own reservations");
        return;
    }
    child_ok(reserve_under_address_space_limit, "RLIMIT_AS: smaller reservations succeed");
    child_ok(commit_beyond_data_limit, "a refused commit leaves the range reserved");
    child_ok(reserve_under_lock_limit, "mlockall with a limit on locked memory");
    child_ok(reserve_with_future_locked, "mlockall populates no reservation");
}

static char *wiped;

static void test_wiped(void)
{
    wiped = sgc_mem_obtain_wiped(page + 1);
    if (wiped == NULL) {
        tap_skip("this system zeroes nothing in the child of a fork");
        return;
    }
    wiped[0] = wiped[page] = 1;
    child_ok_of(wiped[0] == 0 && wiped[page] == 0 ? 0 : 1, "memory that the child of a fork finds zeroed");
    tap_ok(wiped[0] == 1 && wiped[page] == 1, "and the parent as it was");
    sgc_mem_release(wiped, page + 1);
}

int main(void)
{
    page = sgc_os_page_size();
    tap_ok(page == (size_t)sysconf(_SC_PAGESIZE), "the OS page has %zu bytes", page);
    return tap_all(test_alignment, test_no_excess, test_above_integers, test_impossible, test_commit,
                   test_populate, test_dumps, test_wiped, test_mapped_from, test_strict_overcommit,
                   test_limits);
}
