/* SPDX-License-Identifier: MIT */
/* The family: malloc/family.h. */
#include "malloc/family.h"

#include <errno.h>
#include <string.h>

#include "malloc/paths.h"
#include "malloc/slow.h"
#include "platform/platform.h"

void *sgc_malloc(size_t bytes)
{
    return sgc_block_new(bytes);
}

void sgc_free(void *block)
{
    sgc_block_free(block, "free");
}

/* ---- products ---- */

/* False, with ENOMEM, where it is too large for a size. */
static bool multiply(size_t count, size_t bytes, size_t *product)
{
    if (!__builtin_mul_overflow(count, bytes, product))
        return true;
    errno = ENOMEM;
    return false;
}

void *sgc_calloc(size_t count, size_t bytes)
{
    size_t all;
    void *block;

    if (!multiply(count, bytes, &all))
        return NULL;
    if (all > SGC_SMALL_MAX)
        return sgc_block_new_zeroed(all);
    block = sgc_block_new(all);
    sgc_assert(bytes == 0 || all / bytes == count);
    return block != NULL ? memset(block, 0, all) : NULL;
}

/* ---- other sizes ---- */

static void *move(void *block, const struct sgc_object *o, size_t bytes, const char *function)
{
    void *fresh = sgc_block_new(bytes);

    sgc_assert(o->start == (uintptr_t)block && bytes != 0);
    if (fresh == NULL)
        return NULL;
    memcpy(fresh, block, bytes < o->bytes ? bytes : o->bytes);
    sgc_block_free(block, function);
    return fresh;
}

static void *resize(void *block, size_t bytes, const char *function)
{
    struct sgc_object o;

    if (block == NULL)
        return sgc_block_new(bytes);
    if (bytes == 0) {
        sgc_block_free(block, function);
        return NULL;
    }
    if (!sgc_block_find(block, function, &o))
        return NULL;
    sgc_assert(o.start == (uintptr_t)block);
    return sgc_block_resize(&o, bytes) ? block : move(block, &o, bytes, function);
}

void *sgc_realloc(void *block, size_t bytes)
{
    return resize(block, bytes, "realloc");
}

void *sgc_reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;

    return multiply(count, bytes, &all) ? resize(block, all, "reallocarray") : NULL;
}

size_t sgc_malloc_usable_size(void *block)
{
    struct sgc_object o;

    return block != NULL && sgc_block_find(block, "malloc_usable_size", &o) ? o.bytes : 0;
}

/* ---- alignments ---- */

static bool is_power(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

void *sgc_aligned_alloc(size_t align, size_t bytes)
{
    if (is_power(align))
        return sgc_block_new_aligned(bytes, align);
    errno = EINVAL;
    return NULL;
}

/* It says by its result what others say by errno, which it leaves alone. */
int sgc_posix_memalign(void **block, size_t align, size_t bytes)
{
    int saved = errno;
    void *fresh;

    if (!is_power(align) || align % sizeof(void *) != 0)
        return EINVAL;
    fresh = sgc_block_new_aligned(bytes, align);
    errno = saved;
    sgc_assert((uintptr_t)fresh % align == 0);
    if (fresh == NULL)
        return ENOMEM;
    *block = fresh;
    return 0;
}

void *sgc_memalign(size_t align, size_t bytes)
{
    size_t power = 1;

    while (power < align && power <= SIZE_MAX / 2)
        power *= 2;
    sgc_assert(is_power(power));
    if (power < align) {
        errno = EINVAL;
        return NULL;
    }
    return sgc_block_new_aligned(bytes, power);
}

void *sgc_valloc(size_t bytes)
{
    return sgc_block_new_aligned(bytes, sgc_os_page_size());
}

void *sgc_pvalloc(size_t bytes)
{
    size_t page = sgc_os_page_size();

    if (bytes > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return sgc_block_new_aligned(bytes == 0 ? page : sgc_round_up(bytes, page), page);
}

/* ---- with sizes: programs that work pass wrong ones, so only level 2 compares them ---- */

void sgc_free_sized(void *block, size_t bytes)
{
    sgc_block_free_sized(block, bytes, "free_sized");
}

void sgc_free_aligned_sized(void *block, size_t align, size_t bytes)
{
    (void)align;
    sgc_block_free_sized(block, bytes, "free_aligned_sized");
}

/* ---- the C library's own names, which programs use to avoid a look for the next malloc ---- */

SGC_ALIAS(malloc, __libc_malloc);
SGC_ALIAS(free, __libc_free);
SGC_ALIAS(calloc, __libc_calloc);
SGC_ALIAS(realloc, __libc_realloc);
SGC_ALIAS(memalign, __libc_memalign);
SGC_ALIAS(valloc, __libc_valloc);
SGC_ALIAS(pvalloc, __libc_pvalloc);
SGC_ALIAS(posix_memalign, __posix_memalign);
