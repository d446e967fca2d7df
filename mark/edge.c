/* SPDX-License-Identifier: MIT */
/*
 * From edges to marks: many at a time, or one at a time where only a few come.  On any marker.
 */
#include "mark/edge.h"

#include "alloc/large/span.h"
#include "mark/displacements.h"
#include "mark/edge_bits.h"
#include "mark/edge_loops.h"
#include "platform/faults.h"

enum {
    DROP_SHARE = 4,             /* where one edge in so many leads to what is marked, these are
                                 * sifted out first */
    DEEP = 8,                   /* so many pieces left on the stack are worth a batch */
    CODE_LINE = 64,
};

/* A heap whose bits take most of a second-level cache, to several markers, since each writes what
 * the others read; and to one. */
static const size_t BITS_APART = (size_t)32 << 20, BITS_APART_ALONE = (size_t)64 << 20;
static const size_t FAR_APART = (size_t)1 << 30;        /* a heap whose descriptors outgrow the
                                                         * second-level cache */

/* One line has both words with the granule's bits.  Inline: to the compiler a function that only
 * prefetches does nothing, and it leaves out calls of it. */
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

/* Objects have been marked whose weights (alloc/pages/page.h) add up to this: counts them.  How
 * many they were. */
__attribute__((noinline))
static size_t count_tally(struct sgc_marker *marker, uint64_t weight)
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

/* ---- large objects ----
 *
 * While the world runs a page that has no object may be set up or taken down at any moment by a
 * thread that has it in hand.  So states and the fields of tails are read once each, and nothing is
 * asserted about a span before its allocation bit is seen, which is the last to be set. */

void sgc_mark_span(struct sgc_marker *marker, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uintptr_t bit = sgc_arena_bit(page);
    sgc_aw_t *mark = sgc_span_word(page, marker->alloc_role ^ 1);
    uintptr_t marked = sgc_aw_load(mark);

    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, (uintptr_t)page * SGC_PAGE));
    if ((sgc_aw_load_acq(sgc_span_word(page, marker->alloc_role)) & ~marked & bit) == 0)
        return;
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SPAN);
    if (sgc_set_marks(mark, marked, bit, marker->how) != 0)
        sgc_marked(marker, sgc_page_start(page), sgc_aw_load(&d->span_bytes), sgc_page_kind_now(d));
}

/* Whether an edge would count does not matter where nothing is left to mark.  The bits of a
 * gigabyte of spans are 4 KB; the mark words of their first granules, which the edges would be
 * looked up in otherwise, are far apart, and often by the same distance, so that a cache has few
 * places for them. */
__attribute__((noinline))
size_t sgc_drop_marked_spans(struct sgc_marker *marker, uintptr_t *edge, size_t count)
{
    uint32_t role = marker->alloc_role ^ 1;
    size_t left = 0;

    sgc_assert(sgc_marker_marks(marker));
    for (size_t i = 0; i < count; i++) {
        uint32_t page = (uint32_t)(edge[i] >> SGC_PAGE_LOG);

        edge[left] = edge[i];
        left += (sgc_aw_load(sgc_span_word(page, role)) & sgc_arena_bit(page)) == 0;
    }
    marker->drops_marked_spans = count - left >= SGC_SPANS_MANY;
    return left;
}

/* Some objects are kept only by words that point near their beginning. */
static bool reached(const struct sgc_page *d, size_t inside)
{
    if (inside >= sgc_aw_load(&d->span_bytes))
        return false;
    return !sgc_span_limited(d) || inside < sgc_aw_load(&d->span_reach);
}

__attribute__((noinline))
void sgc_mark_span_at(struct sgc_marker *marker, size_t offset, const sgc_a8_t *distances)
{
    uint32_t page = sgc_span_first_page((uint32_t)(offset >> SGC_PAGE_LOG));
    size_t inside = offset - (size_t)page * SGC_PAGE;

    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, offset));
    if (page != SGC_NO_PAGE && reached(&sgc_heap.pages[page], inside) &&
        (sgc_distance_counts(distances, inside) || sgc_inside_counts(sgc_page_start(page), inside)))
        sgc_mark_span(marker, page);
}

