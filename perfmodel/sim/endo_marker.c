/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/endo_marker.h. */
#include "perfmodel/sim/endo_marker.h"

#include "mark/edge.h"
#include "mark/edge_bits.h"
#include "mark/work/termination.h"
#include "platform/compiler.h"
#include "platform/platform.h"

enum { PIECE = 256 };           /* bytes that are scanned in one go; more is halved */

static const size_t STACK_BYTES = (size_t)64 << 20;

struct endo_marker {
    struct sgc_deque stack;
    struct sgc_sim_work work;
    uint64_t random;            /* state of a generator: whom it looks at first */
};

/* How many are busy, counted under a lock ([Endo] 3.4.3: what flags were put in the place of). */
struct counter {
    _Alignas(SGC_CACHE_LINE_PAIR) struct sgc_futex_lock lock;
    sgc_a32_t busy;
};

static struct {
    const struct sgc_sim_preset *preset;
    uint32_t markers;
    struct endo_marker *marker;
    struct counter *counter;
    struct sgc_termination termination;
} endo;

/* ---- who is busy ---- */

static void count(uint32_t change)
{
    sgc_futex_lock(&endo.counter->lock);
    sgc_a32_store(&endo.counter->busy, sgc_a32_load(&endo.counter->busy) + change);
    sgc_futex_unlock(&endo.counter->lock);
}

static void become_busy(uint32_t i)
{
    sgc_assert(i < endo.markers && endo.preset->balance);
    if (endo.preset->flags)
        sgc_termination_busy(&endo.termination, i);
    else
        count(1);
}

static void become_idle(uint32_t i)
{
    sgc_assert(i < endo.markers && sgc_deque_empty(&endo.marker[i].stack));
    if (endo.preset->flags)
        sgc_termination_idle(&endo.termination, i);
    else
        count(UINT32_MAX);
}

static bool is_over(uint32_t i)
{
    if (endo.preset->flags)
        return sgc_termination_detect(&endo.termination, i);
    return sgc_a32_load_acq(&endo.counter->busy) == 0;
}

/* ---- marking ---- */

/* The words of a piece wait on the stack; it has room for more than any heap of a simulation brings
 * there. */
static void push(struct endo_marker *m, uintptr_t start, size_t bytes)
{
    if (!sgc_deque_push(&m->stack, start, bytes))
        sgc_fatal("the stack of a simulated marker is full; simulate a smaller heap");
}

/* Test and compare-and-swap.  Is it this marker that marked the object? */
static bool set_mark(sgc_aw_t *marks, const sgc_aw_t *allocated, uintptr_t bit)
{
    sgc_assert(marks != allocated && (bit & (bit - 1)) == 0);
    return (sgc_aw_load(marks) & bit) == 0 && (sgc_aw_load(allocated) & bit) != 0 && sgc_mark_by_cas(marks, bit) != 0;
}

static bool mark_small(const struct sgc_page *d, uintptr_t edge, uintptr_t *start, size_t *bytes)
{
    size_t granule = sgc_slot_granule(d, edge);
    uint32_t role = sgc_heap.alloc_role;

    *start = sgc_heap.base + granule * SGC_GRANULE;
    *bytes = (size_t)d->granules * SGC_GRANULE;
    return set_mark(sgc_bits_word(granule / 64, role ^ 1), sgc_bits_word(granule / 64, role), sgc_bit_mask(granule));
}

static bool mark_span(uint32_t page, uintptr_t *start, size_t *bytes)
{
    uint32_t role = sgc_heap.alloc_role;

    *start = sgc_page_start(page);
    *bytes = sgc_aw_load(&sgc_heap.pages[page].span_bytes);
    return set_mark(sgc_span_word(page, role ^ 1), sgc_span_word(page, role), sgc_arena_bit(page));
}

static void mark(struct endo_marker *m, uintptr_t word)
{
    uintptr_t edge = word - sgc_heap.base, start;
    uint32_t page = (uint32_t)(edge >> SGC_PAGE_LOG);
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint8_t state = sgc_page_state(d);
    size_t bytes;

    if (state == SGC_PAGE_SPAN_TAIL)
        d = &sgc_heap.pages[page -= sgc_page_back(d)];
    if (state == SGC_PAGE_SMALL ? !mark_small(d, edge, &start, &bytes)
                                : (state != SGC_PAGE_SPAN && state != SGC_PAGE_SPAN_TAIL) || !mark_span(page, &start, &bytes))
        return;
    m->work.objects++;
    m->work.bytes += bytes;
    if (sgc_kind_has_pointers(sgc_page_kind_now(d)))
        push(m, start, bytes);
}

