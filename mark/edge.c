/* SPDX-License-Identifier: MIT */
/*
 * From collected edges to marks, many at a time.  On any marker, world stopped.
 */
#include "mark/edge.h"

#include "mark/displacements.h"
#include "mark/edge_bits.h"
#include "mark/edge_span.h"
#include "mark/push.h"

enum {
    RUN_GRANULES = SGC_BATCH_BYTES / 2 / SGC_GRANULE,   /* larger objects are not put together with neighbours */
    MANY_GRANULES = 32,         /* of objects marked in one word, at least, if neighbours are to be put together */
    NEIGHBOURS = 16,            /* edges in one mark word that are worth putting together */
    APART = 32,                 /* edges that are marked before these are looked for again */
    SIFT_SHARE = 4,             /* where one edge in so many leads to what is marked, these are sifted out first */
};

/* A heap whose bits take most of a second-level cache, to several markers, since each writes what the others read; and to one. */
static const size_t BITS_APART = (size_t)32 << 20, BITS_APART_ALONE = (size_t)64 << 20;
static const size_t FAR_APART = (size_t)1 << 30;        /* a heap whose descriptors outgrow the second-level cache */

/* One line has both words with the granule's bits.  Inline: to the compiler a function that only prefetches does nothing, and it
 * leaves out calls of it. */
SGC_INLINE void ask_for_bits(const uintptr_t *edge, size_t count)
{
    sgc_aw_t *bits = sgc_heap.bits;

    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&bits[sgc_edge_word(edge[i])], 1);
}

SGC_INLINE void ask_for_descriptors(const uintptr_t *edge, size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&sgc_heap.pages[edge[i] >> SGC_PAGE_LOG]);
}

__attribute__((noinline))
bool sgc_edge_remote_bit(uintptr_t edge)
{
    return sgc_bit_of(sgc_aw_load(&sgc_heap.remote_bits[edge / SGC_WORD_REACH]), sgc_edge_granule(edge)) != 0;
}

/* The objects of one mark word, which are of one page, that are to be marked: marks them.  Those that were allocated,
 * not marked yet, and first marked by this marker. */
SGC_INLINE uintptr_t mark(const struct sgc_page *d, size_t word, uintptr_t objects, uint32_t alloc, enum sgc_markbit how)
{
    sgc_aw_t *bits = &sgc_heap.bits[2 * word];
    uintptr_t marked = sgc_aw_load(&bits[alloc ^ 1]);
    uintptr_t white = objects & sgc_aw_load(&bits[alloc]) & ~marked;

    if (white != 0 && __builtin_expect(sgc_a8_load_acq(&d->remote) != 0, 0))
        white &= ~sgc_aw_load(&sgc_heap.remote_bits[word]);
    return white == 0 ? 0 : sgc_set_marks(&bits[alloc ^ 1], marked, white, how);
}

/* Neighbours are one range of words, cut into pieces that wait in a batch: no more than there are objects. */
SGC_INLINE struct sgc_place *put_runs(struct sgc_place *place, uintptr_t first, uintptr_t objects, uint32_t granules)
{
    uintptr_t begin = objects & ~(objects << granules), last = objects & ~(objects >> granules);

    for (; begin != 0; begin &= begin - 1, last &= last - 1) {
        uint32_t from = (uint32_t)__builtin_ctzll(begin), to = (uint32_t)__builtin_ctzll(last) + granules;
        uintptr_t start = first + (uintptr_t)from * SGC_GRANULE, end = first + (uintptr_t)to * SGC_GRANULE;

        sgc_ask_for(start, end - start);
        for (; end - start > SGC_BATCH_BYTES; start += SGC_BATCH_BYTES)
            sgc_place_set(place++, start, SGC_BATCH_BYTES);
        sgc_place_set(place++, start, end - start);
    }
    return place;
}

