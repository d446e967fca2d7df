/* SPDX-License-Identifier: MIT */
/*
 * Small objects: the slower ways.  Runs on the cache's own thread.  Claiming takes no lock: nobody
 * else writes the allocation bits or the bin of an active page.  Where the next page comes from:
 * alloc/new_objects.c.
 */
#include "alloc/small/small.h"

#include "alloc/pages/marks.h"
#include "alloc/pages/dangling.h"
#include "alloc/small/claim_short.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/sampling.h"
#include "alloc/small/slots.h"
#include "platform/compiler.h"
#include "platform/faults.h"
#include "platform/written/written.h"

enum {
    WHOLE_PAGES = 2,            /* taken since the last cycle by a bin that claims whole pages, */
    BACKED_PAGES = 4,           /* and by one that has the system back new ones as a whole */
    FETCH_SLOTS = 16,           /* whose beginnings are fetched at a time: what a processor can wait
                                 * for at once */
};

/* ---- just ahead of use: what is handed out next is zeroed, and fetched into the cache ---- */

static inline char *lower(char *a, char *b)
{
    return a < b ? a : b;
}

/*
 * The memory that is handed out next is fetched into the cache while the program uses what it has
 * got.  Processors fetch ahead by themselves, but not beyond 4 KB, and not objects of which only
 * the beginnings are written.  Inline: gcc finds that such a function by itself has no effect, and
 * drops the calls.
 */
__attribute__((always_inline))
static inline void fetch_lines(const char *from, const char *end)
{
    for (; from < end; from += 4 * SGC_CACHE_LINE) {
        __builtin_prefetch(from, 1);
        __builtin_prefetch(from + SGC_CACHE_LINE, 1);
        __builtin_prefetch(from + 2 * SGC_CACHE_LINE, 1);
        __builtin_prefetch(from + 3 * SGC_CACHE_LINE, 1);
    }
}

__attribute__((always_inline))
static inline void fetch_slots(const struct sgc_bin *bin, char *from)
{
    char *end = lower(from + (size_t)bin->size * FETCH_SLOTS, bin->end);

    for (; from < end; from += bin->size)
        __builtin_prefetch(from, 1);
}

/* The C library zeroes a large object faster than the one instruction that the compiler makes of a
 * bounded piece, and a piece more slowly.  Figures: doc/journal/heap.md. */
__attribute__((noinline))
static void zero_large(char *from, char *to)
{
    memset(from, 0, (size_t)(to - from));
}

/* Zeroes what may hold something below `upto`, a piece, or an object that is larger (or two of 4
 * KB), and fetches 4 KB of what comes then. */
static inline char *zeroed_until(const struct sgc_bin *bin, char *from, char *upto)
{
    char *used_to = lower(upto, bin->dirty), *fetch_to = lower(bin->end, bin->dirty);

    if (from >= used_to)
        return upto;
    if (__builtin_expect(used_to - from >= 2 * SGC_ZERO_BYTES, 0))
        zero_large(from, used_to);
    else
        memset(from, 0, (size_t)(used_to - from));
    fetch_lines(used_to, lower(used_to + SGC_ZERO_BYTES, fetch_to));
    return upto;
}

static inline char *fetched_until(const struct sgc_bin *bin, char *upto)
{
    fetch_slots(bin, upto);
    return upto;
}

/* ---- claiming ---- */

static uint32_t slots_opened(const struct sgc_bin *bin, bool cleared)
{
    if (cleared)
        return SGC_ZERO_BYTES / bin->size + 1;
    return bin->size >= SGC_FETCH_MIN ? FETCH_SLOTS : SGC_PAGE_GRANULES;
}

/* Makes the next claimed slots ready to be handed out: all that were never used, else a few. */
static void open_run(struct sgc_cache *cache, struct sgc_bin *bin, char *from, bool cleared)
{
    size_t max = (size_t)slots_opened(bin, cleared) * bin->size;
    char *upto = from >= bin->dirty || (size_t)(bin->end - from) <= max ? bin->end : from + max;

    if (__builtin_expect(cache->sampling.rate != 0, 0))
        upto = sgc_sampling_cut(cache, bin, from, upto);
    bin->limit = cleared ? zeroed_until(bin, from, upto) : fetched_until(bin, upto);
}

/* From here on the page was never used. */
static char *never_used(uint32_t page)
{
    return (char *)sgc_page_start(page) + (size_t)sgc_heap.records[page].zero_from * SGC_GRANULE;
}

