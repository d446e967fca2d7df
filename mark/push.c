/* SPDX-License-Identifier: MIT */
/* Objects for which there was no room on the stack.  On any marker, world stopped. */
#include "mark/push.h"

#include "alloc/pages/pool.h"

void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t address)
{
    uint32_t page = sgc_page_number(address);

    sgc_assert(sgc_marker_marks(marker) && sgc_heap_contains(address));
    /* who takes the flag in a round of rescans must see the mark that was set before */
    sgc_aw_or(&sgc_arena_of_page(page)->rescan, sgc_arena_bit(page));
    marker->overflowed = true;
}
