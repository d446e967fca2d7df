/* SPDX-License-Identifier: MIT */
/*
 * The life of a cache: opening, giving slots up.  alloc/small/cache.h says which thread may call
 * each function; alloc/page_supply.c has the end of a cache.
 */
#include "alloc/small/cache.h"

#include "alloc/pages/homes.h"
#include "alloc/small/slots.h"
#include "platform/report.h"

/* Of threads without a cache: it owns nothing, and its tag is no page's.  They all write to its
 * section, which is not owned.  Zero until there are caches: before, there are no pages, and the
 * common paths find nothing in it. */
static struct sgc_cache nobody;
SGC_STATE_LARGE(nobody);

_Thread_local struct sgc_cache *sgc_self __attribute__((tls_model("initial-exec")));
_Thread_local struct sgc_cache *sgc_fast_cache __attribute__((tls_model("initial-exec"))) = &nobody;
SGC_STATE uint16_t sgc_fast_bins[SGC_FAST_MAX + 1];
SGC_STATE sgc_aw_t *sgc_cache_table;
SGC_STATE sgc_a32_t sgc_cache_count;

/* By owner number.  Locks of two threads share no cache line, and those of sixty an OS page: a fork
 * takes all of them, and each OS page that it writes to is copied. */
struct cache_lock {
    _Alignas(64) struct sgc_lock lock;
};
SGC_STATE static struct cache_lock *cache_locks;

void sgc_cache_use(struct sgc_cache *cache)
{
    sgc_self = cache;
    sgc_fast_cache = cache != NULL ? cache : &nobody;
}

static void fill_fast_bins(void)
{
    _Static_assert(SGC_CLASSES_MAX * sizeof(struct sgc_bin) <= UINT16_MAX, "an entry holds any bin's place");
    for (size_t bytes = 0; bytes <= SGC_FAST_MAX; bytes++) {
        size_t granules = (bytes + sgc_heap.config.end_byte + SGC_GRANULE - 1) / SGC_GRANULE;

        sgc_fast_bins[bytes] = (uint16_t)(sgc_class_for(granules == 0 ? 1 : granules) * sizeof(struct sgc_bin));
    }
}

static bool make_table(void)
{
    nobody.tag = nobody.free_tag = SGC_TAG_OF_NONE;
    fill_fast_bins();
    if (cache_locks == NULL)
        cache_locks = sgc_owner_table_make(sizeof *cache_locks);
    if (cache_locks != NULL)
        sgc_cache_table = sgc_owner_table_make(sizeof *sgc_cache_table);
    return sgc_cache_table != NULL;
}

static bool give_number(struct sgc_cache *cache)
{
    uint32_t id = sgc_a32_load(&sgc_cache_count);

    sgc_assert(cache->id == SGC_NO_OWNER);
    if (id == 0)
        id = 1;
    if (id == SGC_CACHES_MAX || (sgc_cache_table == NULL && !make_table()))
        return false;
    if (!sgc_owner_tables_reach(id + 1))
        return false;
    cache->id = id;
    cache->lock = &cache_locks[id].lock;
    *cache->lock = (struct sgc_lock)SGC_LOCK_INIT(SGC_RANK_CACHE);
    sgc_aw_store_rel(&sgc_cache_table[id], (uintptr_t)cache);
    sgc_a32_store_rel(&sgc_cache_count, id + 1);
    return true;
}

/* Gives the cache memory for the bins of so many kinds, and no more: memory counts against the
 * limits of the process, and most programs make no kinds. */
static bool reach_kinds(struct sgc_cache *cache, uint32_t kinds)
{
    sgc_assert(kinds <= SGC_KINDS);
    return cache->memory.start == NULL ||
           sgc_stretch_grow(&cache->memory, (size_t)((char *)&cache->bin[kinds] - cache->memory.start));
}

uint32_t sgc_caches_make_kind(const struct sgc_kind *kind)
{
    uint32_t kinds = sgc_kind_count(), caches = sgc_a32_load(&sgc_cache_count);

    if (kinds == SGC_KINDS)
        return SGC_KINDS;
    for (uint32_t id = 1; id < caches; id++)
        if (!reach_kinds(sgc_cache_of(id), kinds + 1))
            return SGC_KINDS;
    return sgc_kind_make(kind);
}

