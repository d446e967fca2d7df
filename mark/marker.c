/* SPDX-License-Identifier: MIT */
/*
 * The marker's loop.  World stopped.
 */
#include "mark/marker.h"

#include "mark/edge.h"
#include "mark/pages.h"
#include "mark/scan.h"
#include "mark/team.h"

enum {
    PAUSE_EVERY = 256,          /* pieces of work between two questions to the team */
    SMALL_BYTES = 256,          /* objects that raise no question */
};

static uint32_t power_of_two_below(uint32_t n)
{
    return UINT32_C(1) << (31 - __builtin_clz(n));
}

bool sgc_marker_init(struct sgc_marker *marker, const struct sgc_mark_config *config)
{
    sgc_assert(config->edges <= SGC_EDGES_MAX);
    *marker = (struct sgc_marker){
        .edge_mask = config->edges != 0 ? (power_of_two_below(config->edges) - 1) * sizeof(struct sgc_edge) : SGC_EDGES_NONE,
        .how = SGC_MARKBIT_PLAIN,
        .until_pause = PAUSE_EVERY,
        .interior_pointers = config->interior_pointers,
        .end_word = config->end_word,
        .split_bytes = sgc_round_up(config->split_bytes, SGC_GRANULE),      /* pieces are whole granules */
        .small_bytes = config->interior_pointers ? SMALL_BYTES : 0,
    };
    return sgc_deque_init(&marker->stack, config->stack_bytes, config->stack_form);
}

void sgc_marker_forget(struct sgc_marker *marker)
{
    sgc_deque_reset(&marker->stack);
    for (uint32_t i = 0; i < SGC_EDGES_MAX; i++)
        marker->edge[i].page = NULL;
    for (uint32_t i = 0; i < SGC_GREY; i++)
        marker->grey[i].bytes = 0;
    marker->edge_count = 0;
    marker->grey_count = 0;
}

bool sgc_marker_idle(const struct sgc_marker *marker)
{
    return sgc_deque_empty(&marker->stack) && marker->edge_count == 0 && marker->grey_count == 0;
}

void sgc_marker_begin(struct sgc_marker *marker)
{
    sgc_assert(sgc_marker_idle(marker));
    marker->base = sgc_heap.base;
    marker->limit = sgc_aw_load_acq(&sgc_heap.limit);
    marker->alloc_role = sgc_heap.alloc_role;
    marker->objects = marker->bytes = marker->root_bytes = marker->rescans = 0;
    marker->stack.deepest = 0;
    marker->steals = marker->stolen = 0;
    marker->breaks = 0;
    marker->overflowed = false;
}

/* ---- the loop ---- */

/* Large pieces are scanned bit by bit: what comes after this part goes back on the stack first, where it can
 * be stolen, and the stack stays shallow.  If there is no room for it, the piece is scanned whole. */
static void split(struct sgc_marker *marker, struct sgc_work *work)
{
    size_t most = marker->split_bytes;

    if ((work->start & SGC_WORK_PAGES) == 0 && most != 0 && work->bytes > most &&
        sgc_deque_push(&marker->stack, work->start + most, work->bytes - most))
        work->bytes = most;
}

/* Pieces that are not simply words of the heap. */
static void scan_other(struct sgc_marker *marker, struct sgc_work work)
{
    if ((work.start & SGC_WORK_PAGES) != 0)
        sgc_pages_uncollectable(marker, work);
    else if ((work.start & SGC_WORK_ROOTS) != 0)
        sgc_scan_roots(marker, work.start - SGC_WORK_ROOTS, work.bytes);
    else
        sgc_scan_heap(marker, work.start, work.bytes);
}

/* Static data that counts like the heap may have an odd number of words. */
static bool is_plain(const struct sgc_marker *marker, struct sgc_work work)
{
    return (work.start & SGC_WORK_KINDS) == 0 && work.bytes % SGC_GRANULE == 0 && sgc_scan_plain(marker, work.bytes);
}

