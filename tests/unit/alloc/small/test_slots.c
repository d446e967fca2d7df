/* SPDX-License-Identifier: MIT */
/*
 * alloc/small/slots.c and alloc/small/claim_short.h against a slot-by-slot rendering of the same: every class, random patterns
 * of taken slots, every kind of beginning and end; and pages with holes, of which each free slot is handed out once, upward.
 */
#include "alloc/small/claim_short.h"
#include "alloc/small/slots.h"
#include "tests/lib/heap.h"
#include "tests/lib/random.h"

enum { PAGE_WORDS = SGC_BITMAPS * SGC_PAGE_WORDS };      /* of its bits, all roles */

static struct sgc_cache *cache;
static uint32_t page;
static uint32_t kind = SGC_KIND_CONSERVATIVE;
static uint64_t seed = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    return random_below(&seed, n);
}

static size_t granule_of(uint32_t cls, uint32_t slot)
{
    return sgc_page_first_granule(page) + (size_t)slot * sgc_size_classes.of[cls].granules;
}

/* Taken with a chance of `taken` in 16; runs of them, too. */
static void fill(uint32_t cls, uint32_t taken, uint32_t change)
{
    bool on = false;

    for (uint32_t slot = 0; slot < sgc_size_classes.of[cls].per_page; slot++) {
        if (below(change) == 0)
            on = below(16) < taken;
        if (on)
            sgc_alloc_bit_set(granule_of(cls, slot));
        else
            sgc_alloc_bit_clear(granule_of(cls, slot));
    }
}

/* The words of the page, of each role. */
static void copy(uintptr_t *to)
{
    for (size_t w = 0; w < PAGE_WORDS; w++)
        to[w] = sgc_aw_load(&sgc_heap.bits[(size_t)page * PAGE_WORDS + w]);
}

/* ---- any claim ---- */

static bool slots_agree(uint32_t cls, uint32_t from, uint32_t most)
{
    uint32_t per_page = sgc_size_classes.of[cls].per_page, first = from, end;
    static uintptr_t expected[PAGE_WORDS], before[PAGE_WORDS], found[PAGE_WORDS];
    struct sgc_slots s;

    copy(before);
    while (first < per_page && sgc_alloc_bit(granule_of(cls, first)))
        first++;
    for (end = first; end < per_page && end - first < most && !sgc_alloc_bit(granule_of(cls, end)); end++)
        sgc_alloc_bit_set(granule_of(cls, end));
    copy(expected);
    for (uint32_t slot = first; slot < end; slot++)
        sgc_alloc_bit_clear(granule_of(cls, slot));
    s = sgc_slots_claim(page, cls, granule_of(cls, from), most);
    copy(found);
    if (s.first != granule_of(cls, first) || s.end != granule_of(cls, end) || memcmp(found, expected, sizeof found) != 0)
        return false;
    sgc_slots_release(page, cls, s);
    copy(found);
    return memcmp(found, before, sizeof found) == 0;
}

static void test_slots(uint32_t taken)
{
    uint32_t wrong = 0, tried = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        uint32_t per_page = sgc_size_classes.of[cls].per_page;

        sgc_page_set_up_small(page, cls, SGC_KIND_CONSERVATIVE, sgc_bin_of_page(SGC_KIND_CONSERVATIVE, cls),
                              sgc_tag(1, sgc_heap.epoch), false);
        for (int i = 0; i < 40; i++, tried++) {
            fill(cls, taken, 4);
            wrong += !slots_agree(cls, i == 0 ? 0 : below(per_page + 1), i % 3 == 0 ? UINT32_MAX : 1 + below(per_page));
        }
        for (uint32_t from = 0; from < 70 && from <= per_page; from++, tried++)
            wrong += !slots_agree(cls, from, 1 + below(70));
        sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_RESERVED);
    }
    tap_ok(wrong == 0, "%u claims and releases in pages %u sixteenths full: %u wrong", tried, taken, wrong);
}

