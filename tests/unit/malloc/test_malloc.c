/* SPDX-License-Identifier: MIT */
/*
 * malloc/family.c, malloc/slow.c, malloc/start.c, malloc/give_back.c, malloc/info.c,
 * malloc/operators.c, and alloc/small/carve.c, in the build that does not mark: a block has its bit exactly while the
 * program has it, sizes and alignments, resizing, what memory costs.  The test's own malloc is this
 * one, too.  Checks from outside are those of tests/malloc.
 */
#include <errno.h>
#include <string.h>

#include "alloc/pages/pool.h"
#include "alloc/small/small.h"
#include "alloc/whole_heap.h"
#include "malloc/family.h"
#include "malloc/slow.h"
#include "malloc/start.h"
#include "malloc/threads.h"
#include "tests/lib/random.h"
#include "tests/lib/threads.h"

enum { MANY = 3000 };

static void *many[MANY];

static bool is_block(const void *p)
{
    struct sgc_object o;

    return sgc_object_find((uintptr_t)p, &o) && o.start == (uintptr_t)p;
}

/* A value that the compiler does not know. */
static size_t hidden(size_t n)
{
    volatile size_t h = n;

    return h;
}

static bool heap_is_right(void)
{
    sgc_heap_check();
    return true;
}

/* ---- carving ---- */

static void test_order(void)
{
    int wrong = 0;

    for (int i = 0; i < MANY; i++) {
        many[i] = sgc_malloc(2048);
        wrong += i > 0 && sgc_page_number((uintptr_t)many[i]) == sgc_page_number((uintptr_t)many[i - 1]) &&
                 (char *)many[i] != (char *)many[i - 1] + 2048;
    }
    tap_ok(wrong == 0, "blocks of a new page come in ascending order, side by side");
    tap_ok(heap_is_right(), "and the heap is right");
}

/* The slot behind the last one waits in the list, as do those of a page of which one was taken. */
static void test_bits(void)
{
    int blocks = 0, others = 0;

    for (int i = 0; i < MANY; i++)
        blocks += is_block(many[i]);
    for (char *slot = (char *)many[MANY - 1] + 2048; (uintptr_t)slot % SGC_PAGE != 0; slot += 2048)
        others += is_block(slot);
    tap_ok(blocks == MANY, "each block has its bit");
    tap_ok(others == 0, "what was never handed out has none");
    for (int i = 0; i < MANY; i += 2)
        sgc_free(many[i]);
    blocks = 0;
    for (int i = 0; i < MANY; i++)
        blocks += is_block(many[i]) != (i % 2 == 1);
    tap_ok(blocks == 0, "what is freed has none any more, and its neighbours keep theirs");
    for (int i = 0; i < MANY; i += 2)
        many[i] = sgc_malloc(2048);
    blocks = 0;
    for (int i = 0; i < MANY; i++)
        blocks += is_block(many[i]);
    tap_ok(blocks == MANY, "freed slots are handed out again, each once");
    tap_ok(heap_is_right(), "and the heap is right");
    for (int i = 0; i < MANY; i++)
        sgc_free(many[i]);
}

static int by_address(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return (*x > *y) - (*x < *y);
}

/* Frees and allocations of many sizes at random: no two blocks overlap at the end. */
static void test_random(void)
{
    uint64_t state = 7;
    int overlaps = 0;

    for (int i = 0; i < MANY; i++)
        many[i] = sgc_malloc(1 + random_below(&state, 1500));
    for (int i = 0; i < 100 * MANY; i++) {
        int at = (int)random_below(&state, MANY);

        sgc_free(many[at]);
        many[at] = sgc_malloc(1 + random_below(&state, random_below(&state, 50) == 0 ? 60000 : 1500));
    }
    qsort(many, MANY, sizeof *many, by_address);
    for (int i = 0; i + 1 < MANY; i++)
        overlaps += (char *)many[i] + sgc_malloc_usable_size(many[i]) > (char *)many[i + 1];
    tap_ok(overlaps == 0, "after 300 000 exchanges at random no two blocks overlap");
    tap_ok(heap_is_right(), "and the heap is right");
    for (int i = 0; i < MANY; i++)
        sgc_free(many[i]);
}