SGC_BLIND SGC_INLINE void scan_work(struct sgc_scan *scan, struct sgc_work work, enum sgc_markbit how, bool waits)
{
    if (__builtin_expect(work.bytes > scan->marker->small_bytes || (work.start & SGC_WORK_KINDS) != 0, 0)) {
        split(scan->marker, &work);
        if (!is_plain(scan->marker, work)) {
            sgc_scan_end(scan);
            scan_other(scan->marker, work);
            scan->head = scan->marker->edge_head;
            return;
        }
    }
    sgc_scan_granules(scan, (const uintptr_t *)work.start, (const uintptr_t *)(work.start + work.bytes), how, waits);
}

/* Lets a popped piece wait for its first line.  True if one is ready for it. */
SGC_INLINE bool exchange_grey(struct sgc_marker *marker, struct sgc_work *work)
{
    struct sgc_work *place = &marker->grey[marker->grey_head];
    struct sgc_work oldest = *place;

    __builtin_prefetch((const void *)work->start);
    *place = *work;
    marker->grey_head = (marker->grey_head + 1) % SGC_GREY;
    *work = oldest;
    marker->grey_count += oldest.bytes == 0;
    return oldest.bytes != 0;
}

SGC_INLINE bool take_grey(struct sgc_marker *marker, struct sgc_work *work)
{
    struct sgc_work *place = &marker->grey[(marker->grey_head - marker->grey_count) % SGC_GREY];

    if (marker->grey_count == 0)
        return false;
    *work = *place;
    place->bytes = 0;
    marker->grey_count--;
    return true;
}

SGC_INLINE bool next_work(struct sgc_scan *scan, struct sgc_work *work, enum sgc_markbit how, bool waits)
{
    for (;;) {
        while (sgc_deque_pop(&scan->marker->stack, work))
            if (!waits || exchange_grey(scan->marker, work))
                return true;
        if (take_grey(scan->marker, work))
            return true;
        if (scan->marker->edge_count == 0)
            return false;
        sgc_edge_take_oldest(scan, how);
    }
}

enum drained { DRAINED, GIVEN_UP, OTHERWISE };      /* otherwise: other markers have come meanwhile */

static enum drained pause_marker(struct sgc_marker *marker, enum sgc_markbit how)
{
    marker->until_pause = PAUSE_EVERY;
    if (marker->team != NULL && !sgc_team_pause(marker))
        return GIVEN_UP;
    return marker->how == how ? DRAINED : OTHERWISE;
}

/* What other markers may take is seen to after each piece: it is one look when nothing is to be done. */
SGC_BLIND SGC_INLINE enum drained drain(struct sgc_marker *marker, enum sgc_markbit how, bool waits)
{
    struct sgc_scan scan = sgc_scan_begin(marker);
    enum drained end = DRAINED;
    struct sgc_work work;

    while (end == DRAINED && next_work(&scan, &work, how, waits)) {
        scan_work(&scan, work, how, waits);
        if (how != SGC_MARKBIT_PLAIN && sgc_deque_share(&marker->stack))
            sgc_idle_wake(&marker->team->idle, 1);
        if (--marker->until_pause == 0)
            end = pause_marker(marker, how);
    }
    sgc_scan_end(&scan);
    return end;
}

SGC_BLIND static enum drained drain_alone(struct sgc_marker *marker)
{
    return drain(marker, SGC_MARKBIT_PLAIN, true);
}

SGC_BLIND static enum drained drain_together(struct sgc_marker *marker)
{
    return drain(marker, SGC_MARKBIT_OR, true);
}

/* The switches that are there to be compared. */
SGC_BLIND static enum drained drain_otherwise(struct sgc_marker *marker)
{
    return drain(marker, marker->how, sgc_edges_wait(marker));
}

static enum drained drain_best(struct sgc_marker *marker)
{
    if (!sgc_edges_wait(marker))
        return drain_otherwise(marker);
    if (marker->how == SGC_MARKBIT_PLAIN)
        return drain_alone(marker);
    return marker->how == SGC_MARKBIT_OR ? drain_together(marker) : drain_otherwise(marker);
}

bool sgc_mark_drain(struct sgc_marker *marker)
{
    enum drained end;

    do
        end = drain_best(marker);
    while (end == OTHERWISE);
    return end == DRAINED;
}
