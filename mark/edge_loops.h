/* SPDX-License-Identifier: MIT */
/*
 * The loops that set mark bits, for one way of setting them each: mark/edge.c has them for an only
 * marker, for one of several, and for the ways that are there to be compared.  On any marker.
 */
#ifndef SGC_MARK_EDGE_LOOPS_H
#define SGC_MARK_EDGE_LOOPS_H

#include "mark/edge_bits.h"

enum {
    SGC_RUN_GRANULES = SGC_BATCH_BYTES / 2 / SGC_GRANULE,   /* larger objects are not put together
                                                             * with neighbours */
    SGC_MANY_GRANULES = 32,         /* of objects marked in one word, at least, if neighbours are to
                                     * be put together */
    SGC_NEIGHBOURS = 16,            /* edges in one mark word that are worth putting together */
    SGC_APART = 32,                 /* edges that are marked before these are looked for again */
};

/* Has the object been freed by a thread that does not own its page?  Its bit is computed, by a
 * function of another file, which the loops need not make room for, only if some of the page's may
 * have been. */
SGC_INLINE bool sgc_edge_is_freed(const struct sgc_page *d, uintptr_t edge)
{
    return __builtin_expect(sgc_a8_load_acq(&d->remote) != 0, 0) && sgc_edge_remote_bit(edge);
}

/* The objects of one mark word, which are of one page, that are to be marked: marks them.  Those
 * that were allocated, not marked yet, and first marked by this marker. */
SGC_INLINE uintptr_t sgc_mark_objects(const struct sgc_page *d, size_t word, uintptr_t objects, uint32_t alloc,
                                      enum sgc_markbit how)
{
    sgc_aw_t *bits = &sgc_heap.bits[2 * word];
    uintptr_t marked = sgc_aw_load(&bits[alloc ^ 1]);
    uintptr_t white = objects & sgc_aw_load_acq(&bits[alloc]) & ~marked;

    if (white != 0 && __builtin_expect(sgc_a8_load_acq(&d->remote) != 0, 0))
        white &= ~sgc_aw_load(&sgc_heap.remote_bits[word]);
    return white == 0 ? 0 : sgc_set_marks(&bits[alloc ^ 1], marked, white, how);
}

/* Neighbours are one range of words, cut into pieces that wait in a batch: no more than there are
 * objects. */
SGC_INLINE struct sgc_deque_entry *sgc_put_runs(struct sgc_deque_entry *place, uintptr_t first, uintptr_t objects,
                                                uint32_t granules)
{
    uintptr_t begin = objects & ~(objects << granules), last = objects & ~(objects >> granules);

    for (; begin != 0; begin &= begin - 1, last &= last - 1) {
        uint32_t from = (uint32_t)__builtin_ctzll(begin), to = (uint32_t)__builtin_ctzll(last) + granules;
        uintptr_t start = first + (uintptr_t)from * SGC_GRANULE, end = first + (uintptr_t)to * SGC_GRANULE;

        sgc_prefetch_object(start, end - start);
        for (; end - start > SGC_BATCH_BYTES; start += SGC_BATCH_BYTES)
            sgc_deque_entry_set(place++, start, SGC_BATCH_BYTES);
        sgc_deque_entry_set(place++, start, end - start);
    }
    return place;
}

/* n objects have been marked, those of one mark word of a page: they are prefetched, and written to
 * places on the stack if there are words to scan.  The place after them. */
SGC_INLINE struct sgc_deque_entry *sgc_put_objects(struct sgc_deque_entry *place, const struct sgc_page *d, uintptr_t first,
                                                   uintptr_t objects, size_t n)
{
    uint32_t granules = d->granules;

    if (!sgc_mark_tally_pushes(d->weight))
        return place;
    if (d->piece == 0 && granules <= SGC_RUN_GRANULES && n * granules >= SGC_MANY_GRANULES)
        return sgc_put_runs(place, first, objects, granules);
    for (; objects != 0; objects &= objects - 1) {
        uintptr_t start = first + (uintptr_t)(uint32_t)__builtin_ctzll(objects) * SGC_GRANULE;

        __builtin_prefetch((const void *)start);
        sgc_deque_entry_set(place++, start + d->piece, (size_t)granules * SGC_GRANULE);
    }
    return place;
}

/* Where marking puts what it finds. */
struct sgc_found {
    struct sgc_deque_entry *place;    /* the next one on the stack; there are enough */
    uintptr_t *unresolved;      /* the next place for one; these are where the edges were */
    uint64_t weight;            /* the sum of those of the objects marked */
};

_Static_assert((int)SGC_EDGES_MAX <= (int)SGC_TALLY_MAX, "the sum does not overflow");

/* One place further if the object has words to scan, without a branch: its weight's highest bit
 * becomes a place's size; the next ones are 0, since it is the weight of one. */
SGC_INLINE struct sgc_deque_entry *sgc_place_after(struct sgc_deque_entry *place, uint64_t weight)
{
    _Static_assert(sizeof *place == 1 << 4, "the shift is by 63 - 4");
    return (struct sgc_deque_entry *)((uintptr_t)place + (weight >> (63 - 4)));
}

/* The edges from the first one on that lead to its mark word and count, as bits of it.  Those
 * behind them. */
