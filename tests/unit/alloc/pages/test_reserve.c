/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/reserve.c: where everything lies, what is committed with an arena, address arithmetic, and
 * reserving under limits (in child processes, since a heap is reserved once).
 *
 * Also: alloc/whole_heap.c.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "tests/lib/child.h"
#include "tests/lib/heap.h"
#include "tests/lib/proc.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

enum { ARENAS = 8 };

static bool within(const void *start, size_t bytes)
{
    const struct sgc_stretch *last = &sgc_heap.table_memory[SGC_TABLES - 1];

    return (uintptr_t)start >= sgc_heap.base && (const char *)start + bytes <= last->start + last->bytes;
}

static void test_layout(void)
{
    size_t granules = sgc_heap.reserved / SGC_GRANULE;
    size_t pages = sgc_heap.reserved / SGC_PAGE;

    tap_ok(sgc_heap.base % SGC_ARENA == 0, "the heap begins at a multiple of an arena");
    tap_ok(sgc_heap.reserved == (size_t)ARENAS * SGC_ARENA, "and is as large as was asked for");
    tap_ok(within(sgc_heap.bits, granules / 8 * SGC_BITMAPS) && within(sgc_heap.remote_bits, granules / 8) &&
           within(sgc_heap.pages, pages * sizeof *sgc_heap.pages) &&
           within(sgc_heap.records, pages * sizeof *sgc_heap.records) &&
           within(sgc_heap.arenas, ARENAS * sizeof *sgc_heap.arenas), "every table lies in the same range");
    tap_ok((uintptr_t)sgc_heap.bits >= sgc_heap.base + sgc_heap.reserved &&
           (uintptr_t)sgc_heap.remote_bits >= (uintptr_t)sgc_heap.bits + granules / 8 * SGC_BITMAPS &&
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

    if (!sgc_heap_commit((arena + 1) * SGC_ARENA_PAGES))
        return 1;
    memset((void *)&sgc_heap.bits[SGC_BITMAPS * words * arena], 1, SGC_BITMAPS * words * sizeof(sgc_aw_t));
    memset((void *)&sgc_heap.remote_bits[words * arena], 1, words * sizeof(sgc_aw_t));
    memset((void *)&sgc_heap.pages[page], 1, SGC_ARENA_PAGES * sizeof(struct sgc_page));
    memset((void *)&sgc_heap.records[page], 1, SGC_ARENA_PAGES * sizeof(struct sgc_page_record));
    memset((void *)sgc_page_start((uint32_t)page), 1, SGC_ARENA);
    return 0;
}

static int touch_uncommitted(void)
{
    signal(SIGSEGV, SIG_DFL);
    *(volatile char *)(sgc_heap.base + SGC_ARENA) = 1;
    return 0;
}

static void test_commit(void)
{
    child_ok_of(touch_arena(1), "the second arena and its slices of the tables can be written");
    child_ok_of(touch_arena(ARENAS - 1), "the last arena and the ends of the tables, too");
    if (TEST_SANITIZED)
        tap_skip("the sanitizer turns the fault into a report");
    else
        tap_ok(run_in_child(touch_uncommitted) == 128 + SIGSEGV, "what is not committed cannot be touched");
}

/* ---- limits: each child reserves a heap of its own ---- */

static bool new_heap(size_t reserve)
{
    struct sgc_heap_config config = { .reserve = reserve };

    memset(&sgc_heap, 0, sizeof sgc_heap);
    return sgc_heap_init(&config);
}

static int reserve_under(size_t left, size_t reserve)
{
    if (!limit_to(RLIMIT_AS, proc_address_space() + left))
        return 2;
    return new_heap(reserve) ? 0 : 1;
}

enum { MB = 1 << 20 };

static uint32_t take_all(void)
{
    struct sgc_taken taken[64];
    uint32_t pages = 0, some;

    while ((some = sgc_pool_take_singles(1, 64, taken, NULL)) != 0)
        pages += some;
    return pages;
}

static int all_is_left(void)
{
    size_t left = (size_t)512 * MB, before = proc_address_space();
    int result = reserve_under(left, 0);
    void *others;

    if (result != 0)
        return result;
    if (sgc_heap.reserved < left || proc_address_space() - before > 12 * MB)
        return 3;
    others = mmap(NULL, left - 16 * MB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return others != MAP_FAILED ? 0 : 4;
}

/* Or the heap: all but what the tables take. */
static int heap_has_all(void)
{
    int result = reserve_under((size_t)256 * MB, 0);

    if (result != 0)
        return result;
    if ((size_t)take_all() * SGC_PAGE < (size_t)244 * MB)
        return 3;
    sgc_pool_check();
    return 0;
}

/* Whichever part of an arena the limit ends in: what is mapped for pages has tables, too. */
static size_t more_left;
static int mapped_pages_serve(void)
{
    int result = reserve_under((size_t)40 * MB + more_left, 0);

    if (result != 0)
        return result;
    take_all();
    return sgc_heap.memory.have == (size_t)sgc_pool.pages * SGC_PAGE ? 0 : 3;
}

static void test_every_limit(void)
{
    int wrong = 0;

    for (more_left = 0; more_left < 5 * MB; more_left += 64 << 10)
        wrong += run_in_child(mapped_pages_serve) != 0;
    tap_ok(wrong == 0, "no page is mapped for which the tables have no room (under %d limits)", wrong);
}

static int a_part_of_an_arena(void)
{
    size_t most = proc_address_space() + 3 * MB + MB / 2;
    uint32_t pages, there;
    pid_t child;
    int status;

    if (!limit_to(RLIMIT_AS, most))
        return 2;
    if (!new_heap((size_t)64 * MB))
        return 1;
    pages = take_all();
    there = sgc_heap.arenas[0].there;
    if (pages == 0 || there >= SGC_ARENA_PAGES || pages != there - 1 || sgc_pool.committed != 1)
        return 3;
    sgc_pool_check();
    memset((void *)sgc_page_start(1), 1, (size_t)pages * SGC_PAGE);
    child = fork();
    if (child == 0) {
        sgc_pool_after_fork();
        sgc_pool_take_back_lost();
        sgc_pool_check();
        _exit(sgc_pool_take_singles(1, 1, &(struct sgc_taken){ 0 }, NULL) == 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 1 << 8)
        return 4;
    if (!limit_to(RLIMIT_AS, most + 24 * MB) || take_all() < SGC_ARENA_PAGES * 5 || sgc_heap.arenas[0].there != SGC_ARENA_PAGES)
        return 5;
    sgc_pool_check();
    return 0;
}

/* Of so many pages, all that are there are free: a few more are all that it takes. */
static int a_part_serves(void)
{
    enum { MORE = 4 };
    size_t most = proc_address_space() + 3 * MB + MB / 2;
    uint32_t there, first;
    bool zero;

    if (!limit_to(RLIMIT_AS, most))
        return 2;
    if (!new_heap((size_t)64 * MB))
        return 1;
    for (there = 1; sgc_pool_take(1, NULL, &zero) != SGC_NO_PAGE;)
        there++;
    if (there <= SGC_ARENA_PAGES / 2 || there >= SGC_ARENA_PAGES - MORE)
        return 3;
    sgc_pool_give(1, there - 1, NULL);
    if (!limit_to(RLIMIT_AS, most + MB))
        return 2;
    first = sgc_pool_take(there - 1 + MORE, NULL, &zero);
    sgc_pool_check();
    return first == 1 ? 0 : 4;
}

static int too_small(void)
{
    sgc_report_to(open("/dev/null", O_WRONLY));
    return reserve_under((size_t)MB / 4, 0);
}

/* ---- something else lies where the heap would grow: it is let alone, and the heap goes on behind it ---- */

enum { HOLE_ARENA = 3, HOLE_OFFSET = SGC_ARENA / 2 };

static uint64_t *obstacle;

static int around(size_t offset, size_t bytes)
{
    uint32_t expected, pages = 0;
    bool zero;

    if (!new_heap((size_t)ARENAS * SGC_ARENA))
        return 1;
    obstacle = mmap((char *)sgc_heap.base + offset, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (obstacle == MAP_FAILED)
        return CHILD_SKIPS;
    *obstacle = 4711;
    for (uint32_t page; (page = sgc_pool_take(1, NULL, &zero)) != SGC_NO_PAGE; pages++) {
        uintptr_t start = sgc_page_start(page);

        if (start < (uintptr_t)obstacle + bytes && start + SGC_PAGE > (uintptr_t)obstacle)
            return 3;
        *(uint64_t *)start = 1;
    }
    sgc_pool_check();
    expected = (ARENAS - (uint32_t)((offset % SGC_ARENA + bytes + SGC_ARENA - 1) / SGC_ARENA)) * SGC_ARENA_PAGES - 1;
    return pages >= expected && *obstacle == 4711 ? 0 : 4;
}

static int no_span_across(void)
{
    uint32_t first;
    bool zero;

    if (!new_heap((size_t)ARENAS * SGC_ARENA))
        return 1;
    if (mmap((char *)sgc_heap.base + 2 * SGC_ARENA, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
             0) == MAP_FAILED)
        return CHILD_SKIPS;
    first = sgc_pool_take(4 * SGC_ARENA_PAGES, NULL, &zero);
    sgc_pool_check();
    if (first < 3 * SGC_ARENA_PAGES)
        return 3;
    memset((void *)sgc_page_start(first), 1, (size_t)4 * SGC_ARENA);
    return 0;
}

/* Nor can a table have a hole: then the heap stays as it is. */
static int a_table_is_stopped(void)
{
    uint32_t pages;

    if (!new_heap((size_t)ARENAS * SGC_ARENA))
        return 1;
    if (mmap((char *)sgc_heap.bits + SGC_BITMAPS * SGC_ARENA_BITMAP, 4096, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
        return CHILD_SKIPS;
    pages = take_all();
    sgc_pool_check();
    return pages == SGC_ARENA_PAGES - 1 ? 0 : 3;
}

static void test_obstacles(void)
{
    if (TEST_SANITIZED) {
        tap_skip("with a sanitizer the addresses are reserved");
        return;
    }
    child_ok_of(around(HOLE_ARENA * SGC_ARENA, SGC_ARENA), "an arena's addresses are taken: the heap goes on behind it");
    child_ok_of(around(HOLE_ARENA * SGC_ARENA + HOLE_OFFSET, 4096), "an OS page of them is");
    child_ok_of(around(HOLE_ARENA * SGC_ARENA + HOLE_OFFSET, 2 * SGC_ARENA), "some of three");
    child_ok(no_span_across, "no span lies across a hole");
    child_ok(a_table_is_stopped, "a table's addresses are taken: the heap is full");
}

static int more_than_there_is(void)
{
    if (!new_heap((size_t)1 << 48))
        return 1;
    return sgc_heap.reserved < (size_t)1 << 48 && sgc_heap.reserved >= (size_t)1 << 30 ? 0 : 3;
}

static int locked(void)
{
    bool zero;

    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return CHILD_SKIPS;
    return new_heap((size_t)64 << 20) && sgc_pool_take(3, NULL, &zero) != SGC_NO_PAGE ? 0 : 1;
}

/* ---- names of mappings ---- */

/* The mappings of what is committed, and of those how many have such a name; the page in between is not theirs. */
static int count_mappings(const char *name)
{
    const struct sgc_stretch *last = &sgc_heap.table_memory[SGC_TABLES - 1];
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int count = 0;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t lo = strtoul(line, NULL, 16);

        count += lo >= sgc_heap.base && lo < (uintptr_t)last->start + last->bytes && strstr(line, name) != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    return count;
}

/* Grows by one arena at a time, and uses each. */
static bool grow(bool names)
{
    struct sgc_heap_config config = { .reserve = (size_t)ARENAS * SGC_ARENA, .names = names };
    bool done;

    memset(&sgc_heap, 0, sizeof sgc_heap);
    done = sgc_heap_init(&config);
    for (uint32_t arena = 0; done && arena < ARENAS / 2; arena++)
        done = touch_arena(arena) == 0;
    return done;
}

static int count_unnamed(void)
{
    return grow(false) && count_mappings("sgc") == 0 ? count_mappings("") : 0;
}

static int count_named(void)
{
    return grow(true) ? count_mappings("") : 0;
}

static int have_names(void)
{
    void *page = sgc_mem_obtain(sgc_os_page_size());

    if (prctl(0x53564d41, 0, page, sgc_os_page_size(), "sgc test") != 0)
        return CHILD_SKIPS;
    return grow(true) && count_mappings("[anon:sgc heap]") == 1 && count_mappings("[anon:sgc marks]") == 1 &&
                   count_mappings("[anon:sgc tables]") >= 1 ? 0 : 1;
}

static void test_names(void)
{
    int unnamed = run_in_child(count_unnamed), named = run_in_child(count_named);

    tap_ok(unnamed > 0 && unnamed == named, "names make no more mappings: %d, %d", unnamed, named);
    child_ok(have_names, "the heap, its tables and its marks have names where the kernel shows them");
}

static void test_limits(void)
{
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer has taken the address space");
        return;
    }
    child_ok(all_is_left, "under RLIMIT_AS nothing is taken before it is needed");
    child_ok(heap_has_all, "and the heap can have nearly all");
    test_every_limit();
    child_ok(a_part_of_an_arena, "with less than an arena left there is a heap, which grows when there is more");
    child_ok(a_part_serves, "and a run of pages begins in what is there of the arena");
    tap_ok(run_in_child(too_small) == 1, "with a quarter of a megabyte there is none, and no crash");
    child_ok(more_than_there_is, "more than the address space: halved until it fits");
    child_ok(locked, "under mlockall");
}

int main(void)
{
    test_limits();
    test_obstacles();
    test_names();
    heap_start((size_t)ARENAS * SGC_ARENA, 0, false);
    return tap_all(test_layout, test_contains, test_arithmetic, test_commit);
}