void *sgc_cache_record(size_t bytes, size_t align, size_t offset)
{
    struct sgc_stretch memory;
    struct sgc_cache *cache;

    sgc_assert(offset < bytes && align % _Alignof(struct sgc_cache) == 0);
    if (!sgc_stretch_open(&memory, bytes, align))
        return NULL;
    if (!sgc_stretch_grow(&memory, offset + offsetof(struct sgc_cache, bin))) {
        sgc_stretch_close(&memory);
        return NULL;
    }
    cache = (struct sgc_cache *)(void *)(memory.start + offset);
    cache->memory = memory;
    return memory.start;
}

void sgc_caches_lock(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    for (uint32_t id = 1; id < caches; id++)
        sgc_lock(sgc_cache_of(id)->lock, NULL);
}

void sgc_caches_unlock(void)
{
    for (uint32_t id = sgc_a32_load_acq(&sgc_cache_count); id-- > 1;)
        sgc_unlock(sgc_cache_of(id)->lock, NULL);
}

void sgc_caches_lock_reset(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    for (uint32_t id = 1; id < caches; id++)
        sgc_lock_reset(sgc_cache_of(id)->lock);
}

static void open_inbox(struct sgc_cache *cache)
{
    uintptr_t old = sgc_aw_swap(&cache->inbox, SGC_INBOX_EMPTY);

    sgc_assert(old == SGC_INBOX_CLOSED || old == SGC_INBOX_EMPTY);
    (void)old;
}

bool sgc_cache_open(struct sgc_cache *cache, bool torture)
{
    if (!reach_kinds(cache, sgc_kind_count()) || (cache->id == 0 && !give_number(cache)))
        return false;
    cache->section.owned = true;
    cache->keeps_freed = !torture && !sgc_heap.config.poison;
    cache->claim_bytes = torture ? 0 : SGC_CLAIM_BYTES;
    cache->max_pages = torture ? 1 : SGC_READY_MAX;
    cache->delivered = 0;
    cache->unpolled = SGC_UNPOLLED_MAX;
    sgc_assert(sgc_cache_ok(cache));
    sgc_cache_set_tag(cache, sgc_tag(cache->id, sgc_heap.epoch));
    open_inbox(cache);
    return true;
}

/* ---- each active bin ---- */

static struct sgc_slots claimed_slots(const struct sgc_bin *bin)
{
    sgc_assert(sgc_bin_has_claimed(bin));
    return (struct sgc_slots){ sgc_granule_number((uintptr_t)bin->cur), sgc_granule_number((uintptr_t)bin->end) };
}

static size_t unused(struct sgc_bin *bin, uint32_t cls)
{
    (void)cls;
    return sgc_bin_has_claimed(bin) ? (size_t)(bin->end - bin->cur) : 0;
}

/* The system takes back most of a large array that holds nothing. */
static void discard_array(const struct sgc_bin *bin)
{
    struct sgc_freed_array *array = sgc_bin_freed_array(bin);
    size_t kept = sgc_os_page_size(), bytes = array != NULL ? sgc_freed_array_bytes(array) : 0;

    sgc_assert(!sgc_bin_has_freed(bin));
    if (bytes >= SGC_FREED_ARRAY_LARGE && bytes > kept)
        sgc_mem_discard((char *)array + kept, bytes - kept);
}

/* Gives the rest of the bin's run back to its page, and forgets the freed slots.  Returns the bytes
 * of that rest. */
static size_t retire_bin(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    size_t left = unused(bin, cls);

    sgc_assert(sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    if (left != 0) {
        struct sgc_slots rest = claimed_slots(bin);

        sgc_slots_release(sgc_bin_claimed_page(bin), cls, rest);
        bin->next = bin->page != SGC_NO_PAGE ? rest.first : bin->next;
    }
    bin->cur = bin->limit = bin->end = NULL;
    bin->freed = sgc_bin_freed(bin);
    sgc_compiler_barrier();
    bin->freed_full = bin->freed_first;
    discard_array(bin);
    return left;
}

/* Calls visit(bin, its class) for each bin that holds slots; adds up. */
__attribute__((always_inline))
static inline size_t each_active(struct sgc_cache *cache, size_t (*visit)(struct sgc_bin *bin, uint32_t cls))
{
    size_t sum = 0;

    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t half = 0; half < 2; half++)
            for (uint64_t bins = cache->active[kind][half]; bins != 0; bins &= bins - 1) {
                uint32_t cls = half * 64 + (uint32_t)__builtin_ctzll(bins);

                sum += visit(&cache->bin[kind][cls], cls);
            }
    return sum;
}

