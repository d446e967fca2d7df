/* SPDX-License-Identifier: MIT */
/*
 * The marker's loop.  World stopped.
 */
#include "mark/drain.h"

#include "mark/descriptor.h"
#include "mark/edge.h"
#include "mark/edge_bits.h"
#include "mark/follow.h"
#include "mark/scan.h"
#include "mark/team_state.h"
#include "mark/uncollectable.h"

enum { PIECES = 16 };           /* that are no small objects, scanned before others may take work */

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
    sgc_assert(sgc_work_ok(&work));
    if ((work.start & SGC_WORK_KINDS) <= SGC_WORK_ROOTS)
        sgc_mark_words(marker, work.start, work.bytes);
    else if ((work.start & SGC_WORK_KINDS) == SGC_WORK_PAGES)
        sgc_pages_uncollectable(marker, work);
    else
        sgc_scan_described(marker, work);
}

/* Pops small objects, and asks for their lines, until the batch is full or something else comes.  What a descriptor says
 * of such an object may turn it into plain words. */
static void pop_small(struct sgc_marker *marker, struct sgc_batch *batch)
{
    size_t most = sgc_deque_private(&marker->stack), room = SGC_BATCH - batch->count;
    const struct sgc_deque_entry *end = sgc_deque_end(&marker->stack), *place = end, *last = end - (most < room ? most : room);
    struct sgc_words *object = batch->object + batch->count;

    sgc_assert(batch->count <= SGC_BATCH);
    while (place != last) {
        uintptr_t start = sgc_aw_load(&place[-1].start);
        size_t bytes = sgc_aw_load(&place[-1].bytes);

        if (__builtin_expect(!is_small(start, bytes), 0) && !become_words(&start, &bytes))
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

    sgc_assert(batch->count == 0);
    pop_small(marker, batch);
    for (int n = 0; n < PIECES && batch->count < SGC_BATCH && work.bytes <= SGC_SCAN_PART; n++) {
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
        sgc_chain_follow(marker, now->object[i]);
}

static bool pause_marker(struct sgc_marker *marker)
{
    sgc_assert(sgc_marker_ok(marker));
    marker->until_pause = SGC_PAUSE_EVERY;
    return marker->team == NULL || sgc_team_pause(marker);
}

/* What other markers may take is seen to after each batch: it is one look when nothing is to be done. */
bool sgc_mark_drain(struct sgc_marker *marker)
{
    struct sgc_batch *now = &marker->batch[0], *next = &marker->batch[1], *other;

    sgc_assert(sgc_marker_marks(marker) && (marker->team == NULL || marker->index < marker->team->markers));
    for (;;) {
        if (!fill(marker, next, now->count != 0))
            return true;
        scan_either(marker, now, next);
        if (marker->how != SGC_MARKBIT_PLAIN && sgc_deque_share(&marker->stack))
            sgc_idle_wake(&marker->team->idle, 1);
        if (marker->until_pause <= 0 && !pause_marker(marker))
            return false;
        other = now;
        now = next;
        next = other;
    }
}
