/* SPDX-License-Identifier: MIT */
/* platform/stretch_linux.c: memory that grows in place, planned and reserved, under limits, and where something else lies. */
#include "platform/stretch.h"

#include <errno.h>
#include <sys/mman.h>

#include "platform/platform.h"
#include "tests/lib/bytes.h"
#include "tests/lib/child.h"
#include "tests/lib/proc.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

#define GB ((size_t)1 << 30)
#define TB ((size_t)1 << 40)

enum { KB = 1024, MB = 1 << 20 };

/* No more address space than so. */
static bool takes_at_most(size_t bytes)
{
    return proc_emulated() || proc_address_space() < bytes;
}

static void test_growing(const char *what, size_t bytes, bool reserved)
{
    struct sgc_stretch s;
    size_t before = proc_address_space(), page = sgc_os_page_size();

    if (!sgc_stretch_open(&s, bytes, 4 * MB)) {
        tap_skip("%s: %zu GB of addresses are not to be had", what, bytes / GB);
        return;
    }
    tap_ok(s.reserved == reserved && (uintptr_t)s.start % (4 * MB) == 0 && (uintptr_t)s.start > UINT32_MAX && s.bytes >= bytes,
           "%s: aligned, and no integer of 32 bits looks like an address", what);
    tap_ok(reserved || takes_at_most(before + MB), "%s: addresses alone take nothing", what);
    errno = 4711;
    tap_ok(sgc_stretch_grow(&s, 100) && s.have == page && all_zero(s.start, page), "%s: whole OS pages, of zeros", what);
    memset(s.start, 1, page);
    tap_ok(sgc_stretch_grow(&s, 8 * MB) && s.have == 8 * MB && all_zero(s.start + page, 8 * MB - page) && s.start[0] == 1,
           "%s: it grows in place, and has its contents", what);
    memset(s.start, 2, 8 * MB);
    tap_ok(sgc_stretch_grow(&s, MB) && s.have == 8 * MB, "%s: to less than it has: nothing", what);
    tap_ok(!sgc_stretch_grow(&s, s.bytes + 1) && s.have == 8 * MB, "%s: not beyond its end", what);
    sgc_stretch_close(&s);
    tap_ok(takes_at_most(before + MB) && s.start == NULL && errno == 4711, "%s: all is given back", what);
}

/* The middle of the address space has room for one of these, not for two. */
static void test_reserved(void)
{
    struct sgc_stretch s;

    if (!sgc_stretch_open(&s, 20 * TB, 4096) || !sgc_stretch_open(&s, 20 * TB, 4096) ||
        !sgc_stretch_open(&s, 20 * TB, 4096)) {
        tap_skip("there is no such address space");
        return;
    }
    sgc_stretch_close(&s);
    if (!s.reserved)
        test_growing("reserved", 30 * TB, true);
}

static void test_taken(void)
{
    struct sgc_stretch s;
    char *other;

    if (!sgc_stretch_open(&s, GB, 4 * MB) || !sgc_stretch_grow(&s, MB))
        tap_bail("no memory");
    other = mmap(s.start + 4 * MB, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (other == MAP_FAILED) {
        tap_skip("the addresses are reserved");
        return;
    }
    *other = 47;
    tap_ok(!sgc_stretch_grow(&s, 8 * MB) && s.taken && s.have == MB && *other == 47, "what lies there is let alone");
    tap_ok(sgc_stretch_grow(&s, 4 * MB) && !s.taken && s.have == 4 * MB, "as far as it is free the stretch can grow");
    sgc_stretch_pass(&s, 4 * MB + 4096);
    tap_ok(sgc_stretch_grow(&s, 8 * MB), "and behind it");
    memset(s.start + 4 * MB + 4096, 1, 4 * MB - 4096);
    tap_ok(*other == 47, "which is still there");
}

static int under_limit(void)
{
    struct sgc_stretch a, b;
    void *others;

    if (!limit_to(RLIMIT_AS, proc_address_space() + 32 * MB))
        return CHILD_SKIPS;
    if (!sgc_stretch_open(&a, 64 * GB, 4 * MB) || !sgc_stretch_open(&b, 4 * GB, 4096))
        return 1;
    if (!sgc_stretch_grow(&a, 8 * MB) || !sgc_stretch_grow(&b, 4 * MB))
        return 2;
    others = mmap(NULL, 16 * MB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (others == MAP_FAILED)
        return 3;
    if (sgc_stretch_grow(&a, 24 * MB) || a.taken || a.have != 8 * MB)
        return 4;
    munmap(others, 16 * MB);
    return sgc_stretch_grow(&a, 24 * MB) ? 0 : 5;
}

static int under_data_limit(void)
{
    struct sgc_stretch a;

    if (!sgc_stretch_open(&a, 64 * GB, 4 * MB) || !limit_to(RLIMIT_DATA, 16 * MB))
        return CHILD_SKIPS;
    return sgc_stretch_grow(&a, 4 * MB) && !sgc_stretch_grow(&a, 32 * MB) && !a.taken ? 0 : 1;
}

/* Under mlockall the kernel may not grant so large a mapping either. */
static int locked(void)
{
    struct sgc_stretch a;

    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return CHILD_SKIPS;
    return sgc_stretch_open(&a, 64 * GB, 4 * MB) && sgc_stretch_grow(&a, MB) ? 0 : 1;
}

int main(void)
{
    test_growing("planned", 64 * GB, TEST_SANITIZED);
    test_taken();
    if (TEST_SANITIZED || proc_emulated())
        tap_skip("a sanitizer or an emulator has taken the address space");
    else {
        child_ok(under_limit, "RLIMIT_AS counts what is used");
        child_ok(under_data_limit, "RLIMIT_DATA does");
    }
    child_ok(locked, "under mlockall");
    if (!proc_emulated())                       /* it would have tables of its own for that much */
        test_reserved();
    return tap_done();
}