static size_t freed_at_hand(struct sgc_bin *bin, uint32_t cls)
{
    (void)cls;
    return (size_t)sgc_bin_nfreed(bin) * bin->size;
}

void sgc_cache_count_freed(struct sgc_cache *cache)
{
    size_t now = each_active(cache, freed_at_hand);

    sgc_assert(sgc_cache_ok(cache));
    sgc_count_add(&cache->freed_bytes, now - cache->counted);
    cache->counted = now;
    sgc_aw_store(&cache->unused, each_active(cache, unused));
}

size_t sgc_cache_retire(struct sgc_cache *cache)
{
    size_t unused = 0;

    sgc_assert(sgc_cache_ok(cache));
    sgc_cache_count_freed(cache);
    cache->counted = 0;
    sgc_aw_store(&cache->unused, 0);
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t half = 0; half < 2; half++) {
            uint64_t bins = cache->active[kind][half];

            cache->active[kind][half] = 0;
            for (; bins != 0; bins &= bins - 1)
                unused += retire_bin(cache, kind, half * 64 + (uint32_t)__builtin_ctzll(bins));
        }
    return unused;
}

static size_t hide(struct sgc_bin *bin, uint32_t cls)
{
    if (sgc_bin_has_claimed(bin))
        sgc_slots_release(sgc_bin_claimed_page(bin), cls, claimed_slots(bin));
    return 0;
}

/* Claiming finds the very slots, since they are all free. */
static size_t take_back(struct sgc_bin *bin, uint32_t cls)
{
    struct sgc_slots wanted, got;

    if (!sgc_bin_has_claimed(bin))
        return 0;
    wanted = claimed_slots(bin);
    got = sgc_slots_claim(sgc_bin_claimed_page(bin), cls, wanted.first,
                          (uint32_t)((wanted.end - wanted.first) * SGC_GRANULE / bin->size));
    sgc_assert(got.first == wanted.first && got.end == wanted.end);
    (void)got;
    return 0;
}

void sgc_cache_hide_claimed(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    each_active(cache, hide);
}

void sgc_cache_take_back(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    each_active(cache, take_back);
}

/* The rest of the run counts as allocated, and will again when a thread claims it once more: so it
 * counts as freed now. */
void sgc_bin_give_up(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_cache_ok(cache) && sgc_lock_taken(cache->lock));
    sgc_cache_count_freed(cache);
    cache->counted -= (size_t)sgc_bin_nfreed(bin) * bin->size;
    sgc_count_add(&cache->freed_bytes, retire_bin(cache, kind, cls));
    cache->active[kind][cls / 64] &= ~(UINT64_C(1) << (cls % 64));
    bin->active_epoch = 0;
}

bool sgc_bin_expects(const struct sgc_bin *bin, uint32_t page)
{
    sgc_assert(sgc_bin_ok(bin) && sgc_page_ok(page));
    if (bin->active_epoch != sgc_heap.epoch)
        return false;
    for (uint32_t i = bin->next_ready; i < bin->ready_end; i++)
        if (bin->ready[i] == page)
            return true;
    return bin->page == page;
}

/* ---- pages with free slots ---- */

/* A page not swept yet will be looked at anyway; the active page is looked at again from its start
 * when it comes off the usable list. */
void sgc_cache_page_usable(struct sgc_cache *cache, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_page_lists *lists = &cache->bin[d->kind][d->cls].lists;

    sgc_assert(sgc_cache_ok(cache) && sgc_lock_taken(cache->lock));
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && sgc_page_owner(page) == cache->id);
    sgc_lists_renew(lists);
    if (sgc_list_of(lists, page) == SGC_LIST_DONE)
        sgc_list_move(lists, SGC_LIST_USABLE, page);
    sgc_heap.records[page].offered = sgc_list_of(lists, page) == SGC_LIST_USABLE;
}