/* ---- many at a time ---- */

/* Of so many edges only `left` led to what was not marked: that goes for the next ones, too. */
SGC_INLINE void set_drops_marked(struct sgc_marker *marker, size_t count, size_t left)
{
    marker->drops_marked = (count - left) * DROP_SHARE > count;
}

/* There are places on the stack for all.  How many edges are unresolved; they are the first ones
 * now. */
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
    objects = count_tally(marker, found.weight);
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

/* Unresolved edges become edges to the first bytes of their slots; those into spans are done with
 * at once.  How many are left.  While the world runs a page without objects may be set up for
 * another size meanwhile: a start that is computed from two halves of a descriptor may lie
 * anywhere, and counts only if it lies before the word's target; its allocation bit says whether an
 * object begins there. */
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

/* Marks the objects of unresolved edges.  An edge that is unresolved again leads to a slot that is
 * not allocated. */
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

/* Leaves out the edges to what is marked, without a branch, which the processor would often guess
 * wrong.  How many are left. */
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

/* ---- one at a time ---- */

_Static_assert(SGC_PAUSE_EVERY * (SGC_CHAIN_BYTES / sizeof(uintptr_t)) <= SGC_TALLY_MAX, "no sum of weights overflows");

/* The edge to the first byte of the object that an unresolved edge leads to, which was a word of
 * the heap, if it is allocated and not marked.  SGC_NOWHERE: it is not, the word does not count, or
 * the object is a large one, which is marked now. */
__attribute__((noinline))
static uintptr_t start_of_unresolved(struct sgc_marker *marker, uintptr_t edge)
{
    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, edge));
    if (resolve_edges(marker, &edge, 1, marker->distances) == 0 ||
        !sgc_bit_of(sgc_edge_allocated(marker, edge), sgc_edge_granule(edge)) ||
        sgc_bit_of(sgc_aw_load(&marker->marks[sgc_edge_word(edge)]), sgc_edge_granule(edge)))
        return SGC_NOWHERE;
    return edge;
}

/* Sets the bit of what an edge leads to, and tells whether it was clear. */
SGC_INLINE bool sets_bit(struct sgc_marker *marker, uintptr_t edge, enum sgc_markbit how)
{
    sgc_aw_t *word = &marker->marks[sgc_edge_word(edge)];
    uintptr_t bit = (uintptr_t)1 << sgc_edge_granule(edge) % 64, marked = sgc_aw_load(word);

    return (sgc_set_marks(word, marked, bit, how) & ~marked) != 0;
}

/* Marks what an edge leads to.  True, and the object, if it is a small one that was not marked and
 * is scanned word by word; what has a descriptor is on the stack then. */
SGC_INLINE bool mark_next(struct sgc_marker *marker, uintptr_t edge, uint64_t *weight, struct sgc_words *found,
                          enum sgc_markbit how)
{
    const struct sgc_page *d;

    if (sgc_bit_of(sgc_aw_load(&marker->marks[sgc_edge_word(edge)]), sgc_edge_granule(edge)))
        return false;
    if (__builtin_expect(!sgc_bit_of(sgc_edge_allocated(marker, edge), sgc_edge_granule(edge)), 0) ||
        __builtin_expect(!sgc_edge_is_near(edge, marker->near), 0)) {
        edge = start_of_unresolved(marker, edge);
        if (edge == SGC_NOWHERE)
            return false;
    }
    d = &sgc_heap.pages[edge >> SGC_PAGE_LOG];
    if (sgc_edge_is_freed(d, edge) || !sets_bit(marker, edge, how))
        return false;
    *weight += d->weight;
    if (!sgc_mark_tally_pushes(d->weight))
        return false;
    found->start = marker->base + edge / SGC_GRANULE * SGC_GRANULE;
    found->bytes = (size_t)d->granules * SGC_GRANULE;
    if (__builtin_expect(d->piece == 0, 1))
        return true;
    sgc_push_piece(marker, found->start + d->piece, found->bytes);     /* apart: no other's address
                                                                        * waits for the
                                                                        * descriptor */
    return false;
}

