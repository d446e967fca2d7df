/* SPDX-License-Identifier: MIT */
/*
 * The life of a cache: opening, giving slots up, closing.  Who may run what: alloc/cache.h.
 */
#include "alloc/cache.h"

#include <string.h>

#include "alloc/orphan.h"
#include "alloc/policy.h"
#include "alloc/remote.h"
#include "alloc/sweep.h"
#include "alloc/verify.h"

_Thread_local struct sgc_cache *sgc_self __attribute__((tls_model("initial-exec")));
SGC_STATE sgc_aw_t *sgc_cache_table;
SGC_STATE sgc_a32_t sgc_cache_count;

enum { LEAVE_STEP = 32 };       /* pages left behind at a time under the locks */

/* Address space only: an OS page of it is used for every 512 threads. */
static bool make_table(void)
{
    sgc_cache_table = sgc_mem_obtain(SGC_CACHES_MAX * sizeof *sgc_cache_table);
    return sgc_cache_table != NULL;
}

static bool give_number(struct sgc_cache *cache)
{
    uint32_t id = sgc_a32_load(&sgc_cache_count);

    if (id == 0)
        id = 1;
    if (id == SGC_CACHES_MAX || (sgc_cache_table == NULL && !make_table()))
        return false;
    cache->id = id;
    cache->lock = (struct sgc_lock)SGC_LOCK_INIT(SGC_RANK_CACHE);
    sgc_aw_store_rel(&sgc_cache_table[id], (uintptr_t)cache);
    sgc_a32_store_rel(&sgc_cache_count, id + 1);
    return true;
}

bool sgc_cache_open(struct sgc_cache *cache, bool torture)
{
    if (cache->id == 0 && !give_number(cache))
        return false;
    cache->freed_max = torture ? 0 : SGC_FREED_MAX;
    cache->claim_bytes = torture ? 0 : SGC_CLAIM_BYTES;
    cache->tag = sgc_tag(cache->id, sgc_heap.epoch);
    sgc_inbox_open(cache);
    return true;
}

/* ---- each active bin ---- */

static void retire_bin(struct sgc_bin *bin)
{
    uintptr_t start = sgc_page_start(bin->page);

    if (bin->cur != NULL && bin->cur < bin->limit) {
        sgc_assert(bin->page != SGC_NO_PAGE);
        for (char *slot = bin->cur; slot < bin->limit; slot += bin->size)
            sgc_alloc_bit_clear(sgc_granule_number((uintptr_t)slot));
        bin->next_slot = (uint32_t)((uintptr_t)bin->cur - start) / bin->size;
    }
    bin->cur = bin->limit = NULL;
    bin->nfreed = 0;
}

void sgc_cache_retire(struct sgc_cache *cache)
{
    for (uint32_t kind = 0; kind < SGC_KINDS; kind++)
        for (uint32_t half = 0; half < 2; half++) {
            uint64_t bins = cache->active[kind][half];

            cache->active[kind][half] = 0;
            for (; bins != 0; bins &= bins - 1)
                retire_bin(&cache->bin[kind][half * 64 + (uint32_t)__builtin_ctzll(bins)]);
        }
}

/* A remote bit must never be set without its page saying so: a slot handed out again would be freed by it.
 * (`queued` may stay set: then the next sweep finds the page instead of the inbox.) */
void sgc_cache_repair(struct sgc_cache *cache)
{
    if (cache->freeing != SGC_NO_PAGE)
        sgc_a8_store_sc(&sgc_heap.pages[cache->freeing].remote, 1);
    cache->freeing = SGC_NO_PAGE;
    sgc_cache_retire(cache);
}

/* ---- pages with free slots ---- */

/* A page not swept yet will be looked at anyway; the active page is looked at again from its start
 * when it comes off the usable list. */
void sgc_cache_page_usable(struct sgc_cache *cache, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_page_lists *lists = &cache->bin[d->kind][d->cls].lists;

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && sgc_page_owner(page) == cache->id);
    sgc_lists_renew(lists);
    if (sgc_list_of(lists, page) == SGC_LIST_DONE)
        sgc_list_move(lists, SGC_LIST_USABLE, page);
}

/* Forgets the older half of a bin's freed slots: they lie free in their pages. */
static uint32_t forget_half(struct sgc_cache *cache, uint32_t kind, uint32_t cls, void **forgotten)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void **freed = cache->freed[kind][cls];
    uint32_t n = (bin->nfreed + 1) / 2;

    memcpy(forgotten, freed, n * sizeof *freed);
    memmove(freed, freed + n, (bin->nfreed - n) * sizeof *freed);
    bin->nfreed -= n;
    return n;
}

void sgc_cache_flush(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    void *forgotten[SGC_FREED_MAX];
    uint32_t n;

    sgc_lock(&cache->lock, &cache->section);
    n = forget_half(cache, kind, cls, forgotten);
    for (uint32_t i = 0; i < n; i++)
        sgc_cache_page_usable(cache, sgc_page_number((uintptr_t)forgotten[i]));
    sgc_unlock(&cache->lock, &cache->section);
}

/* ---- the end ---- */

static void leave_bin(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    bool more;

    do {
        sgc_lock(&cache->lock, &cache->section);
        sgc_lists_renew(&cache->bin[kind][cls].lists);
        more = sgc_orphan_leave(cache, kind, cls, LEAVE_STEP);
        if (!more)
            cache->bin[kind][cls] = (struct sgc_bin){ .size = 0 };
        sgc_unlock(&cache->lock, &cache->section);
    } while (more);
}

static void close_inbox(struct sgc_cache *cache)
{
    bool more;

    do {
        sgc_lock(&cache->lock, &cache->section);
        cache->tag = 0;
        more = sgc_inbox_close_step(cache);
        sgc_unlock(&cache->lock, &cache->section);
    } while (more);
}

void sgc_cache_close(struct sgc_cache *cache, struct sgc_section *self)
{
    sgc_assert(self == &cache->section || !sgc_section_inside(&cache->section));
    sgc_lock(&cache->lock, &cache->section);
    sgc_cache_retire(cache);
    sgc_unlock(&cache->lock, &cache->section);
    for (uint32_t kind = 0; kind < SGC_KINDS; kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            if (cache->bin[kind][cls].size != 0)
                leave_bin(cache, kind, cls);
    close_inbox(cache);
    sgc_policy_owner_ends(cache->id, self);
}

/* ---- checks ---- */

static void check_bin(const struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    const struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_verify(bin->nfreed <= SGC_FREED_MAX);
    sgc_verify((bin->cur == NULL) == (bin->limit == NULL) && bin->cur <= bin->limit);
    for (uint32_t i = 0; i < bin->nfreed; i++)
        sgc_verify(!sgc_alloc_bit(sgc_granule_number((uintptr_t)cache->freed[kind][cls][i])));
    if (bin->cur == bin->limit)         /* the page of a run that is used up may be another's by now */
        return;
    sgc_verify(sgc_page_owner(bin->page) == cache->id && bin->active_epoch == sgc_heap.epoch);
    for (const char *slot = bin->cur; slot < bin->limit; slot += bin->size)
        sgc_verify(sgc_alloc_bit(sgc_granule_number((uintptr_t)slot)));
}

void sgc_cache_check(const struct sgc_cache *cache)
{
    for (uint32_t kind = 0; kind < SGC_KINDS; kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
            check_bin(cache, kind, cls);
            sgc_lists_check(&cache->bin[kind][cls].lists, cache->id);
        }
}
