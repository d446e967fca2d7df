/* SPDX-License-Identifier: MIT */
/*
 * A mutator's cache: everything it needs to allocate and free small objects without a lock.
 *
 * For each kind and size class a bin holds
 *   - a run of claimed slots [cur, limit): their allocation bits are set, but they have not been handed out.  When the world
 *     is stopped the bits of what is left are cleared (sgc_cache_retire), so the marker never sees them;
 *   - slots freed by this thread, last in first out; their allocation bits are clear;
 *   - the active page, from which runs are claimed, and lists of the thread's other pages.
 *
 *   what                     written by                          read by           ordering
 *   cur, limit, nfreed,      its thread, inside a section;       same              program order; stopping
 *   freed, page, next_slot,  the collecting thread while the                       the world
 *   active_epoch, active,    world is stopped
 *   tag
 *   swept                    who swept, relaxed                  who sweeps        a stale value costs one look
 *   head, tail, list_epoch,  under the cache's lock, by its      same              the lock
 *   arrived                  thread or by the service thread
 *   inbox                    any thread: push; its thread:       same              acquire-release RMW on it
 *                            take all (alloc/remote.c)
 *   claimed, freed_bytes     its thread; the collecting thread   anybody           relaxed: figures
 *                            while the world is stopped
 *
 * Caches are never unmapped: a record may be used again by another thread, so that a late push into an
 * inbox always meets an inbox.
 */
#ifndef SGC_ALLOC_CACHE_H
#define SGC_ALLOC_CACHE_H

#include "alloc/page.h"
#include "platform/lock.h"

enum {
    SGC_CACHES_MAX = 32768,
    SGC_FREED_MAX = 64,             /* slots a bin keeps for reuse */
    SGC_CLAIM_BYTES = 1024,         /* a run is claimed and zeroed in pieces of about this size */
};

/* The lists of a bin.  Todo: pages not swept since the last cycle.  Usable: swept, have free slots.
 * Done: full, or the active page. */
enum sgc_page_list { SGC_LIST_TODO, SGC_LIST_USABLE, SGC_LIST_DONE, SGC_LISTS };

struct sgc_page_lists {
    uint32_t head[SGC_LISTS];
    uint32_t tail[SGC_LISTS];
    uint32_t epoch;                 /* the cycle that `done` and `usable` are of */
};

struct sgc_bin {
    char *cur, *limit;
    uint32_t size;                  /* bytes an object; 0: never used */
    uint32_t nfreed;
    uint32_t page;                  /* the active page, valid in active_epoch only */
    uint32_t next_slot;             /* slots below have been looked at */
    uint32_t active_epoch;
    struct sgc_page_lists lists;
};

struct sgc_cache {
    struct sgc_section section;     /* first: a section is a cache is a mutator */
    uintptr_t tag;                  /* of pages that are ours and swept: see sgc_tag */
    uint32_t id;                    /* owner number, from 1 */
    uint32_t freed_max;             /* SGC_FREED_MAX, or 0 under torture */
    uint32_t claim_bytes;           /* SGC_CLAIM_BYTES, or 0 under torture: slot by slot */
    uint32_t freeing;               /* page of a remote free that is under way: see sgc_cache_repair */
    sgc_aw_t claimed;               /* bytes claimed since this was last taken over */
    sgc_aw_t freed_bytes;           /* bytes freed explicitly, likewise */
    struct sgc_lock lock;
    sgc_aw_t inbox;
    uint32_t arrived;               /* pages taken out of the inbox, to be looked at */
    sgc_a32_t swept;                /* epoch in which nothing of this cache was left to sweep */
    uint64_t active[SGC_KINDS][2];  /* bins that hold slots: a bit each */
    struct sgc_bin bin[SGC_KINDS][SGC_CLASSES_MAX];
    void *freed[SGC_KINDS][SGC_CLASSES_MAX][SGC_FREED_MAX];
};

/* The calling thread's cache; NULL while it is not registered. */
extern _Thread_local struct sgc_cache *sgc_self __attribute__((tls_model("initial-exec")));

/* By owner number; entries are never taken away.  Written under the registry's lock, read with
 * acquire.  The table itself is made by the first sgc_cache_open. */
extern sgc_aw_t *sgc_cache_table;
extern sgc_a32_t sgc_cache_count;           /* highest number given out + 1 */

/* Gives the (zeroed) cache a number, or prepares a used one for a new thread.  False when numbers
 * run out.  Under the registry's lock. */
bool sgc_cache_open(struct sgc_cache *cache, bool torture);

/* Its thread ends: slots go back, pages to the orphans.  By its thread, outside sections, or by the
 * only thread in the child of a fork. */
void sgc_cache_close(struct sgc_cache *cache, struct sgc_section *self);

/* Gives up claimed and cached slots.  World stopped, or by its own thread in a section. */
void sgc_cache_retire(struct sgc_cache *cache);

/* A section of its thread was left half way: gives slots up and completes a remote free.  By its thread. */
void sgc_cache_repair(struct sgc_cache *cache);

/* Drops half of a bin's freed slots and makes their pages usable.  By its thread, outside sections. */
void sgc_cache_flush(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* A page of ours has free slots again: see that it is found.  Under the cache's lock. */
void sgc_cache_page_usable(struct sgc_cache *cache, uint32_t page);

/* Looks at some of the pages in which other threads freed objects of ours.  True when there are more.
 * Under the cache's lock. */
bool sgc_cache_drain(struct sgc_cache *cache);

/* After a cycle: pages swept in an older epoch are to be swept again.  Under the lists' lock. */
void sgc_lists_renew(struct sgc_page_lists *lists);
void sgc_list_push(struct sgc_page_lists *lists, enum sgc_page_list list, uint32_t page);
void sgc_list_remove(struct sgc_page_lists *lists, uint32_t page);
void sgc_list_move(struct sgc_page_lists *lists, enum sgc_page_list to, uint32_t page);
enum sgc_page_list sgc_list_of(const struct sgc_page_lists *lists, uint32_t page);
void sgc_lists_check(const struct sgc_page_lists *lists, uint32_t owner);

/* Panics on a contradiction.  World stopped, or by its own thread in a section. */
void sgc_cache_check(const struct sgc_cache *cache);

static inline struct sgc_cache *sgc_cache_of(uint32_t id)
{
    return (struct sgc_cache *)sgc_aw_load_acq(&sgc_cache_table[id]);
}

/* Adds to a counter that only the calling thread writes. */
static inline void sgc_count_add(sgc_aw_t *count, size_t n)
{
    sgc_aw_store(count, sgc_aw_load(count) + n);
}

/* Before the bin gets its slots: in an abandoned section (platform/section.h) a bin with slots that is not
 * marked would keep them over a cycle, and hand them out twice. */
static inline void sgc_bin_mark_active(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    cache->active[kind][cls / 64] |= UINT64_C(1) << (cls % 64);
    sgc_compiler_barrier();
}

#endif
