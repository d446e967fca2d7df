/* SPDX-License-Identifier: MIT */
/*
 * The marker's loop.  World stopped.
 */
#include "mark/marker.h"

#include "mark/follow.h"
#include "mark/descriptor.h"
#include "mark/edge.h"
#include "mark/rescan.h"
#include "mark/scan.h"
#include "mark/team.h"

enum {
    PIECES = 16,                /* that are no small objects, scanned before others may take work */
    PART_BYTES = 512,           /* of a large object, scanned at a time */
};

bool sgc_marker_init(struct sgc_marker *marker, const struct sgc_mark_config *config)
{
    const sgc_a8_t *distances = config->interior_pointers ? NULL : sgc_mark_displacements();

    sgc_assert(config->edges <= SGC_EDGES_MAX);
    if (!config->interior_pointers && distances == NULL)
        return false;
    *marker = (struct sgc_marker){
        .edges_wait = config->edges != 0 ? config->edges : 1,
        .collect = sgc_words_inside(0),
        .how = SGC_MARKBIT_PLAIN,
        .until_pause = SGC_PAUSE_EVERY,
        .distances = distances,
        .end_word = config->end_word,
        .split_bytes = sgc_round_up(config->split_bytes, SGC_GRANULE),      /* pieces are whole granules */
    };
    return sgc_deque_init(&marker->stack, config->stack_bytes, config->stack_form);
}

void sgc_marker_forget(struct sgc_marker *marker)
{
    sgc_deque_reset(&marker->stack);
    marker->batch[0].count = marker->batch[1].count = 0;
}

bool sgc_marker_idle(const struct sgc_marker *marker)
{
    return sgc_deque_empty(&marker->stack) && marker->batch[0].count == 0 && marker->batch[1].count == 0;
}

/* A bit for each byte of a granule, and once more: so many bits can be counted from an edge's lowest. */
static uint32_t near_distances(const sgc_a8_t *distances)
{
    uint32_t near = 0;

    if (distances == NULL)
        return UINT32_MAX;
    for (uint32_t i = 0; i < 2 * SGC_GRANULE; i++)
        near |= (uint32_t)(sgc_a8_load(&distances[i % SGC_GRANULE]) != 0) << i;
    return near;
}

void sgc_marker_begin(struct sgc_marker *marker)
{
    sgc_assert(sgc_marker_idle(marker));
    marker->base = sgc_heap.base;
    marker->limit = sgc_aw_load_acq(&sgc_heap.limit);
    marker->alloc_role = sgc_heap.alloc_role;
    marker->allocated = &sgc_heap.bits[marker->alloc_role];
    marker->marks = &sgc_heap.bits[marker->alloc_role ^ 1];
    marker->near = near_distances(marker->distances);
    marker->objects = marker->bytes = marker->pointer_free = marker->root_bytes = marker->rescans = 0;
    marker->stack.deepest = 0;
    marker->steals = marker->stolen = 0;
    marker->breaks = 0;
    marker->overflowed = false;
}

/* ---- large pieces ---- */

/* Pushes what comes after the first `first` bytes of the piece.  If there is no room for it, the piece stays whole. */
static void put_back_rest(struct sgc_marker *marker, struct sgc_work *work, size_t first)
{
    if (sgc_deque_push(&marker->stack, work->start + first, work->bytes - first))
        work->bytes = first;
}

/* Large pieces are halved until they are small enough; the halves that come later wait on the stack, where they can be
 * stolen: one half of an array goes to each of two markers, in one theft. */
static void split(struct sgc_marker *marker, struct sgc_work *work)
{
    size_t most = marker->split_bytes;

    while (most != 0 && work->bytes > most) {
        size_t bytes = work->bytes;

        put_back_rest(marker, work, sgc_round_up(bytes / 2, SGC_GRANULE));
        if (work->bytes == bytes)
            return;
    }
}

static void scan_piece(struct sgc_marker *marker, struct sgc_work work)
{
    if ((work.start & SGC_WORK_ROOTS) != 0)
        sgc_scan_roots(marker, work.start - SGC_WORK_ROOTS, work.bytes);
    else
        sgc_scan_heap(marker, work.start, work.bytes);
}

/* What a part of a large object points at is scanned before the next part: so the stack stays shallow, and what has
 * been prefetched is used soon.  Parts in which nothing new is found follow one another without a way round. */
static void scan_parts(struct sgc_marker *marker, struct sgc_work work)
{
    size_t top = sgc_deque_private(&marker->stack);

    while (work.bytes > PART_BYTES) {
        struct sgc_work rest = { work.start + PART_BYTES, work.bytes - PART_BYTES };

        if (!sgc_deque_push(&marker->stack, rest.start, rest.bytes))
            break;
        marker->until_pause--;
        sgc_scan_heap(marker, work.start, PART_BYTES);
        if (sgc_deque_private(&marker->stack) != top + 1)
            return;
        sgc_deque_popped(&marker->stack, 1);
        work = rest;
    }
    sgc_scan_heap(marker, work.start, work.bytes);
}