/* n objects have been marked, those of one mark word of a page: they are prefetched, and written to places on the stack
 * if there are words to scan.  The place after them. */
SGC_INLINE struct sgc_place *put(struct sgc_place *place, const struct sgc_page *d, uintptr_t first, uintptr_t objects,
                                 size_t n)
{
    uint32_t granules = d->granules;

    if (!sgc_weight_pushes(d->weight))
        return place;
    if (d->piece == 0 && granules <= RUN_GRANULES && n * granules >= MANY_GRANULES)
        return put_runs(place, first, objects, granules);
    for (; objects != 0; objects &= objects - 1) {
        uintptr_t start = first + (uintptr_t)(uint32_t)__builtin_ctzll(objects) * SGC_GRANULE;

        __builtin_prefetch((const void *)start);
        sgc_place_set(place++, start + d->piece, (size_t)granules * SGC_GRANULE);
    }
    return place;
}

/* Where marking puts what it finds. */
struct found {
    struct sgc_place *place;    /* the next one on the stack; there are enough */
    uintptr_t *stray;           /* the next place for one; these are where the edges were */
    uint64_t weight;            /* the sum of those of the objects marked */
};

_Static_assert((int)SGC_EDGES_MAX <= (int)SGC_WEIGHT_MOST, "the sum does not overflow");

/* One place further if the object has words to scan, without a branch: its weight's highest bit becomes a place's size; the
 * next ones are 0, since it is the weight of one. */
SGC_INLINE struct sgc_place *place_after(struct sgc_place *place, uint64_t weight)
{
    _Static_assert(sizeof *place == 1 << 4, "the shift is by 63 - 4");
    return (struct sgc_place *)((uintptr_t)place + (weight >> (63 - 4)));
}

size_t sgc_count_weight(struct sgc_marker *marker, uint64_t weight)
{
    uint64_t most = ((uint64_t)1 << SGC_WEIGHT_GRANULES) - 1;
    size_t pointer_free = (weight & most) * SGC_GRANULE;
    size_t objects = (weight & ~((uint64_t)1 << 63)) >> 2 * SGC_WEIGHT_GRANULES;

    marker->objects += objects;
    marker->bytes += (weight >> SGC_WEIGHT_GRANULES & most) * SGC_GRANULE + pointer_free;
    marker->pointer_free += pointer_free;
    return objects;
}

/* The edges from the first one on that lead to its mark word and count, as bits of it.  Those behind them. */
SGC_INLINE const uintptr_t *gather(const uintptr_t *edge, const uintptr_t *end, uint32_t near, uintptr_t *bits)
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

/* Those that lead to granules of `bits` are strays. */
static void put_strays(const uintptr_t *edge, const uintptr_t *end, uintptr_t bits, struct found *found)
{
    for (; edge < end; edge++) {
        *found->stray = *edge;
        found->stray += sgc_bit_of(bits, sgc_edge_granule(*edge));
    }
}

/* What gather finds: its mark word is written once.  An edge that does not count is a stray by itself. */
SGC_INLINE const uintptr_t *mark_run(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end,
                                     uint32_t near, struct found *found, enum sgc_markbit how)
{
    size_t word = *edge / SGC_WORD_REACH, n;
    const struct sgc_page *d = &sgc_heap.pages[word / (SGC_PAGE_GRANULES / 64)];
    uintptr_t allocated = sgc_edge_allocated(marker, *edge), bits;
    const uintptr_t *next = gather(edge, end, near, &bits);

    if (__builtin_expect(next == edge, 0)) {
        *found->stray++ = *edge;
        return edge + 1;
    }
    if (__builtin_expect((bits & ~allocated) != 0, 0))
        put_strays(edge, next, ~allocated, found);
    bits &= allocated;
    if (bits == 0 || (bits = mark(d, word, bits, marker->alloc_role, how)) == 0)
        return next;
    n = sgc_count_bits(bits);
    found->weight += n * d->weight;
    found->place = put(found->place, d, marker->base + word * SGC_WORD_REACH, bits, n);
    return next;
}