SGC_INLINE const uintptr_t *sgc_same_mark_word(const uintptr_t *edge, const uintptr_t *end, uint32_t near, uintptr_t *bits)
{
    uintptr_t first = *edge / SGC_WORD_REACH * SGC_WORD_REACH, all = 0;

    do {
        uintptr_t distance = *edge - first;

        if (distance >= SGC_WORD_REACH || !sgc_edge_is_near(distance, near))
            break;
        all |= (uintptr_t)1 << sgc_edge_granule(distance);
    } while (++edge < end);
    *bits = all;
    return edge;
}

/* Those that lead to granules of `bits` are unresolved. */
__attribute__((noinline)) static void sgc_put_unresolved(const uintptr_t *edge, const uintptr_t *end, uintptr_t bits,
                                                         struct sgc_found *found)
{
    sgc_assert(edge < end && found->unresolved <= edge);
    for (; edge < end; edge++) {
        *found->unresolved = *edge;
        found->unresolved += sgc_bit_of(bits, sgc_edge_granule(*edge));
    }
}

/* Marks the objects of the edges that sgc_same_mark_word finds, by one write of their mark word; a
 * first edge that does not count is unresolved by itself.  The edges that are left. */
SGC_INLINE const uintptr_t *sgc_mark_run(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end,
                                     uint32_t near, struct sgc_found *found, enum sgc_markbit how)
{
    size_t word = *edge / SGC_WORD_REACH, n;
    const struct sgc_page *d = &sgc_heap.pages[word / (SGC_PAGE_GRANULES / 64)];
    uintptr_t allocated = sgc_edge_allocated(marker, *edge), bits;
    const uintptr_t *next = sgc_same_mark_word(edge, end, near, &bits);

    if (__builtin_expect(next == edge, 0)) {
        *found->unresolved++ = *edge;
        return edge + 1;
    }
    if (__builtin_expect((bits & ~allocated) != 0, 0))
        sgc_put_unresolved(edge, next, ~allocated, found);
    bits &= allocated;
    if (bits == 0 || (bits = sgc_mark_objects(d, word, bits, marker->alloc_role, how)) == 0)
        return next;
    n = sgc_count_bits(bits);
    found->weight += n * d->weight;
    found->place = sgc_put_objects(found->place, d, marker->base + word * SGC_WORD_REACH, bits, n);
    return next;
}

SGC_INLINE bool sgc_in_one_word(uintptr_t edge, uintptr_t other)
{
    return edge / SGC_WORD_REACH == other / SGC_WORD_REACH;
}

/* Are the next edges to go together?  On the only marker if they are many: it loses nothing by
 * writing a mark word twice. */
SGC_INLINE bool sgc_has_neighbours(const uintptr_t *edge, const uintptr_t *end, enum sgc_markbit how)
{
    int neighbours = how == SGC_MARKBIT_PLAIN ? SGC_NEIGHBOURS : 2;

    return end - edge >= neighbours && sgc_in_one_word(edge[0], edge[neighbours - 1]);
}

/* Edges one by one.  Many lead to what is marked already: that is asked before all that is about
 * the object, for only what is allocated has a mark.  Where bits are not set plainly, up to one
 * that goes together with the next.  The edges that are left. */
SGC_INLINE const uintptr_t *sgc_mark_apart(const struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end,
                                       uint32_t near, struct sgc_found *found, enum sgc_markbit how)
{
    const struct sgc_page *pages = sgc_heap.pages;
    const sgc_aw_t *allocated = marker->allocated;
    sgc_aw_t *marks = marker->marks;
    uintptr_t base = marker->base;
    struct sgc_found now = *found;

    do {
        uintptr_t target = *edge, marked, start;
        const struct sgc_page *d;

        marked = sgc_aw_load(&marks[sgc_edge_word(target)]);
        if (sgc_bit_of(marked, sgc_edge_granule(target)))
            continue;
        if (__builtin_expect(!sgc_bit_of(sgc_aw_load_acq(&allocated[sgc_edge_word(target)]), sgc_edge_granule(target)), 0) ||
            __builtin_expect(!sgc_edge_is_near(target, near), 0)) {
            *now.unresolved++ = target;
            continue;
        }
        d = &pages[target >> SGC_PAGE_LOG];
        if (sgc_edge_is_freed(d, target))
            continue;
        if (sgc_set_marks(&marks[sgc_edge_word(target)], marked, (uintptr_t)1 << sgc_edge_granule(target) % 64, how) == 0)
            continue;
        start = base + target / SGC_GRANULE * SGC_GRANULE;
        __builtin_prefetch((const void *)start);
        now.weight += d->weight;
        sgc_deque_entry_set(now.place, start + d->piece, (size_t)d->granules * SGC_GRANULE);
        now.place = sgc_place_after(now.place, d->weight);
    } while (++edge < end && (how == SGC_MARKBIT_PLAIN || !sgc_has_neighbours(edge, end, how)));
    *found = now;
    return edge;
}

/* Edges that follow one another often lead to objects that do: then they go together. */
SGC_INLINE void sgc_mark_found(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end,
                           uint32_t near, struct sgc_found *found, enum sgc_markbit how)
{
    while (edge < end) {
        const uintptr_t *some = how == SGC_MARKBIT_PLAIN && end - edge > SGC_APART ? edge + SGC_APART : end;

        if (sgc_has_neighbours(edge, end, how))
            edge = sgc_mark_run(marker, edge, end, near, found, how);
        else
            edge = sgc_mark_apart(marker, edge, some, near, found, how);
    }
}

#endif
