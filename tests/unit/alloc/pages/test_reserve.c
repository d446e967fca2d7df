/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/reserve.c: where everything lies, what is committed with an arena, address arithmetic, and
 * reserving under limits (in child processes, since a heap is reserved once).
 *
 * Also: alloc/whole_heap.c.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/lib/child.h"
#include "tests/lib/heap.h"
#include "tests/lib/proc.h"
#include "tests/lib/sanitized.h"

enum { ARENAS = 8 };

static bool within(const void *start, size_t bytes)
{
    uintptr_t lo = (uintptr_t)sgc_heap.reservation;

    return (uintptr_t)start >= lo && (uintptr_t)start + bytes <= lo + sgc_heap.reservation_bytes;
}

static void test_layout(void)
{
    size_t granules = sgc_heap.reserved / SGC_GRANULE;
    size_t pages = sgc_heap.reserved / SGC_PAGE;

    tap_ok(sgc_heap.base % SGC_ARENA == 0, "the heap begins at a multiple of an arena");
    tap_ok(sgc_heap.reserved == (size_t)ARENAS * SGC_ARENA, "and is as large as was asked for");
    tap_ok(within(sgc_heap.bits, granules / 8 * 2) && within(sgc_heap.remote_bits, granules / 8) &&
           within(sgc_heap.pages, pages * sizeof *sgc_heap.pages) &&
           within(sgc_heap.records, pages * sizeof *sgc_heap.records) &&
           within(sgc_heap.arenas, ARENAS * sizeof *sgc_heap.arenas), "every table lies in the reservation");
    tap_ok((uintptr_t)sgc_heap.bits >= sgc_heap.base + sgc_heap.reserved &&
           (uintptr_t)sgc_heap.remote_bits >= (uintptr_t)sgc_heap.bits + granules / 8 * 2 &&
           (uintptr_t)sgc_heap.pages >= (uintptr_t)sgc_heap.remote_bits + granules / 8 &&
           (uintptr_t)sgc_heap.records >= (uintptr_t)(sgc_heap.pages + pages) &&
           (uintptr_t)sgc_heap.arenas >= (uintptr_t)(sgc_heap.records + pages), "none overlaps the one before");
}

static void test_contains(void)
{
    uintptr_t limit = sgc_aw_load(&sgc_heap.limit);

    tap_ok(limit == SGC_ARENA, "one arena is committed at first");
    tap_ok(sgc_heap_contains(sgc_heap.base) && sgc_heap_contains(sgc_heap.base + limit - 1),
           "its first and last byte are in the heap");
    tap_ok(!sgc_heap_contains(sgc_heap.base - 1) && !sgc_heap_contains(sgc_heap.base + limit) &&
           !sgc_heap_contains(0) && !sgc_heap_contains(UINTPTR_MAX), "the bytes around it, 0 and the last are not");
}

static void test_arithmetic(void)
{
    bool pages = true, granules = true;

    for (uint32_t page = 0; page < ARENAS * SGC_ARENA_PAGES; page += 7) {
        uintptr_t start = sgc_page_start(page);
        pages = pages && sgc_page_number(start) == page && sgc_page_number(start + SGC_PAGE - 1) == page;
        for (uint32_t g = 0; g < SGC_PAGE_GRANULES; g += 131) {
            uintptr_t at = start + (uintptr_t)g * SGC_GRANULE;
            granules = granules && sgc_granule_in_page(at + SGC_GRANULE - 1) == g &&
                       sgc_granule_number(at) == (size_t)page * SGC_PAGE_GRANULES + g &&
                       sgc_granule_address(sgc_granule_number(at)) == (void *)at;
        }
    }
    tap_ok(pages, "an address and its page");
    tap_ok(granules, "an address and its granule");
}

/* Writes to every byte of what belongs to an arena: a table slice that is not committed ends the child. */
static int touch_arena(uint32_t arena)
{
    size_t words = (size_t)SGC_ARENA_PAGES * SGC_PAGE_WORDS;
    size_t page = (size_t)arena * SGC_ARENA_PAGES;

    if (!sgc_heap_commit_arenas(arena, 1))
        return 1;
    memset((void *)&sgc_heap.bits[2 * words * arena], 1, 2 * words * sizeof(sgc_aw_t));
    memset((void *)&sgc_heap.remote_bits[words * arena], 1, words * sizeof(sgc_aw_t));
    memset((void *)&sgc_heap.pages[page], 1, SGC_ARENA_PAGES * sizeof(struct sgc_page));
    memset((void *)&sgc_heap.records[page], 1, SGC_ARENA_PAGES * sizeof(struct sgc_page_record));
    memset((void *)sgc_page_start((uint32_t)page), 1, SGC_ARENA);
    return 0;
}

