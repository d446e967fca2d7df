/* SPDX-License-Identifier: MIT */
/*
 * The source that knows nothing, and the round trip that shows what a source knows.  See the header
 * for who may call.
 */
#include "platform/written/written.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "platform/report.h"

void sgc_written_set(uint64_t *written, size_t from, size_t to)
{
    sgc_assert(from <= to && written != NULL);
    for (size_t n = from; n < to; n++)
        written[n / 64] |= UINT64_C(1) << n % 64;
}

/* ---- none ---- */

static bool none_open(uintptr_t low, uintptr_t high, struct sgc_written_refusal *why)
{
    (void)low, (void)high, (void)why;
    return true;
}

static void none_close(void)
{
}

static bool none_arm(uintptr_t low, uintptr_t high)
{
    (void)low, (void)high;
    return true;
}

static bool none_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written)
{
    (void)rearm;
    sgc_assert(low <= high);
    sgc_written_set(written, 0, (high - low) / sgc_os_page_size());
    return true;
}

const struct sgc_written_source sgc_written_none = {
    .name = "none",
    .rearms_running = false,
    .kernel_writes = true,
    .open = none_open,
    .close = none_close,
    .arm = none_arm,
    .collect = none_collect,
};

/* ---- the round trip ---- */

enum { STORED, READ_INTO, CLEAN, PAGES };

/* A write by the kernel. */
static bool read_into(char *to)
{
    int ends[2];
    bool done;
    int saved;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    done = write(ends[1], "x", 1) == 1 && read(ends[0], to, 1) == 1;
    saved = errno;
    close(ends[0]);
    close(ends[1]);
    errno = saved;
    return done;
}

static bool reports(const struct sgc_written_source *source, const char *pages, bool rearm, uint64_t expected)
{
    uintptr_t low = (uintptr_t)pages;
    uint64_t written = 0;

    sgc_assert(expected < (UINT64_C(1) << PAGES));
    return source->collect(low, low + PAGES * sgc_os_page_size(), rearm, &written) && written == expected;
}

/* A write by the kernel needs a pipe, which the program may have no room for. */
static bool travels(const struct sgc_written_source *source, char *pages, struct sgc_written_refusal *why)
{
    size_t bytes = sgc_os_page_size();
    uint64_t written = 1 << STORED | (source->kernel_writes ? 1 << READ_INTO : 0);

    memset(pages, 1, PAGES * bytes);
    if (!source->arm((uintptr_t)pages, (uintptr_t)pages + PAGES * bytes) || !reports(source, pages, false, 0))
        return false;
    *(volatile char *)(pages + STORED * bytes) = 2;
    if (source->kernel_writes && !read_into(pages + READ_INTO * bytes)) {
        *why = (struct sgc_written_refusal){ "a pipe", errno };
        return false;
    }
    if (!reports(source, pages, false, written) || !reports(source, pages, true, written) ||
        !reports(source, pages, false, 0))
        return false;
    *(volatile char *)(pages + CLEAN * bytes) = 2;
    return reports(source, pages, false, 1 << CLEAN);
}

static bool try_out(const struct sgc_written_source *source, struct sgc_written_refusal *why)
{
    size_t bytes = PAGES * sgc_os_page_size();
    char *pages = sgc_mem_obtain(bytes);
    bool works = false;

    sgc_assert(source->open != NULL && source->close != NULL && source->arm != NULL && source->collect != NULL);
    *why = (struct sgc_written_refusal){ "memory for a round trip", ENOMEM };
    if (pages == NULL)
        return false;
    if (source->open((uintptr_t)pages, (uintptr_t)pages + bytes, why)) {
        *why = (struct sgc_written_refusal){ "it reports wrong pages", 0 };
        works = travels(source, pages, why);
        source->close();
    }
    sgc_mem_release(pages, bytes);
    return works;
}

bool sgc_written_open(const struct sgc_written_source *source, uintptr_t low, uintptr_t high,
                      struct sgc_written_refusal *why)
{
    sgc_assert(source != NULL && source->name != NULL && why != NULL);
    sgc_assert(low < high && low % sgc_os_page_size() == 0 && high % sgc_os_page_size() == 0);
    return (source == &sgc_written_none || source->reported || try_out(source, why)) && source->open(low, high, why);
}
