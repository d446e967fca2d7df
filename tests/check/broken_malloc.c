/* SPDX-License-Identifier: MIT */
/*
 * A malloc that never reuses memory, for tests of what tries a malloc.  With BROKEN_EVERY=N each
 * Nth block is the one that was handed out just before, if that is large enough: a fault that
 * whoever looks into blocks must notice.
 */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifndef BROKEN_EVERY
#define BROKEN_EVERY 0
#endif

enum { GRANULE = 16, EVERY = BROKEN_EVERY };

#define ROOM ((size_t)1 << 33)

/* The size of a block is in the granule before it. */
struct head {
    size_t size;
    size_t unused;
};

static atomic_uintptr_t next_free;
static uintptr_t end;
static _Atomic(char *) before;
static atomic_size_t count;

__attribute__((constructor(101))) static void reserve(void)
{
    void *start;

    if (atomic_load(&next_free) != 0)
        return;
    start = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return;
    end = (uintptr_t)start + ROOM;
    atomic_store(&next_free, (uintptr_t)start);
}

static struct head *head_of(void *block)
{
    return (struct head *)block - 1;
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

/* Room for the head and for any place of the alignment behind it. */
static void *take(size_t alignment, size_t size)
{
    uintptr_t start;
    size_t bytes;
    void *block;

    if (size > ROOM || alignment > ROOM)
        return refuse();
    reserve();
    bytes = (size + alignment + GRANULE + GRANULE - 1) / GRANULE * GRANULE;
    start = atomic_fetch_add(&next_free, bytes);
    if (start == 0 || start > end || bytes > end - start)
        return refuse();
    block = (void *)((start + GRANULE + alignment - 1) / alignment * alignment);
    head_of(block)->size = size;
    return block;
}

static void *again(size_t size)
{
    char *block = atomic_load(&before);

    return block != NULL && head_of(block)->size >= size ? block : NULL;
}

void *malloc(size_t size)
{
    void *block = EVERY > 0 && (atomic_fetch_add(&count, 1) + 1) % (EVERY + (EVERY == 0)) == 0 ? again(size) : NULL;

    if (block == NULL)
        block = take(GRANULE, size);
    atomic_store(&before, block);
    return block;
}

void free(void *block)
{
    (void)block;
}

void *calloc(size_t number, size_t size)
{
    size_t bytes;

    return __builtin_mul_overflow(number, size, &bytes) ? refuse() : take(GRANULE, bytes);
}

void *realloc(void *block, size_t size)
{
    void *larger = malloc(size);

    if (larger != NULL && block != NULL)
        memmove(larger, block, head_of(block)->size < size ? head_of(block)->size : size);
    return larger;
}

void *memalign(size_t alignment, size_t size)
{
    return take(alignment < GRANULE ? GRANULE : alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);

    if (block == NULL)
        return ENOMEM;
    *result = block;
    return 0;
}

size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : head_of(block)->size;
}
