/* SPDX-License-Identifier: MIT */
/* Pages, the words of their objects, roots, and what finalization keeps: gc/snapshot/snapshot.h. */
#include "gc/snapshot/snapshot.h"

#include "alloc/large/span.h"
#include "alloc/pages/page.h"
#include "alloc/pages/pool.h"
#include "gc/finalize/register.h"
#include "gc/roots/roots.h"
#include "gc/snapshot/blocks.h"
#include "gc/snapshot/heap_pages.h"
#include "mark/descriptor.h"
#include "mark/word_form.h"

_Static_assert((int)SGC_ROOT_STATIC + 1 == (int)SGC_SNAPSHOT_STATIC && (int)SGC_ROOT_DATE + 1 == (int)SGC_SNAPSHOT_DATE,
               "in one order");

/* ---- pages ---- */

/* A record begins: after the page's distance from the one before. */
struct pages {
    struct sgc_snapshot_counts *counts;
    uint32_t last;
};

static void begin_page(struct pages *p, uint32_t page, uint32_t what)
{
    uint32_t owner = sgc_page_owner(page);

    sgc_assert(page > p->last && (what == SGC_SNAPSHOT_SMALL || what == SGC_SNAPSHOT_SPAN));
    sgc_blocks_put(page - p->last);
    sgc_blocks_put(what);
    sgc_blocks_put(sgc_page_kind_now(&sgc_heap.pages[page]));
    sgc_blocks_put(owner == SGC_ORPHANS ? SGC_NO_OWNER : owner);
    sgc_blocks_put(sgc_heap.records[page].home);
    p->last = page;
    p->counts->of[SGC_TRAILER_PAGES]++;
}

static void count_objects(struct pages *p, uint64_t count, uint64_t bytes)
{
    p->counts->of[SGC_TRAILER_OBJECTS] += count;
    p->counts->of[SGC_TRAILER_BYTES] += count * bytes;
}

/* A bit a slot. */
static void put_slots(const struct sgc_page *d, const uint64_t live[SGC_PAGE_WORDS])
{
    unsigned char slots[SGC_PAGE_GRANULES / 8] = { 0 };
    uint32_t count = SGC_PAGE_GRANULES / d->granules;

    for (uint32_t w = 0; w < SGC_PAGE_WORDS; w++)
        for (uint64_t bits = live[w]; bits != 0; bits &= bits - 1) {
            uint32_t slot = sgc_slot_of(w * 64 + (uint32_t)__builtin_ctzll(bits), d->reciprocal);

            sgc_assert(slot < count);
            slots[slot / 8] |= (unsigned char)(1u << slot % 8);
        }
    sgc_blocks_put_bytes(slots, (count + 7) / 8);
}

static void put_small(struct pages *p, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint64_t live[SGC_PAGE_WORDS];

    begin_page(p, page, SGC_SNAPSHOT_SMALL);
    sgc_blocks_put(d->cls);
    sgc_blocks_put(d->granules);
    count_objects(p, sgc_snapshot_live(page, live), (uint64_t)d->granules * SGC_GRANULE);
    put_slots(d, live);
}

static void put_span(struct pages *p, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    bool live = sgc_span_bit(page);

    begin_page(p, page, SGC_SNAPSHOT_SPAN);
    sgc_blocks_put(sgc_heap.records[page].span_pages);
    sgc_blocks_put(sgc_span_bytes(page));
    sgc_blocks_put(sgc_span_limited(d) ? sgc_aw_load(&d->span_reach) + 1 : 0);
    sgc_blocks_put(live);
    count_objects(p, live, sgc_span_bytes(page));
}

static void put_pages(struct sgc_snapshot_counts *counts)
{
    struct pages p = { counts, 0 };

    sgc_blocks_section(SGC_SECTION_PAGES);
    for (uint32_t page = 1; sgc_snapshot_goes_on(page); page++) {
        uint8_t state = sgc_page_state(&sgc_heap.pages[page]);

        if (state == SGC_PAGE_SMALL)
            put_small(&p, page);
        else if (state == SGC_PAGE_SPAN)
            put_span(&p, page);
    }
    sgc_blocks_put(0);
}