/* Empty, full, and neither by one slot at any place. */
static bool fill_agrees(uint32_t cls)
{
    uint32_t per_page = sgc_size_classes.of[cls].per_page;
    bool right = true;

    for (uint32_t slot = 0; slot < per_page; slot++)
        sgc_alloc_bit_clear(granule_of(cls, slot));
    right = right && sgc_slots_fill(page, cls) == SGC_FILL_EMPTY;
    for (uint32_t slot = 0; slot < per_page; slot++) {
        sgc_alloc_bit_set(granule_of(cls, slot));
        right = right && sgc_slots_fill(page, cls) == SGC_FILL_PART;
        sgc_alloc_bit_clear(granule_of(cls, slot));
    }
    for (uint32_t slot = 0; slot < per_page; slot++)
        sgc_alloc_bit_set(granule_of(cls, slot));
    right = right && sgc_slots_fill(page, cls) == SGC_FILL_FULL;
    for (uint32_t slot = 0; slot < per_page; slot++) {
        sgc_alloc_bit_clear(granule_of(cls, slot));
        right = right && sgc_slots_fill(page, cls) == SGC_FILL_PART;
        sgc_alloc_bit_set(granule_of(cls, slot));
    }
    return right;
}

static void test_fill(void)
{
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        sgc_page_set_up_small(page, cls, SGC_KIND_CONSERVATIVE, sgc_bin_of_page(SGC_KIND_CONSERVATIVE, cls),
                              sgc_tag(1, sgc_heap.epoch), false);
        wrong += !fill_agrees(cls);
        sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_RESERVED);
    }
    tap_ok(wrong == 0, "empty, partly taken and full pages are told apart");
}

/* ---- a short run ---- */

/* Numbers of slots. */
struct run {
    uint32_t first, end;
};

/* What is to be found from a slot on.  `other`: it is none for short runs, since as many are free as begin in any word, or
 * since behind it comes what is too short for a slot. */
static struct run expected(uint32_t cls, uint32_t from, bool *other)
{
    uint32_t per_page = sgc_size_classes.of[cls].per_page, granules = sgc_size_classes.of[cls].granules;
    struct run s = { from, 0 };
    size_t word;

    while (s.first < per_page && sgc_alloc_bit(granule_of(cls, s.first)))
        s.first++;
    word = granule_of(cls, s.first) / 64;
    for (s.end = s.first; s.end < per_page && granule_of(cls, s.end) / 64 == word; s.end++)
        if (sgc_alloc_bit(granule_of(cls, s.end)))
            break;
    *other = (s.end - s.first) * granules >= 64 || (s.end == per_page && granule_of(cls, s.end) / 64 == word);
    return s;
}

static struct sgc_bin *active_bin(uint32_t cls, uint32_t from, uint32_t dirty)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    bin->size = sgc_class_bytes(cls);
    bin->page = page;
    bin->active_epoch = sgc_heap.epoch;
    bin->cur = bin->limit = bin->end = (char *)sgc_page_start(page);
    bin->next = granule_of(cls, from);
    bin->dirty = (char *)sgc_page_start(page) + (size_t)dirty * bin->size;
    return bin;
}

/* Nothing was changed, and there is a reason. */
static bool rightly_refused(const struct sgc_bin *bin, uint32_t cls, struct run s, uint32_t dirty, bool other)
{
    size_t next = (bin->next - sgc_page_first_granule(page)) / sgc_size_classes.of[cls].granules;

    return (other || s.first >= dirty || s.end > dirty) && next <= s.first && bin->cur == (char *)sgc_page_start(page) &&
           bin->limit == bin->cur && bin->end == bin->cur;
}

static bool rightly_given(const struct sgc_bin *bin, uint32_t cls, struct run s, const char *slot)
{
    char *start = (char *)sgc_page_start(page), *first = start + (size_t)s.first * bin->size,
         *end = start + (size_t)s.end * bin->size;

    for (uint32_t i = s.first; i < s.end; i++)
        sgc_alloc_bit_set(granule_of(cls, i));
    if (s.end - s.first == 1 ? bin->cur != start || bin->end != start || bin->limit != start
                             : bin->cur != first + bin->size || bin->limit != end || bin->end != end)
        return false;
    return slot == first && bin->next == granule_of(cls, s.end) &&
           heap_filled(first, (size_t)(end - first), kind == SGC_KIND_POINTER_FREE ? 0xa5 : 0) &&
           heap_filled(start, (size_t)(first - start), 0xa5) && heap_filled(end, (size_t)(start + SGC_PAGE - end), 0xa5);
}