static void scan_large(struct sgc_marker *marker, struct sgc_work work)
{
    split(marker, &work);
    if (marker->split_bytes != 0 && (work.start & SGC_WORK_KINDS) == 0)
        scan_parts(marker, work);
    else
        scan_piece(marker, work);
}

/* ---- the loop ---- */

SGC_INLINE bool is_small(uintptr_t start, size_t bytes)
{
    return bytes <= SGC_BATCH_BYTES && (start & SGC_WORK_KINDS) == 0;
}

/* Apart, so that the two stay in registers where it is not asked for. */
static bool become_words(uintptr_t *start, size_t *bytes)
{
    struct sgc_work work = { *start, *bytes };
    bool may = sgc_described_words(&work);

    *start = work.start;
    *bytes = work.bytes;
    return may;
}

static void scan_one(struct sgc_marker *marker, struct sgc_work work)
{
    if ((work.start & SGC_WORK_KINDS) <= SGC_WORK_ROOTS)
        scan_large(marker, work);
    else if ((work.start & SGC_WORK_KINDS) == SGC_WORK_PAGES)
        sgc_pages_uncollectable(marker, work);
    else
        sgc_scan_described(marker, work);
}

/* Without a way round by the stack, if it is small. */
void sgc_mark_words(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    scan_large(marker, (struct sgc_work){ start, bytes });
}

/* Pops small objects, and asks for their lines, until the batch is full or something else comes.  What a descriptor says
 * of such an object may turn it into plain words. */
static void pop_small(struct sgc_marker *marker, struct sgc_batch *batch)
{
    size_t most = sgc_deque_private(&marker->stack), room = SGC_BATCH - batch->count;
    const struct sgc_place *end = sgc_deque_end(&marker->stack), *place = end, *last = end - (most < room ? most : room);
    struct sgc_words *object = batch->object + batch->count;

    while (place != last) {
        uintptr_t start = sgc_aw_load(&place[-1].start);
        size_t bytes = sgc_aw_load(&place[-1].bytes);

        if (__builtin_expect(!is_small(start, bytes), 0) && !become_words(&start, &bytes))
            break;
        place--;
        object->start = start;
        object->bytes = bytes;
        object++;
        sgc_ask_for(start, bytes);
    }
    sgc_deque_popped(&marker->stack, (size_t)(end - place));
    batch->count += (size_t)(end - place);
}

/* What is public is not taken back while there is something else to do. */
static bool next_piece(struct sgc_marker *marker, struct sgc_work *work, bool other_work)
{
    return (!other_work || sgc_deque_private(&marker->stack) != 0) && sgc_deque_pop(&marker->stack, work);
}

/* Fills the batch, which is empty.  What is not small is scanned at once; after some of that, or a lot of it in one
 * piece, it is time to see whether others want work.  False if there is nothing to do. */
static bool fill(struct sgc_marker *marker, struct sgc_batch *batch, bool in_hand)
{
    struct sgc_work work = { 0, 0 };

    pop_small(marker, batch);
    for (int n = 0; n < PIECES && batch->count < SGC_BATCH && work.bytes <= PART_BYTES; n++) {
        if (!next_piece(marker, &work, in_hand || batch->count != 0))
            break;
        if (is_small(work.start, work.bytes) || sgc_described_words(&work)) {
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
        sgc_chain_follow(marker, now->object[i]);
}

static bool pause_marker(struct sgc_marker *marker)
{
    marker->until_pause = SGC_PAUSE_EVERY;
    return marker->team == NULL || sgc_team_pause(marker);
}

/* What other markers may take is seen to after each batch: it is one look when nothing is to be done. */
static bool drain(struct sgc_marker *marker)
{
    struct sgc_batch *now = &marker->batch[0], *next = &marker->batch[1], *other;

    for (;;) {
        if (!fill(marker, next, now->count != 0))
            return true;
        scan_either(marker, now, next);
        sgc_marker_answers(marker);
        if (marker->how != SGC_MARKBIT_PLAIN && sgc_deque_share(&marker->stack))
            sgc_idle_wake(&marker->team->idle, 1);
        if (marker->until_pause <= 0 && !pause_marker(marker))
            return false;
        other = now;
        now = next;
        next = other;
    }
}

bool sgc_mark_drain(struct sgc_marker *marker)
{
    bool done = drain(marker);

    sgc_marker_goes_out(marker);
    return done;
}