/* ---- words ---- */

/* The words of one object or range that lie in the heap's range. */
struct words {
    uintptr_t start;            /* of the memory, */
    uint64_t place;             /* words from there to behind the one put last, */
    uint64_t last;              /* and where in the heap that points */
    uint64_t count;
};

/* The word at the address points that far into the heap. */
static inline void put_word(struct words *w, uintptr_t at, uint64_t offset)
{
    uint64_t place = (at - w->start) / sizeof at + 1;

    sgc_assert(at >= w->start && place > w->place);
    sgc_blocks_room(SGC_BLOCKS_ROOM);
    sgc_blocks_put_inside(place - w->place);
    sgc_blocks_put_inside(sgc_snapshot_zigzag(offset - w->last));
    w->place = place;
    w->last = offset;
    w->count++;
}

/* Puts those of [lo, hi), whole words, that point at one of the heap's first `limit` bytes.  Reads
 * memory as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static void put_range(struct words *w, uintptr_t lo, uintptr_t hi, uint64_t limit)
{
    sgc_assert(lo % sizeof(uintptr_t) == 0);
    for (; lo + sizeof(uintptr_t) <= hi; lo += sizeof(uintptr_t)) {
        uintptr_t offset = sgc_address_at(lo) - sgc_heap.base;

        if (offset < limit)
            put_word(w, lo, offset);
    }
}

/* Types of dead objects may be unmapped.  There are few of them, so it is remembered of some OS
 * pages that they can be read; while the world is stopped that stays so. */
enum { KNOWN_PAGES = 64, KNOWN_PAGE_LOG = 12 };

SGC_STATE static uintptr_t readable_pages[KNOWN_PAGES];        /* their numbers; 0: none */

static void forget_readable(void)
{
    memset(readable_pages, 0, sizeof readable_pages);
}

static bool readable(uintptr_t address)
{
    uintptr_t page = address >> KNOWN_PAGE_LOG, *known = &readable_pages[page % KNOWN_PAGES];

    sgc_assert(page != 0);
    if (*known == page)
        return true;
    if (!sgc_mem_readable(address))
        return false;
    *known = page;
    return true;
}

struct objects {
    struct sgc_snapshot_counts *counts;
    uint64_t limit;
    uint32_t last;              /* page */
    struct words words;
};

static void put_visited(void *arg, uintptr_t at)
{
    struct objects *o = arg;

    put_range(&o->words, at, at + sizeof at, o->limit);
}

/* The words end with 0; of an object with a descriptor it follows whether a procedure decides of
 * others. */
static void put_object(void *arg, const struct sgc_page *d, uintptr_t start, size_t bytes)
{
    struct objects *o = arg;
    uint32_t kind = sgc_page_kind_now(d);
    bool described = sgc_kinds.of[kind].scan == SGC_SCAN_DESCRIBED, known = true;

    o->words = (struct words){ .start = start, .last = start - sgc_heap.base };
    if (described)
        known = sgc_visit_known_words(kind, start, bytes, put_visited, o, readable);
    else
        put_range(&o->words, start, start + bytes, o->limit);
    sgc_blocks_room(SGC_BLOCKS_ROOM);
    sgc_blocks_put_inside(0);
    if (described)
        sgc_blocks_put_inside(!known);
    o->counts->of[SGC_TRAILER_WORDS] += o->words.count;
}

static void begin_words(struct objects *o, uint32_t page)
{
    sgc_assert(page > o->last);
    sgc_blocks_put(page - o->last);
    o->last = page;
}

static void put_small_words(struct objects *o, uint32_t page)
{
    uint64_t live[SGC_PAGE_WORDS];

    if (sgc_snapshot_live(page, live) == 0)
        return;
    begin_words(o, page);
    sgc_snapshot_each(page, live, put_object, o);
}

