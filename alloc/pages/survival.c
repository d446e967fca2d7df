/* SPDX-License-Identifier: MIT */
/* See alloc/pages/survival.h. */
#include "alloc/pages/survival.h"

#include "alloc/pages/dangling.h"
#include "platform/report.h"

struct survival {
    uint64_t *reached;          /* a bit a granule: what was marked at the flip and has not been looked at since; NULL: nothing
                                 * is checked */
    uint64_t *spans;            /* a bit a page, likewise */
    uint32_t *shapes;           /* of pages in use when the mark began; 0: of the others */
    struct sgc_stretch memory[3];       /* of each, in this order */
    uint32_t arenas;            /* that have memory behind them */
};

SGC_STATE static struct survival survival;

bool sgc_survival_checked(void)
{
    return survival.reached != NULL;
}

/* ---- memory ---- */

enum { REACHED, SPANS, SHAPES, PARTS };

static const size_t arena_bytes[PARTS] = {
    SGC_ARENA_BITMAP, sizeof *survival.spans, SGC_ARENA_PAGES * sizeof *survival.shapes,
};

bool sgc_survival_init(void)
{
    size_t arenas = sgc_heap.reserved / SGC_ARENA;

    sgc_assert(!sgc_survival_checked() && arenas != 0);
    for (int i = 0; i < PARTS; i++)
        if (!sgc_stretch_open(&survival.memory[i], arenas * arena_bytes[i], sgc_heap.os_page))
            return false;
    survival.reached = (void *)survival.memory[REACHED].start;
    survival.spans = (void *)survival.memory[SPANS].start;
    survival.shapes = (void *)survival.memory[SHAPES].start;
    return true;
}

/* Gets memory for the copy of all arenas that there are.  Memory that is there already keeps its
 * contents. */
static void grow(void)
{
    uint32_t arenas = (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);

    for (int i = 0; i < PARTS; i++)
        if (!sgc_stretch_grow(&survival.memory[i], arenas * arena_bytes[i]))
            sgc_fatal("the system has no memory for a copy of %u arenas' marks; expected room for a 128th of the heap. "
                      "SGC_VERIFY=nothing needs none", arenas);
    survival.arenas = arenas;
}

static uint32_t pages(void)
{
    return survival.arenas * SGC_ARENA_PAGES;
}

/* ---- saying so ---- */

_Noreturn static void complain(uintptr_t at, const char *what, const char *expected)
{
    uint32_t page = sgc_page_number(at);

    sgc_fatal("at %lx, page %u (%s, kind %u, swept in epoch %u of %u), %s; expected %s, so this is a defect of SGC: "
              "report this line", (unsigned long)at, page, sgc_page_state_name(sgc_page_state(&sgc_heap.pages[page])),
              sgc_heap.pages[page].kind, sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[page].tag)), sgc_heap.epoch, what,
              expected);
}

static uintptr_t granule_of(size_t w, uint64_t bits)
{
    sgc_assert(bits != 0);
    return (uintptr_t)sgc_granule_address(w * 64 + (size_t)__builtin_ctzll(bits));
}

/* The page of the arena that begins with `first` that the lowest of the bits is about. */
static uintptr_t page_of(uint32_t first, uint64_t bits)
{
    sgc_assert(bits != 0 && first % SGC_ARENA_PAGES == 0);
    return sgc_page_start(first + (uint32_t)__builtin_ctzll(bits));
}

/* The mark has reached what lies there, or has not, and now it is not allocated, or it is. */
_Noreturn static void complain_of_survival(uintptr_t at, bool reached)
{
    if (reached)
        complain(at, "an object that the last mark has reached is gone", "it to be allocated until a mark misses it");
    complain(at, "an object is allocated that the last mark has not reached", "the dead to be unallocated from the flip on");
}

/* ---- what is unswept is what was reached ---- */

static bool swept(uint32_t page)
{
    return sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[page].tag)) == sgc_heap.epoch;
}

static void check_words(uint32_t page)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;

    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++) {
        uint64_t allocated = sgc_aw_load(sgc_bits_word(w, sgc_heap.alloc_role)), wrong = allocated ^ survival.reached[w];

        if (wrong != 0)
            complain_of_survival(granule_of(w, wrong), (survival.reached[w] & wrong & -wrong) != 0);
    }
}

void sgc_survival_first_sweep(uint32_t page)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;

    sgc_assert(sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL && !swept(page));
    if (!sgc_survival_checked() || page >= pages())
        return;
    check_words(page);
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++)
        survival.reached[w] = 0;
}

static bool span_reached(uint32_t first)
{
    return (survival.spans[first / SGC_ARENA_PAGES] & sgc_arena_bit(first)) != 0;
}

void sgc_survival_span_freed(uint32_t first)
{
    sgc_assert(sgc_page_ok(first));
    if (sgc_survival_checked() && first < pages())
        survival.spans[first / SGC_ARENA_PAGES] &= ~sgc_arena_bit(first);
}

void sgc_survival_span_swept(uint32_t first)
{
    bool allocated = (sgc_aw_load(sgc_span_word(first, sgc_heap.alloc_role)) & sgc_arena_bit(first)) != 0;

    sgc_assert(sgc_page_ok(first) && sgc_page_state(&sgc_heap.pages[first]) == SGC_PAGE_SPAN);
    if (!sgc_survival_checked() || first >= pages())
        return;
    if (allocated != span_reached(first))
        complain_of_survival(sgc_page_start(first), span_reached(first));
    sgc_survival_span_freed(first);
}

/* ---- all pages ---- */

