/* SPDX-License-Identifier: MIT */
/*
 * From collected edges to marks, many at a time.  On any marker.
 */
#include "mark/edge.h"

#include "mark/displacements.h"
#include "mark/edge_bits.h"
#include "mark/edge_loops.h"
#include "platform/faults.h"

enum { DROP_SHARE = 4 };        /* where one edge in so many leads to what is marked, these are sifted out first */

/* A heap whose bits take most of a second-level cache, to several markers, since each writes what the others read; and to
 * one. */
static const size_t BITS_APART = (size_t)32 << 20, BITS_APART_ALONE = (size_t)64 << 20;
static const size_t FAR_APART = (size_t)1 << 30;        /* a heap whose descriptors outgrow the second-level cache */

/* One line has both words with the granule's bits.  Inline: to the compiler a function that only prefetches does nothing, and
 * it leaves out calls of it. */
SGC_INLINE void prefetch_mark_words(const uintptr_t *edge, size_t count)
{
    sgc_aw_t *bits = sgc_heap.bits;

    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&bits[sgc_edge_word(edge[i])], 1);
}

SGC_INLINE void prefetch_descriptors(const uintptr_t *edge, size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&sgc_heap.pages[edge[i] >> SGC_PAGE_LOG]);
}

__attribute__((noinline))
bool sgc_edge_remote_bit(uintptr_t edge)
{
    sgc_assert(sgc_heap_contains(sgc_heap.base + edge));
    return sgc_bit_of(sgc_aw_load(&sgc_heap.remote_bits[edge / SGC_WORD_REACH]), sgc_edge_granule(edge)) != 0;
}

/* A large object's first page has the flag. */
void sgc_mark_later(struct sgc_marker *marker, uintptr_t address)
{
    uint32_t page = sgc_page_number(address), first = sgc_span_first_page(page);

    sgc_assert(sgc_marker_marks(marker) && sgc_heap_contains(address));
    if (first != SGC_NO_PAGE)
        page = first;
    if (sgc_fault(SGC_FAULT_FLAG_FORGOTTEN) && page % 4 == 0)
        return;
    /* the marker that takes the flag in a round of rescans must see the mark that was set before */
    sgc_aw_or(&sgc_arena_of_page(page)->rescan, sgc_arena_bit(page));
}

/* Objects for which there was no room on the stack. */
void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t address)
{
    sgc_mark_later(marker, address);
    marker->overflowed = true;
}

size_t sgc_count_tally(struct sgc_marker *marker, uint64_t weight)
{
    uint64_t mask = ((uint64_t)1 << SGC_TALLY_GRANULES) - 1;
    size_t pointer_free = (weight & mask) * SGC_GRANULE;
    size_t objects = (weight & ~((uint64_t)1 << 63)) >> 2 * SGC_TALLY_GRANULES;

    sgc_assert(sgc_marker_ok(marker));
    marker->objects += objects;
    marker->bytes += (weight >> SGC_TALLY_GRANULES & mask) * SGC_GRANULE + pointer_free;
    marker->pointer_free += pointer_free;
    return objects;
}

/* By compare-and-swap or under a lock (mark/markbit.c): ways that are there to be compared. */
__attribute__((noinline))
static void mark_study(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end, uint32_t near,
                       struct sgc_found *found)
{
    sgc_assert(marker->how == SGC_MARKBIT_CAS || marker->how == SGC_MARKBIT_LOCK);
    sgc_mark_found(marker, edge, end, near, found, marker->how);
}

/* Nearly all programs have interior pointers on. */
static void mark_plain(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end, uint32_t near,
                       struct sgc_found *found)
{
    if (near == UINT32_MAX)
        sgc_mark_found(marker, edge, end, UINT32_MAX, found, SGC_MARKBIT_PLAIN);
    else
        sgc_mark_found(marker, edge, end, near, found, SGC_MARKBIT_PLAIN);
}

static void mark_shared(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end, uint32_t near,
                        struct sgc_found *found)
{
    if (marker->how == SGC_MARKBIT_OR)
        sgc_mark_found(marker, edge, end, near, found, SGC_MARKBIT_OR);
    else
        mark_study(marker, edge, end, near, found);
}

void sgc_granule_mark(struct sgc_marker *marker, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];

    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, granule * SGC_GRANULE));
    if (sgc_mark_objects(d, granule / 64, (uintptr_t)1 << (granule % 64), marker->alloc_role, marker->how) == 0)
        return;
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL);
    sgc_marked(marker, marker->base + granule * SGC_GRANULE, (size_t)d->granules * SGC_GRANULE, d->kind);
}

/* Of so many edges only `left` led to what was not marked: that goes for the next ones, too. */
SGC_INLINE void set_drops_marked(struct sgc_marker *marker, size_t count, size_t left)
{
    marker->drops_marked = (count - left) * DROP_SHARE > count;
}

/* There are places on the stack for all.  How many edges are unresolved; they are the first ones now. */
static size_t mark_batch(struct sgc_marker *marker, struct sgc_deque_entry *place, uintptr_t *edge, size_t count,
                         const sgc_a8_t *distances)
{
    struct sgc_found found = { place, edge, 0 };
    size_t objects;
    uint32_t near = distances == NULL ? UINT32_MAX : marker->near;

    sgc_assert(place == sgc_deque_end(&marker->stack) && count <= SGC_EDGES_MAX);
    if (marker->how == SGC_MARKBIT_PLAIN)
        mark_plain(marker, edge, edge + count, near, &found);
    else
        mark_shared(marker, edge, edge + count, near, &found);
    sgc_assert(found.place >= place && found.place <= place + count && found.unresolved <= edge + count);
    objects = sgc_count_tally(marker, found.weight);
    if (!marker->drops_marked)
        set_drops_marked(marker, count, objects + (size_t)(found.unresolved - edge));
    sgc_deque_pushed(&marker->stack, (size_t)(found.place - place));
    return (size_t)(found.unresolved - edge);
}

