/* SPDX-License-Identifier: MIT */
/*
 * Address space and its backing.
 *
 * Owns the OS page size, written once by sgc_platform_init before there are other callers and
 * constant from then on, and whether the system can populate memory (below).  Everything else
 * belongs to the caller, which also sees to it that two threads never work on one range.  Runs on
 * any thread, with the world stopped or not.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>

#include "platform/file_linux.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

static SGC_STATE sgc_aw_t os_page_size;

/* An address that there is even if they have 39 bits. */
static const uintptr_t ABOVE_INTEGERS = (uintptr_t)1 << 37;

size_t sgc_os_page_size(void)
{
    size_t size = sgc_aw_load(&os_page_size);
    if (size == 0) {
        size = getauxval(AT_PAGESZ);
        sgc_assert(size != 0 && (size & (size - 1)) == 0);
        sgc_aw_store(&os_page_size, size);
    }
    return size;
}

/* Each of the two keeps its result in a variable of its own file. */
void sgc_platform_init(void)
{
    (void)sgc_os_page_size();
    if (SGC_TRACES)
        (void)sgc_tls_layout_verified();
}

static bool advise(void *start, size_t bytes, int advice)
{
    return sgc_syscall(SYS_madvise, (long)start, (long)bytes, advice, 0) == 0;
}

/* ---- reservations ---------------------------------------------------------------------------- */

/*
 * PROT_NONE mappings are charged nothing, not even with vm.overcommit_memory=2, and MAP_NORESERVE
 * keeps a later commit uncharged in the other modes.  Under mlockall(MCL_FUTURE) the kernel counts
 * the whole reservation against RLIMIT_MEMLOCK but finds nothing to populate in it; where that or
 * RLIMIT_AS says no, the caller asks for less.
 */