/* Several threads may have reasons at a time: the strongest stays. */
void sgc_page_watch(uint32_t page, enum sgc_watch why)
{
    struct sgc_page *d = &sgc_heap.pages[page];
    uint32_t bin;

    sgc_assert(sgc_page_ok(page) && why < SGC_WATCHES);
    if (sgc_page_state(d) != SGC_PAGE_SMALL)
        return;
    do
        bin = sgc_a32_load(&d->bin);
    while (bin > sgc_bin_watched(why) && !sgc_a32_cas(&d->bin, bin, sgc_bin_watched(why)));
}

/* A bin that took no more than a page has to show its need anew.  It begins with a little less than
 * it has shown, so that what it claims at first is about what it needed, and becomes less where
 * that was too much; with nothing, when it took nothing in a whole epoch. */
static uint8_t shown_before(const struct sgc_bin *bin)
{
    sgc_assert(sgc_bin_ok(bin) && bin->active_epoch < sgc_heap.epoch);
    if (bin->active_epoch != 0 && bin->active_epoch + 1 != sgc_heap.epoch)
        return 0;
    return bin->taken > 1 ? bin->shown : (uint8_t)(bin->shown * 3 / 8);
}

void sgc_bin_renew(struct sgc_bin *bin)
{
    if (bin->active_epoch == sgc_heap.epoch)
        return;
    bin->shown = shown_before(bin);
    bin->page = SGC_NO_PAGE;
    bin->dirty = (char *)sgc_page_start(SGC_NO_PAGE);
    bin->next_ready = bin->ready_end = 0;
    bin->taken = 0;
    bin->active_epoch = sgc_heap.epoch;
}

void sgc_bin_make_ready(struct sgc_bin *bin, uint32_t page)
{
    sgc_assert(sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    sgc_bin_renew(bin);
    if (bin->next_ready == bin->ready_end)
        bin->next_ready = bin->ready_end = 0;
    if (bin->ready_end == SGC_READY_MAX)
        return;         /* a page for a stopped thread, or a signal handler's allocation: it waits
                         * for the next cycle */
    bin->ready[bin->ready_end++] = page;
    bin->taken += bin->taken < UINT8_MAX;
}

/* ---- checks ---- */

static void check_freed(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    sgc_verify(bin->freed == NULL ? sgc_bin_closed(bin) && !sgc_bin_has_freed(bin) :
                                    sgc_bin_nfreed(bin) <= sgc_bin_freed_room(bin));
    for (const struct sgc_freed *f = sgc_bin_freed(bin); f != bin->freed; f++) {
        size_t granule = sgc_granule_number((uintptr_t)f->object);

        sgc_verify(sgc_heap_contains((uintptr_t)f->object) && f->place == sgc_bit_index(granule));
        sgc_verify(!sgc_alloc_bit(granule) && sgc_page_owner(sgc_page_number((uintptr_t)f->object)) == cache->id);
    }
}

/* Where it looks for slots. */
static void check_active(const struct sgc_bin *bin)
{
    size_t dirty = sgc_granule_number((uintptr_t)bin->dirty), first = sgc_page_first_granule(bin->page);

    if (bin->active_epoch != sgc_heap.epoch)
        return;
    if (bin->page == SGC_NO_PAGE)
        sgc_verify(bin->next + bin->size / SGC_GRANULE > dirty);
    else
        sgc_verify(bin->next >= first && bin->next <= first + SGC_PAGE_GRANULES &&
                   (dirty == 0 || (dirty >= first && dirty <= first + sgc_heap.records[bin->page].zero_from)));
}

static void check_bin(const struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    const struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_verify(!SGC_TRACES || ((bin->limit == NULL || bin->cur <= bin->limit) && bin->limit <= bin->end));
    check_freed(cache, bin);
    check_active(bin);
    if (!sgc_bin_has_claimed(bin))      /* the page of a run that is used up may be another's by
                                         * now */
        return;
    sgc_verify(bin->active_epoch == sgc_heap.epoch);
    sgc_verify(bin->page == SGC_NO_PAGE || (bin->page == sgc_bin_claimed_page(bin) && sgc_page_owner(bin->page) == cache->id));
    for (const char *slot = bin->cur; slot < bin->end; slot += bin->size)
        sgc_verify(sgc_alloc_bit(sgc_granule_number((uintptr_t)slot)));
}

void sgc_cache_check(const struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
            check_bin(cache, kind, cls);
            sgc_lists_check(&cache->bin[kind][cls].lists, cache->id);
        }
}