/* Where the run stops holding old words; below zero_from each slot has been handed out before. */
static char *used_until(uint32_t page, uint32_t to)
{
    struct sgc_page_record *r = &sgc_heap.records[page];
    char *dirty = never_used(page);

    sgc_assert(to <= SGC_PAGE_GRANULES);
    if (to > r->zero_from)
        r->zero_from = to;
    return dirty;
}

/* In an order in which the bin has, at no instruction, slots that are not all claimed. */
static void give_run(struct sgc_cache *cache, struct sgc_bin *bin, char *from, char *end, char *dirty, bool cleared)
{
    bin->limit = bin->end = NULL;
    sgc_compiler_barrier();
    bin->cur = from;
    bin->dirty = dirty;
    sgc_compiler_barrier();
    bin->end = end;
    if (!cleared && bin->size >= SGC_FETCH_MIN && from < dirty)
        fetch_slots(bin, from);
    open_run(cache, bin, from, cleared);
}

/* The next of the ready pages becomes the active one.  Left half way, it may do so twice, which
 * serves nobody and hurts nobody: it is looked at for free slots each time.  Short runs are looked
 * for from `next` to `dirty`, others from `next` on in `page`: at each instruction these are of one
 * page, or there is no page, or nothing below `dirty`. */
bool sgc_bin_next_active(struct sgc_bin *bin)
{
    uint32_t page;

    if (bin->next_ready == bin->ready_end)
        return false;
    page = bin->ready[bin->next_ready];
    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    bin->dirty = (char *)sgc_page_start(SGC_NO_PAGE);
    sgc_compiler_barrier();
    bin->next = sgc_page_first_granule(page);
    sgc_compiler_barrier();
    bin->page = page;
    sgc_compiler_barrier();
    bin->dirty = never_used(page);
    sgc_compiler_barrier();
    bin->next_ready++;
    return true;
}

/* Free slots of the active page, else of the next one that has any. */
static bool find_slots(struct sgc_bin *bin, uint32_t cls, uint32_t max, struct sgc_slots *s)
{
    sgc_assert(max != 0 && sgc_bin_ok(bin));
    while (bin->page != SGC_NO_PAGE || sgc_bin_next_active(bin)) {
        *s = sgc_slots_claim(bin->page, cls, bin->next, max);
        bin->next = s->end;
        if (s->first != s->end)
            return true;
        bin->page = SGC_NO_PAGE;
    }
    return false;
}

/* A bin in demand claims what is left of its page at once: a run that ends calls for a slow way.
 * Others claim little, since claimed bytes count as allocated. */
static uint32_t slots_at_once(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    bool whole = bin->taken >= WHOLE_PAGES && cache->claim_bytes != 0;

    sgc_assert(bin->size != 0);
    return whole ? SGC_PAGE_GRANULES : cache->claim_bytes / bin->size + 1;
}

/* The run that a short claim would have found, had it been allowed to (alloc/small/claim_short.h).
 * While samples are taken none is allowed where a sample is near: if runs were longer there, bins
 * with short runs would be favoured. */
static bool find_short(struct sgc_bin *bin, uint32_t cls, struct sgc_slots *s)
{
    bool found;

    if (!sgc_bin_used_up(bin))
        return false;
    s->first = bin->next;
    found = sgc_claim_in_word(bin, sgc_size_classes.of[cls].starts, sgc_granule_number((uintptr_t)bin->dirty), s);
    bin->next = found ? s->end : s->first;
    return found;
}

static bool find_run(const struct sgc_cache *cache, struct sgc_bin *bin, uint32_t cls, struct sgc_slots *s)
{
    if (__builtin_expect(cache->sampling.rate != 0, 0) && find_short(bin, cls, s))
        return true;
    return find_slots(bin, cls, slots_at_once(cache, bin), s);
}

/* A bin in great demand will soon have used all of a page, and the faults cost more than one call
 * that backs a whole page.  In others most of it may stay untouched.  Figures:
 * doc/journal/heap.md. */
static bool is_worth_backing(const struct sgc_bin *bin, const char *from, const char *end, const char *dirty)
{
    sgc_assert(from < end);
    return bin->taken >= BACKED_PAGES && from >= dirty && end - from >= SGC_PAGE / 2;
}

/* Backs the memory that a claim has left to be backed.  Outside sections, since it is a system
 * call.  Its slots count as used, so should they be given back meanwhile, their page counts as one
 * with contents. */
