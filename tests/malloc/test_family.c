/* SPDX-License-Identifier: MIT */
/* The family of malloc, call by call: results, errno, alignments, contents.  One thread. */
#include <errno.h>
#include <malloc.h>

#include "tests/malloc/conform.h"

enum { ALIGNMENT_MAX = 1 << 20 };

static const size_t odd_sizes[] = { 1, 7, 24, 100, 257, 1000, 4095, 20001, 100003 };

#define ODD_SIZES (sizeof odd_sizes / sizeof *odd_sizes)

/* ---- small questions ---- */

/* Of 16 bytes, and for less than that of what fits into the block. */
static bool aligned_for(const void *block, size_t size)
{
    size_t wanted = 16;

    while (wanted > size && wanted > 1)
        wanted /= 2;
    return (uintptr_t)block % wanted == 0;
}

static bool all_sizes_are_aligned(void)
{
    bool right = true;

    for (size_t size = 1; size < 100000; size += 1 + size / 50) {
        void *block = malloc(size), *zero = calloc(size, 1);

        right = right && block != NULL && zero != NULL && aligned_for(block, size) && aligned_for(zero, size);
        free(block);
        free(zero);
    }
    return right;
}

static bool usable_sizes_are_usable(void)
{
    bool right = malloc_usable_size(NULL) == 0;

    for (size_t size = 1; size < 300000; size += 1 + size / 20) {
        char *block = malloc(size), *neighbour = conform_new(size, 3);
        size_t usable = malloc_usable_size(block);

        right = right && block != NULL && usable >= size;
        conform_fill(block, usable, 1);
        right = conform_free(neighbour, size, 3) && right;
        free(block);
    }
    return right;
}

/* The compiler may take for granted that two blocks differ, but not that two numbers do. */
static bool nothing_is_unique(void)
{
    void *block[] = { malloc(0), malloc(0), calloc(0, 8), calloc(8, 0) };
    volatile uintptr_t place[4];
    bool right = true;

    for (int i = 0; i < 4; i++) {
        place[i] = (uintptr_t)block[i];
        right = right && place[i] != 0;
        for (int j = 0; j < i; j++)
            right = right && place[i] != place[j];
    }
    for (int i = 0; i < 4; i++)
        free(block[i]);
    return right;
}

static bool wrong_alignments_are_refused(void)
{
    static const size_t wrong[] = { 0, 3, 4, 24, 100 };
    char mine;
    bool right = true;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        void *block = &mine;

        right = right && posix_memalign(&block, conform_size(wrong[i]), 64) == EINVAL && block == &mine;
    }
    return right;
}

/* ---- alignments ---- */

