/* SPDX-License-Identifier: MIT */
/*
 * The marker's loop, and objects that are found page by page.
 */
#include "mark/marker.h"

#include "mark/descriptor.h"
#include "mark/edge.h"
#include "mark/edge_bits.h"
#include "mark/noted.h"
#include "mark/work/idle.h"
#include "platform/faults.h"

enum {
    PIECES = 16,                /* that are no small objects, scanned before others may take work */
    ARENAS_A_PIECE = 4,         /* what one marker looks through before others may take the rest, */
    ARENAS_A_SHORT_PIECE = 1,   /* or it may be interrupted */
};

static bool pause_marker(struct sgc_marker *marker)
{
    sgc_assert(sgc_marker_ok(marker));
    marker->until_pause = SGC_PAUSE_EVERY;
    return marker->team == NULL || marker->ask->pause(marker);
}

/* ---- page by page ---- */

/* Objects by their first granule, and their page. */
typedef void (*slot_fn)(struct sgc_marker *marker, size_t granule, const struct sgc_page *d);

/* Calls fn for each allocated object of a page of small objects that is marked, or is not. */
SGC_INLINE void each_slot(struct sgc_marker *marker, uint32_t page, bool marked, slot_fn fn)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t first = (size_t)page * SGC_PAGE_WORDS;

    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++) {
        uintptr_t bits = marked ? sgc_marked_objects(marker, d, w) : sgc_white_objects(marker, w);

        for (; bits != 0; bits &= bits - 1)
            fn(marker, w * 64 + (size_t)__builtin_ctzll(bits), d);
    }
}

/* Calls fn for each allocated object that is marked, or is not, of every page of an arena whose bit
 * is set in `pages`.  Inline, so that fn is called directly. */
SGC_INLINE void each_object(struct sgc_marker *marker, uint32_t arena, uint64_t pages, bool marked, slot_fn fn)
{
    for (; pages != 0; pages &= pages - 1) {
        uint32_t page = arena * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(pages);
        const struct sgc_page *d = &sgc_heap.pages[page];
        uint8_t state = sgc_page_state(d);

        if (state == SGC_PAGE_SMALL)
            each_slot(marker, page, marked, fn);
        else if (state == SGC_PAGE_SPAN && sgc_span_is_marked(marker, page) == marked)
            fn(marker, sgc_page_first_granule(page), d);
    }
}

static void mark_slot(struct sgc_marker *marker, size_t granule, const struct sgc_page *d)
{
    if (sgc_page_state(d) == SGC_PAGE_SPAN)
        sgc_mark_span(marker, (uint32_t)(granule / SGC_PAGE_GRANULES));
    else
        sgc_granule_mark(marker, granule);
}

/* Marks the uncollectable objects of some arenas: a piece of kind SGC_WORK_PAGES, whose `bytes`
 * counts arenas. */
static void mark_uncollectable(struct sgc_marker *marker, struct sgc_work work)
{
    uint32_t a = (uint32_t)(work.start / (SGC_WORK_KINDS + 1));
    size_t some = marker->mode.program == SGC_MARK_STOPPED ? ARENAS_A_PIECE : ARENAS_A_SHORT_PIECE;

    sgc_assert(sgc_marker_marks(marker) && (work.start & SGC_WORK_KINDS) == SGC_WORK_PAGES);
    if (work.bytes > some && sgc_deque_push(&marker->stack, work.start + some * (SGC_WORK_KINDS + 1), work.bytes - some))
        work.bytes = some;
    sgc_assert(a + work.bytes <= sgc_marker_arenas(marker));
    for (uint32_t end = a + (uint32_t)work.bytes; a < end; a++)
        each_object(marker, a, sgc_aw_load_acq(&sgc_heap.arenas[a].uncollectable), false, mark_slot);
}

void sgc_mark_uncollectable(struct sgc_marker *marker)
{
    struct sgc_work all = { SGC_WORK_PAGES, sgc_marker_arenas(marker) };

    sgc_assert(sgc_marker_marks(marker));
    if (marker->team == NULL || !marker->ask->give_roots(marker, all.start, all.bytes))
        mark_uncollectable(marker, all);
}

/* Objects that were marked by hand are looked into here, only because others of their page have to
 * be. */
static void note_contents(uintptr_t start)
{
    if (sgc_noting() && sgc_a32_load(&sgc_marked_by_hand) != 0)
        sgc_note_alone(SGC_NOTED_CONTENTS, start);
}

/* The object is scanned whole, since the stack may still have no room; what it finds is drained
 * at once, so the little room there is goes a long way. */
static void rescan_slot(struct sgc_marker *marker, size_t granule, const struct sgc_page *d)
{
    bool span = sgc_page_state(d) == SGC_PAGE_SPAN;
    size_t bytes = span ? sgc_aw_load(&d->span_bytes) : (size_t)d->granules * SGC_GRANULE;

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL || sgc_page_state(d) == SGC_PAGE_SPAN);
    if (marker->interrupted)
        return;
    note_contents(marker->base + granule * SGC_GRANULE);
    sgc_scan_object(marker, marker->base + granule * SGC_GRANULE, bytes);
    marker->until_pause--;
    marker->interrupted = !sgc_mark_drain(marker);
}

bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena)
{
    uint64_t pages = sgc_aw_swap(&sgc_heap.arenas[arena].rescan, 0);

    sgc_assert(sgc_marker_marks(marker) && marker->mode.program == SGC_MARK_STOPPED && arena < sgc_marker_arenas(marker));
    marker->rescans += (size_t)__builtin_popcountll(pages);
    each_object(marker, arena, pages, true, rescan_slot);
    return pages != 0;
}

/* The flag is taken before the objects are scanned, since these may set it again.  A page in which
 * nothing new is found is gone through to the end, so that a marker that is told to stop at once
 * gets on, page by page. */
static void rescan_page(struct sgc_marker *marker, uint32_t arena, uint64_t page)
{
    sgc_assert((page & (page - 1)) == 0 && !marker->interrupted);
    sgc_aw_and(&sgc_heap.arenas[arena].rescan, ~page);
    marker->rescans++;
    each_object(marker, arena, page, true, rescan_slot);
    if (marker->interrupted)
        sgc_aw_or(&sgc_heap.arenas[arena].rescan, page);
    else if (marker->until_pause <= 0)
        marker->interrupted = !pause_marker(marker);
}

bool sgc_pages_rescan_paused(struct sgc_marker *marker, uint32_t arena)
{
    uint64_t pages = sgc_aw_load(&sgc_heap.arenas[arena].rescan);

    sgc_assert(sgc_marker_marks(marker) && marker->mode.program == SGC_MARK_PAUSED && arena < sgc_marker_arenas(marker));
    marker->interrupted = false;
    for (; pages != 0 && !marker->interrupted; pages &= pages - 1)
        rescan_page(marker, arena, pages & -pages);
    return !marker->interrupted;
}

bool sgc_pages_flagged(void)
{
    uint32_t arenas = (uint32_t)(sgc_aw_load_acq(&sgc_heap.limit) >> SGC_ARENA_LOG);
    bool any = false;

    for (uint32_t a = 0; a < arenas && !any; a++)
        any = sgc_aw_load(&sgc_heap.arenas[a].rescan) != 0;
    return any;
}

/* ---- the loop ---- */

SGC_INLINE bool is_small(uintptr_t start, size_t bytes)
{
    return bytes <= SGC_BATCH_BYTES && (start & SGC_WORK_KINDS) == 0;
}

/* Apart, so that the two stay in registers where it is not asked for. */
static bool become_words(const struct sgc_marker *marker, uintptr_t *start, size_t *bytes)
{
    struct sgc_work work = { *start, *bytes };
    bool may = sgc_described_words(marker, &work);

    *start = work.start;
    *bytes = work.bytes;
    return may;
}

static void scan_one(struct sgc_marker *marker, struct sgc_work work)
{
    sgc_assert(sgc_work_ok(&work));
    if ((work.start & SGC_WORK_KINDS) <= SGC_WORK_ROOTS)
        sgc_mark_words(marker, work.start, work.bytes);
    else if ((work.start & SGC_WORK_KINDS) == SGC_WORK_PAGES)
        mark_uncollectable(marker, work);
    else
        sgc_scan_described(marker, work);
}

/* Pops small private objects, and prefetches them, until the batch is full or the next piece is
 * none.  An object whose descriptor is a short length becomes plain words. */
static void pop_small(struct sgc_marker *marker, struct sgc_batch *batch)
{
    size_t available = sgc_deque_private(&marker->stack), room = SGC_BATCH - batch->count;
    const struct sgc_deque_entry *end = sgc_deque_end(&marker->stack), *place = end;
    const struct sgc_deque_entry *last = end - (available < room ? available : room);
    struct sgc_words *object = batch->object + batch->count;

    sgc_assert(batch->count <= SGC_BATCH);
    while (place != last) {
        uintptr_t start = sgc_aw_load(&place[-1].start);
        size_t bytes = sgc_aw_load(&place[-1].bytes);

        if (__builtin_expect(!is_small(start, bytes), 0) && !become_words(marker, &start, &bytes))
            break;
        place--;
        object->start = start;
        object->bytes = bytes;
        object++;
        sgc_prefetch_object(start, bytes);
    }
    sgc_deque_popped(&marker->stack, (size_t)(end - place));
    batch->count += (size_t)(end - place);
}

/* Pops a piece; takes public pieces back only if there is no other work. */
static bool next_piece(struct sgc_marker *marker, struct sgc_work *work, bool other_work)
{
    return (!other_work || sgc_deque_private(&marker->stack) != 0) && sgc_deque_pop(&marker->stack, work);
}

/* Fills the batch, which is empty.  Pieces that are not small are scanned at once; after some of
 * them, or a large one, the function returns, so that the marker sees whether others want work.
 * False if there is nothing to do. */
