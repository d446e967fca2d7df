/* SPDX-License-Identifier: MIT */
/* See mark/uncollectable.h. */
#include "mark/uncollectable.h"

#include "alloc/pages/pool.h"
#include "mark/each_object.h"
#include "mark/edge.h"
#include "mark/edge_span.h"
#include "mark/team_state.h"

enum { ARENAS_A_PIECE = 4 };    /* what one marker looks through before others may take the rest */

static void mark_slot(struct sgc_marker *marker, size_t granule, const struct sgc_page *d)
{
    if (sgc_page_state(d) == SGC_PAGE_SPAN)
        sgc_mark_span(marker, (uint32_t)(granule / SGC_PAGE_GRANULES));
    else
        sgc_granule_mark(marker, granule);
}

/* `bytes` counts arenas here. */
void sgc_pages_uncollectable(struct sgc_marker *marker, struct sgc_work work)
{
    uint32_t a = (uint32_t)(work.start / (SGC_WORK_KINDS + 1));

    sgc_assert(sgc_marker_marks(marker) && (work.start & SGC_WORK_KINDS) == SGC_WORK_PAGES);
    if (work.bytes > ARENAS_A_PIECE &&
        sgc_deque_push(&marker->stack, work.start + ARENAS_A_PIECE * (SGC_WORK_KINDS + 1), work.bytes - ARENAS_A_PIECE))
        work.bytes = ARENAS_A_PIECE;
    sgc_assert(a + work.bytes <= sgc_pool.committed);
    for (uint32_t end = a + (uint32_t)work.bytes; a < end; a++)
        sgc_each_object(marker, a, sgc_aw_load_acq(&sgc_heap.arenas[a].uncollectable), marker->alloc_role, mark_slot);
}

void sgc_mark_uncollectable(struct sgc_marker *marker)
{
    struct sgc_work all = { SGC_WORK_PAGES, sgc_pool.committed };

    sgc_assert(sgc_marker_marks(marker));
    if (marker->team == NULL || !sgc_team_give_roots(marker, all.start, all.bytes))
        sgc_pages_uncollectable(marker, all);
}