/* With `dirty` slots that were used before. */
static bool claim_agrees(uint32_t cls, uint32_t from, uint32_t dirty, uint32_t *given)
{
    static uintptr_t before[PAGE_WORDS], after[PAGE_WORDS], found[PAGE_WORDS];
    struct sgc_bin *bin = active_bin(cls, from, dirty);
    size_t claimed = sgc_aw_load(&cache->claimed);
    bool other, right, got;
    struct run s;
    char *slot = NULL;

    s = expected(cls, from, &other);
    copy(before);
    got = sgc_claim_short(bin, sgc_size_classes.of[cls].starts, &kind, &slot);
    copy(found);
    for (size_t w = 0; w < PAGE_WORDS; w++)
        sgc_aw_store(&sgc_heap.bits[(size_t)page * PAGE_WORDS + w], before[w]);
    *given += got;
    right = got ? !other && s.end <= dirty && rightly_given(bin, cls, s, slot)
                : rightly_refused(bin, cls, s, dirty, other);
    copy(after);
    claimed = sgc_aw_load(&cache->claimed) - claimed;
    *bin = (struct sgc_bin){ .size = 0 };
    return right && memcmp(found, after, sizeof found) == 0 &&
           claimed == (got ? (size_t)(s.end - s.first) * sgc_class_bytes(cls) : 0);
}

static void test_all_classes(uint32_t taken, uint32_t change)
{
    uint32_t wrong = 0, tried = 0, given = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        uint32_t per_page = sgc_size_classes.of[cls].per_page;

        sgc_page_set_up_small(page, cls, kind, sgc_bin_of_page(kind, cls), sgc_tag(1, sgc_heap.epoch), false);
        for (int i = 0; i < 24; i++, tried++) {
            fill(cls, taken, change);
            memset((void *)sgc_page_start(page), 0xa5, SGC_PAGE);
            wrong += !claim_agrees(cls, below(per_page + 1), i % 3 != 0 ? per_page : below(per_page + 1), &given);
        }
        fill(cls, 0, 1);
        sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_RESERVED);
    }
    tap_ok(wrong == 0 && (given == 0) == (taken == 16),
           "pages %u sixteenths full, changing each %u. slot: %u tried, %u given, %u wrong", taken, change, tried, given,
           wrong);
}

/* ---- pages with holes, emptied to the end ---- */

/* As the common path and what it jumps to. */
static char *take(size_t bytes, uint32_t *shortly)
{
    uint32_t cls = sgc_class_for(bytes / SGC_GRANULE);
    struct sgc_bin *bin = &cache->bin[kind][cls];
    char *object;

    if (!sgc_bin_has_freed(bin) && sgc_bin_has_run(bin))
        return sgc_bin_bump(bin);
    if (!sgc_bin_used_up(bin) || !sgc_claim_short(bin, sgc_size_classes.of[cls].starts, &kind, &object))
        return sgc_small_claim(cache, kind, cls);
    ++*shortly;
    return object;
}

enum { MOST = 3 * SGC_PAGE / 16 };

/* Of about three pages of live objects some die: which remain. */
static size_t make_holes(size_t bytes, uint32_t taken, void **live, size_t *all)
{
    size_t n = 0;

    *all = 3 * (SGC_PAGE / bytes);
    for (size_t i = 0; i < *all; i++) {
        char *object = heap_small(cache, bytes, kind);

        memset(object, 0xa5, bytes);
        if (below(16) < taken)
            live[n++] = object;
    }
    return n;
}

static bool is_among(void *const *some, size_t n, const char *object)
{
    for (size_t i = 0; i < n; i++)
        if (some[i] == object)
            return true;
    return false;
}