/* ---- sizes and alignments ---- */

static size_t usable(size_t bytes)
{
    void *block = sgc_malloc(bytes);
    size_t has = sgc_malloc_usable_size(block);

    sgc_free(block);
    return has;
}

static void test_sizes(void)
{
    int small = 0, wasteful = 0, powers = 0;

    for (size_t bytes = 0; bytes <= 40000; bytes += bytes < 2000 ? 1 : 97) {
        small += usable(bytes) < bytes;
        wasteful += bytes > 128 && usable(bytes) > bytes + bytes / 7 + SGC_GRANULE;
    }
    for (size_t bytes = 16; bytes <= 65536; bytes *= 2)
        powers += usable(bytes) != bytes;
    tap_ok(small == 0, "each block has as many bytes as were asked for");
    tap_ok(wasteful == 0, "and no more than a seventh besides");
    tap_ok(powers == 0, "powers of two get just that");
    tap_ok(sgc_malloc_usable_size(NULL) == 0, "NULL has no bytes");
}

static void test_alignments(void)
{
    size_t asked = 0, given = 0;
    int wrong = 0;

    for (size_t align = 32; align <= 512; align *= 2) {
        double times = 0;
        int count = 0;

        for (size_t bytes = 16; bytes <= 8192; bytes += 16) {
            void *block = sgc_aligned_alloc(align, bytes);

            wrong += block == NULL || (uintptr_t)block % align != 0;
            asked += bytes;
            given += sgc_malloc_usable_size(block);
            times += bytes >= align ? (double)sgc_malloc_usable_size(block) / (double)bytes : 0;
            count += bytes >= align;
            sgc_free(block);
        }
        tap_ok(times / count <= 1.1, "aligned to %zu, blocks take %.3f times the request on average", align, times / count);
    }
    for (size_t align = 1024; align <= 1 << 20; align *= 2) {
        void *block = sgc_memalign(align - 1, 100);

        wrong += block == NULL || (uintptr_t)block % align != 0;
        sgc_free(block);
    }
    tap_ok(wrong == 0, "alignments of 32 bytes to 1 MB are kept");
    tap_ok(given <= asked + asked / 10, "those of 32 to 512 cost %zu bytes for %zu, at most a tenth more", given, asked);
}

/* ---- resizing ---- */

static void test_resizing(void)
{
    char *block = sgc_malloc(300), *large, *same;

    memset(block, 7, 300);
    tap_ok(sgc_realloc(block, 310) == block && sgc_realloc(block, 200) == block,
           "a block stays where it fits and wastes no half");
    same = sgc_realloc(block, 20);
    tap_ok(same != block && !is_block(block) && same[19] == 7, "else it moves");
    large = sgc_realloc(same, 300000);
    tap_ok(!is_block(same) && large[19] == 7, "a small block becomes a large one");
    memset(large, 5, 300000);
    tap_ok(sgc_realloc(large, 100000) == large && sgc_malloc_usable_size(large) == 100000, "which shrinks in place");
    tap_ok(sgc_realloc(large, 0) == NULL && !is_block(large), "to nothing it is freed");
    tap_ok(heap_is_right(), "and the heap is right");
}

