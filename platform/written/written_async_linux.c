/* SPDX-License-Identifier: MIT */
/*
 * Userfaultfd's asynchronous write protection: the kernel itself takes the fault of the first write
 * to a protected page and notes it in the page table, where PAGEMAP_SCAN finds it and protects the
 * page again in one step.  Linux 6.7.
 *
 * Owns two files (platform/file_linux.h), which the thread that opens or closes the source
 * writes while no thread collects.  Once a program has closed them nothing is protected any more,
 * arming fails and all counts as written.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "platform/file_linux.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"
#include "platform/written/written.h"

/* ---- what older headers lack (linux/userfaultfd.h, linux/fs.h) ---- */

enum {
    USER_MODE_ONLY = 1,                     /* needs no privilege; with asynchronous protection the
                                               kernel's writes count too */
    FEATURE_UNPOPULATED = 1 << 13,          /* pages that were never touched can be protected */
    FEATURE_ASYNC = 1 << 15,
    SCAN_PROTECT = 1 << 0,                  /* what matches */
    SCAN_NEEDS_ASYNC = 1 << 1,              /* fail where it is not registered */
    PAGE_WRITTEN = 1 << 1,
};

struct region {
    uint64_t start, end, categories;
};

struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
    uint64_t inverted, all_of, any_of, reported;
};

#define PAGEMAP_SCAN_ORDER _IOWR('f', 16, struct scan)

/* ---- descriptors ---- */

enum { REGIONS = 256 };

static SGC_STATE struct {
    struct sgc_own_file faults, pagemap;        /* userfaultfd; /proc/self/pagemap */
} files = { SGC_NO_FILE, SGC_NO_FILE };

/* -EBADF if the program has closed it, or has a file of its own there. */
static long order(const struct sgc_own_file *file, unsigned long request, void *argument)
{
    return sgc_own_file_is(file) ? sgc_syscall(SYS_ioctl, file->fd, (long)request, (long)argument, 0) : -EBADF;
}

static bool register_range(uintptr_t low, uintptr_t high)
{
    struct uffdio_register range = { .range = { low, high - low }, .mode = UFFDIO_REGISTER_MODE_WP };

    sgc_assert(low < high);
    return order(&files.faults, UFFDIO_REGISTER, &range) == 0;
}

static void async_close(void)
{
    sgc_own_file_close(&files.faults);
    sgc_own_file_close(&files.pagemap);
}

static bool refused(struct sgc_written_refusal *why, const char *step, int error)
{
    sgc_assert(why != NULL && step != NULL);
    *why = (struct sgc_written_refusal){ step, error };
    async_close();
    sgc_assert(files.faults.fd < 0 && files.pagemap.fd < 0);
    return false;
}

/* Kernels before 6.7 refuse these features; filters of system calls may refuse each order by
 * itself. */
static long ask_for_protection(void)
{
    struct uffdio_api api = { .api = UFFD_API, .features = FEATURE_ASYNC | FEATURE_UNPOPULATED };

    return order(&files.faults, UFFDIO_API, &api);
}

static long try_scan(uintptr_t low)
{
    struct scan scan = { .size = sizeof scan, .start = low, .end = low + sgc_os_page_size(), .all_of = PAGE_WRITTEN };

    return order(&files.pagemap, PAGEMAP_SCAN_ORDER, &scan);
}

/* All of the reservation is registered at once: piece by piece each would be a mapping of its own,
 * of which a process may have only so many.  Where the system refuses, pieces are registered as
 * they are armed. */
static bool async_open(uintptr_t low, uintptr_t high, struct sgc_written_refusal *why)
{
    long result;
    int fd;

    sgc_assert(low < high && files.faults.fd < 0 && files.pagemap.fd < 0);
    fd = (int)syscall(SYS_userfaultfd, (long)(O_CLOEXEC | USER_MODE_ONLY));
    if (fd < 0 || !sgc_own_file_keep(&files.faults, fd))
        return refused(why, "userfaultfd", errno);
    result = ask_for_protection();
    if (result != 0)
        return refused(why, "asynchronous write protection by userfaultfd", (int)-result);
    fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !sgc_own_file_keep(&files.pagemap, fd))
        return refused(why, "/proc/self/pagemap", errno);
    result = try_scan(low);
    if (result < 0)
        return refused(why, "PAGEMAP_SCAN", (int)-result);
    register_range(low, high);
    return true;
}

/* ---- arming and collecting ---- */

static bool protect(uintptr_t low, uintptr_t high)
{
    struct scan scan = {
        .size = sizeof scan,
        .flags = SCAN_PROTECT | SCAN_NEEDS_ASYNC,
        .start = low,
        .end = high,
        .all_of = PAGE_WRITTEN,
    };

    return order(&files.pagemap, PAGEMAP_SCAN_ORDER, &scan) >= 0;
}

/* Memory that was committed since is not registered yet, and the scan says so. */
static bool async_arm(uintptr_t low, uintptr_t high)
{
    sgc_assert(low < high);
    return protect(low, high) || (register_range(low, high) && protect(low, high));
}

static void set_regions(const struct region *regions, long count, uintptr_t low, uint64_t *written)
{
    size_t bytes = sgc_os_page_size();

    for (long i = 0; i < count; i++) {
        sgc_assert(regions[i].start >= low && regions[i].start < regions[i].end);
        sgc_written_set(written, (regions[i].start - low) / bytes, (regions[i].end - low) / bytes);
    }
}

/* Fewer regions than asked for: done.  walk_end says where to go on only if there were as many.
 * With memory that is not registered the scan fails as a whole: all of it counts as written, and is
 * registered to be watched from now on. */
static bool async_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written)
{
    struct region regions[REGIONS];
    struct scan scan = {
        .size = sizeof scan,
        .flags = rearm ? SCAN_PROTECT | SCAN_NEEDS_ASYNC : 0,
        .start = low,
        .end = high,
        .regions = (uintptr_t)regions,
        .region_count = REGIONS,
        .all_of = PAGE_WRITTEN,
        .reported = PAGE_WRITTEN,
    };

    sgc_assert(low <= high && (high - low) % sgc_os_page_size() == 0);
    for (;;) {
        long count = order(&files.pagemap, PAGEMAP_SCAN_ORDER, &scan);

        if (count < 0 || count > REGIONS)
            break;
        set_regions(regions, count, low, written);
        if (count < REGIONS)
            return true;
        sgc_assert(scan.walk_end > scan.start && scan.walk_end <= high);
        scan.start = scan.walk_end;
    }
    sgc_written_set(written, 0, (high - low) / sgc_os_page_size());
    return rearm && async_arm(low, high);
}

const struct sgc_written_source sgc_written_async = {
    .name = "async",
    .rearms_running = true,
    .kernel_writes = true,
    .open = async_open,
    .close = async_close,
    .arm = async_arm,
    .collect = async_collect,
};