static void put_span_words(struct objects *o, uint32_t page)
{
    if (!sgc_span_bit(page))
        return;
    begin_words(o, page);
    put_object(o, &sgc_heap.pages[page], sgc_page_start(page), sgc_span_bytes(page));
}

static void put_words(struct sgc_snapshot_counts *counts)
{
    struct objects o = { .counts = counts, .limit = sgc_aw_load(&sgc_heap.limit) };

    forget_readable();
    sgc_blocks_section(SGC_SECTION_WORDS);
    for (uint32_t page = 1; sgc_snapshot_goes_on(page); page++) {
        const struct sgc_page *d = &sgc_heap.pages[page];
        uint8_t state = sgc_page_state(d);

        if (state == SGC_PAGE_SMALL && sgc_snapshot_scans(d))
            put_small_words(&o, page);
        else if (state == SGC_PAGE_SPAN && sgc_snapshot_scans(d))
            put_span_words(&o, page);
    }
    sgc_blocks_put(0);
}

/* ---- roots ---- */

/* One more byte than there is: without the end byte a word just behind the heap may mean the last
 * object. */
uint64_t sgc_snapshot_put_root_words(uintptr_t lo, uintptr_t hi)
{
    struct words words = { .start = lo };

    sgc_assert(lo % sizeof lo == 0 && hi % sizeof hi == 0 && lo < hi);
    sgc_blocks_room(SGC_BLOCKS_ROOM);
    sgc_blocks_put_inside(lo);
    sgc_blocks_put_inside(hi - lo);
    put_range(&words, lo, hi, sgc_aw_load(&sgc_heap.limit) + 1);
    sgc_blocks_put(0);
    return words.count;
}

static void put_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range,
                     const struct sgc_root_copy *copy)
{
    struct sgc_snapshot_counts *counts = arg;
    uintptr_t lo = sgc_round_up(range.lo, sizeof lo), hi = sgc_round_down(range.hi, sizeof hi);

    (void)copy;
    sgc_assert((unsigned)kind <= SGC_ROOT_DATE && range.lo <= range.hi);
    if (lo >= hi)
        return;
    sgc_blocks_put((uint64_t)kind + 1);
    sgc_blocks_put(whose != NULL ? (uint64_t)whose->tid : 0);
    counts->of[SGC_TRAILER_ROOTS] += sgc_snapshot_put_root_words(lo, hi);
    counts->of[SGC_TRAILER_RANGES]++;
}

static void put_roots(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_ROOTS);
    sgc_roots_visit(put_root, counts, true);
    sgc_blocks_put(0);
}

/* ---- finalization ---- */

static void put_address(struct sgc_snapshot_counts *counts, enum sgc_snapshot_root root, uintptr_t address)
{
    if (!sgc_heap_contains(address))
        return;
    sgc_blocks_put(root);
    sgc_blocks_put(address - sgc_heap.base);
    counts->of[SGC_TRAILER_KEPT]++;
}

static void put_kept_address(void *arg, uintptr_t address)
{
    put_address(arg, SGC_SNAPSHOT_FINALIZATION, address);
}

static void put_finalizer(void *arg, uintptr_t object)
{
    sgc_assert(sgc_heap_contains(object));
    put_address(arg, SGC_SNAPSHOT_FINALIZER, object);
}

static void put_kept(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_KEPT);
    sgc_finalization_visit(put_kept_address, counts);
    sgc_finalization_visit_finalizers(put_finalizer, counts);
    sgc_blocks_put(0);
}

/* ---- all ---- */

void sgc_snapshot_put_contents(struct sgc_snapshot_counts *counts)
{
    sgc_assert(sgc_blocks_ok());
    put_pages(counts);
    put_words(counts);
    sgc_snapshot_put_types(counts);
    put_roots(counts);
    put_kept(counts);
}