/* Takes all that the pages at hand have: how many were not to be had, or wrong. */
static uint32_t take_all(size_t bytes, void *const *live, size_t n, uint32_t *got, uint32_t *shortly)
{
    uint32_t wrong = 0;
    char *last = NULL;

    for (char *object; (object = take(bytes, shortly)) != NULL; last = object, ++*got) {
        bool same = last != NULL && sgc_page_number((uintptr_t)last) == sgc_page_number((uintptr_t)object);

        wrong += !heap_zero(object, bytes) || is_among(live, n, object) || !heap_allocated(object) || (same && object <= last);
        memset(object, 0x5a, bytes);
        if (*got % 64 == 0)
            sgc_cache_check(cache);
    }
    return wrong;
}

static void test_holes(size_t bytes, uint32_t taken)
{
    static void *live[MOST];
    uint32_t cls = sgc_class_for(bytes / SGC_GRANULE), got = 0, shortly = 0, wrong = 0;
    struct sgc_bin *bin = &cache->bin[kind][cls];
    size_t all, n, before;

    heap_empty();
    n = make_holes(bytes, taken, live, &all);
    heap_collect((char *const *)live, (int)n);
    before = sgc_aw_load(&cache->claimed);
    while (got < all - n) {
        heap_small(cache, bytes, kind);             /* chooses the next page */
        got++;
        wrong += take_all(bytes, live, n, &got, &shortly);
        wrong += bin->cur != bin->end;
    }
    tap_ok(wrong == 0 && got >= all - n && shortly > (all - n) / 16,
           "%zu bytes, %u sixteenths live: %zu holes, %u slots, %u short runs", bytes, taken, all - n, got, shortly);
    tap_ok(sgc_aw_load(&cache->claimed) - before == got * (size_t)bin->size, "each was counted once");
    sgc_heap_check();
}

/* What a short run has left at a cycle. */
static void test_release(void)
{
    static void *live[MOST];
    struct sgc_bin *bin = &cache->bin[kind][sgc_class_for(2)];
    uint32_t shortly = 0;
    size_t all, n;
    char *rest, *end;
    int set = 0;

    heap_empty();
    n = make_holes(32, 4, live, &all);
    heap_collect((char *const *)live, (int)n);
    heap_small(cache, 32, kind);
    while (shortly < 3 || bin->cur + 32 >= bin->end)
        if (take(32, &shortly) == NULL)
            break;
    rest = bin->cur;
    end = bin->end;
    tap_ok(rest != NULL && rest < end && !heap_allocated(rest) && heap_free_local(cache, rest) == SGC_FREE_NOT_ALLOCATED,
           "what is left of a short run is not allocated");
    heap_retire();
    for (char *slot = rest; slot < end; slot += 32)
        set += sgc_alloc_bit(sgc_granule_number((uintptr_t)slot));
    tap_ok(set == 0 && bin->next == sgc_granule_number((uintptr_t)rest), "and is given up when the cache is retired");
    tap_ok(!sgc_bin_used_up(bin) && heap_small(cache, 32, kind) == rest, "and taken again");
    sgc_heap_check();
}

/* What a plain malloc does not do: it carves. */
static void test_runs(void)
{
    test_all_classes(2, 1);
    test_all_classes(8, 1);
    test_all_classes(8, 4);
    test_all_classes(14, 2);
    test_all_classes(0, 1);
    test_all_classes(16, 1);
    sgc_heap_flip();
    test_slots(8);
    test_fill();
    test_all_classes(8, 2);
    kind = SGC_KIND_POINTER_FREE;
    test_all_classes(8, 2);
    kind = SGC_KIND_CONSERVATIVE;
    test_holes(16, 8);
    test_holes(48, 4);
    test_holes(64, 12);
    test_holes(208, 6);
    test_holes(sgc_class_bytes(sgc_class_for(50)), 5);
    test_release();
}

int main(void)
{
    bool zero;

    heap_start((size_t)64 << 20, 0, false);
    cache = sgc_self;
    sgc_cache_use(cache);
    page = sgc_pool_take(1, &sgc_self->section, &zero);
    test_slots(0);
    test_slots(3);
    test_slots(8);
    test_slots(14);
    test_slots(16);
    test_fill();
    if (SGC_TRACES)
        test_runs();
    return tap_done();
}
