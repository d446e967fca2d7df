/* SPDX-License-Identifier: MIT */
/* See alloc/marking.h. */
#include "alloc/marking.h"

#include "alloc/pages/concurrent_marks.h"
#include "alloc/pages/marks.h"
#include "alloc/small/cache.h"

enum { CHECKED_BYTES = 64 << 20 };      /* heaps up to that size are checked each time, with assertions */

/* Caches of ended threads, too: the next thread of the number finds it right. */
static void set_marking(bool marking)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count);

    sgc_a32_store(&sgc_heap.marking, marking);
    for (uint32_t id = 1; id < count; id++)
        sgc_cache_set_tag(sgc_cache_of(id), sgc_cache_of(id)->tag);
}

void sgc_marking_check(void)
{
    sgc_verify(!sgc_heap_is_marking());
    sgc_marks_check_none();
}

void sgc_marking_begin(void)
{
    sgc_assert(!sgc_heap_is_marking());
    if (SGC_ASSERTS && sgc_aw_load(&sgc_heap.limit) <= CHECKED_BYTES)
        sgc_marking_check();
    set_marking(true);
}

size_t sgc_marking_finish(void)
{
    size_t freed = sgc_marks_drop_freed();

    set_marking(false);
    return freed;
}

/* Which pages have marks nothing says, since all have been swept. */
void sgc_marking_cancel(void)
{
    sgc_assert(sgc_heap_is_marking());
    sgc_marks_forget_noted();
    set_marking(false);
    sgc_clear_again();
}