SGC_INLINE bool in_one_word(uintptr_t edge, uintptr_t other)
{
    return edge / SGC_WORD_REACH == other / SGC_WORD_REACH;
}

/* Are the next edges to go together?  On the only marker if they are many: it loses nothing by writing a mark word twice. */
SGC_INLINE bool has_neighbours(const uintptr_t *edge, const uintptr_t *end, enum sgc_markbit how)
{
    int neighbours = how == SGC_MARKBIT_PLAIN ? NEIGHBOURS : 2;

    return end - edge >= neighbours && in_one_word(edge[0], edge[neighbours - 1]);
}

/* Edges one by one.  Many lead to what is marked already: that is asked before all that is about the object, for only what is
 * allocated has a mark.  Where bits are not set plainly, up to one that goes together with the next.  The edges that are left. */
SGC_INLINE const uintptr_t *mark_apart(const struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end,
                                       uint32_t near, struct found *found, enum sgc_markbit how)
{
    const struct sgc_page *pages = sgc_heap.pages;
    const sgc_aw_t *allocated = marker->allocated;
    sgc_aw_t *marks = marker->marks;
    uintptr_t base = marker->base;
    struct found now = *found;

    do {
        uintptr_t target = *edge, marked, start;
        const struct sgc_page *d;

        marked = sgc_aw_load(&marks[sgc_edge_word(target)]);
        if (sgc_bit_of(marked, sgc_edge_granule(target)))
            continue;
        if (__builtin_expect(!sgc_bit_of(sgc_aw_load(&allocated[sgc_edge_word(target)]), sgc_edge_granule(target)), 0) ||
            __builtin_expect(!sgc_edge_is_near(target, near), 0)) {
            *now.stray++ = target;
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
        sgc_place_set(now.place, start + d->piece, (size_t)d->granules * SGC_GRANULE);
        now.place = place_after(now.place, d->weight);
    } while (++edge < end && (how == SGC_MARKBIT_PLAIN || !has_neighbours(edge, end, how)));
    *found = now;
    return edge;
}

/* Edges that follow one another often lead to objects that do: then they go together. */
SGC_INLINE void mark_found(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end,
                           uint32_t near, struct found *found, enum sgc_markbit how)
{
    while (edge < end) {
        const uintptr_t *some = how == SGC_MARKBIT_PLAIN && end - edge > APART ? edge + APART : end;

        if (has_neighbours(edge, end, how))
            edge = mark_run(marker, edge, end, near, found, how);
        else
            edge = mark_apart(marker, edge, some, near, found, how);
    }
}

/* Nearly all programs have interior pointers on. */
static void mark_plain(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end, uint32_t near,
                       struct found *found)
{
    if (near == UINT32_MAX)
        mark_found(marker, edge, end, UINT32_MAX, found, SGC_MARKBIT_PLAIN);
    else
        mark_found(marker, edge, end, near, found, SGC_MARKBIT_PLAIN);
}

static void mark_shared(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end, uint32_t near,
                        struct found *found)
{
    if (marker->how == SGC_MARKBIT_OR)
        mark_found(marker, edge, end, near, found, SGC_MARKBIT_OR);
    else
        mark_found(marker, edge, end, near, found, marker->how);
}

void sgc_granule_mark(struct sgc_marker *marker, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];

    if (mark(d, granule / 64, (uintptr_t)1 << (granule % 64), marker->alloc_role, marker->how) != 0)
        sgc_marked(marker, marker->base + granule * SGC_GRANULE, (size_t)d->granules * SGC_GRANULE, d->kind);
}

/* Of so many edges only `left` led to what was not marked: that goes for the next ones, too. */
SGC_INLINE void set_sifts(struct sgc_marker *marker, size_t count, size_t left)
{
    marker->sifts = (count - left) * SIFT_SHARE > count;
}