static void *by_posix(size_t alignment, size_t size)
{
    void *block = NULL;

    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

/* Some allocators refuse sizes that are no multiple of the alignment, which C11 once allowed. */
static bool serves_alignments(void *(*allocate)(size_t alignment, size_t size))
{
    bool right = true;

    for (size_t alignment = sizeof(void *); alignment <= ALIGNMENT_MAX; alignment *= 2)
        for (size_t i = 0; i < ODD_SIZES; i++) {
            size_t size = odd_sizes[i];
            char *one = allocate(alignment, size), *two = allocate(alignment, size);

            right = right && one != NULL && two != NULL && (uintptr_t)one % alignment == 0 && (uintptr_t)two % alignment == 0;
            if (one != NULL)
                conform_fill(one, size, 1);
            if (two != NULL)
                conform_fill(two, size, 2);
            right = conform_free(one, size, 1) && right;
            right = conform_free(two, size, 2) && right;
        }
    return right;
}

static bool pages_are_aligned(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *one = valloc(100), *two = pvalloc(1);
    bool right = one != NULL && two != NULL && (uintptr_t)one % page == 0 && (uintptr_t)two % page == 0 &&
                 malloc_usable_size(two) >= page;

    free(one);
    free(two);
    return right;
}

/* ---- what cannot be had ---- */

/* NULL, and why. */
static bool is_refused(void *result)
{
    bool right = result == NULL && errno == ENOMEM;

    free(result);
    errno = 0;
    return right;
}

static bool too_much_is_refused(void)
{
    size_t most = conform_size((size_t)PTRDIFF_MAX + 1), half = conform_size((size_t)1 << 33);
    bool right;

    errno = 0;
    right = is_refused(malloc(most));
    right = is_refused(malloc(conform_size(SIZE_MAX))) && right;
    right = is_refused(calloc(1, most)) && right;
    right = is_refused(calloc(most, 1)) && right;
    right = is_refused(realloc(NULL, most)) && right;
    right = is_refused(memalign(64, most)) && right;
    right = is_refused(aligned_alloc(64, most)) && right;
    right = is_refused(valloc(most)) && right;
    right = is_refused(pvalloc(most)) && right;
    right = is_refused(calloc(half, half)) && right;
    right = is_refused(calloc(conform_size(SIZE_MAX / 2), 3)) && right;
    return is_refused(reallocarray(NULL, half, half)) && right;
}

/* The C library sets errno here, though POSIX wants it left alone. */
static bool refusal_leaves_all_alone(void)
{
    char mine;
    void *block = &mine;
    int result;

    errno = EDOM;
    result = posix_memalign(&block, 64, conform_size((size_t)PTRDIFF_MAX + 1));
    return result == ENOMEM && block == &mine && (errno == EDOM || (conform_is_c_library() && errno == ENOMEM));
}

static bool failed_realloc_keeps_block(void)
{
    bool right = true;

    for (size_t i = 0; i < ODD_SIZES; i++) {
        void *block = conform_new(odd_sizes[i], 5);

        errno = 0;
        right = right && realloc(block, conform_size((size_t)PTRDIFF_MAX + 1)) == NULL && errno == ENOMEM;
        errno = 0;
        right = right && reallocarray(block, conform_size(SIZE_MAX / 2), 3) == NULL && errno == ENOMEM;
        right = conform_free(block, odd_sizes[i], 5) && right;
    }
    return right;
}

/* ---- realloc ---- */

static void *resized(void *block, size_t before, size_t after, bool *right)
{
    void *result = realloc(block, after);

    *right = *right && result != NULL && conform_is_filled(result, before < after ? before : after, 9);
    if (result != NULL)
        conform_fill(result, after, 9);
    return result;
}

/* Up to 4 MB and down again.  The first block is of malloc, or aligned. */
static bool realloc_keeps(void *block, size_t size)
{
    bool right = block != NULL;

    if (right)
        conform_fill(block, size, 9);
    for (; right && size < (4u << 20); size = size * 3 / 2 + 1)
        block = resized(block, size, size * 3 / 2 + 1, &right);
    for (; right && size > 10; size = size / 3)
        block = resized(block, size, size / 3, &right);
    free(block);
    return right;
}

static bool realloc_keeps_all(void)
{
    bool right = realloc_keeps(malloc(10), 10);

    for (size_t alignment = 16; alignment <= ALIGNMENT_MAX; alignment *= 4)
        right = realloc_keeps(by_posix(alignment, 100), 100) && right;
    return right;
}

/* realloc(block, 0) frees the block; if it returns one, that is freed, too.  Nothing is left. */
static bool realloc_of_nothing(void)
{
    void *block = realloc(NULL, 100);
    bool right = block != NULL;
    long before;

    free(realloc(block, conform_size(0)));
    before = conform_resident_kb();
    for (int i = 0; i < 20000; i++)
        free(realloc(conform_new(1000, 0), conform_size(0)));
    return right && conform_resident_kb() - before < 4096;
}

/* ---- the rest ---- */

static bool free_keeps_errno(void)
{
    bool right = true;

    for (size_t i = 0; i < ODD_SIZES; i++) {
        void *block = conform_new(odd_sizes[i], 0);
        void *large = conform_new((size_t)8 << 20, 0);

        errno = EDOM;
        free(block);
        free(large);
        free(NULL);
        right = right && errno == EDOM;
    }
    return right;
}

static bool calloc_is_zero_of(size_t size)
{
    bool right = true;

    for (int turn = 0; turn < 4; turn++)
        free(conform_new(size, 255));
    for (int turn = 0; turn < 4; turn++) {
        void *zero = calloc(1, size);

        right = right && zero != NULL && all_zero(zero, size);
        free(zero);
    }
    return right;
}

/* Up to sizes that the system zeroes. */
static bool calloc_is_zero(void)
{
    bool right = calloc_is_zero_of(((size_t)8 << 20) + 100);

    for (size_t size = 1; size < (2u << 20); size += 1 + size / 4)
        right = calloc_is_zero_of(size) && right;
    return right;
}

static bool relatives_answer(void)
{
    FILE *file = tmpfile();
    bool right = file != NULL && dlsym(RTLD_DEFAULT, "mallinfo") != NULL && dlsym(RTLD_DEFAULT, "malloc_stats") != NULL;

    if (right && malloc_info(0, file) == 0)
        right = ftell(file) > 0;
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    malloc_trim(0);
    if (file != NULL)
        fclose(file);
    return right && conform_work(7);
}

int main(void)
{
    tap_plan(15);
    tap_ok(all_sizes_are_aligned(), "blocks are aligned to 16 bytes, smaller ones to what fits into them");
    tap_ok(usable_sizes_are_usable(), "malloc_usable_size: at least the request, all can be written, 0 of NULL");
    tap_ok(nothing_is_unique(), "blocks of no bytes have addresses of their own");
    tap_ok(wrong_alignments_are_refused(), "posix_memalign refuses wrong alignments and leaves the pointer alone");
    tap_ok(serves_alignments(by_posix), "posix_memalign: every alignment to 1 MB, odd sizes");
    tap_ok(serves_alignments(aligned_alloc) && serves_alignments(memalign), "so do aligned_alloc and memalign");
    tap_ok(pages_are_aligned(), "valloc and pvalloc: at a page, pvalloc whole pages");
    tap_ok(too_much_is_refused(), "sizes above PTRDIFF_MAX and products that overflow: NULL and ENOMEM");
    tap_ok(refusal_leaves_all_alone(), "posix_memalign without memory leaves pointer and errno alone%s",
           conform_is_c_library() ? " (the C library's sets errno)" : "");
    tap_ok(failed_realloc_keeps_block(), "a realloc that fails keeps the block");
    tap_ok(realloc_keeps_all(), "realloc keeps the contents, of aligned blocks, too");
    tap_ok(realloc_of_nothing(), "realloc(NULL, n) allocates, realloc(block, 0) frees");
    tap_ok(free_keeps_errno(), "free keeps errno, and takes NULL");
    tap_ok(calloc_is_zero(), "calloc: zero, also where others have written");
    tap_ok(relatives_answer(), "mallinfo, malloc_info, malloc_stats, mallopt and malloc_trim are there");
    return tap_done();
}
