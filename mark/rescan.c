/* SPDX-License-Identifier: MIT */
/*
 * Objects found page by page: the uncollectable ones, which are roots, and the marked ones of pages that must be
 * scanned again.  On any marker, world stopped.
 */
#include "mark/rescan.h"

#include "alloc/large/span.h"
#include "mark/descriptor.h"
#include "mark/edge.h"
#include "mark/scan.h"
#include "mark/team.h"

/* ---- each object of a page ---- */

/* Objects by their first granule, and their page. */
typedef void (*slot_fn)(struct sgc_marker *marker, size_t granule, const struct sgc_page *d);

/* Calls fn for each set bit of the page's words as `word_of` gives them. */
static void each_bit(struct sgc_marker *marker, uint32_t page, uint32_t role, slot_fn fn)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t first = (size_t)page * SGC_PAGE_WORDS;

    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++) {
        uintptr_t bits = sgc_aw_load(sgc_bits_word(w, role));

        for (; bits != 0; bits &= bits - 1)
            fn(marker, w * 64 + (size_t)__builtin_ctzll(bits), d);
    }
}

static void each_object(struct sgc_marker *marker, uint32_t page, uint32_t role, slot_fn fn)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    if (sgc_page_state(d) == SGC_PAGE_SMALL)
        each_bit(marker, page, role, fn);
    else if (sgc_page_state(d) == SGC_PAGE_SPAN && (sgc_aw_load(sgc_span_word(page, role)) & sgc_arena_bit(page)) != 0)
        fn(marker, sgc_page_first_granule(page), d);
}

/* Calls fn for the objects of every page whose bit is set in `pages`. */
static void each_page(struct sgc_marker *marker, uint32_t arena, uint64_t pages, uint32_t role, slot_fn fn)
{
    for (; pages != 0; pages &= pages - 1) {
        each_object(marker, arena * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(pages), role, fn);
        sgc_marker_answers(marker);
    }
}

/* ---- uncollectable objects are roots ---- */

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

    if (work.bytes > ARENAS_A_PIECE &&
        sgc_deque_push(&marker->stack, work.start + ARENAS_A_PIECE * (SGC_WORK_KINDS + 1), work.bytes - ARENAS_A_PIECE))
        work.bytes = ARENAS_A_PIECE;
    for (uint32_t end = a + (uint32_t)work.bytes; a < end; a++)
        each_page(marker, a, sgc_aw_load_acq(&sgc_heap.arenas[a].uncollectable), marker->alloc_role, mark_slot);
}

void sgc_mark_uncollectable(struct sgc_marker *marker)
{
    struct sgc_work all = { SGC_WORK_PAGES, sgc_pool.committed };

    if (marker->team == NULL || !sgc_team_give_roots(marker, all.start, all.bytes))
        sgc_pages_uncollectable(marker, all);
    sgc_marker_goes_out(marker);
}

/* ---- rescanning ---- */

void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t address)
{
    uint32_t page = sgc_page_number(address);

    /* who takes the flag in a round of rescans must see the mark that was set before */
    sgc_aw_or(&sgc_arena_of_page(page)->rescan, sgc_arena_bit(page));
    marker->overflowed = true;
}

/* The object is scanned whole, since the stack may still have no room; what it finds is drained
 * at once, so the little room there is goes a long way. */
static void rescan_slot(struct sgc_marker *marker, size_t granule, const struct sgc_page *d)
{
    bool span = sgc_page_state(d) == SGC_PAGE_SPAN;
    size_t bytes = span ? sgc_aw_load(&d->span_bytes) : (size_t)d->granules * SGC_GRANULE;

    sgc_scan_object(marker, marker->base + granule * SGC_GRANULE, bytes);
    sgc_mark_drain(marker);
}

bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena)
{
    uint64_t pages = sgc_aw_swap(&sgc_heap.arenas[arena].rescan, 0);

    marker->rescans += (size_t)__builtin_popcountll(pages);
    each_page(marker, arena, pages, marker->alloc_role ^ 1, rescan_slot);
    return pages != 0;
}

void sgc_pages_forget_rescans(void)
{
    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        sgc_aw_store(&sgc_heap.arenas[a].rescan, 0);
}
