/* SPDX-License-Identifier: MIT */
/*
 * The functions are found at the first call.  dlsym itself may allocate then: such calls are served
 * from a small static area, whose blocks have a header that says so and are never freed.
 *
 *   found         written by the thread of the first call, release; read by any thread, acquire:
 *                 behind is complete before it
 *   behind        written by the thread of the first call; read by threads that have seen found
 *   finding       written and read by the thread of the first call.  Other threads do not exist
 *                 yet: a process begins with one, and making another one allocates
 *   area, taken   as finding
 */
#include "bench/herrmann/next.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/message.h"

enum { AREA_BYTES = 64 << 10 };

static struct {
    void *(*allocate)(size_t size);
    void *(*zeroed)(size_t count, size_t size);
    void *(*aligned)(size_t alignment, size_t size);
    void *(*resize)(void *block, size_t size);
    void (*release)(void *block);
    size_t (*usable)(void *block);
} behind;

static atomic_bool found;
static bool finding;

static _Alignas(HEADER_BYTES) char area[AREA_BYTES];
static size_t taken;

/* From the area, which nobody has written yet: all of it is zero.  NULL: it is used up. */
static void *allocate_early(size_t size)
{
    char *block;

    if (size > sizeof area || sizeof area - taken < size + 2 * HEADER_BYTES)
        return NULL;
    block = area + taken + HEADER_BYTES;
    block_mark(block, BIN_EARLY, size);
    taken += HEADER_BYTES + (size + HEADER_BYTES - 1) / HEADER_BYTES * HEADER_BYTES;
    return block;
}

static void *find(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL)
        message_refuse("there is no %s behind this library: it belongs before a malloc that has the whole family", name);
    return function;
}

/* False: they are being found, and this call comes from dlsym. */
static bool find_all(void)
{
    if (finding)
        return false;
    finding = true;
    behind.allocate = (void *(*)(size_t))find("malloc");
    behind.zeroed = (void *(*)(size_t, size_t))find("calloc");
    behind.aligned = (void *(*)(size_t, size_t))find("memalign");
    behind.resize = (void *(*)(void *, size_t))find("realloc");
    behind.release = (void (*)(void *))find("free");
    behind.usable = (size_t (*)(void *))find("malloc_usable_size");
    atomic_store_explicit(&found, true, memory_order_release);
    return true;
}

static inline bool is_found(void)
{
    return atomic_load_explicit(&found, memory_order_acquire) || find_all();
}

void *next_malloc(size_t size)
{
    return is_found() ? behind.allocate(size) : allocate_early(size);
}

void *next_calloc(size_t count, size_t size)
{
    size_t bytes;

    if (is_found())
        return behind.zeroed(count, size);
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : allocate_early(bytes);
}

/* dlsym needs no memory of larger alignments than the area has. */
void *next_memalign(size_t alignment, size_t size)
{
    if (is_found())
        return behind.aligned(alignment, size);
    return alignment > HEADER_BYTES ? NULL : allocate_early(size);
}

void *next_realloc(void *block, size_t size)
{
    return is_found() ? behind.resize(block, size) : NULL;
}

void next_free(void *block)
{
    if (is_found())
        behind.release(block);
}

size_t next_usable(void *block)
{
    return is_found() ? behind.usable(block) : 0;
}