/* Of each size: in place from half of the slot on and up to its end. */
static void test_in_place(void)
{
    int wrong = 0, moved = 0;

    for (size_t bytes = 1; bytes <= 21000; bytes += 1 + bytes / 9) {
        char *block = sgc_malloc(bytes);
        size_t has = sgc_malloc_usable_size(block), least = has > 32 ? has / 2 : 0;
        struct sgc_object o;

        wrong += sgc_realloc(block, has) != block || sgc_realloc(block, least + 1) != block ||
                 !sgc_object_find((uintptr_t)block, &o) || o.bytes != has;
        *block = 7;
        for (int grows = 0; grows < 2; grows++) {
            char *other = sgc_realloc(block, grows ? sgc_malloc_usable_size(block) + 1 : has / 2);

            moved += other != block;
            wrong += *other != 7 || (other == block && (grows || has > 32));
            block = other;
        }
        sgc_free(block);
    }
    tap_ok(wrong == 0 && moved > 50, "a block moves when its slot is too small, or more than half of it would be wasted");
}

static void *allocate_here(void *bytes)
{
    return sgc_malloc(*(size_t *)bytes);
}

static void test_others_block(void)
{
    size_t bytes = 100;
    void *block = thread_result(allocate_here, &bytes);

    tap_ok(sgc_malloc_usable_size(block) == 112 && sgc_realloc(block, 112) == block && is_block(block),
           "another thread's block has its size, and is resized in place");
    sgc_free(block);
    tap_ok(!is_block(block) && heap_is_right(), "and freed");
}

/* How many bytes are copied, while small blocks are allocated beside it, an eighth as much. */
static void test_growing(void)
{
    enum { MEGABYTE = 1 << 20, MOST = 256 };
    char *block = NULL;
    size_t copied = 0;
    int n;

    for (n = 0; n < MOST; n++) {
        char *grown = sgc_realloc(block, (size_t)(n + 1) * MEGABYTE);

        copied += n != 0 && grown != block ? (size_t)n * MEGABYTE : 0;
        block = grown;
        block[(size_t)n * MEGABYTE] = (char)n;
        for (int i = 0; i < MANY; i++)
            many[i] = n % 10 == 0 ? sgc_malloc(400) : many[i];
    }
    for (n = 0; n < MOST && block[(size_t)n * MEGABYTE] == (char)n; n++)
        continue;
    tap_ok(n == MOST && copied <= (size_t)MOST * MEGABYTE / 4,
           "a block that grows to 256 MB by steps of one keeps what it has, and copies %zu MB", copied >> 20);
    sgc_free(block);
    tap_ok(heap_is_right(), "and the heap is right");
}

static void test_zeroed(void)
{
    int wrong = 0;

    for (int round = 0; round < 3; round++)
        for (size_t bytes = 8; bytes <= 400000; bytes *= 3) {
            char *block = sgc_calloc(bytes / 8, 8);

            for (size_t i = 0; i < bytes / 8 * 8; i++)
                wrong += block[i] != 0;
            memset(block, 0xff, bytes / 8 * 8);
            wrong += bytes > SGC_SMALL_MAX &&
                     sgc_heap.pages[sgc_page_number((uintptr_t)block)].kind != SGC_KIND_POINTER_FREE;
            sgc_free(block);
        }
    tap_ok(wrong == 0, "calloc zeroes what was used before, and its large blocks are as all others");
}

/* ---- refusals ---- */

static bool refused(void *block)
{
    bool right = block == NULL && errno == ENOMEM;

    errno = 0;
    return right;
}

static void test_refusals(void)
{
    size_t huge = hidden((size_t)PTRDIFF_MAX + 1), most = hidden(SIZE_MAX);
    void *block = sgc_malloc(100), *kept = block;

    errno = 0;
    tap_ok(refused(sgc_malloc(huge)) && refused(sgc_malloc(most)) && refused(sgc_calloc(most / 2, 3)) &&
           refused(sgc_calloc(1, huge)) && refused(sgc_aligned_alloc(64, huge)) && refused(sgc_memalign(64, most)) &&
           refused(sgc_pvalloc(most)) && refused(sgc_valloc(huge)), "sizes that cannot be are refused by each function");
    tap_ok(refused(sgc_realloc(block, huge)) && refused(sgc_reallocarray(block, most / 2, 4)) && is_block(block),
           "and a block that was to have them stays");
    tap_ok(sgc_posix_memalign(&kept, 24, 8) == EINVAL && sgc_posix_memalign(&kept, 64, huge) == ENOMEM && kept == block &&
           errno == 0,
           "posix_memalign says so by its result alone");
    tap_ok(sgc_aligned_alloc(24, 8) == NULL && errno == EINVAL, "an alignment that is no power of two is refused");
    errno = 5;
    sgc_free(block);
    sgc_free(NULL);
    tap_ok(errno == 5, "free keeps errno");
}

