/* SPDX-License-Identifier: MIT */
/*
 * Aligned objects.  On any mutator.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "gc/collect/allocate.h"

static bool is_power_of_two(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

void *GC_memalign(size_t alignment, size_t size)
{
    if (alignment == 0 || (alignment <= SGC_GRANULE && is_power_of_two(alignment)))
        return sgc_allocate(size, SGC_KIND_CONSERVATIVE);
    if (is_power_of_two(alignment))
        return sgc_allocate_slow(size, SGC_KIND_CONSERVATIVE, alignment);
    sgc_warn("GC_memalign(%zu, %zu): the alignment is no power of two; NULL is returned. Pass 16, 32, 64, ...",
             alignment, size);
    return NULL;
}

int GC_posix_memalign(void **result, size_t alignment, size_t size)
{
    void *object;

    if (!is_power_of_two(alignment) || alignment < sizeof(void *))
        return EINVAL;
    object = GC_memalign(alignment, size);
    if (object == NULL)
        return ENOMEM;
    *result = object;
    return 0;
}

void *GC_valloc(size_t size)
{
    return GC_memalign(sgc_os_page_size(), size);
}

/* A size that wraps when it is rounded stays too large to be allocated. */
void *GC_pvalloc(size_t size)
{
    size_t page = sgc_os_page_size();

    sgc_assert(is_power_of_two(page));
    return GC_memalign(page, size <= PTRDIFF_MAX ? sgc_round_up(size, page) : size);
}
