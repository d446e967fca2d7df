/* SPDX-License-Identifier: MIT */
/*
 * Remote frees and inboxes.  See alloc/small/remote_free.h and doc/design/remote-free.md for the
 * protocol and for why each order suffices.
 */
#include "alloc/small/remote_free.h"

#include "alloc/pages/marks.h"
#include "alloc/pages/dangling.h"

enum { DELIVER_STEP = 64 };         /* pages delivered in one section */

SGC_STATE struct sgc_orphan_inbox sgc_orphan_inbox;

static bool push(sgc_aw_t *inbox, uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    for (;;) {
        uintptr_t head = sgc_aw_load_acq(inbox);

        if (head == SGC_INBOX_CLOSED)
            return false;
        sgc_heap.records[page].inbox_next = (uint32_t)head;
        if (sgc_aw_cas(inbox, head, page))
            return true;
    }
}

static sgc_aw_t *inbox_of(uint32_t owner)
{
    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX);
    return owner == SGC_ORPHANS ? &sgc_orphan_inbox.inbox : &sgc_cache_of(owner)->inbox;
}

/*
 * Sees to it that the page's owner, if any, will look at the page.
 *
 * A freer sets `remote` and then reads the owner; an adopter becomes the owner and then reads
 * `remote`.  One of them must see the other, which takes sequential consistency on these four
 * accesses.
 *
 * `queued` is 1 while the page is in an inbox or on its way there, so the link is never written
 * while in use.  A page that is in nobody's use any more needs no notice, but the owner is read
 * again after `queued` went back to 0: a thread that found it 1 meanwhile relies on us.
 */
static void notify(uint32_t page)
{
    struct sgc_page_record *r = &sgc_heap.records[page];

    sgc_assert(sgc_page_ok(page));
    for (;;) {
        uint32_t owner;

        if (sgc_a32_swap(&r->queued, 1) == 1)
            return;
        sgc_test_point();
        owner = sgc_tag_owner(sgc_aw_load_sc(&sgc_heap.pages[page].tag));
        if (owner != SGC_NO_OWNER && push(inbox_of(owner), page))
            return;
        sgc_a32_swap(&r->queued, 0);
        sgc_test_point();
        if (sgc_tag_owner(sgc_aw_load_sc(&sgc_heap.pages[page].tag)) == SGC_NO_OWNER)
            return;
    }
}

void sgc_remote_tell(uint32_t page)
{
    sgc_test_point();
    sgc_a8_store_sc(&sgc_heap.pages[page].remote, 1);
    sgc_test_point();
    notify(page);
}

/* An owner and another thread that free one object at the same instant both find it allocated.
 * Within an epoch nothing else clears an allocation bit. */
static void report_twice(uint32_t page, size_t w, uintptr_t twice)
{
    if (sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[page].tag)) != sgc_heap.epoch)
        return;
    for (; twice != 0; twice &= twice - 1)
        sgc_error("the object at %p was freed by two threads at once; free it once",
                  sgc_granule_address(w * 64 + (size_t)__builtin_ctzll(twice)));
}

void sgc_page_merge(uint32_t page)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;

    sgc_assert(sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    if (sgc_a8_load_sc(&sgc_heap.pages[page].remote) == 0)
        return;
    sgc_marking_note_freed(page);
    sgc_a8_swap_sc(&sgc_heap.pages[page].remote, 0);
    sgc_test_point();
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++) {
        uintptr_t freed;
        sgc_aw_t *alloc;

        if (sgc_aw_load_sc(&sgc_heap.remote_bits[w]) == 0)
            continue;
        freed = sgc_aw_swap(&sgc_heap.remote_bits[w], 0);
        alloc = sgc_bits_word(w, sgc_heap.alloc_role);
        if (freed & ~sgc_aw_load(alloc))
            report_twice(page, w, freed & ~sgc_aw_load(alloc));
        sgc_dangling_freed_word(w, freed);
        sgc_aw_store_rel(alloc, sgc_aw_load(alloc) & ~freed);
    }
}

static void deliver(struct sgc_cache *cache, uint32_t page)
{
    if (sgc_page_owner(page) == cache->id) {
        sgc_cache_page_usable(cache, page);
        cache->delivered++;
    } else {
        notify(page);
    }
}