/* ---- the rest ---- */

static void test_operators(void)
{
    void *block[2] = { sgc_new(40), sgc_new_aligned(40, 64) };

    tap_ok(is_block(block[0]) && is_block(block[1]) && (uintptr_t)block[1] % 64 == 0, "each new gives a block");
    sgc_delete(block[0]);
    sgc_delete_aligned(block[1], 64);
    tap_ok(!is_block(block[0]) && !is_block(block[1]), "each delete frees one");
}

static void test_figures(void)
{
    enum { BYTES = 32 << 20 };
    struct sgc_mallinfo2 before = sgc_mallinfo2(), with;
    void *block = sgc_malloc(BYTES);

    memset(block, 1, BYTES);
    with = sgc_mallinfo2();
    tap_ok(with.hblkhd - before.hblkhd == BYTES && with.uordblks >= BYTES && with.arena >= with.uordblks,
           "figures tell of a large block");
    tap_ok(sgc_mallinfo().hblkhd == (int)with.hblkhd, "the older form, too");
    sgc_free(block);
    tap_ok(sgc_mallinfo2().fordblks > 0, "some of its pages are free, with contents");
    tap_ok(sgc_malloc_trim(0) == 1 && sgc_mallinfo2().fordblks == 0, "malloc_trim gives them back");
    tap_ok(sgc_mallopt(1, 1) == 0, "mallopt does nothing, and says so");
    tap_ok(sgc_malloc_info(1, stdout) == EINVAL, "malloc_info knows no options");
}

/* ---- memory that goes back ---- */

enum { TOOTH = 48 << 20, BLOCK = 1000 };

/* Allocates and frees so much, in one order or the other. */
static void tooth(bool reverse)
{
    enum { COUNT = TOOTH / BLOCK };
    static void *block[COUNT];

    for (int i = 0; i < COUNT; i++)
        block[i] = memset(sgc_malloc(BLOCK), 1, BLOCK);
    for (int i = 0; i < COUNT; i++)
        sgc_free(block[reverse ? COUNT - 1 - i : i]);
}

static void test_burst(void)
{
    size_t kept;

    tooth(false);
    kept = sgc_pool_used_bytes();
    tap_ok(kept < 10 << 20 && sgc_pool_in_use_bytes() < TOOTH / 4, "what is freed goes back (%zu KB free, %zu KB in use)",
           kept >> 10, sgc_pool_in_use_bytes() >> 10);
    tap_ok(heap_is_right(), "and the heap is right");
}

static void test_teeth(void)
{
    size_t before = 0;

    for (int i = 0; i < 12; i++) {
        if (i == 6)
            before = sgc_aw_load(&sgc_pool.returned);
        tooth(i % 2 == 0);
    }
    tap_ok(sgc_aw_load(&sgc_pool.returned) - before < TOOTH, "what is taken again at once stays (%zu KB went in six teeth)",
           (sgc_aw_load(&sgc_pool.returned) - before) >> 10);
}

static void test_turn(void)
{
    struct sgc_turn turn = sgc_turn_begin();

    tap_ok(turn.cache == sgc_self && !turn.common, "a thread with a cache has its turn on it");
    sgc_turn_end(&turn);
}

int main(void)
{
    return tap_all(test_burst, test_teeth, test_order, test_bits, test_random, test_sizes, test_alignments, test_resizing,
                   test_in_place, test_others_block, test_growing, test_zeroed, test_refusals, test_operators, test_figures,
                   test_turn);
}
