/* SPDX-License-Identifier: MIT */
/*
 * Exactness: 100 000 words that point at memory that is not allocated retain nothing, whatever is the reason that it
 * is not: never used, dead but not swept, claimed or kept by another thread's cache, freed by its owner or by
 * another thread, given back.  Each time the words are scanned as roots and inside a live object, the number of
 * marked objects and bytes is that of a mark without them, one further word to an object is added to see that the
 * words are looked at, and every word's target is first shown to be in the state that is meant.
 */
#include "tests/lib/heap.h"

enum { WORDS = 100000, LIVE = 1000 };

static uintptr_t word[WORDS + 1];       /* the last: to `control` */
static uintptr_t *holder;               /* a span with room for them */
static void *control;                   /* only the control word points at it */
static void **live;                     /* a list of LIVE objects, and the holder */
static struct sgc_cache *cache, *other;
static uint64_t seed = 1;

struct marked {
    size_t objects, bytes;
};

static struct marked mark(const uintptr_t *words, size_t n)
{
    struct sgc_team *team = heap_alone(&HEAP_MARK);
    struct sgc_marker *m = heap_marker();
    struct marked result;

    heap_retire();
    sgc_clear_finish();
    sgc_team_begin(team, 1);
    sgc_mark_roots(m, &live, &live + 1);
    sgc_mark_roots(m, words, words + n);
    sgc_mark_uncollectable(m);
    if (!sgc_team_mark(team, NULL) || !sgc_team_rescan(team, NULL))
        tap_bail("a mark gave up");
    result = (struct marked){ m->objects, m->bytes };
    heap_unmark();
    return result;
}

static bool same(struct marked a, struct marked b)
{
    return a.objects == b.objects && a.bytes == b.bytes;
}

/* Some words point at the first byte, the others anywhere into the slot. */
static void set_word(size_t i, uintptr_t start, size_t bytes)
{
    word[i] = start + (i % 4 == 0 ? 0 : heap_random(&seed, (uint32_t)bytes));
}

/* `proven` words are known to be in the state. */
static void check(const char *state, size_t proven)
{
    memset(holder, 0, sizeof word);
    struct marked without = mark(word, 0);
    tap_ok(proven == WORDS, "%s: each of %d words points at such a slot (%zu do)", state, WORDS, proven);
    struct marked roots = mark(word, WORDS);
    tap_ok(same(roots, without), "as roots they retain nothing (%zu objects, %zu without)", roots.objects, without.objects);
    memcpy(holder, word, sizeof word - sizeof *word);
    struct marked inside = mark(NULL, 0);
    tap_ok(same(inside, without), "nor inside an object (%zu objects)", inside.objects);
    struct marked one = mark(word, WORDS + 1);
    tap_ok(one.objects == without.objects + 1, "while one word more retains its object");
    memset(holder, 0, sizeof word);
}

/* The list, the holder and the control stay; everything else dies. */
static void clear_heap(void)
{
    void *keep[2] = { live, control };

    heap_collect(keep, 2);
    heap_sweep_all();
}

static void make_live(void)
{
    holder = heap_alloc(cache, sizeof word, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < LIVE; i++) {
        void **next = heap_alloc(cache, 16 + (size_t)i % 50 * 32, SGC_KIND_CONSERVATIVE);
        next[0] = live != NULL ? (void *)live : (void *)holder;
        live = next;
    }
    control = heap_alloc(cache, 640, SGC_KIND_CONSERVATIVE);
    word[WORDS] = (uintptr_t)control;
}

static bool allocation_bit(uintptr_t start)
{
    return sgc_alloc_bit(sgc_granule_number(start));
}

static struct sgc_page *page_of(uintptr_t address)
{
    return &sgc_heap.pages[sgc_page_number(address)];
}

static struct sgc_page_record *record_of(uintptr_t address)
{
    return &sgc_heap.records[sgc_page_number(address)];
}

/* ---- never used ---- */

/* Words go round among the slots that there are. */
static void repeat(size_t n)
{
    for (size_t i = n; n != 0 && i < WORDS; i++)
        word[i] = word[i % n];
}

/* A page of the class whose end was never used. */
static uintptr_t fresh_page(uint32_t cls, uint32_t kind)
{
    uintptr_t page;

    do
        page = sgc_round_down((uintptr_t)heap_alloc(cache, sgc_class_bytes(cls), kind), SGC_PAGE);
    while (record_of(page)->zero_from == SGC_PAGE_GRANULES);        /* it had contents before */
    heap_retire();
    return page;
}

static void test_never_used(void)
{
    size_t n = 0, proven = 0;

    clear_heap();
    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
        for (uint32_t kind = 0; kind < 2; kind++) {
            uint32_t bytes = sgc_class_bytes(cls);
            uintptr_t page = fresh_page(cls, kind);
            uint32_t slot = record_of(page)->zero_from * SGC_GRANULE / bytes;
            for (; slot < sgc_size_classes.of[cls].per_page && n < WORDS; slot++, n++)
                set_word(n, page + (uintptr_t)slot * bytes, bytes);
        }
    for (size_t i = 0; i < n; i++) {
        struct sgc_object o;
        proven += sgc_object_slot(word[i], &o) && !o.span && !allocation_bit(o.start) &&
                  sgc_granule_in_page(o.start) >= record_of(o.start)->zero_from;
    }
    tap_ok(n > 20000 && proven == n, "%zu slots of all classes were never used", n);
    repeat(n);
    check("never used", proven == n ? WORDS : 0);
}

