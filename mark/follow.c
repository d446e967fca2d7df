/* SPDX-License-Identifier: MIT */
#include "mark/follow.h"

#include "mark/edge.h"
#include "mark/edge_bits.h"
#include "mark/push.h"

enum {
    DEEP = 8,                   /* so many pieces left on the stack by chain_alone are worth a batch */
    ANSWER_EVERY = 16,          /* of the chain's objects; they are small, so whoever waits does not wait for long */
    CODE_LINE = 64,
};

/* ---- several markers without pages of their own: marks that are kept back ---- */

/* False if the last of them is another marker's, who then goes on from there. */
static bool mark_late(struct sgc_marker *marker, struct sgc_chain *chain)
{
    sgc_aw_t *mark = &sgc_heap.bits[2 * chain->word + (marker->alloc_role ^ 1)];
    uintptr_t won;

    if (chain->late == 0)
        return true;
    sgc_assert(marker->how != SGC_MARKBIT_OWN);
    won = sgc_set_marks(mark, sgc_aw_load(mark), chain->late, marker->how);
    sgc_count_marked(marker, sgc_count_bits(won), chain->bytes, chain->pointer_free);
    chain->late = 0;
    return (won & chain->last) != 0;
}

void sgc_chain_end(struct sgc_marker *marker, struct sgc_chain *chain)
{
    mark_late(marker, chain);
}

/* The object is allocated and not marked, nor going to be. */
static bool is_white(const struct sgc_marker *marker, const struct sgc_page *d, const struct sgc_chain *chain, uintptr_t bit)
{
    const sgc_aw_t *bits = &sgc_heap.bits[2 * chain->word];
    uintptr_t marked = sgc_aw_load(&bits[marker->alloc_role ^ 1]) | chain->late;

    return (bit & sgc_aw_load(&bits[marker->alloc_role]) & ~marked) != 0 &&
           (sgc_a8_load_acq(&d->remote) == 0 || (bit & sgc_aw_load(&sgc_heap.remote_bits[chain->word])) == 0);
}

/* The branches are for the processor to guess: it goes on to the words of the next object, whose address is the word that
 * was found, before it has looked at a bit or a descriptor. */
uintptr_t sgc_edge_follow(struct sgc_marker *marker, struct sgc_chain *chain, uintptr_t edge)
{
    const struct sgc_page *d = &sgc_heap.pages[edge >> SGC_PAGE_LOG];
    size_t granule = sgc_edge_granule(edge);

    if (__builtin_expect(!sgc_bit_of(sgc_edge_allocated(marker, edge), granule) || !sgc_edge_is_near(edge, marker->near), 0)) {
        edge = sgc_edge_of_stray(marker, edge);
        if (edge == SGC_NOWHERE)
            return 0;
        granule = sgc_edge_granule(edge);
    }
    if (__builtin_expect(d->piece != 0, 0)) {       /* a client's procedure must not meet an object twice */
        sgc_granule_mark(marker, granule);
        return 0;
    }
    if (granule / 64 != chain->word) {
        if (!mark_late(marker, chain))
            return 0;
        chain->word = granule / 64;
        chain->bytes = (size_t)d->granules * SGC_GRANULE;
        chain->pointer_free = !sgc_weight_pushes(d->weight);
    }
    chain->last = (uintptr_t)1 << (granule % 64);
    if (!is_white(marker, d, chain, chain->last))
        return 0;
    chain->late |= chain->last;
    return sgc_weight_pushes(d->weight) ? marker->base + granule * SGC_GRANULE : 0;
}

/* How many words are edges, and the last of these.  The processor guesses which words lead into the heap, which in a list are
 * always the same, and so goes on to the next object as soon as it has the word: not by way of where the edges are put. */
SGC_BLIND SGC_INLINE size_t collect_branching(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end,
                                              uintptr_t *last)
{
    uintptr_t base = marker->base, limit = marker->limit;
    size_t n = 0;

    for (; p < end; p++) {
        uintptr_t offset = *p - base;

        if (offset < limit)
            marker->edge[n++] = *last = offset;
    }
    return n;
}

/* Follows objects that are found one at a time, beginning with the only one in hand; that which it could not go on to, or
 * 0.  How many edges the last one had, if it is not one. */