void sgc_edge_mark(struct sgc_marker *marker, uintptr_t edge)
{
    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, edge));
    if (!sgc_bit_of(sgc_edge_allocated(marker, edge), sgc_edge_granule(edge)) || !sgc_edge_is_near(edge, marker->near))
        edge = start_of_unresolved(marker, edge);
    if (edge != SGC_NOWHERE)
        sgc_granule_mark(marker, sgc_edge_granule(edge));
}

/* Marks what the object leads to.  The last new one without a descriptor is the next, the others go
 * on the stack: of a list's cells that is the rest of the list. */
SGC_BLIND SGC_INLINE struct sgc_words next_of(struct sgc_marker *marker, struct sgc_words object, uint64_t *weight,
                                              enum sgc_markbit how, uintptr_t mask)
{
    const uintptr_t *p = (const uintptr_t *)object.start, *end = p + object.bytes / sizeof *p;
    uintptr_t base = marker->base, limit = marker->limit;
    struct sgc_words next = { 0, 0 };

    for (; p < end; p++) {
        uintptr_t edge = (sgc_read_once((uintptr_t)p) & mask) - base;
        struct sgc_words found;

        if (edge >= limit || !mark_next(marker, edge, weight, &found, how))
            continue;
        if (next.start != 0)
            sgc_push_piece(marker, next.start, next.bytes);
        next = found;
    }
    return next;
}

SGC_INLINE bool goes_on(const struct sgc_words *object)
{
    return object->bytes <= SGC_CHAIN_BYTES && object->start != 0;
}

SGC_BLIND SGC_INLINE void follow(struct sgc_marker *marker, struct sgc_words object, enum sgc_markbit how, uintptr_t mask)
{
    size_t deep = sgc_deque_private(&marker->stack) + DEEP;
    uint64_t weight = 0;

    while (goes_on(&object) && sgc_deque_private(&marker->stack) < deep && marker->until_pause-- > 0)
        object = next_of(marker, object, &weight, how, mask);
    if (object.start != 0)
        sgc_push_piece(marker, object.start, object.bytes);
    count_tally(marker, weight);
}

SGC_BLIND SGC_INLINE void follow_by(struct sgc_marker *marker, struct sgc_words object, uintptr_t mask)
{
    sgc_assert(sgc_marker_marks(marker) && object.bytes <= SGC_CHAIN_BYTES);
    sgc_assert(object.start % sizeof(uintptr_t) == 0);
    if (marker->how == SGC_MARKBIT_PLAIN)
        follow(marker, object, SGC_MARKBIT_PLAIN, mask);
    else if (marker->how == SGC_MARKBIT_OR)
        follow(marker, object, SGC_MARKBIT_OR, mask);
    else
        follow(marker, object, marker->how, mask);
}

/* Scans an object and goes on with what it leads to, until that is nothing, or too much for one at
 * a time; then it is on the stack.  Where these loops lie relative to the processor's lines of code
 * must not depend on what is linked before: on a Zen 5 a list takes 27 ms or 34, with one marker or
 * two. */
__attribute__((aligned(CODE_LINE)))
void sgc_chain_follow(struct sgc_marker *marker, struct sgc_words object)
{
    follow_by(marker, object, UINTPTR_MAX);
}

__attribute__((aligned(CODE_LINE)))
void sgc_chain_follow_masked(struct sgc_marker *marker, struct sgc_words object)
{
    follow_by(marker, object, sgc_word_form.mask);
}
