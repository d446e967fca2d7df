/* SPDX-License-Identifier: MIT */
#include "mark/follow.h"

#include "mark/edge.h"
#include "mark/edge_bits.h"

enum {
    DEEP = 8,                   /* so many pieces left on the stack are worth a batch */
    CODE_LINE = 64,
};

_Static_assert(SGC_PAUSE_EVERY * (SGC_CHAIN_BYTES / sizeof(uintptr_t)) <= SGC_TALLY_MAX, "no sum of weights overflows");

/* The edge to the first byte of the object that an unresolved edge leads to, if it is allocated and not marked; or
 * SGC_NOWHERE. */
__attribute__((noinline))
static uintptr_t start_of_unresolved(struct sgc_marker *marker, uintptr_t edge)
{
    sgc_assert(sgc_marker_marks(marker));
    edge = sgc_edge_resolve(marker, edge);
    if (edge == SGC_NOWHERE || !sgc_bit_of(sgc_edge_allocated(marker, edge), sgc_edge_granule(edge)) ||
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

/* Marks what an edge leads to.  True, and the object, if it is a small one that was not marked and is scanned word by word;
 * what has a descriptor is on the stack then. */
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
    sgc_push_piece(marker, found->start + d->piece, found->bytes);     /* apart: no other's address waits for the descriptor */
    return false;
}

/* Marks what the object leads to.  The last new one without a descriptor is the next, the others go on the stack: of a list's
 * cells that is the rest of the list. */
SGC_BLIND SGC_INLINE struct sgc_words next_of(struct sgc_marker *marker, struct sgc_words object, uint64_t *weight,
                                              enum sgc_markbit how)
{
    const uintptr_t *p = (const uintptr_t *)object.start, *end = p + object.bytes / sizeof *p;
    uintptr_t base = marker->base, limit = marker->limit;
    struct sgc_words next = { 0, 0 };

    for (; p < end; p++) {
        uintptr_t edge = sgc_read_once((uintptr_t)p) - base;
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

SGC_BLIND SGC_INLINE void follow(struct sgc_marker *marker, struct sgc_words object, enum sgc_markbit how)
{
    size_t deep = sgc_deque_private(&marker->stack) + DEEP;
    uint64_t weight = 0;

    while (goes_on(&object) && sgc_deque_private(&marker->stack) < deep && marker->until_pause-- > 0)
        object = next_of(marker, object, &weight, how);
    if (object.start != 0)
        sgc_push_piece(marker, object.start, object.bytes);
    sgc_count_tally(marker, weight);
}

/* Where its loops lie relative to the processor's lines of code must not depend on what is linked before: on a Zen 5 a list
 * takes 27 ms or 34, with one marker or two. */
__attribute__((aligned(CODE_LINE)))
void sgc_chain_follow(struct sgc_marker *marker, struct sgc_words object)
{
    sgc_assert(sgc_marker_marks(marker) && object.bytes <= SGC_CHAIN_BYTES);
    sgc_assert(object.start % sizeof(uintptr_t) == 0);
    if (marker->how == SGC_MARKBIT_PLAIN)
        follow(marker, object, SGC_MARKBIT_PLAIN);
    else if (marker->how == SGC_MARKBIT_OR)
        follow(marker, object, SGC_MARKBIT_OR);
    else
        follow(marker, object, marker->how);
}