SGC_BLIND static uintptr_t follow_late(struct sgc_marker *marker, struct sgc_words object, struct sgc_chain *chain,
                                        size_t *edges)
{
    do {
        const uintptr_t *p = (const uintptr_t *)object.start;
        uintptr_t last;

        *edges = collect_branching(marker, p, p + object.bytes / sizeof *p, &last);
        if (*edges != 1)
            return 0;
        object.start = sgc_edge_follow(marker, chain, last);
        object.bytes = chain->bytes;
    } while (object.start != 0 && object.bytes <= SGC_BATCH_BYTES && --marker->until_pause > 0);
    *edges = 0;
    return object.start;
}

/* As in a list: nothing is prefetched. */
static void chain_shared(struct sgc_marker *marker, struct sgc_words object)
{
    struct sgc_chain chain = { .late = 0 };
    size_t edges;
    uintptr_t next = follow_late(marker, object, &chain, &edges);

    sgc_chain_end(marker, &chain);
    if (edges != 0)
        sgc_edges_mark(marker, edges, marker->distances);
    if (next != 0)
        sgc_push_piece(marker, next, chain.bytes);
}

/* ---- an only marker, or one with pages of its own ---- */

_Static_assert(SGC_PAUSE_EVERY * (SGC_CHAIN_BYTES / sizeof(uintptr_t)) <= SGC_WEIGHT_MOST, "no sum of weights overflows");

/* The edge to the first byte of the object that a stray leads to, if it is allocated and not marked; or SGC_NOWHERE. */
__attribute__((noinline))
static uintptr_t start_of_stray(struct sgc_marker *marker, uintptr_t edge)
{
    edge = sgc_edge_of_stray(marker, edge);
    if (edge == SGC_NOWHERE || !sgc_bit_of(sgc_edge_allocated(marker, edge), sgc_edge_granule(edge)) ||
        sgc_bit_of(sgc_aw_load(&marker->marks[sgc_edge_word(edge)]), sgc_edge_granule(edge)))
        return SGC_NOWHERE;
    return edge;
}

/* A chain of them. */
struct run {
    uint64_t weight;            /* of what it has marked */
    size_t own;                 /* a page in which it may set bits by plain stores until it answers; or NO_PAGE */
};

static const size_t NO_PAGE = SIZE_MAX;

/* The page if the marker may set bits there by plain stores, or NO_PAGE. */
__attribute__((noinline))
static size_t ask_for_page(struct sgc_marker *marker, size_t page)
{
    return sgc_mark_how(marker, page, false) == SGC_MARKBIT_PLAIN ? page : NO_PAGE;
}

/* Asks whose page it is; in a page of its own once in a row of objects there.  False if it is everybody's. */
SGC_INLINE bool makes_own(struct sgc_marker *marker, struct run *run, size_t page)
{
    if (__builtin_expect(run->own != page, 0))
        run->own = ask_for_page(marker, page);
    sgc_assert(run->own == NO_PAGE || sgc_owners_still(marker->owners, marker->index, page));
    return run->own != NO_PAGE;
}

/* Sets the bit of what an edge leads to, and tells whether it was clear. */
SGC_INLINE bool sets_bit(struct sgc_marker *marker, struct run *run, uintptr_t edge, enum sgc_markbit how)
{
    sgc_aw_t *word = &marker->marks[sgc_edge_word(edge)];
    uintptr_t bit = (uintptr_t)1 << sgc_edge_granule(edge) % 64, marked;

    if (how == SGC_MARKBIT_OWN && makes_own(marker, run, edge >> SGC_PAGE_LOG))
        how = SGC_MARKBIT_PLAIN;
    marked = sgc_aw_load(word);
    return (sgc_set_marks(word, marked, bit, how) & ~marked) != 0;
}

/* Marks what an edge leads to.  True, and the object, if it is a small one that was not marked and is scanned word by word; what
 * has a descriptor is on the stack then. */
typedef bool mark_next_fn(struct sgc_marker *marker, uintptr_t edge, struct run *run, struct sgc_words *found);

SGC_INLINE bool mark_next(struct sgc_marker *marker, uintptr_t edge, struct run *run, struct sgc_words *found,
                          enum sgc_markbit how)
{
    const struct sgc_page *d;

