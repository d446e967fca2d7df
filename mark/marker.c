/* SPDX-License-Identifier: MIT */
/*
 * The marker's loop, and what it does when its stack cannot grow.  World stopped.
 */
#include "mark/marker.h"

#include "mark/edge.h"
#include "mark/scan.h"

enum { ASK_EVERY = 1024 };      /* pieces of work between two questions to stop() */

bool sgc_marker_init(struct sgc_marker *marker, const struct sgc_mark_config *config)
{
    sgc_assert(config->edges <= SGC_EDGES_MAX);
    *marker = (struct sgc_marker){
        .edges = config->edges,
        .interior_pointers = config->interior_pointers,
        .end_word = config->end_word,
        .split_bytes = sgc_round_up(config->split_bytes, SGC_GRANULE),      /* pieces are whole words */
    };
    return sgc_work_stack_init(&marker->stack, config->stack_bytes);
}

void sgc_marker_begin(struct sgc_marker *marker)
{
    sgc_assert(marker->stack.top == 0 && marker->edge_count == 0);
    marker->base = sgc_heap.base;
    marker->limit = sgc_aw_load_acq(&sgc_heap.limit);
    marker->alloc_role = sgc_heap.alloc_role;
    marker->objects = marker->bytes = marker->root_bytes = marker->rescans = 0;
    marker->stack.deepest = 0;
    marker->overflowed = false;
}

/* ---- the loop ---- */

/* Large objects are scanned piece by piece: what comes after this piece goes back on the stack first,
 * where it can be stolen, and the stack stays shallow.  If there is no room for it, the object is
 * scanned whole. */
static void scan_work(struct sgc_marker *marker, struct sgc_work work)
{
    size_t split = marker->split_bytes;

    if (split != 0 && work.bytes > split &&
        sgc_work_push(&marker->stack, work.start + split, work.bytes - split))
        work.bytes = split;
    sgc_scan_heap(marker, work.start, work.bytes);
}

static bool next_work(struct sgc_marker *marker, struct sgc_work *work)
{
    while (!sgc_work_pop(&marker->stack, work)) {
        if (marker->edge_count == 0)
            return false;
        sgc_edge_take_oldest(marker);
    }
    return true;
}

bool sgc_mark_drain(struct sgc_marker *marker, int (*stop)(void))
{
    struct sgc_work work;
    uint32_t until_asked = ASK_EVERY;

    while (next_work(marker, &work)) {
        scan_work(marker, work);
        if (stop != NULL && --until_asked == 0) {
            until_asked = ASK_EVERY;
            if (stop())
                return false;
        }
    }
    return stop == NULL || !stop();
}

void sgc_marker_abandon(struct sgc_marker *marker)
{
    marker->stack.top = 0;
    marker->edge_count = marker->edge_first = 0;
    for (uint32_t a = 0; marker->overflowed && a < sgc_pool.committed; a++)
        sgc_aw_store(&sgc_heap.arenas[a].rescan, 0);
    marker->overflowed = false;
}

/* ---- each object of a page ---- */

typedef void (*slot_fn)(struct sgc_marker *marker, const struct sgc_edge *edge);

/* Calls fn for each set bit of the page's words as `word_of` gives them. */
static void each_bit(struct sgc_marker *marker, uint32_t page, uint32_t role, slot_fn fn)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t first = (size_t)page * SGC_PAGE_WORDS;
    struct sgc_edge edge;

    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++) {
        uintptr_t bits = sgc_aw_load(sgc_bits_word(w, role));

        for (; bits != 0; bits &= bits - 1) {
            sgc_edge_small_at(d, w * 64 + (size_t)__builtin_ctzll(bits), &edge);
            fn(marker, &edge);
        }
    }
}

static void each_object(struct sgc_marker *marker, uint32_t page, uint32_t role, slot_fn fn)
{
    struct sgc_edge edge;

    if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL)
        each_bit(marker, page, role, fn);
    else if (sgc_edge_span(page, (size_t)page * SGC_PAGE, &edge) &&
             (sgc_aw_load(&edge.bits[role]) >> edge.bit & 1) != 0)
        fn(marker, &edge);
}

/* Calls fn for the objects of every page whose bit is set in `pages`. */
static void each_page(struct sgc_marker *marker, uint32_t arena, uint64_t pages, uint32_t role, slot_fn fn)
{
    for (; pages != 0; pages &= pages - 1)
        each_object(marker, arena * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(pages), role, fn);
}

/* ---- uncollectable objects are roots ---- */

static void mark_slot(struct sgc_marker *marker, const struct sgc_edge *edge)
{
    sgc_edge_mark(marker, edge);
}

void sgc_mark_uncollectable(struct sgc_marker *marker)
{
    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        each_page(marker, a, sgc_aw_load_acq(&sgc_heap.arenas[a].uncollectable),
                  marker->alloc_role, mark_slot);
}

/* ---- rescanning ---- */

void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t start)
{
    uint32_t page = sgc_page_number(start);

    sgc_aw_or_relaxed(&sgc_arena_of_page(page)->rescan, sgc_arena_bit(page));
    marker->overflowed = true;
}

/* The object is scanned whole, since the stack may still have no room; what it finds is drained
 * at once, so the little room there is goes a long way. */
static void rescan_slot(struct sgc_marker *marker, const struct sgc_edge *edge)
{
    sgc_scan_heap(marker, edge->start, edge->bytes);
    sgc_mark_drain(marker, NULL);
}

static bool rescan_arena(struct sgc_marker *marker, uint32_t arena)
{
    uint64_t pages = sgc_aw_swap(&sgc_heap.arenas[arena].rescan, 0);

    marker->rescans += (size_t)__builtin_popcountll(pages);
    each_page(marker, arena, pages, marker->alloc_role ^ 1, rescan_slot);
    return pages != 0;
}

/* Ends: a page is flagged only when an object of it has been marked for the first time. */
bool sgc_mark_rescan(struct sgc_marker *marker, int (*stop)(void))
{
    while (marker->overflowed) {
        marker->overflowed = false;
        for (uint32_t a = 0; a < sgc_pool.committed; a++)
            if (rescan_arena(marker, a) && stop != NULL && stop()) {
                marker->overflowed = true;      /* flags may be left for sgc_marker_abandon */
                return false;
            }
    }
    return true;
}
