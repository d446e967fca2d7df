/* SPDX-License-Identifier: MIT */
/*
 * Freeing an object of a page that another thread owns, and pages whose owner changes.
 *
 * The protocol, its proof and who may write what: doc/design/remote-free.md; checked by
 * tests/model/remote.pml.  In short: only the owner writes a page's allocation bits, so that it
 * needs no atomic operation; others set the object's remote bit with one atomic or, which also
 * catches a second free, and the first of them puts the page into its owner's inbox.  A slot is
 * allocated if its allocation bit is set and its remote bit is not.
 */
#ifndef SGC_ALLOC_SMALL_REMOTE_FREE_H
#define SGC_ALLOC_SMALL_REMOTE_FREE_H

#include "alloc/small/cache.h"

/* Remote bits of the page may be set from now on, and its owner, if any, will look at it. */
__attribute__((noinline)) void sgc_remote_tell(uint32_t page);

/* Frees an allocated object (its granule) of a page that we don't own.  False if it has been freed
 * already.  In a section, where there are any.
 *
 * A thread that finds `remote` 0 tells the owner.  One that finds it 1 after it has set the bit is
 * done: nobody has merged since `remote` was set, so the thread that set it has told the owner, or
 * is about to, and the merge to come finds the bit.  All these accesses, and those of the merge
 * (which clears `remote`, then looks for bits), are sequentially consistent: otherwise both threads
 * might miss what the other has written. */
__attribute__((always_inline))
static inline bool sgc_remote_free(uint32_t page, size_t granule)
{
    uintptr_t bit = sgc_bit_mask(granule);

    sgc_assert(sgc_page_ok(page) && granule / SGC_PAGE_GRANULES == page);
    if (sgc_aw_or_sc(sgc_remote_word(granule), bit) & bit)
        return false;
    if (sgc_a8_load_sc(&sgc_heap.pages[page].remote) == 0)
        sgc_remote_tell(page);
    return true;
}

/* Has the object been freed remotely?  The bit tells, where the page says that it has any. */
__attribute__((always_inline))
static inline bool sgc_freed_remotely(const struct sgc_page *d, size_t granule)
{
    return __builtin_expect(sgc_a8_load_acq(&d->remote) != 0, 0) && sgc_remote_bit(granule);
}

/* The owner (or the thread with the lock of an orphan's list) makes remote frees its own. */
void sgc_page_merge(uint32_t page);

/* The inbox of the pages that no thread owns: the thread that holds the orphans' lock takes from
 * it.  It is never closed. */
struct sgc_orphan_inbox {
    sgc_aw_t inbox;
    uint32_t arrived;           /* under the orphans' lock */
};
SGC_INNER struct sgc_orphan_inbox sgc_orphan_inbox;

static inline bool sgc_orphans_have_news(void)
{
    return sgc_aw_load(&sgc_orphan_inbox.inbox) != SGC_INBOX_EMPTY;
}

/* The next orphan in which something was freed; SGC_NO_PAGE: no other is known.  Under the orphans'
 * lock. */
uint32_t sgc_orphan_with_news(void);

/* Frees the rest of the bin's claimed run if it lies in a page that the thread does not own, since
 * only an owner may clear its bits: before the bin gives its slots up while the world runs.  By the
 * cache's thread in a section, or where that runs no more.  The second does so for all bins. */
void sgc_bin_leave_run(struct sgc_cache *cache, struct sgc_bin *bin);
void sgc_cache_leave_runs(struct sgc_cache *cache);

/* A section of its thread was left half way: gives slots up and completes a remote free.  By its
 * thread, under a guard, or where it runs no more. */
void sgc_cache_repair(struct sgc_cache *cache);

/* Looks at some of the pages in which other threads freed objects of ours.  True when there are
 * more.  Under the cache's lock. */
bool sgc_cache_drain(struct sgc_cache *cache);

/* Closes the inbox and passes on the pages in it, a step at a time.  True: call again.  Under the
 * cache's lock. */
bool sgc_inbox_close_step(struct sgc_cache *cache);

#endif