/* A page stays queued until it is delivered: its link is ours. */
static uint32_t unlist(uint32_t *arrived)
{
    uint32_t page = *arrived;

    sgc_assert(sgc_page_ok(page) && sgc_a32_load(&sgc_heap.records[page].queued) == 1);
    *arrived = sgc_heap.records[page].inbox_next;
    sgc_a32_swap(&sgc_heap.records[page].queued, 0);
    sgc_test_point();
    return page;
}

static void deliver_some(struct sgc_cache *cache, uint32_t max)
{
    sgc_assert(sgc_lock_taken(cache->lock));
    for (; max > 0 && cache->arrived != SGC_NO_PAGE; max--)
        deliver(cache, unlist(&cache->arrived));
}

/* Of pages that have been adopted meanwhile their owners hear. */
uint32_t sgc_orphan_with_news(void)
{
    struct sgc_orphan_inbox *in = &sgc_orphan_inbox;

    for (uint32_t max = DELIVER_STEP; max > 0; max--) {
        uint32_t page;

        if (in->arrived == SGC_NO_PAGE && sgc_orphans_have_news())
            in->arrived = (uint32_t)sgc_aw_swap(&in->inbox, SGC_INBOX_EMPTY);
        if (in->arrived == SGC_NO_PAGE)
            break;
        page = unlist(&in->arrived);
        if (sgc_page_owner(page) == SGC_ORPHANS)
            return page;
        notify(page);
    }
    return SGC_NO_PAGE;
}

bool sgc_cache_drain(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache) && sgc_aw_load(&cache->inbox) != SGC_INBOX_CLOSED);
    if (cache->arrived == SGC_NO_PAGE && sgc_aw_load(&cache->inbox) != SGC_INBOX_EMPTY)
        cache->arrived = (uint32_t)sgc_aw_swap(&cache->inbox, SGC_INBOX_EMPTY);
    deliver_some(cache, DELIVER_STEP);
    return cache->arrived != SGC_NO_PAGE;
}

/* None of our pages is ours any more, so what is left is passed on.  After the inbox is closed
 * nothing comes any more. */
bool sgc_inbox_close_step(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache) && cache->tag == 0);
    if (cache->arrived == SGC_NO_PAGE && sgc_aw_load(&cache->inbox) != SGC_INBOX_CLOSED)
        cache->arrived = (uint32_t)sgc_aw_swap(&cache->inbox, SGC_INBOX_CLOSED);
    deliver_some(cache, DELIVER_STEP);
    return cache->arrived != SGC_NO_PAGE || sgc_aw_load(&cache->inbox) != SGC_INBOX_CLOSED;
}

/* ---- what a thread leaves behind ---- */

/* The slots leave the bin first. */
void sgc_bin_leave_run(struct sgc_cache *cache, struct sgc_bin *bin)
{
    size_t from, end;
    uint32_t page;

    if (!sgc_bin_has_claimed(bin) || sgc_page_owner(sgc_bin_claimed_page(bin)) == cache->id)
        return;
    page = sgc_bin_claimed_page(bin);
    sgc_assert(sgc_page_ok(page) && bin->size != 0);
    from = sgc_granule_number((uintptr_t)bin->cur);
    end = sgc_granule_number((uintptr_t)bin->end);
    bin->cur = bin->limit = bin->end = NULL;
    sgc_count_add(&cache->freed_bytes, (end - from) * SGC_GRANULE);
    for (; from < end; from += bin->size / SGC_GRANULE)
        sgc_remote_free(page, from);
}

void sgc_cache_leave_runs(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t half = 0; half < 2; half++)
            for (uint64_t bins = cache->active[kind][half]; bins != 0; bins &= bins - 1)
                sgc_bin_leave_run(cache, &cache->bin[kind][half * 64 + (uint32_t)__builtin_ctzll(bins)]);
}

/* A remote bit must never be set without its page saying so: a slot handed out again would be freed
 * by it.  (`queued` may have been set and nothing pushed: then the next sweep finds the page
 * instead of the inbox.) */
void sgc_cache_repair(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache) && (cache->freeing == SGC_NO_PAGE || sgc_page_ok(cache->freeing)));
    if (cache->freeing != SGC_NO_PAGE)
        sgc_remote_tell(cache->freeing);
    cache->freeing = SGC_NO_PAGE;
    sgc_cache_leave_runs(cache);
    sgc_cache_retire(cache);
}