/* Unswept pages of small objects are as the mark has left them; of the others nothing is left to be
 * looked at. */
static void check_page(uint32_t page)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;

    if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL && !swept(page)) {
        check_words(page);
        return;
    }
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++)
        if (survival.reached[w] != 0)
            complain_of_survival(granule_of(w, survival.reached[w]), true);
}

static void check_spans(uint32_t arena)
{
    uint32_t first = arena * SGC_ARENA_PAGES;
    uint64_t unswept = 0, wrong;

    for (uint32_t page = first; page < first + SGC_ARENA_PAGES; page++)
        if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN && !swept(page))
            unswept |= sgc_arena_bit(page);
    wrong = (sgc_aw_load(sgc_span_word(first, sgc_heap.alloc_role)) & unswept) ^ survival.spans[arena];
    if (wrong != 0)
        complain_of_survival(page_of(first, wrong), (survival.spans[arena] & wrong & -wrong) != 0);
}

static void check_unswept(void)
{
    for (uint32_t page = 0; page < pages(); page++)
        check_page(page);
    for (uint32_t arena = 0; arena < survival.arenas; arena++)
        check_spans(arena);
}

/* ---- the beginning of a mark ---- */

static void check_no_marks(void)
{
    for (size_t w = 0; w < (size_t)pages() * SGC_PAGE_WORDS; w++)
        if (sgc_aw_load(sgc_bits_word(w, sgc_mark_role())) != 0)
            complain(granule_of(w, sgc_aw_load(sgc_bits_word(w, sgc_mark_role()))), "a mark stands before the mark begins",
                     "all to be cleared");
    for (uint32_t first = 0; first < pages(); first += SGC_ARENA_PAGES)
        if (sgc_aw_load(sgc_span_word(first, sgc_mark_role())) != 0)
            complain(page_of(first, sgc_aw_load(sgc_span_word(first, sgc_mark_role()))),
                     "a span's mark stands before the mark begins", "all to be cleared");
}

/* A tail of a span that a thread has withdrawn, or made shorter, is on its way to the pool: it may
 * become anything. */
static bool is_tail(const struct sgc_page *d, uint32_t page)
{
    uint32_t back = sgc_page_back(d);

    return back != 0 && back <= page && sgc_page_state(&sgc_heap.pages[page - back]) == SGC_PAGE_SPAN &&
           back < sgc_heap.records[page - back].span_pages;
}

/* The shape of a page, on which a marker beside the program relies: kind and class of a page of
 * small objects, the number of pages of a span, the distance of a tail from its span's first page;
 * 0: none. */
static uint32_t shape(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint8_t state = sgc_page_state(d);

    if (state == SGC_PAGE_SMALL)
        return SGC_PAGE_SMALL | (uint32_t)d->kind << 8 | (uint32_t)d->cls << 16;
    if (state == SGC_PAGE_SPAN)
        return SGC_PAGE_SPAN | sgc_heap.records[page].span_pages << 8;
    return state == SGC_PAGE_SPAN_TAIL && is_tail(d, page) ? SGC_PAGE_SPAN_TAIL | sgc_page_back(d) << 8 : 0;
}

void sgc_survival_begin(void)
{
    sgc_dangling_end();
    if (!sgc_survival_checked())
        return;
    grow();
    check_unswept();
    check_no_marks();
    for (uint32_t page = 0; page < pages(); page++)
        survival.shapes[page] = shape(page);
}

/* ---- its end ---- */

void sgc_survival_check_shapes(void)
{
    if (!sgc_survival_checked())
        return;
    for (uint32_t page = 0; page < pages(); page++)
        if (survival.shapes[page] != 0 && survival.shapes[page] != shape(page))
            complain(sgc_page_start(page), "a page is not what it was when the mark beside the program began",
                     "none to be taken down, given back or set up for something else before the flip");
}

static void keep_page_words(size_t w)
{
    uint64_t marked = sgc_aw_load(sgc_bits_word(w, sgc_mark_role()));
    uint64_t unallocated = marked & ~sgc_aw_load(sgc_bits_word(w, sgc_heap.alloc_role));

    if (unallocated != 0)
        complain(granule_of(w, unallocated), "a mark stands where no object is allocated",
                 "marks of what was freed to be dropped");
    survival.reached[w] = marked;
}

static void keep_spans(uint32_t arena)
{
    uint32_t first = arena * SGC_ARENA_PAGES;
    uint64_t marked = sgc_aw_load(sgc_span_word(first, sgc_mark_role()));
    uint64_t unallocated = marked & ~sgc_aw_load(sgc_span_word(first, sgc_heap.alloc_role));

    if (unallocated != 0)
        complain(page_of(first, unallocated), "a span's mark stands where none is allocated",
                 "marks of what was freed to be dropped");
    survival.spans[arena] = marked;
}

void sgc_survival_keep(void)
{
    if (!sgc_survival_checked())
        return;
    grow();
    for (size_t w = 0; w < (size_t)pages() * SGC_PAGE_WORDS; w++)
        keep_page_words(w);
    for (uint32_t arena = 0; arena < survival.arenas; arena++)
        keep_spans(arena);
}

void sgc_survival_flipped(void)
{
    if (!sgc_survival_checked())
        return;
    for (uint32_t page = 0; page < pages(); page++) {
        uint8_t state = sgc_page_state(&sgc_heap.pages[page]);

        if ((state == SGC_PAGE_SMALL || state == SGC_PAGE_SPAN) && swept(page))
            complain(sgc_page_start(page), "a page counts as swept in the epoch that the flip begins",
                     "nothing to be swept before the flip");
    }
    check_unswept();
}