static void back_claimed(struct sgc_cache *cache)
{
    uint32_t bytes = cache->unbacked_bytes;

    if (bytes == 0)
        return;
    cache->unbacked_bytes = 0;
    sgc_mem_populate(cache->unbacked, cache->unbacked + bytes);
}

void sgc_bin_give_run(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t page, struct sgc_slots s)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    char *from = sgc_granule_address(s.first), *end = sgc_granule_address(s.end);

    sgc_assert(s.first < s.end && sgc_page_number((uintptr_t)from) == page);
    sgc_count_add(&cache->claimed, (size_t)(end - from));
    if (__builtin_expect(cache->sampling.rate != 0, 0))
        sgc_sampling_give_run(cache, bin, (size_t)(end - from));
    sgc_bin_activate(cache, kind, cls);
    give_run(cache, bin, from, end, used_until(page, (uint32_t)(s.end - sgc_page_first_granule(page))), sgc_kind_cleared(kind));
}

/* Claims a run and opens it for bumping.  In a section.  Freed slots that are kept for reuse look
 * free in the bitmap, too, so they must have been handed out before. */
static bool claim(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind, uint32_t cls)
{
    struct sgc_slots s;
    char *from, *end;

    if (bin->active_epoch != sgc_heap.epoch || sgc_bin_has_claimed(bin))
        return false;
    sgc_assert(!sgc_bin_has_freed(bin));
    sgc_assert(sgc_section_inside(&cache->section));
    if (!find_run(cache, bin, cls, &s))
        return false;
    from = sgc_granule_address(s.first);
    end = sgc_granule_address(s.end);
    cache->unbacked = from;
    cache->unbacked_bytes = is_worth_backing(bin, from, end, never_used(bin->page)) ? (uint32_t)(end - from) : 0;
    sgc_bin_give_run(cache, kind, cls, bin->page, s);
    return sgc_bin_has_run(bin);
}

/* The next slot that is ready: a freed one, else of the claimed run, which a plain malloc's bins do
 * not have.  In a section. */
static void *next_ready(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind)
{
    void *object;

    sgc_assert(SGC_TRACES);
    if (!sgc_bin_has_freed(bin)) {
        if (bin->limit < bin->end && !sgc_bin_has_run(bin) &&
            (__builtin_expect(cache->sampling.rate == 0, 1) || !sgc_sampling_holds(cache, bin)))
            open_run(cache, bin, bin->cur, sgc_kind_cleared(kind));
        return sgc_bin_has_run(bin) ? sgc_bin_bump(bin) : NULL;
    }
    object = sgc_bin_pop(bin);
    if (sgc_kind_cleared(kind))
        memset(object, 0, bin->size);
    return object;
}

void *sgc_small_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void *object;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    sgc_section_enter(&cache->section);
    object = next_ready(cache, bin, kind);
    if (object == NULL && claim(cache, bin, kind, cls))
        object = sgc_bin_bump(bin);
    if (sgc_fault(SGC_FAULT_GIVEN_TWICE) && object != NULL && object == bin->cur - bin->size)
        bin->cur = object;
    sgc_section_leave(&cache->section);
    back_claimed(cache);
    return object;
}

void *sgc_bin_finish_zeroed(struct sgc_cache *cache, void *object, size_t bytes)
{
    sgc_brief_end(&cache->section);
    return memset(object, 0, bytes);
}

void *sgc_small_try(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    void *object;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    sgc_section_enter(&cache->section);
    object = next_ready(cache, &cache->bin[kind][cls], kind);
    sgc_section_leave(&cache->section);
    return object;
}

/* ---- a batch for the client ---- */

/* The next for a batch that has `bytes` so far: what is ready, or else, while these are few,
 * another run of the page. */
static void *next_of_batch(struct sgc_cache *cache, uint32_t kind, uint32_t cls, size_t bytes)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void *object = next_ready(cache, bin, kind);

    if (object == NULL && bytes < SGC_ZERO_BYTES && cache->claim_bytes != 0 && claim(cache, bin, kind, cls))
        object = sgc_bin_bump(bin);
    return object;
}

/* Links all slots of the run that are ready, up to so many bytes of them, behind `last`.  The new
 * last.  They leave the bin before they are linked: left half way, some are in nobody's hands until
 * the next cycle. */
