/* SPDX-License-Identifier: MIT */
/*
 * Soft-dirty bits: writing "4" to /proc/self/clear_refs clears them all and protects all pages, and
 * bit 55 of a page's entry in /proc/self/pagemap says that it was written since.  Kernels with
 * CONFIG_MEM_SOFT_DIRTY.
 *
 * There is one set of bits a process, which checkpoint tools use as well, and clearing is for all
 * of it: arming a range arms everything, and takes as long as that.  Reading and clearing are two
 * steps, so the source re-arms with the world stopped only.  Mappings that the kernel has merged
 * since read as written, and the pages that it discards for us read as clean.  Owns two files, as
 * platform/written/written_async_linux.c.
 */
#include <errno.h>
#include <fcntl.h>

#include "platform/file_linux.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"
#include "platform/written/written.h"

enum { SOFT_DIRTY_BIT = 55, ENTRIES = 256 };

static SGC_STATE struct {
    struct sgc_own_file clear, pagemap;         /* /proc/self/clear_refs, /proc/self/pagemap */
} files = { SGC_NO_FILE, SGC_NO_FILE };

static void soft_close(void)
{
    sgc_own_file_close(&files.clear);
    sgc_own_file_close(&files.pagemap);
}

static bool open_one(const char *path, int flags, struct sgc_own_file *file, struct sgc_written_refusal *why)
{
    int fd = open(path, flags | O_CLOEXEC);

    sgc_assert(why != NULL);
    if (fd >= 0 && sgc_own_file_keep(file, fd))
        return true;
    *why = (struct sgc_written_refusal){ path, errno };
    return false;
}

static bool soft_open(uintptr_t low, uintptr_t high, struct sgc_written_refusal *why)
{
    sgc_assert(low < high);
    sgc_assert(files.clear.fd < 0 && files.pagemap.fd < 0);
    if (open_one("/proc/self/clear_refs", O_WRONLY, &files.clear, why) &&
        open_one("/proc/self/pagemap", O_RDONLY, &files.pagemap, why))
        return true;
    soft_close();
    return false;
}

static bool soft_arm(uintptr_t low, uintptr_t high)
{
    (void)high;
    sgc_assert(low < high);
    return sgc_own_file_is(&files.clear) && sgc_syscall(SYS_pwrite64, files.clear.fd, (long)"4", 1, 0) == 1;
}

/* The entries of `count` OS pages. */
static bool read_entries(uintptr_t page, size_t count, uint64_t *entries)
{
    sgc_assert(count > 0 && count <= ENTRIES);
    return sgc_syscall(SYS_pread64, files.pagemap.fd, (long)entries, (long)(count * sizeof *entries),
                       (long)(page * sizeof *entries)) == (long)(count * sizeof *entries);
}

static bool read_bits(uintptr_t first, size_t pages, uint64_t *written)
{
    uint64_t entries[ENTRIES];

    if (!sgc_own_file_is(&files.pagemap))
        return false;
    for (size_t done = 0; done < pages; done += ENTRIES) {
        size_t count = pages - done < ENTRIES ? pages - done : ENTRIES;

        if (!read_entries(first + done, count, entries))
            return false;
        for (size_t i = 0; i < count; i++)
            written[(done + i) / 64] |= (entries[i] >> SOFT_DIRTY_BIT & 1) << (done + i) % 64;
    }
    return true;
}

static bool soft_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written)
{
    size_t bytes = sgc_os_page_size();

    sgc_assert(low <= high && low % bytes == 0 && high % bytes == 0);
    if (read_bits(low / bytes, (high - low) / bytes, written) && (!rearm || soft_arm(low, high)))
        return true;
    sgc_written_set(written, 0, (high - low) / bytes);
    return false;
}

const struct sgc_written_source sgc_written_soft = {
    .name = "softdirty",
    .rearms_running = false,
    .kernel_writes = true,
    .arms_all = true,
    .open = soft_open,
    .close = soft_close,
    .arm = soft_arm,
    .collect = soft_collect,
};