static void scan(struct endo_marker *m, uintptr_t start, size_t bytes)
{
    struct sgc_words words = { start, bytes < PIECE ? bytes : PIECE };
    uintptr_t edge[PIECE / sizeof(uintptr_t) + SGC_WORDS_BEYOND];
    uintptr_t limit = sgc_aw_load(&sgc_heap.limit);

    sgc_assert(start % sizeof(uintptr_t) == 0 && bytes % sizeof(uintptr_t) == 0);
    for (; words.bytes != 0; bytes -= words.bytes, words.start += words.bytes, words.bytes = bytes < PIECE ? bytes : PIECE) {
        size_t n = sgc_words_inside(0, false)(edge, &words, 1, sgc_heap.base, limit);

        for (size_t i = 0; i < n; i++)
            mark(m, sgc_heap.base + edge[i]);
        if (endo.preset->balance)
            sgc_deque_share(&m->stack);
    }
}

static void do_piece(struct endo_marker *m, struct sgc_work work)
{
    size_t first = sgc_round_up(work.bytes / 2, SGC_GRANULE);

    if (!endo.preset->split || work.bytes <= PIECE) {
        scan(m, work.start, work.bytes);
        return;
    }
    push(m, work.start + first, work.bytes - first);
    push(m, work.start, first);
    if (endo.preset->balance)
        sgc_deque_share(&m->stack);
}

static void work(struct endo_marker *m)
{
    struct sgc_work piece;

    while (sgc_deque_pop(&m->stack, &piece))
        do_piece(m, piece);
}

/* ---- stealing ---- */

static bool steal_from(uint32_t i, uint32_t victim)
{
    struct endo_marker *m = &endo.marker[i];
    size_t got;

    sgc_assert(victim < endo.markers && victim != i);
    if (sgc_deque_seems_empty(&endo.marker[victim].stack))
        return false;
    become_busy(i);
    got = sgc_deque_steal(&endo.marker[victim].stack, &m->stack, SGC_STEAL_ONE);
    m->work.steals += got != 0;
    m->work.stolen += got;
    if (got == 0)
        become_idle(i);
    return got != 0;
}

static uint32_t any_below(struct endo_marker *m, uint32_t n)
{
    sgc_assert(n != 0);
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((m->random >> 32) * n >> 32);
}

static bool steal(uint32_t i)
{
    uint32_t from = any_below(&endo.marker[i], endo.markers);

    for (uint32_t n = 0; n < endo.markers; n++)
        if ((from + n) % endo.markers != i && steal_from(i, (from + n) % endo.markers))
            return true;
    return false;
}

/* False when all is marked. */
static bool find_work(uint32_t i)
{
    while (!steal(i)) {
        if (is_over(i))
            return false;
        sgc_spin_hint();
    }
    return true;
}

void sgc_endo_mark(uint32_t i)
{
    sgc_assert(i < endo.markers);
    do {
        work(&endo.marker[i]);
        become_idle(i);
    } while (endo.preset->balance && find_work(i));
}

/* ---- beginning and ending ---- */

/* A thread's own roots are its marker's; the program's go to the first. */
static void deal_roots(const struct sgc_sim_heap *heap)
{
    uint32_t next = 0;

    for (uint32_t r = 0; r < heap->ranges; r++) {
        const struct sgc_sim_range *range = &heap->range[r];
        uint32_t to = range->thread != 0 ? next++ % endo.markers : 0;

        push(&endo.marker[to], range->lo, range->hi - range->lo);
    }
}

static bool make_marker(struct endo_marker *m, uint64_t seed)
{
    m->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return sgc_deque_init(&m->stack, STACK_BYTES, endo.preset->form);
}

bool sgc_endo_begin(const struct sgc_sim_preset *preset, uint32_t markers, uint32_t seed, const struct sgc_sim_heap *heap)
{
    sgc_assert(preset->endo && markers != 0);
    endo.preset = preset;
    endo.markers = markers;
    endo.marker = sgc_mem_obtain(markers * sizeof *endo.marker);
    endo.counter = sgc_mem_obtain(sizeof *endo.counter);
    if (endo.marker == NULL || endo.counter == NULL || !sgc_termination_init(&endo.termination, markers))
        return false;
    for (uint32_t i = 0; i < markers; i++)
        if (!make_marker(&endo.marker[i], (uint64_t)seed << 32 | i))
            return false;
    sgc_termination_begin(&endo.termination, SGC_TERMINATION_FLAGS, markers);
    for (uint32_t i = 1; i < markers; i++)
        sgc_termination_busy(&endo.termination, i);
    sgc_a32_store(&endo.counter->busy, markers);
    deal_roots(heap);
    return true;
}

void sgc_endo_end(struct sgc_sim_work *sum)
{
    *sum = (struct sgc_sim_work){ .objects = 0 };
    for (uint32_t i = 0; i < endo.markers; i++) {
        sgc_assert(sgc_deque_empty(&endo.marker[i].stack));
        sum->objects += endo.marker[i].work.objects;
        sum->bytes += endo.marker[i].work.bytes;
        sum->steals += endo.marker[i].work.steals;
        sum->stolen += endo.marker[i].work.stolen;
    }
}
