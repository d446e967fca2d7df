/* SPDX-License-Identifier: MIT */
/* See mark/rescan.h. */
#include "mark/rescan.h"

#include "alloc/pages/pool.h"
#include "mark/descriptor.h"
#include "mark/drain.h"
#include "mark/each_object.h"

/* The object is scanned whole, since the stack may still have no room; what it finds is drained
 * at once, so the little room there is goes a long way. */
static void rescan_slot(struct sgc_marker *marker, size_t granule, const struct sgc_page *d)
{
    bool span = sgc_page_state(d) == SGC_PAGE_SPAN;
    size_t bytes = span ? sgc_aw_load(&d->span_bytes) : (size_t)d->granules * SGC_GRANULE;

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL || sgc_page_state(d) == SGC_PAGE_SPAN);
    sgc_scan_object(marker, marker->base + granule * SGC_GRANULE, bytes);
    sgc_mark_drain(marker);
}

bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena)
{
    uint64_t pages = sgc_aw_swap(&sgc_heap.arenas[arena].rescan, 0);

    sgc_assert(sgc_marker_marks(marker) && arena < sgc_pool.committed);
    marker->rescans += (size_t)__builtin_popcountll(pages);
    sgc_each_object(marker, arena, pages, marker->alloc_role ^ 1, rescan_slot);
    return pages != 0;
}

void sgc_pages_forget_rescans(void)
{
    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        sgc_aw_store(&sgc_heap.arenas[a].rescan, 0);
}
