/* SPDX-License-Identifier: MIT */
/*
 * Soft-dirty bits: writing "4" to /proc/self/clear_refs clears them all and protects all pages, and bit 55 of a page's
 * entry in /proc/self/pagemap says that it was written since.  Kernels with CONFIG_MEM_SOFT_DIRTY.
 *
 * There is one set of bits a process, which checkpoint tools use as well, and clearing is for all of it: arming a
 * range arms everything.  Reading and clearing are two steps, so the source re-arms with the world stopped only.
 * Mappings that the kernel has merged since read as written.  Owns two descriptors, as platform/dirty_async_linux.c.
 */
#include <errno.h>
#include <fcntl.h>

#include "platform/dirty.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { SOFT_DIRTY_BIT = 55, ENTRIES = 256 };

static SGC_STATE struct {
    int clear, pagemap;         /* /proc/self/clear_refs, /proc/self/pagemap */
} descriptors = { -1, -1 };

static void soft_close(void)
{
    if (descriptors.clear >= 0)
        close(descriptors.clear);
    if (descriptors.pagemap >= 0)
        close(descriptors.pagemap);
    descriptors.clear = descriptors.pagemap = -1;
}

static bool open_one(const char *path, int flags, int *fd, struct sgc_dirty_refusal *why)
{
    *fd = open(path, flags | O_CLOEXEC);
    if (*fd >= 0) {
        *fd = sgc_descriptor_above(*fd);
        return true;
    }
    *why = (struct sgc_dirty_refusal){ path, errno };
    return false;
}

static bool soft_open(uintptr_t low, uintptr_t high, struct sgc_dirty_refusal *why)
{
    (void)low, (void)high;
    sgc_assert(descriptors.clear < 0 && descriptors.pagemap < 0);
    if (open_one("/proc/self/clear_refs", O_WRONLY, &descriptors.clear, why) &&
        open_one("/proc/self/pagemap", O_RDONLY, &descriptors.pagemap, why))
        return true;
    soft_close();
    return false;
}

static bool soft_arm(uintptr_t low, uintptr_t high)
{
    sgc_assert(low < high);
    return sgc_syscall(SYS_pwrite64, descriptors.clear, (long)"4", 1, 0) == 1;
}

/* The entries of `count` OS pages. */
static bool read_entries(uintptr_t page, size_t count, uint64_t *entries)
{
    return sgc_syscall(SYS_pread64, descriptors.pagemap, (long)entries, (long)(count * sizeof *entries),
                       (long)(page * sizeof *entries)) == (long)(count * sizeof *entries);
}

static bool read_bits(uintptr_t first, size_t pages, uint64_t *dirty)
{
    uint64_t entries[ENTRIES];

    for (size_t done = 0; done < pages; done += ENTRIES) {
        size_t count = pages - done < ENTRIES ? pages - done : ENTRIES;

        if (!read_entries(first + done, count, entries))
            return false;
        for (size_t i = 0; i < count; i++)
            dirty[(done + i) / 64] |= (entries[i] >> SOFT_DIRTY_BIT & 1) << (done + i) % 64;
    }
    return true;
}

static bool soft_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *dirty)
{
    size_t bytes = sgc_os_page_size();

    if (read_bits(low / bytes, (high - low) / bytes, dirty) && (!rearm || soft_arm(low, high)))
        return true;
    sgc_dirty_set(dirty, 0, (high - low) / bytes);
    return false;
}

const struct sgc_dirty_source sgc_dirty_soft = {
    .name = "softdirty",
    .rearms_running = false,
    .kernel_writes = true,
    .open = soft_open,
    .close = soft_close,
    .arm = soft_arm,
    .collect = soft_collect,
};