static int touch_second(void) { return touch_arena(1); }
static int touch_last(void) { return touch_arena(ARENAS - 1); }

static int touch_uncommitted(void)
{
    signal(SIGSEGV, SIG_DFL);
    *(volatile char *)(sgc_heap.base + SGC_ARENA) = 1;
    return 0;
}

static void test_commit(void)
{
    child_ok(touch_second, "the second arena and its slices of the tables can be written");
    child_ok(touch_last, "the last arena and the ends of the tables, too");
    if (TEST_SANITIZED)
        tap_skip("the sanitizer turns the fault into a report");
    else
        tap_ok(run_in_child(touch_uncommitted) == 128 + SIGSEGV, "what is not committed cannot be touched");
}

/* ---- limits: each child reserves a heap of its own ---- */

static bool limit_address_space(size_t left)
{
    size_t now = proc_address_space() + left;

    return setrlimit(RLIMIT_AS, &(struct rlimit){ now, now }) == 0;
}

static int reserve_under(size_t left, size_t reserve)
{
    struct sgc_heap_config config = { .reserve = reserve };

    memset(&sgc_heap, 0, sizeof sgc_heap);
    if (!limit_address_space(left))
        return 2;
    return sgc_heap_init(&config) ? 0 : 1;
}

/* What is left for the client: three quarters of the limit, but for what the tables take. */
static int quarter(void)
{
    size_t left = (size_t)512 << 20;
    int result = reserve_under(left, 0);

    if (result != 0)
        return result;
    return sgc_heap.reserved <= left / 4 && sgc_heap.reserved >= left / 8 &&
           sgc_heap.reservation_bytes <= left / 4 + left / 128 ? 0 : 3;
}

static int small_is_enough(void)
{
    int result = reserve_under((size_t)24 << 20, 0);
    bool zero;

    if (result != 0)
        return result;
    return sgc_pool_take(1, NULL, &zero) != SGC_NO_PAGE && sgc_heap.reserved >= 4 * SGC_ARENA ? 0 : 3;
}

static int too_small(void)
{
    sgc_report_to(open("/dev/null", O_WRONLY));
    return reserve_under((size_t)2 << 20, 0);
}

static int more_than_there_is(void)
{
    struct sgc_heap_config config = { .reserve = (size_t)1 << 48 };

    memset(&sgc_heap, 0, sizeof sgc_heap);
    if (!sgc_heap_init(&config))
        return 1;
    return sgc_heap.reserved < (size_t)1 << 48 && sgc_heap.reserved >= (size_t)1 << 30 ? 0 : 3;
}

/* Six arenas are refused, half of them is less than the least: the least must be tried. */
static int down_to_the_least(void)
{
    struct sgc_heap_config config = { .reserve = (size_t)6 * SGC_ARENA };
    char *hole;

    memset(&sgc_heap, 0, sizeof sgc_heap);
    hole = mmap(NULL, (size_t)21 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (hole == MAP_FAILED || !limit_address_space(0) || munmap(hole, (size_t)21 << 20) != 0)
        return 2;
    /* A quarter of 21 MB would be less than the least already, so the least is what is asked for. */
    return sgc_heap_init(&config) && sgc_heap.reserved == (size_t)4 * SGC_ARENA ? 0 : 1;
}

static int locked(void)
{
    struct sgc_heap_config config = { .reserve = (size_t)64 << 20 };
    bool zero;

    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return CHILD_SKIPS;
    memset(&sgc_heap, 0, sizeof sgc_heap);
    return sgc_heap_init(&config) && sgc_pool_take(3, NULL, &zero) != SGC_NO_PAGE ? 0 : 1;
}

static void test_limits(void)
{
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer has taken the address space");
        return;
    }
    child_ok(quarter, "under RLIMIT_AS the heap takes a quarter of what is left");
    child_ok(small_is_enough, "with 24 MB left there is a heap of 16 MB");
    tap_ok(run_in_child(too_small) == 1, "with 2 MB left there is none, and no crash");
    child_ok(more_than_there_is, "more than the address space: halved until it fits");
    child_ok(down_to_the_least, "down to the least");
    child_ok(locked, "under mlockall");
}

int main(void)
{
    test_limits();
    heap_start((size_t)ARENAS * SGC_ARENA, 0, false);
    test_layout();
    test_contains();
    test_arithmetic();
    test_commit();
    return tap_done();
}
