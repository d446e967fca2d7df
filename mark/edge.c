/* SPDX-License-Identifier: MIT */
/*
 * From collected edges to marks.  On any marker, world stopped.
 *
 * Looking up turns each edge, the distance of a word's target from the heap's first byte, into the number of the
 * first granule of a slot, in place, and asks for the line that has the slot's bits.  Marking looks at the bits.
 */
#include "mark/edge.h"

#include "alloc/span.h"

static const size_t FAR_APART = (size_t)1 << 30;        /* a heap whose descriptors outgrow the second-level cache */

/* The two words with the granule's bits; there is a line for both. */
SGC_INLINE sgc_aw_t *bits_of(sgc_aw_t *bits, size_t granule)
{
    return bits + granule / 64 * 2;
}

/* Most edges lead to what is marked already. */
SGC_INLINE bool span_is_marked(const struct sgc_marker *marker, const struct sgc_page *d, uint32_t page)
{
    if (sgc_page_state(d) == SGC_PAGE_SPAN_TAIL)
        page -= d->back;
    return (sgc_aw_load(sgc_span_word(page, marker->alloc_role ^ 1)) & sgc_arena_bit(page)) != 0;
}

/* Edges into spans are done with at once.  Those that are left. */
static size_t look_up(struct sgc_marker *marker, size_t count)
{
    const struct sgc_page *pages = sgc_heap.pages;
    sgc_aw_t *bits = sgc_heap.bits;
    uintptr_t *edge = marker->edge;
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        size_t offset = edge[i];
        const struct sgc_page *d = &pages[offset >> SGC_PAGE_LOG];

        if (__builtin_expect(sgc_page_state(d) != SGC_PAGE_SMALL, 0)) {
            if (!span_is_marked(marker, d, (uint32_t)(offset >> SGC_PAGE_LOG)))
                sgc_mark_span_at(marker, offset);
            continue;
        }
        edge[left] = sgc_slot_granule(d, offset);
        __builtin_prefetch(bits_of(bits, edge[left]), 1);
        left++;
    }
    return left;
}

static void ask_for_descriptors(const struct sgc_marker *marker, size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&sgc_heap.pages[marker->edge[i] >> SGC_PAGE_LOG]);
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

/* Edges that follow one another often lead to objects that do, whose marks are in one word: it is written once.  There
 * are places on the stack for all. */
SGC_INLINE size_t mark_granules(struct sgc_marker *marker, struct sgc_place *place, size_t count, enum sgc_markbit how)
{
    const struct sgc_page *pages = sgc_heap.pages;
    const uintptr_t *edge = marker->edge, *end = edge + count;
    uintptr_t base = marker->base;
    uint32_t alloc = marker->alloc_role;
    size_t objects = 0, granules = 0, pushed = 0;

    while (edge < end) {
        size_t word = *edge / 64;
        const struct sgc_page *d = &pages[word / (SGC_PAGE_GRANULES / 64)];
        uintptr_t bits = 0;

        do
            bits |= (uintptr_t)1 << (*edge % 64);
        while (++edge < end && *edge / 64 == word);
        for (bits = mark(d, word, bits, alloc, how); bits != 0; bits &= bits - 1) {
            size_t g = word * 64 + (size_t)__builtin_ctzll(bits);

            objects++;
            granules += d->granules;
            __builtin_prefetch((const void *)(base + g * SGC_GRANULE));
            sgc_place_set(&place[pushed], base + g * SGC_GRANULE + d->piece, (size_t)d->granules * SGC_GRANULE);
            pushed += d->pushes;
        }
    }
    marker->objects += objects;
    marker->bytes += granules * SGC_GRANULE;
    return pushed;
}

static size_t mark_by(struct sgc_marker *marker, struct sgc_place *place, size_t count)
{
    if (marker->how == SGC_MARKBIT_PLAIN)
        return mark_granules(marker, place, count, SGC_MARKBIT_PLAIN);
    if (marker->how == SGC_MARKBIT_OR)
        return mark_granules(marker, place, count, SGC_MARKBIT_OR);
    return mark_granules(marker, place, count, marker->how);
}

static bool mark_one(struct sgc_marker *marker, const struct sgc_page *d, size_t granule)
{
    return mark(d, granule / 64, (uintptr_t)1 << (granule % 64), marker->alloc_role, marker->how) != 0;
}

void sgc_granule_mark(struct sgc_marker *marker, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];

    if (mark_one(marker, d, granule))
        sgc_marked(marker, marker->base + granule * SGC_GRANULE, (size_t)d->granules * SGC_GRANULE, d->kind);
}

/* Most words point at first bytes.  Then the address of the object is known without the page's descriptor; the branch
 * lets the processor go on to its words, before it has done the arithmetic that shows that this was right. */
SGC_INLINE size_t granule_of(const struct sgc_page *d, size_t offset)
{
    uint32_t g = (uint32_t)offset % SGC_PAGE >> SGC_GRANULE_LOG;
    size_t granule = offset / SGC_GRANULE;

    if (__builtin_expect(sgc_slot_start(d, g) != g, 0))
        granule = sgc_slot_granule(d, offset);
    return granule;
}

uintptr_t sgc_edge_follow(struct sgc_marker *marker, size_t *bytes)
{
    size_t offset = marker->edge[0];
    const struct sgc_page *d = &sgc_heap.pages[offset >> SGC_PAGE_LOG];
    size_t granule;

    if (__builtin_expect(sgc_page_state(d) != SGC_PAGE_SMALL, 0)) {
        sgc_mark_span_at(marker, offset);
        return 0;
    }
    granule = granule_of(d, offset);
    if (!mark_one(marker, d, granule))
        return 0;
    *bytes = (size_t)d->granules * SGC_GRANULE;
    marker->objects++;
    marker->bytes += *bytes;
    if (d->piece == 0)
        return d->pushes != 0 ? marker->base + granule * SGC_GRANULE : 0;
    sgc_push_object(marker, marker->base + granule * SGC_GRANULE, *bytes, SGC_SCAN_DESCRIBED);
    return 0;
}

void sgc_edges_mark(struct sgc_marker *marker, size_t count)
{
    struct sgc_place *place;
    size_t left;

    if (marker->limit >= FAR_APART)
        ask_for_descriptors(marker, count);
    left = look_up(marker, count);
    place = sgc_deque_places(&marker->stack, left);
    if (__builtin_expect(place != NULL, 1)) {
        sgc_deque_pushed(&marker->stack, mark_by(marker, place, left));
        return;
    }
    for (size_t i = 0; i < left; i++)
        sgc_granule_mark(marker, marker->edge[i]);
}