static void **link_ready(struct sgc_bin *bin, size_t max, void **last)
{
    size_t ready = (size_t)(bin->limit - bin->cur);
    char *slot = bin->cur, *end = slot + (ready < max ? ready : max);

    sgc_assert(sgc_bin_has_run(bin) && max <= SIZE_MAX / 2);
    bin->cur = end;
    sgc_compiler_barrier();
    for (uint32_t size = bin->size; slot != end; slot += size) {
        *last = slot;
        last = (void **)(void *)slot;
    }
    return last;
}

/* Links a batch behind its first, up to so many bytes in all.  In a section.  It ends with a sample
 * of what is allocated: were it to end before one, how many there are would tell where samples
 * are. */
static void link_others(struct sgc_cache *cache, uint32_t kind, uint32_t cls, size_t max, void **last)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    for (size_t bytes = bin->size; bytes < max && cache->sampling.sampled == NULL;) {
        void *object = next_of_batch(cache, kind, cls, bytes);
        const char *ready = bin->cur;

        if (object == NULL)
            break;
        *last = object;
        last = object;
        bytes += bin->size;
        if (sgc_bin_has_freed(bin) || !sgc_bin_has_run(bin))
            continue;
        last = link_ready(bin, max - bytes, last);
        bytes += (size_t)(bin->cur - ready);
    }
    *last = NULL;
}

/* In the section: a stop in between would find the rest of the batch reachable only by a link that
 * nobody has reported. */
static void report_links(void **first)
{
    for (void **object = first; object != NULL; object = *object)
        sgc_written_report(object);
}

void sgc_small_link_others(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max, void **first)
{
    sgc_assert(sgc_cache_ok(cache) && max > 0);
    sgc_section_enter(&cache->section);
    link_others(cache, kind, cls, (size_t)max * cache->bin[kind][cls].size, first);
    if (sgc_written_is_reported())
        report_links(first);
    sgc_section_leave(&cache->section);
    back_claimed(cache);
}

/* ---- freeing on the owner's thread ---- */

/* The slot's bit is cleared. */
static void keep_or_forget(struct sgc_cache *cache, const struct sgc_page *d, void *object, size_t granule)
{
    struct sgc_bin *bin = &cache->bin[d->kind][d->cls];

    sgc_assert(!sgc_alloc_bit(granule) && sgc_kind_ok(d->kind));
    if (!sgc_kind_keeps_freed(d->kind))
        return;         /* it waits for a cycle, like garbage, so it calls for one like garbage */
    sgc_bin_activate(cache, d->kind, d->cls);
    if (sgc_bin_closed(bin))
        sgc_count_add(&cache->freed_bytes, bin->size);
    else
        sgc_bin_push(bin, bin->freed, object, sgc_bit_index(granule));
}

/* In a section.  Bits are set only where slots begin, so should the page have become another's by a
 * second free, nothing is freed in the middle of an object.  The page is noted before the bit goes,
 * in case of a jump out in between. */
static enum sgc_free_result free_in_section(struct sgc_cache *cache, const struct sgc_page *d, size_t granule)
{
    const struct sgc_bin *bin = &cache->bin[d->kind][d->cls];
    void *object = sgc_granule_address(granule);

    if (sgc_aw_load_acq(&d->tag) != cache->tag)
        return SGC_FREE_NOT_HERE;
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL);
    if (!sgc_alloc_bit(granule) || !sgc_bin_handed_out(bin, object) || sgc_freed_remotely(d, granule))
        return SGC_FREE_NOT_ALLOCATED;
    if (sgc_heap.config.poison)
        memset(object, 0xdf, bin->size);
    sgc_marking_note_freed((uint32_t)(granule / SGC_PAGE_GRANULES));
    sgc_dangling_freed(granule);
    sgc_compiler_barrier();
    sgc_alloc_bit_clear(granule);
    sgc_compiler_barrier();
    keep_or_forget(cache, d, object, granule);
    return SGC_FREE_DONE;
}

enum sgc_free_result sgc_small_free_local(struct sgc_cache *cache, uint32_t page, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    enum sgc_free_result result;

    sgc_assert(sgc_cache_ok(cache) && granule / SGC_PAGE_GRANULES == page);
    if (sgc_aw_load_acq(&d->tag) == cache->tag)
        sgc_bin_make_room(cache, d->kind, d->cls);
    sgc_section_enter(&cache->section);
    result = free_in_section(cache, d, granule);
    sgc_section_leave(&cache->section);
    return result;
}