/* ---- dead and not swept ---- */

enum { DEAD_SPANS = 40 };

static void test_unswept(void)
{
    uintptr_t span[DEAD_SPANS];
    size_t proven = 0;

    clear_heap();
    for (size_t i = 0; i < WORDS; i++)
        word[i] = (uintptr_t)heap_alloc(cache, 16 + i % 7 * 16, i % 3 ? SGC_KIND_CONSERVATIVE : SGC_KIND_POINTER_FREE);
    for (int i = 0; i < DEAD_SPANS; i++)
        span[i] = (uintptr_t)heap_alloc(cache, 100000, SGC_KIND_CONSERVATIVE);
    void *keep[2] = { live, control };
    heap_collect(keep, 2);
    for (size_t i = 0; i < WORDS; i++) {
        uintptr_t start = i % 5 == 0 ? span[i / 5 % DEAD_SPANS] : word[i];
        uint8_t state = sgc_page_state(page_of(start));
        proven += (state == SGC_PAGE_SMALL || state == SGC_PAGE_SPAN) && !allocation_bit(start) &&
                  sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[sgc_page_number((uintptr_t)start)].tag)) != sgc_heap.epoch;
        set_word(i, start, i % 5 == 0 ? 100000 : 16 + i % 7 * 16);
    }
    check("dead slots of unswept pages", proven);
}

/* ---- in another thread's cache ---- */

static bool claimed(uintptr_t start)
{
    const struct sgc_page *d = page_of(start);
    const struct sgc_bin *bin = &other->bin[d->kind][d->cls];

    return sgc_page_owner(sgc_page_number(start)) == other->id && allocation_bit(start) &&
           start >= (uintptr_t)bin->cur && start < (uintptr_t)bin->end;
}

