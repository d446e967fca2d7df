/* SPDX-License-Identifier: MIT */
/*
 * malloc and its family, as the program sees them, over the chosen system.  Owns nothing; any
 * thread, at any time from the loader's first call to the last one of the process.
 *
 * A block is known by its header: one that has none is the next malloc's own, as those from before
 * the library's start, and all of HERRMANN=none.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/next.h"
#include "bench/herrmann/system.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- parts ---- */

static inline const struct system *chosen(void)
{
    return atomic_load_explicit(&herrmann_system, memory_order_acquire);
}

static inline void *or_no_memory(void *block)
{
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

static inline void *allocate(size_t size)
{
    return or_no_memory(chosen()->allocate(size));
}

static void *allocate_zeroed(size_t count, size_t size)
{
    const struct system *system = chosen();
    size_t bytes;
    void *block;

    if (__builtin_mul_overflow(count, size, &bytes))
        return or_no_memory(NULL);
    if (system->zeroed != NULL)
        return or_no_memory(system->zeroed(count, size));
    block = or_no_memory(system->allocate(bytes));
    return block == NULL ? NULL : memset(block, 0, bytes);
}

/* The block in which this place is. */
static inline void *whole(void *place)
{
    return block_bin(place) == BIN_ALIGNED ? (char *)place - block_amount(place) : place;
}

static inline void release(void *block)
{
    unsigned bin;

    block = whole(block);
    bin = block_bin(block);
    if (bin != BIN_EARLY)
        chosen()->release(block, bin);
}

static void release_foreign(void *block)
{
    int saved = errno;

    next_free(block);
    errno = saved;
}

enum { SMALL_BYTES = 64 };

/* A block that is large enough stays, unless it is four times as large as that and not small.  If
 * there is no memory for a smaller one, it stays, too. */
static void *resize(void *block, size_t size)
{
    size_t usable = block_usable(block);
    void *other;

    if (size <= usable && (size >= usable / 4 || usable <= SMALL_BYTES))
        return block;
    other = allocate(size);
    if (other == NULL)
        return size <= usable ? block : NULL;
    memcpy(other, block, size < usable ? size : usable);
    release(block);
    return other;
}

static void *reallocate(void *block, size_t size)
{
    if (block == NULL)
        return allocate(size);
    if (!block_is_ours(block))
        return next_realloc(block, size);
    if (size == 0) {
        release(block);
        return NULL;
    }
    return resize(block, size);
}

static inline bool is_power(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* The alignment is a power of two.  The place is the first that satisfies it in a block with so
 * many bytes more; its header leads to the block.  NULL: there is no memory. */
static void *allocate_aligned(size_t alignment, size_t size)
{
    const struct system *system = chosen();
    uintptr_t block, place;

    if (system->aligned != NULL)
        return system->aligned(alignment, size);
    if (alignment <= HEADER_BYTES)
        return system->allocate(size);
    if (alignment > BLOCK_MAX || size > BLOCK_MAX)
        return NULL;
    block = (uintptr_t)system->allocate(size + alignment);
    if (block == 0)
        return NULL;
    place = (block + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (place != block)
        block_mark((void *)place, BIN_ALIGNED, place - block);
    return (void *)place;
}

/* ---- the family ---- */

EXPORT void *malloc(size_t size)
{
    return allocate(size);
}

EXPORT void free(void *block)
{
    if (block == NULL)
        return;
    if (block_is_ours(block))
        release(block);
    else
        release_foreign(block);
}

EXPORT void *calloc(size_t count, size_t size)
{
    return allocate_zeroed(count, size);
}

EXPORT void *realloc(void *block, size_t size)
{
    return reallocate(block, size);
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;

    return __builtin_mul_overflow(count, size, &bytes) ? or_no_memory(NULL) : reallocate(block, bytes);
}

/* An alignment that is no power of two is taken as the next one, as the C library does. */
EXPORT void *memalign(size_t alignment, size_t size)
{
    size_t power = HEADER_BYTES;

    while (power < alignment && power <= BLOCK_MAX)
        power *= 2;
    return or_no_memory(allocate_aligned(power, size));
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    if (!is_power(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return or_no_memory(allocate_aligned(alignment, size));
}

/* It says by its result what went wrong: errno and the pointer are left alone. */
EXPORT int posix_memalign(void **result, size_t alignment, size_t size)
{
    int saved = errno;
    void *block;

    if (!is_power(alignment) || alignment < sizeof(void *))
        return EINVAL;
    block = allocate_aligned(alignment, size);
    errno = saved;
    if (block == NULL)
        return ENOMEM;
    *result = block;
    return 0;
}

EXPORT void *valloc(size_t size)
{
    return or_no_memory(allocate_aligned((size_t)sysconf(_SC_PAGESIZE), size));
}

/* Whole pages, one at least. */
EXPORT void *pvalloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = size == 0 ? 1 : (size - 1) / page + 1, bytes;

    return or_no_memory(__builtin_mul_overflow(pages, page, &bytes) ? NULL : allocate_aligned(page, bytes));
}

EXPORT size_t malloc_usable_size(void *block)
{
    if (block == NULL)
        return 0;
    return block_is_ours(block) ? block_usable(block) : next_usable(block);
}