/* There are places on the stack for all.  How many strays there were; they are the first edges now. */
static size_t mark_batch(struct sgc_marker *marker, struct sgc_place *place, uintptr_t *edge, size_t count,
                         const sgc_a8_t *distances)
{
    struct found found = { place, edge, 0 };
    size_t objects;
    uint32_t near = distances == NULL ? UINT32_MAX : marker->near;

    if (marker->how == SGC_MARKBIT_PLAIN)
        mark_plain(marker, edge, edge + count, near, &found);
    else
        mark_shared(marker, edge, edge + count, near, &found);
    objects = sgc_count_weight(marker, found.weight);
    if (!marker->sifts)
        set_sifts(marker, count, objects + (size_t)(found.stray - edge));
    sgc_deque_pushed(&marker->stack, (size_t)(found.place - place));
    return (size_t)(found.stray - edge);
}

/* Strays become edges to the first bytes of their slots.  With those into spans it is done with at once.  How many are left. */
static size_t look_up(struct sgc_marker *marker, uintptr_t *edge, size_t count, const sgc_a8_t *distances)
{
    size_t left = 0, spans = 0;

    for (size_t i = 0; i < count; i++) {
        size_t offset = edge[i], start;
        const struct sgc_page *d = &sgc_heap.pages[offset >> SGC_PAGE_LOG];

        if (sgc_page_state(d) != SGC_PAGE_SMALL) {
            sgc_mark_span_at(marker, offset, distances);
            spans++;
            continue;
        }
        start = sgc_slot_granule(d, offset) * SGC_GRANULE;
        edge[left] = start;
        left += sgc_distance_counts(distances, offset - start);
    }
    if (spans >= SGC_SPANS_MANY)
        marker->sifts_spans = true;
    return left;
}

uintptr_t sgc_edge_of_stray(struct sgc_marker *marker, uintptr_t edge)
{
    return look_up(marker, &edge, 1, marker->distances) != 0 ? edge : SGC_NOWHERE;
}

/* What is a stray again leads to a slot that is not allocated. */
static void mark_strays(struct sgc_marker *marker, uintptr_t *edge, size_t count, const sgc_a8_t *distances)
{
    size_t left = look_up(marker, edge, count, distances);
    struct sgc_place *place = sgc_deque_places(&marker->stack, left);

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
static size_t sift(struct sgc_marker *marker, uintptr_t *edge, size_t count)
{
    const sgc_aw_t *marks = marker->marks;
    size_t left = 0, i = 0;

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
    set_sifts(marker, count, left);
    return left;
}

SGC_INLINE void mark_together(struct sgc_marker *marker, uintptr_t *edge, size_t count, const sgc_a8_t *distances)
{
    struct sgc_place *place = sgc_deque_places(&marker->stack, count);

    if (__builtin_expect(marker->sifts_spans, 0))
        count = sgc_sift_spans(marker, edge, count);
    if (marker->limit >= (marker->how == SGC_MARKBIT_PLAIN ? BITS_APART_ALONE : BITS_APART)) {
        if (marker->limit >= FAR_APART)
            ask_for_descriptors(edge, count);
        ask_for_bits(edge, count);
    }
    if (marker->sifts)
        count = sift(marker, edge, count);
    if (__builtin_expect(place != NULL, 1))
        count = mark_batch(marker, place, edge, count, distances);
    if (__builtin_expect(count != 0, 0))
        mark_strays(marker, edge, count, distances);
}

void sgc_edges_mark(struct sgc_marker *marker, size_t count, const sgc_a8_t *distances)
{
    uintptr_t *edge = marker->edge;

    for (; count > marker->edges_wait; count -= marker->edges_wait, edge += marker->edges_wait)
        mark_together(marker, edge, marker->edges_wait, distances);
    mark_together(marker, edge, count, distances);
}