static bool fill(struct sgc_marker *marker, struct sgc_batch *batch, bool in_hand)
{
    struct sgc_work work = { 0, 0 };

    sgc_assert(batch->count == 0);
    pop_small(marker, batch);
    for (int n = 0; n < PIECES && batch->count < SGC_BATCH && work.bytes <= SGC_SCAN_PART; n++) {
        if (!next_piece(marker, &work, in_hand || batch->count != 0))
            break;
        if (is_small(work.start, work.bytes) || sgc_described_words(marker, &work)) {
            batch->object[batch->count++] = (struct sgc_words){ work.start, work.bytes };
        } else {
            marker->until_pause--;
            scan_one(marker, work);
            in_hand = true;
        }
        pop_small(marker, batch);
    }
    marker->until_pause -= (int)batch->count;
    return in_hand || batch->count != 0;
}

static void scan_batch(struct sgc_marker *marker, struct sgc_batch *batch)
{
    size_t n = marker->collect(marker->edge, batch->object, batch->count, marker->base, marker->limit);

    sgc_assert(n <= sizeof marker->edge / sizeof *marker->edge);
    batch->count = 0;
    if (n != 0)
        sgc_edges_mark(marker, n, marker->distances);
}

static void scan_either(struct sgc_marker *marker, struct sgc_batch *now, const struct sgc_batch *next)
{
    size_t count = now->count;

    if (count == 0)
        return;
    if (next->count != 0 || !sgc_chain_takes(marker, now)) {
        scan_batch(marker, now);
        return;
    }
    now->count = 0;
    for (size_t i = 0; i < count; i++)
        marker->chain(marker, now->object[i]);
}

/* Pushes the objects that wait in a batch again, as the plain words they consist of; or drops them,
 * if the mark is given up. */
static void put_back(struct sgc_marker *marker, struct sgc_batch *batch)
{
    sgc_assert(batch->count <= SGC_BATCH);
    if (marker->mode.program == SGC_MARK_STOPPED || sgc_fault(SGC_FAULT_BATCH_LOST))
        batch->count = 0;
    for (; batch->count != 0; batch->count--) {
        struct sgc_words *object = &batch->object[batch->count - 1];

        sgc_push_piece(marker, object->start, object->bytes);
    }
}

/* After each batch the marker makes pieces public if none are: that takes a few loads if there is
 * nothing to do. */
bool sgc_mark_drain(struct sgc_marker *marker)
{
    struct sgc_batch *now = &marker->batch[0], *next = &marker->batch[1], *other;

    sgc_assert(sgc_marker_marks(marker) && (marker->team == NULL || marker->ask->has(marker)));
    for (;;) {
        if (!fill(marker, next, now->count != 0))
            return true;
        scan_either(marker, now, next);
        if (marker->how != SGC_MARKBIT_PLAIN && sgc_deque_share(&marker->stack))
            sgc_idle_wake(marker->idle, 1);
        if (marker->until_pause <= 0 && !pause_marker(marker)) {
            put_back(marker, next);
            return false;
        }
        other = now;
        now = next;
        next = other;
    }
}

/* ---- handing over ---- */

static void receive(struct sgc_marker *marker, struct sgc_work work)
{
    sgc_assert(sgc_work_ok(&work));
    if (sgc_deque_push(&marker->stack, work.start, work.bytes))
        return;
    if ((work.start & SGC_WORK_KINDS) == SGC_WORK_PAGES)
        mark_uncollectable(marker, work);
    else
        sgc_mark_overflow(marker, work.start);
}

static void add_counts(struct sgc_marker *marker, struct sgc_marker *from)
{
    marker->objects += from->objects;
    marker->bytes += from->bytes;
    marker->pointer_free += from->pointer_free;
    marker->steals += from->steals;
    marker->steals_far += from->steals_far;
    marker->stolen += from->stolen;
    marker->overflowed |= from->overflowed;
    if (from->stack.deepest > marker->stack.deepest)
        marker->stack.deepest = from->stack.deepest;
    from->objects = from->bytes = from->pointer_free = from->steals = from->stolen = from->steals_far = from->stack.deepest = 0;
    from->overflowed = false;
}

/* The pieces keep their order: those that lead to most stay below. */
void sgc_marker_take_over(struct sgc_marker *marker, struct sgc_marker *from)
{
    const struct sgc_deque_entry *end = sgc_deque_end(&from->stack), *place;
    struct sgc_work work;

    sgc_assert(sgc_marker_marks(marker) && marker != from && from->mode.program == SGC_MARK_CONCURRENT);
    sgc_assert(from->batch[0].count == 0 && from->batch[1].count == 0);
    sgc_deque_take_back(&from->stack);
    for (place = end - sgc_deque_private(&from->stack); place != end; place++) {
        sgc_deque_entry_get(place, &work);
        receive(marker, work);
    }
    sgc_deque_reset(&from->stack);
    add_counts(marker, from);
}