static char *map_nothing_at(uintptr_t hint, size_t bytes)
{
    void *start = mmap((void *)hint, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

/* Not in the lowest 4 GB if there are other addresses: integers of 32 bits, such as hash values,
 * would look like addresses of objects.  Emulators (valgrind) put memory there unless they are
 * asked for another place. */
static char *map_nothing(size_t bytes)
{
    char *start = map_nothing_at(0, bytes);

    sgc_assert(bytes != 0 && bytes % sgc_os_page_size() == 0);
    if ((uintptr_t)start > UINT32_MAX)
        return start;
    if (start != NULL)
        munmap(start, bytes);
    return map_nothing_at(ABOVE_INTEGERS, bytes);
}

/* Maps `align` bytes too many and cuts both ends off. */
static char *map_and_trim(size_t bytes, size_t align)
{
    size_t slack = align - sgc_os_page_size();
    char *raw = map_nothing(bytes + slack);

    sgc_assert(align > sgc_os_page_size() && bytes + slack > bytes);
    if (!raw)
        return NULL;
    size_t head = -(uintptr_t)raw & (align - 1);
    sgc_assert(head <= slack && head % sgc_os_page_size() == 0);
    if (head)
        munmap(raw, head);
    if (slack > head)
        munmap(raw + head + bytes, slack - head);
    return raw + head;
}

/* The plain mapping first: it is often aligned as it is, and under RLIMIT_AS there may be no room
 * for the slack. */
static char *map_aligned(size_t bytes, size_t align)
{
    char *start = map_nothing(bytes);
    if (!start || ((uintptr_t)start & (align - 1)) == 0)
        return start;
    munmap(start, bytes);
    if (bytes + align < bytes)
        return NULL;
    return map_and_trim(bytes, align);
}

void *sgc_mem_reserve(size_t bytes, size_t align)
{
    int saved = errno;
    size_t page = sgc_os_page_size();
    sgc_assert((align & (align - 1)) == 0);
    bytes = (bytes + page - 1) & ~(page - 1);
    char *start = bytes ? map_aligned(bytes, align < page ? page : align) : NULL;
    if (start)
        advise(start, bytes, MADV_DONTDUMP);
    sgc_assert(align <= 1 || (uintptr_t)start % align == 0);
    errno = saved;
    return start;
}

/* Committed memory belongs into a core dump: it is the client's data. */
bool sgc_mem_commit(void *start, size_t bytes)
{
    sgc_assert((uintptr_t)start % sgc_os_page_size() == 0);
    bool done = sgc_syscall(SYS_mprotect, (long)start, (long)bytes, PROT_READ | PROT_WRITE, 0) == 0;
    if (done)
        advise(start, bytes, MADV_DODUMP);
    return done;
}

bool sgc_mem_close(void *start, size_t bytes)
{
    sgc_assert((uintptr_t)start % sgc_os_page_size() == 0);
    return sgc_syscall(SYS_mprotect, (long)start, (long)bytes, PROT_NONE, 0) == 0;
}

/* Locked OS pages answer EINVAL.  MADV_DONTNEED_LOCKED would drop them, but the program that locked
 * them asked for them never to fault again. */
bool sgc_mem_discard(void *start, size_t bytes)
{
    return advise(start, bytes, MADV_DONTNEED);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23          /* headers may be older than the system */
#endif

static SGC_STATE sgc_a32_t cannot_populate;     /* relaxed: a thread that does not know it yet asks
                                                   the system once more */

void sgc_mem_populate(void *start, void *end)
{
    size_t page = sgc_os_page_size();
    uintptr_t from = sgc_round_down((uintptr_t)start, page), to = sgc_round_up((uintptr_t)end, page);
    long result;

    sgc_assert((uintptr_t)start <= (uintptr_t)end);
    if (sgc_a32_load(&cannot_populate) != 0)
        return;
    result = sgc_syscall(SYS_madvise, (long)from, (long)(to - from), MADV_POPULATE_WRITE, 0);
    if (result == -EINVAL || result == -EPERM || result == -ENOSYS)
        sgc_a32_store(&cannot_populate, 1);
}

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41           /* headers may be older than the system */
#define PR_SET_VMA_ANON_NAME 0
#endif

static SGC_STATE sgc_a32_t cannot_name;         /* relaxed, as cannot_populate */

void sgc_mem_name(void *start, size_t bytes, const char *name)
{
    sgc_assert((uintptr_t)start % sgc_os_page_size() == 0 && bytes % sgc_os_page_size() == 0);
    if (sgc_a32_load(&cannot_name) == 0 &&
        sgc_syscall6(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, (long)start, (long)bytes, (long)name, 0) == -EINVAL)
        sgc_a32_store(&cannot_name, 1);
}

void sgc_mem_release(void *start, size_t bytes)
{
    int saved = errno;
    size_t page = sgc_os_page_size();

    sgc_assert((uintptr_t)start % page == 0);
    munmap(start, (bytes + page - 1) & ~(page - 1));
    errno = saved;
}

/* ---- huge pages ------------------------------------------------------------------------------ */

#define HUGE_FILE "%s/kernel/mm/transparent_hugepage/"

/* Of "always madvise [never]" the word in brackets holds. */
size_t sgc_mem_huge_page(const char *root)
{
    char line[64];
    const char *at = line;
    uint64_t bytes;

    sgc_assert(root != NULL);
    if (!sgc_read_line_at(line, sizeof line, HUGE_FILE "enabled", root) || strstr(line, "[never]") != NULL)
        return 0;
    if (!sgc_read_line_at(line, sizeof line, HUGE_FILE "hpage_pmd_size", root) || !sgc_parse_number(&at, 10, &bytes))
        return 0;
    return (bytes & (bytes - 1)) == 0 ? (size_t)bytes : 0;
}

void sgc_mem_use_huge(void *start, size_t bytes, bool wanted)
{
    advise(start, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

/* ---- what is mapped -------------------------------------------------------------------------- */

enum { SGC_MINCORE_PAGES = 512 };       /* OS pages asked about at once; a byte of stack each */

/* False if an OS page of the range is not mapped. */
static bool ask_mincore(uintptr_t start, size_t pages, unsigned char vec[SGC_MINCORE_PAGES])
{
    sgc_assert(pages > 0 && pages <= SGC_MINCORE_PAGES && start % sgc_os_page_size() == 0);
    return sgc_ask_mincore(start, pages * sgc_os_page_size(), vec) == 0;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t sgc_mem_resident(void *start, size_t bytes)
{
    size_t page = sgc_os_page_size(), resident = 0;
    uintptr_t at = (uintptr_t)start & ~(page - 1);
    size_t left = ((uintptr_t)start + bytes - at + page - 1) / page;
    while (left) {
        unsigned char vec[SGC_MINCORE_PAGES];
        size_t pages = min_size(left, SGC_MINCORE_PAGES);
        if (ask_mincore(at, pages, vec))
            for (size_t i = 0; i < pages; i++)
                resident += vec[i] & 1;
        at += pages * page;
        left -= pages;
    }
    return resident * page;
}

/* Walks down in pieces, each half as long as the last that was not mapped throughout: after a hole
 * has been met, what is left to find is less than the piece that met it. */
uintptr_t sgc_mem_mapped_from(uintptr_t lo, uintptr_t hi)
{
    unsigned char vec[SGC_MINCORE_PAGES];
    size_t page = sgc_os_page_size(), piece = SGC_MINCORE_PAGES;
    lo &= ~(page - 1);
    hi = (hi + page - 1) & ~(page - 1);
    while (hi > lo && piece) {
        size_t pages = min_size(piece, (hi - lo) / page);
        if (ask_mincore(hi - pages * page, pages, vec))
            hi -= pages * page;
        else
            piece = pages / 2;
    }
    return hi;
}

void *sgc_mem_obtain(size_t bytes)
{
    size_t page = sgc_os_page_size();
    size_t rounded = (bytes + page - 1) & ~(page - 1);
    void *start = sgc_mem_reserve(rounded, page);
    if (start == NULL || sgc_mem_commit(start, rounded))
        return start;
    sgc_mem_release(start, rounded);
    return NULL;
}

void *sgc_mem_obtain_shared(size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return start == MAP_FAILED ? NULL : start;
}

void *sgc_mem_obtain_wiped(size_t bytes)
{
    void *memory = sgc_mem_obtain(bytes);
    size_t whole = sgc_round_up(bytes, sgc_os_page_size());

    if (memory == NULL || sgc_syscall(SYS_madvise, (long)memory, (long)whole, MADV_WIPEONFORK, 0) == 0)
        return memory;
    sgc_mem_release(memory, whole);
    return NULL;
}

bool sgc_mem_randomize(void *start, size_t bytes)
{
    sgc_assert(bytes <= 256);           /* as many come at once */
    return sgc_syscall(SYS_getrandom, (long)start, (long)bytes, GRND_NONBLOCK, 0) == (long)bytes;
}