/* Does an edge count that leads that far behind the first byte of a slot or span? */
static bool is_near_enough(const struct sgc_marker *marker, const sgc_a8_t *distances, size_t start, size_t distance)
{
    return sgc_distance_counts(distances, distance) || sgc_inside_counts(marker->base + start, distance);
}

/* Unresolved edges become edges to the first bytes of their slots; those into spans are done with at once.
 * How many are left.  While the world runs a page without objects may be set up for another size
 * meanwhile: a start that is computed from two halves of a descriptor may lie anywhere, and counts
 * only if it lies before the word's target; its allocation bit says whether an object begins
 * there. */
static size_t resolve_edges(struct sgc_marker *marker, uintptr_t *edge, size_t count, const sgc_a8_t *distances)
{
    size_t left = 0, spans = 0;

    sgc_assert(count <= SGC_EDGES_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t offset = edge[i], start;
        const struct sgc_page *d = &sgc_heap.pages[offset >> SGC_PAGE_LOG];

        if (sgc_page_state(d) != SGC_PAGE_SMALL) {
            sgc_mark_span_at(marker, offset, distances);
            spans++;
            continue;
        }
        start = sgc_slot_granule(d, offset) * SGC_GRANULE;
        sgc_assert(sgc_edge_ok(marker, offset));
        edge[left] = start;
        left += start <= offset && is_near_enough(marker, distances, start, offset - start);
    }
    if (spans >= SGC_SPANS_MANY)
        marker->drops_marked_spans = true;
    return left;
}

uintptr_t sgc_edge_resolve(struct sgc_marker *marker, uintptr_t edge)
{
    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, edge));
    return resolve_edges(marker, &edge, 1, marker->distances) != 0 ? edge : SGC_NOWHERE;
}

/* Marks the objects of unresolved edges.  An edge that is unresolved again leads to a slot that is not
 * allocated. */
static void mark_unresolved(struct sgc_marker *marker, uintptr_t *edge, size_t count, const sgc_a8_t *distances)
{
    size_t left = resolve_edges(marker, edge, count, distances);
    struct sgc_deque_entry *place = sgc_deque_entries(&marker->stack, left);

    if (__builtin_expect(place != NULL, 1)) {
        mark_batch(marker, place, edge, left, NULL);
        return;
    }
    for (size_t i = 0; i < left; i++)
        sgc_granule_mark(marker, sgc_edge_granule(edge[i]));
}

/* Is it to be marked?  0 or 1. */
SGC_INLINE size_t is_left(const sgc_aw_t *marks, uintptr_t edge)
{
    return sgc_bit_of(~sgc_aw_load(&marks[sgc_edge_word(edge)]), sgc_edge_granule(edge));
}

/* Leaves out the edges to what is marked, without a branch, which the processor would often guess wrong.  How many are left. */
static size_t drop_marked(struct sgc_marker *marker, uintptr_t *edge, size_t count)
{
    const sgc_aw_t *marks = marker->marks;
    size_t left = 0, i = 0;

    sgc_assert(count <= SGC_EDGES_MAX);
    for (; i + 1 < count; i += 2) {         /* two at a time: less around them */
        uintptr_t one = edge[i], other = edge[i + 1];

        edge[left] = one;
        left += is_left(marks, one);
        edge[left] = other;
        left += is_left(marks, other);
    }
    if (i < count) {
        edge[left] = edge[i];
        left += is_left(marks, edge[i]);
    }
    set_drops_marked(marker, count, left);
    return left;
}

SGC_INLINE void mark_together(struct sgc_marker *marker, uintptr_t *edge, size_t count, const sgc_a8_t *distances)
{
    struct sgc_deque_entry *place = sgc_deque_entries(&marker->stack, count);

    if (__builtin_expect(marker->drops_marked_spans, 0))
        count = sgc_drop_marked_spans(marker, edge, count);
    if (marker->limit >= (marker->how == SGC_MARKBIT_PLAIN ? BITS_APART_ALONE : BITS_APART)) {
        if (marker->limit >= FAR_APART)
            prefetch_descriptors(edge, count);
        prefetch_mark_words(edge, count);
    }
    if (marker->drops_marked)
        count = drop_marked(marker, edge, count);
    if (__builtin_expect(place != NULL, 1))
        count = mark_batch(marker, place, edge, count, distances);
    if (__builtin_expect(count != 0, 0))
        mark_unresolved(marker, edge, count, distances);
}

void sgc_edges_mark(struct sgc_marker *marker, size_t count, const sgc_a8_t *distances)
{
    uintptr_t *edge = marker->edge;

    sgc_assert(sgc_marker_marks(marker));
    sgc_assert(count <= sizeof marker->edge / sizeof *edge);
    for (; count > marker->edges_wait; count -= marker->edges_wait, edge += marker->edges_wait)
        mark_together(marker, edge, marker->edges_wait, distances);
    mark_together(marker, edge, count, distances);
}