static void test_claimed(void)
{
    size_t n = 0, proven = 0;

    clear_heap();
    for (uint32_t kind = 0; kind < 2; kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            heap_alloc(other, sgc_class_bytes(cls), kind);
    for (uint32_t kind = 0; kind < 2; kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
            const struct sgc_bin *bin = &other->bin[kind][cls];
            for (char *slot = bin->cur; slot < bin->end; slot += bin->size, n++) {
                set_word(n, (uintptr_t)slot, bin->size);
                proven += claimed((uintptr_t)slot);
            }
        }
    tap_ok(n > 300 && proven == n, "another thread has %zu claimed slots", n);
    repeat(n);
    check("claimed by another thread", proven == n ? WORDS : 0);
}

static bool kept_freed(uintptr_t start)
{
    const struct sgc_page *d = page_of(start);
    const struct sgc_bin *bin = &other->bin[d->kind][d->cls];

    for (const struct sgc_freed *f = sgc_bin_freed(bin); f != bin->freed; f++)
        if ((uintptr_t)f->object == start)
            return !allocation_bit(start);
    return false;
}

static void test_freed_cached(void)
{
    static uintptr_t start[SGC_KINDS_BUILT_IN * SGC_CLASSES_MAX * 32];
    size_t n = 0, proven = 0;

    clear_heap();
    for (uint32_t kind = 0; kind < 2; kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            for (int i = 0; i < 60; i++, n++) {
                start[n] = (uintptr_t)heap_alloc(other, sgc_class_bytes(cls), kind);
                memset((void *)start[n], 0xff, sgc_class_bytes(cls));
            }
    for (size_t i = 0; i < n; i++)
        sgc_object_free(other, (void *)start[i]);
    for (size_t i = 0; i < n; i++) {
        proven += kept_freed(start[i]);
        set_word(i, start[i], (size_t)page_of(start[i])->granules * SGC_GRANULE);
    }
    tap_ok(n > 5000 && proven == n, "another thread's cache keeps %zu freed slots (%zu)", n, proven);
    repeat(n);
    check("freed and kept by another thread", proven == n ? WORDS : 0);
}

/* ---- freed ---- */

/* Objects of all kinds and some spans, by `by`. */
static void make_objects(struct sgc_cache *by)
{
    for (size_t i = 0; i < WORDS; i++)
        word[i] = (uintptr_t)heap_alloc(by, i % 2500 == 0 ? 70000 : 16 + i % 11 * 16, (uint32_t)(i % SGC_KINDS_BUILT_IN));
}

static size_t bytes_at(size_t i)
{
    return i % 2500 == 0 ? 70000 : 16 + i % 11 * 16;
}

static void test_freed(void)
{
    size_t proven = 0, freed = 0;

    clear_heap();
    make_objects(cache);
    for (size_t i = 0; i < WORDS; i++)
        freed += sgc_object_free(cache, (void *)word[i]) == SGC_FREE_DONE;
    for (size_t i = 0; i < WORDS; i++) {
        proven += !allocation_bit(word[i]) && !sgc_remote_bit(sgc_granule_number(word[i]));
        set_word(i, word[i], bytes_at(i));
    }
    check("freed by their owner", freed == WORDS ? proven : 0);
}

static void test_freed_remotely(void)
{
    size_t proven = 0, freed = 0;

    clear_heap();
    make_objects(other);
    for (size_t i = 0; i < WORDS; i++)
        freed += sgc_object_free(cache, (void *)word[i]) == SGC_FREE_DONE;
    for (size_t i = 0; i < WORDS; i++) {
        bool span = i % 2500 == 0;
        proven += span ? !allocation_bit(word[i])
                       : allocation_bit(word[i]) && sgc_remote_bit(sgc_granule_number(word[i])) &&
                         sgc_page_owner(sgc_page_number(word[i])) == other->id;
        set_word(i, word[i], bytes_at(i));
    }
    check("freed by another thread, their owner has not heard of it", freed == WORDS ? proven : 0);
}

static void test_freed_of_orphans(void)
{
    struct sgc_cache *ending = heap_cache();
    size_t proven = 0, freed = 0;

    clear_heap();
    make_objects(ending);
    heap_cache_end(ending);
    for (size_t i = 0; i < WORDS; i++)
        freed += sgc_object_free(cache, (void *)word[i]) == SGC_FREE_DONE;
    for (size_t i = 0; i < WORDS; i++) {
        bool span = i % 2500 == 0;
        proven += (span || sgc_page_owner(sgc_page_number(word[i])) == SGC_ORPHANS) && !heap_allocated((void *)word[i]);
        set_word(i, word[i], bytes_at(i));
    }
    check("freed when their owner had ended", freed == WORDS ? proven : 0);
}

/* ---- pages without objects ---- */

static size_t make_free_pages(uint64_t want_dirty)
{
    size_t proven = 0;

    for (size_t i = 0; i < WORDS; i++) {
        const struct sgc_arena *arena = sgc_arena_of_page(sgc_page_number(word[i]));
        uint64_t bit = sgc_arena_bit(sgc_page_number(word[i]));
        proven += sgc_page_state(page_of(word[i])) == SGC_PAGE_FREE && (arena->free & bit) != 0 &&
                  ((arena->dirty & bit) != 0) == want_dirty;
        set_word(i, word[i], bytes_at(i));
    }
    return proven;
}

static void make_dead_pages(void)
{
    clear_heap();
    for (size_t i = 0; i < WORDS; i++) {
        word[i] = (uintptr_t)heap_alloc(cache, bytes_at(i), (uint32_t)(i % 2));
        memset((void *)word[i], 0x3c, bytes_at(i));
    }
}

/* Some of the dead shared pages with the list. */
static void only_free_pages(void)
{
    uintptr_t fallback = 0;

    for (size_t i = 0; i < WORDS; i++)
        if (sgc_page_state(page_of(word[i])) == SGC_PAGE_FREE)
            fallback = word[i];
    for (size_t i = 0; i < WORDS; i++)
        if (sgc_page_state(page_of(word[i])) != SGC_PAGE_FREE)
            word[i] = fallback;
}

static void test_pool(void)
{
    make_dead_pages();
    clear_heap();
    only_free_pages();
    check("pages in the pool, with contents", make_free_pages(1));
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, &cache->section);
    size_t proven = make_free_pages(0);
    check("pages given back", sgc_mem_resident((void *)sgc_page_start(sgc_page_number(word[7])), SGC_PAGE) == 0 ? proven : 0);
}

/* ---- stale words in free memory are not scanned ---- */

static void test_stale_words(void)
{
    enum { N = 20000 };
    static void **object[N];
    void *secret;

    clear_heap();
    secret = heap_alloc(cache, 400, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < N; i++) {
        object[i] = heap_alloc(i % 2 ? cache : other, 64, i % 4 < 2 ? SGC_KIND_CONSERVATIVE : SGC_KIND_UNCOLLECTABLE);
        for (int j = 0; j < 8; j++)
            object[i][j] = secret;
    }
    for (int i = 0; i < N; i++) {
        if (i % 8 != 7)
            sgc_object_free(cache, object[i]);
        else
            memset(object[i], 0, 64);
    }
    uintptr_t to_secret = (uintptr_t)secret;
    size_t before = mark(word, 0).objects;
    tap_ok(mark(&to_secret, 1).objects == before + 1, "words in freed memory, uncollectable kinds among it, retain nothing");
}

int main(void)
{
    heap_start((size_t)1 << 30, 0, false);
    cache = sgc_self;
    other = heap_cache();
    make_live();
    tap_each(test_never_used, test_unswept, test_claimed, test_freed_cached, test_freed,
             test_freed_remotely, test_freed_of_orphans, test_pool, test_stale_words);
    sgc_heap_check();
    return tap_done();
}
