/* SPDX-License-Identifier: MIT */
/*
 * Userfaultfd's asynchronous write protection: the kernel itself takes the fault of the first write to a protected page
 * and notes it in the page table, where PAGEMAP_SCAN finds it and protects the page again in one step.  Linux 6.7.
 *
 * Owns two descriptors, which whoever opens and closes the source writes with no collecting thread about.  A program may
 * close them (daemons close all they have): then nothing is protected any more, arming fails and all is dirty.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "platform/dirty.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

/* ---- what older headers lack (linux/userfaultfd.h, linux/fs.h) ---- */

enum {
    USER_MODE_ONLY = 1,                     /* needs no privilege; with asynchronous protection the kernel's writes count too */
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
    int faults, pagemap;        /* userfaultfd; /proc/self/pagemap */
} descriptors = { -1, -1 };

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void async_close(void)
{
    close_one(&descriptors.faults);
    close_one(&descriptors.pagemap);
}

static bool refused(struct sgc_dirty_refusal *why, const char *step)
{
    *why = (struct sgc_dirty_refusal){ step, errno };
    async_close();
    return false;
}

static bool async_open(uintptr_t low, uintptr_t high, struct sgc_dirty_refusal *why)
{
    struct uffdio_api api = { .api = UFFD_API, .features = FEATURE_ASYNC | FEATURE_UNPOPULATED };
    int fd;

    (void)low, (void)high;
    sgc_assert(descriptors.faults < 0 && descriptors.pagemap < 0);
    fd = (int)syscall(SYS_userfaultfd, (long)(O_CLOEXEC | USER_MODE_ONLY));
    if (fd < 0)
        return refused(why, "userfaultfd");
    descriptors.faults = sgc_descriptor_above(fd);
    if (ioctl(descriptors.faults, UFFDIO_API, &api) != 0)
        return refused(why, "asynchronous write protection by userfaultfd");
    fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refused(why, "/proc/self/pagemap");
    descriptors.pagemap = sgc_descriptor_above(fd);
    return true;
}

/* ---- arming and collecting ---- */

static long order(int fd, unsigned long request, void *argument)
{
    return sgc_syscall(SYS_ioctl, fd, (long)request, (long)argument, 0);
}

static bool register_range(uintptr_t low, uintptr_t high)
{
    struct uffdio_register range = { .range = { low, high - low }, .mode = UFFDIO_REGISTER_MODE_WP };

    return order(descriptors.faults, UFFDIO_REGISTER, &range) == 0;
}

static bool protect(uintptr_t low, uintptr_t high)
{
    struct scan scan = {
        .size = sizeof scan,
        .flags = SCAN_PROTECT | SCAN_NEEDS_ASYNC,
        .start = low,
        .end = high,
        .all_of = PAGE_WRITTEN,
    };

    return order(descriptors.pagemap, PAGEMAP_SCAN_ORDER, &scan) >= 0;
}

/* Memory that was committed since is not registered yet, and the scan says so. */
static bool async_arm(uintptr_t low, uintptr_t high)
{
    sgc_assert(low < high);
    return protect(low, high) || (register_range(low, high) && protect(low, high));
}

static void set_regions(const struct region *regions, long count, uintptr_t low, uint64_t *dirty)
{
    size_t bytes = sgc_os_page_size();

    for (long i = 0; i < count; i++)
        sgc_dirty_set(dirty, (regions[i].start - low) / bytes, (regions[i].end - low) / bytes);
}

/* Fewer regions than asked for: done.  walk_end says where to go on only if there were as many.  With memory that is not
 * registered the scan fails as a whole: all of it is dirty, and registered to be watched from now on. */
static bool async_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *dirty)
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

    for (;;) {
        long count = order(descriptors.pagemap, PAGEMAP_SCAN_ORDER, &scan);

        if (count < 0 || count > REGIONS)
            break;
        set_regions(regions, count, low, dirty);
        if (count < REGIONS)
            return true;
        sgc_assert(scan.walk_end > scan.start && scan.walk_end <= high);
        scan.start = scan.walk_end;
    }
    sgc_dirty_set(dirty, 0, (high - low) / sgc_os_page_size());
    return rearm && async_arm(low, high);
}

const struct sgc_dirty_source sgc_dirty_async = {
    .name = "async",
    .rearms_running = true,
    .kernel_writes = true,
    .open = async_open,
    .close = async_close,
    .arm = async_arm,
    .collect = async_collect,
};