    if (sgc_bit_of(sgc_aw_load(&marker->marks[sgc_edge_word(edge)]), sgc_edge_granule(edge)))
        return false;
    if (__builtin_expect(!sgc_bit_of(sgc_edge_allocated(marker, edge), sgc_edge_granule(edge)), 0) ||
        __builtin_expect(!sgc_edge_is_near(edge, marker->near), 0)) {
        edge = start_of_stray(marker, edge);
        if (edge == SGC_NOWHERE)
            return false;
    }
    d = &sgc_heap.pages[edge >> SGC_PAGE_LOG];
    if (sgc_edge_is_freed(d, edge) || !sets_bit(marker, run, edge, how))
        return false;
    run->weight += d->weight;
    if (!sgc_weight_pushes(d->weight))
        return false;
    found->start = marker->base + edge / SGC_GRANULE * SGC_GRANULE;
    found->bytes = (size_t)d->granules * SGC_GRANULE;
    if (__builtin_expect(d->piece == 0, 1))
        return true;
    sgc_push_piece(marker, found->start + d->piece, found->bytes);     /* apart: no other's address waits for the descriptor */
    return false;
}

static bool mark_next_alone(struct sgc_marker *marker, uintptr_t edge, struct run *run, struct sgc_words *found)
{
    return mark_next(marker, edge, run, found, SGC_MARKBIT_PLAIN);
}

static bool mark_next_own(struct sgc_marker *marker, uintptr_t edge, struct run *run, struct sgc_words *found)
{
    return mark_next(marker, edge, run, found, SGC_MARKBIT_OWN);
}

/* Marks what the object leads to.  The last new one without a descriptor is the next, the others go on the stack: of a list's cells that is the
 * rest of the list. */
SGC_BLIND SGC_INLINE struct sgc_words next_of(struct sgc_marker *marker, struct sgc_words object, struct run *run,
                                              mark_next_fn *mark)
{
    const uintptr_t *p = (const uintptr_t *)object.start, *end = p + object.bytes / sizeof *p;
    uintptr_t base = marker->base, limit = marker->limit;
    struct sgc_words next = { 0, 0 };

    for (; p < end; p++) {
        uintptr_t edge = *p - base;
        struct sgc_words found;

        if (edge >= limit || !mark(marker, edge, run, &found))
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

/* Now and then.  Asking at each object took a list's marker 2 to 5 % more, by the least of several processes. */
SGC_INLINE bool answers(struct sgc_marker *marker)
{
    return marker->until_pause % ANSWER_EVERY == 0 && sgc_owners_answer(marker->owners, marker->index);
}

typedef struct sgc_words next_fn(struct sgc_marker *marker, struct sgc_words object, struct run *run);

SGC_BLIND static struct sgc_words next_alone(struct sgc_marker *marker, struct sgc_words object, struct run *run)
{
    return next_of(marker, object, run, mark_next_alone);
}

SGC_BLIND static struct sgc_words next_own(struct sgc_marker *marker, struct sgc_words object, struct run *run)
{
    return next_of(marker, object, run, mark_next_own);
}

SGC_INLINE void chain_alone(struct sgc_marker *marker, struct sgc_words object, next_fn *next, enum sgc_markbit how)
{
    size_t deep = sgc_deque_private(&marker->stack) + DEEP;
    struct run run = { 0, NO_PAGE };

    while (goes_on(&object) && sgc_deque_private(&marker->stack) < deep && marker->until_pause-- > 0) {
        object = next(marker, object, &run);
        if (how == SGC_MARKBIT_OWN && answers(marker))
            run.own = NO_PAGE;
    }
    if (object.start != 0)
        sgc_push_piece(marker, object.start, object.bytes);
    sgc_count_weight(marker, run.weight);
}

/* Where its loops lie relative to the processor's lines of code must not depend on what is linked before: on a Zen 5 a list takes
 * 27 ms or 34, with one marker or two. */
__attribute__((aligned(CODE_LINE)))
void sgc_chain_follow(struct sgc_marker *marker, struct sgc_words object)
{
    switch (marker->how) {
    case SGC_MARKBIT_PLAIN:
        chain_alone(marker, object, next_alone, SGC_MARKBIT_PLAIN);
        break;
    case SGC_MARKBIT_OWN:
        chain_alone(marker, object, next_own, SGC_MARKBIT_OWN);
        break;
    default:
        chain_shared(marker, object);
    }
}
