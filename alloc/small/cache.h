/* SPDX-License-Identifier: MIT */
/*
 * A mutator's cache: everything it needs to allocate and free small objects without a lock.
 *
 * For each kind and size class a bin holds
 *   - a run of claimed slots [cur, end): their allocation bits are set, but they have not been
 *     handed out.  Those in [cur, limit) are ready for that.  When the world is stopped the bits of
 *     what is left are cleared (sgc_cache_retire), so the marker never sees them;
 *   - slots freed by this thread, last in first out, in an array beside the heap; their allocation
 *     bits are clear;
 *   - the active page, from which runs are claimed, the pages that are to be active next, and lists
 *     of all.
 *
 *   what                     written by                          read by           ordering
 *   cur, limit, end, dirty,  its thread, inside a section;       same              program order; stopping
 *   freed, freed_full, page, the collecting thread while the                       the world
 *   active_epoch, next,      world is stopped
 *   active, next_ready,
 *   ready_end, ready, taken,
 *   shown
 *   tag, free_tag, counted
 *   freed_first, array,      its thread, under the cache's lock  same              program order; stopping
 *   array_end                                                                      the world
 *   unbacked, unbacked_bytes its thread, inside a section or not same              program order
 *   swept                    who swept                           who sweeps        release; acquire: what was swept
 *                                                                                  is expected by the pool, or in it
 *   head, tail, list_epoch,  under the cache's lock, by its      same              the lock
 *   arrived, delivered       thread or by the service thread
 *   inbox                    any thread: push; its thread:       same              acquire-release RMW on it
 *                            take all (alloc/small/remote_free.c)
 *   claimed, freed_bytes     its thread; the collecting thread   anybody           release; acquire: who knows what was
 *                            while the world is stopped                            freed knows that it was allocated
 *   unused                   the same                            anybody           relaxed: a figure
 *   memory                   under the registry's lock           same              the lock
 *   claimed_counted,         the same                            same              program order; stopping the world
 *   freed_counted
 *
 * Caches are never unmapped: a record may be used again by another thread, so that a late push into
 * an inbox always meets an inbox.
 */
#ifndef SGC_ALLOC_SMALL_CACHE_H
#define SGC_ALLOC_SMALL_CACHE_H

#include <stddef.h>

#include "alloc/pages/page_lists.h"
#include "platform/section/lock.h"
#include "platform/stretch.h"

enum {
    SGC_CACHES_MAX = SGC_ORPHANS,   /* each has an owner number */
    SGC_CLAIM_BYTES = 16384,        /* a run is claimed in pieces of about this size, */
    SGC_ZERO_BYTES = 4096,          /* and zeroed in pieces of about this, or an object */
    SGC_READY_MAX = 7,              /* pages made ready at a time */
};

/* A freed slot that waits to be handed out again.  Kept beside the heap: whatever the program
 * writes to what it has freed, or past the end of an object, it meets nothing of ours. */
struct sgc_freed {
    void *object;
    size_t place;                   /* of its allocation bit: sgc_bit_index */
};

/* The first line is all that the common paths touch.  The freed slots at hand are an array that
 * ends at `freed`.  Of where it begins, and of where it has no more room, the low halves of the
 * addresses are kept, which tell any two places of an array apart.  A bin that is inactive, or
 * whose cache keeps no freed slots, has none and no room: the common path of freeing finds it
 * closed.  A bin never used is all zero: no memory is spent on it. */
struct sgc_bin {
    _Alignas(64) char *cur;
    union {
        char *limit;
        size_t bound;               /* of a plain malloc, which claims no runs: freed slots that it
                                     * keeps, at most; see sgc_bin_bound */
    };
    struct sgc_freed *freed;
    char *end;                      /* of the claimed run; from limit on it is not zeroed yet */
    char *dirty; /* from here on memory was never used: nothing to zero, nothing to fetch; in the active page,
                                       or the heap's beginning */
    uint32_t size;                  /* bytes per object; 0: never used */
    uint32_t freed_first, freed_full;
    uint32_t page;                  /* the active page, valid in active_epoch only */
    size_t next;                    /* granule of the heap: the active page's slots below have been
                                     * looked at */
    uint32_t active_epoch;          /* that the active page, the ones ready and `taken` are of */
    struct sgc_page_lists lists;
    uint32_t ready[SGC_READY_MAX]; /* pages to become active next, [next_ready, ready_end) of them;
                                    * on the lists as done */
    uint8_t next_ready, ready_end;
    uint8_t taken;                  /* pages made ready so far */
    uint8_t shown;                  /* need, by the short runs that it took of pages without owner
                                     * (alloc/small/orphan.h) */
};
_Static_assert(sizeof(struct sgc_bin) == 128 && SGC_READY_MAX <= UINT8_MAX, "no line for nothing, and room to count");
_Static_assert(offsetof(struct sgc_bin, active_epoch) == 64, "the common paths touch one line");

/* Samples of what the thread allocates (alloc/small/sampling.h).  All zero: none are taken. */
struct sgc_sampling {
    size_t rate;                    /* a point in so many bytes; 0: none */
    size_t at;                      /* of the next point: when `claimed` is so much, but for what
                                     * was claimed and is not ready yet */
    bool taking;                    /* what the slow way hands out now may be a sample, */
    void *sampled;                  /* and this was */
    uint64_t random;
    uint64_t pending[SGC_KINDS][2]; /* bins that have a sample to come: a bit each */
};

enum { SGC_UNPOLLED_MAX = SGC_PAGE / 4 };

/* In place of the first page in an inbox. */
#define SGC_INBOX_EMPTY ((uintptr_t)SGC_NO_PAGE)
#define SGC_INBOX_CLOSED UINTPTR_MAX

/* Reasons why a page's objects are not freed the common way: the page names a bin that is never
 * open.  Each reason outweighs those that follow it. */
enum sgc_watch {
    SGC_WATCH_REGISTERED,           /* something is registered about an object: until the page has
                                     * none any more */
    SGC_WATCH_DATED,                /* a layer on top keeps some objects of the page: until a stop
                                     * finds that it does not */
    SGC_WATCH_DATED_HERE,           /* the same, and only the page's owner has told it to: until the
                                     * owner finds that */
    SGC_WATCH_UNCOLLECTABLE,        /* they are uncollectable, and that is all */
    SGC_WATCHES
};

struct sgc_cache {
    struct sgc_section section;     /* first: a section is a cache */
    uintptr_t free_tag;             /* the same for the common path of freeing: see
                                     * sgc_cache_set_tag */
    uintptr_t tag;                  /* of pages that are ours and swept: see sgc_tag */
    uint32_t id;                    /* owner number, from 1 */
    bool page_taken;                /* a page, since the heap's size was last looked at */
    bool keeps_freed;               /* for reuse; not under torture, nor when freed slots are
                                     * poisoned, or samples are taken */
    uint16_t claim_bytes;           /* SGC_CLAIM_BYTES, or 0 under torture: slot by slot */
    uint32_t max_pages;            /* made ready at a time: SGC_READY_MAX, or 1 under torture */
    uint32_t freeing;               /* page of a remote free that is under way: see
                                     * sgc_cache_repair */
    char *unbacked;                 /* claimed last, new, and about to be used as a whole: so many
                                     * bytes */
    uint32_t unbacked_bytes;
    uint32_t delivered;             /* pages in which others have freed something, since they were
                                     * looked through */
    sgc_aw_t claimed;               /* bytes that threads with this cache have ever claimed, */
    sgc_aw_t freed_bytes;           /* and freed explicitly */
    size_t claimed_counted, freed_counted;  /* so much of them is in the sums of
                                             * gc/pacing/counts.h */
    size_t unpolled;                /* so much may be claimed beyond claimed_counted before anybody
                                     * looks whether something is due */
    struct sgc_lock *lock;          /* in a table of those of all; NULL: never
                                     * opened */
    sgc_aw_t inbox;
    uint32_t arrived;               /* pages taken out of the inbox, to be looked at */
    sgc_a32_t swept;                /* epoch in which nothing of this cache was left to sweep */
    size_t counted;                 /* bytes of freed slots at hand that are in freed_bytes
                                     * already */
    char *array, *array_end;        /* memory for arrays of freed slots, not used yet:
                                     * alloc/small/freed.c */
    sgc_aw_t unused;                /* bytes claimed and not handed out when that was last looked
                                     * at */
    uint64_t active[SGC_KINDS][2];  /* bins that hold slots: a bit each */
    struct sgc_sampling sampling;
    struct sgc_stretch memory;      /* with the bins of kinds that there are at its end; no start:
                                     * the whole cache is there */
    _Alignas(128)                   /* as the bins behind it */
    struct sgc_bin watched[SGC_WATCHES];    /* for the bins of pages where the common path must not
                                             * free; empty and closed */
    struct sgc_bin bin[SGC_KINDS][SGC_CLASSES_MAX];
};

_Static_assert(SGC_CLAIM_BYTES <= UINT16_MAX, "claim_bytes holds it");
_Static_assert(offsetof(struct sgc_cache, bin) % sizeof(struct sgc_bin) == 0, "a bin is found by one addition less");

/* How many are at hand. */
static inline uint32_t sgc_bin_nfreed(const struct sgc_bin *bin)
{
    return ((uint32_t)(uintptr_t)bin->freed - bin->freed_first) / (uint32_t)sizeof(struct sgc_freed);
}

__attribute__((always_inline))
static inline bool sgc_bin_has_freed(const struct sgc_bin *bin)
{
    return (uint32_t)(uintptr_t)bin->freed != bin->freed_first;
}

enum { SGC_BOUND_BYTES = 65536, SGC_BOUND_SLOTS = 8 };

/* How many freed slots a bin may keep at hand.  Where nothing marks, the free that finds so many
 * looks for empty pages (alloc/release.h): a share of what lived in the bin's pages at the last
 * look, and at least 64 KB or a few slots. */
static inline size_t sgc_bin_bound(const struct sgc_bin *bin)
{
    size_t floor;

    if (SGC_TRACES)
        return SIZE_MAX;
    sgc_assert(bin->size != 0);
    floor = SGC_BOUND_BYTES / bin->size > SGC_BOUND_SLOTS ? SGC_BOUND_BYTES / bin->size : SGC_BOUND_SLOTS;
    return bin->bound > floor ? bin->bound : floor;
}

/* Is there no room for one more freed slot? */
__attribute__((always_inline))
static inline bool sgc_bin_closed(const struct sgc_bin *bin)
{
    return (uint32_t)(uintptr_t)bin->freed == bin->freed_full;
}

struct sgc_freed_array {
    uint32_t slots;                 /* how many have room */
    _Alignas(sizeof(struct sgc_freed)) struct sgc_freed of[];
};
_Static_assert(sizeof(struct sgc_freed_array) <= sizeof(struct sgc_freed), "the head costs one slot");
enum { SGC_FREED_ARRAY_LARGE = 65536 };     /* bytes from which on it is memory of its own */

static inline size_t sgc_freed_array_bytes(const struct sgc_freed_array *array)
{
    return (array->slots + 1) * sizeof(struct sgc_freed);
}

/* Those at hand, the last freed last.  As numbers, since a bin may have no array. */
static inline struct sgc_freed *sgc_bin_freed(const struct sgc_bin *bin)
{
    return (struct sgc_freed *)((uintptr_t)bin->freed - sgc_bin_nfreed(bin) * sizeof *bin->freed);
}

/* Its array; NULL: it has none yet. */
static inline struct sgc_freed_array *sgc_bin_freed_array(const struct sgc_bin *bin)
{
    char *first = (char *)sgc_bin_freed(bin);

    return first == NULL ? NULL : (struct sgc_freed_array *)(void *)(first - offsetof(struct sgc_freed_array, of));
}

/* How many that has room for. */
static inline uint32_t sgc_bin_freed_room(const struct sgc_bin *bin)
{
    const struct sgc_freed_array *array = sgc_bin_freed_array(bin);

    return array == NULL ? 0 : array->slots;
}

/* Has it slots that are claimed and not handed out?  And where they are: in the active page, or, if
 * there is none, in one of those that no thread owned when they were claimed. */
static inline bool sgc_bin_has_claimed(const struct sgc_bin *bin)
{
    return bin->cur < bin->end;
}

static inline uint32_t sgc_bin_claimed_page(const struct sgc_bin *bin)
{
    sgc_assert(sgc_bin_has_claimed(bin));
    return sgc_page_number((uintptr_t)bin->cur);
}

/* Do the slots, the freed ones and the pages to come agree?  A claim that was left half way has a
 * run that is used up, and no end.  By its thread in a section, or world stopped. */
static inline bool sgc_bin_ok(const struct sgc_bin *bin)
{
    return (!SGC_TRACES || bin->limit == NULL || bin->cur <= bin->limit) &&
           (!SGC_TRACES || bin->limit <= bin->end || (bin->end == NULL && bin->cur == bin->limit)) &&
           sgc_bin_nfreed(bin) <= (bin->freed_full - bin->freed_first) / sizeof(struct sgc_freed) &&
           bin->next_ready <= bin->ready_end && bin->ready_end <= SGC_READY_MAX;
}

/* Has it been opened?  By its thread, or where no thread can open it again. */
static inline bool sgc_cache_ok(const struct sgc_cache *cache)
{
    return cache->id != SGC_NO_OWNER && cache->id < SGC_CACHES_MAX && cache->max_pages >= 1 &&
           cache->max_pages <= SGC_READY_MAX && cache->claim_bytes <= SGC_CLAIM_BYTES;
}

/* Where the closed bin is that a page watched for this reason names, in bytes from the cache's
 * start. */
static inline uint32_t sgc_bin_watched(enum sgc_watch why)
{
    return (uint32_t)(offsetof(struct sgc_cache, watched) + why * sizeof(struct sgc_bin));
}

/* The calling thread's cache; NULL while it is not registered. */
SGC_INNER _Thread_local struct sgc_cache *sgc_self __attribute__((tls_model("initial-exec")));

/* The calling thread's cache for the common paths: while the thread is not registered, one that has
 * no slots and owns no pages, shared by all such threads, so that the common paths need not test
 * for it. */
SGC_INNER _Thread_local struct sgc_cache *sgc_fast_cache __attribute__((tls_model("initial-exec")));

/* Makes a cache the calling thread's; NULL: it has none. */
void sgc_cache_use(struct sgc_cache *cache);

/* Where the bin for a request of up to SGC_FAST_MAX bytes is within its kind, in bytes. */
SGC_INNER uint16_t sgc_fast_bins[SGC_FAST_MAX + 1];

/* The slot's size for such a request. */
static inline size_t sgc_fast_bytes(size_t request)
{
    return sgc_class_bytes(sgc_fast_bins[request] / (uint32_t)sizeof(struct sgc_bin));
}

/* By owner number; entries are never taken away.  Written under the registry's lock, read with
 * acquire.  The table itself is made by the first sgc_cache_open. */
SGC_INNER sgc_aw_t *sgc_cache_table;
SGC_INNER sgc_a32_t sgc_cache_count;           /* highest number given out + 1 */

/* Its pages have the tag from now on.  While a mark goes on beside the program no page is one that
 * the common path of freeing takes, so that all frees are noted.  By its thread in a section, world
 * stopped, or while no thread can stop the world. */
static inline void sgc_cache_set_tag(struct sgc_cache *cache, uintptr_t tag)
{
    cache->tag = tag;
    cache->free_tag = sgc_heap_is_marking() ? SGC_TAG_OF_NONE : tag;
}

/* Memory for a record, zeroed, that ends with a cache, which lies at `offset`.  Of the bins only
 * those get memory whose kinds there are, when the cache is opened.  NULL: there is none. */
void *sgc_cache_record(size_t bytes, size_t align, size_t offset);

/* For a fork: takes the locks of all caches, one after the other, since no thread ever holds two;
 * gives them back; or makes them free in the child.  Under the registry's lock, or in the child,
 * without a section. */
void sgc_caches_lock(void);
void sgc_caches_unlock(void);
void sgc_caches_lock_reset(void);

/* Gives the (zeroed) cache a number, or prepares a used one for a new thread.  False when numbers
 * or memory run out.  Under the registry's lock, so that the world is not stopped meanwhile. */
bool sgc_cache_open(struct sgc_cache *cache, bool torture);

/* A new kind, of which each cache has bins; SGC_KINDS if there can be no more, or the system has no
 * memory for these.  Under the registry's lock. */
uint32_t sgc_caches_make_kind(const struct sgc_kind *kind);

/* Gives up claimed and cached slots.  Returns the bytes of those that were never handed out.  World
 * stopped, or by its own thread in a section, when it has no run in a page of another's
 * (sgc_cache_leave_runs). */
size_t sgc_cache_retire(struct sgc_cache *cache);

/* For a look at the heap: slots that are claimed and not handed out are made to look free, and
 * taken back afterwards.  In between nobody allocates or frees.  World stopped. */
void sgc_cache_hide_claimed(struct sgc_cache *cache);
void sgc_cache_take_back(struct sgc_cache *cache);

/* Brings freed_bytes up to date: slots at hand count as freed, and no more once they are handed out
 * again; `unused`, too.  World stopped, or by its own thread in a section. */
void sgc_cache_count_freed(struct sgc_cache *cache);

/* From now on the cache keeps no freed slots.  World stopped, or by its own thread in a section. */
static inline void sgc_cache_keep_none(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    sgc_cache_retire(cache);
    cache->keeps_freed = false;
}

/* A page of ours has free slots again: see that it is found.  Under the cache's lock. */
void sgc_cache_page_usable(struct sgc_cache *cache, uint32_t page);

/* The bin's slots are given up as after a cycle, and it knows of no page: all are on its lists,
 * where those with free slots are to be offered.  By its own thread, under the cache's lock. */
void sgc_bin_give_up(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Is it the active page, or one that is to be active next?  By its own thread. */
bool sgc_bin_expects(const struct sgc_bin *bin, uint32_t page);

/* Panics on a contradiction.  World stopped, or by its own thread in a section. */
void sgc_cache_check(const struct sgc_cache *cache);

static inline struct sgc_cache *sgc_cache_of(uint32_t id)
{
    sgc_assert(id != SGC_NO_OWNER && id < sgc_a32_load(&sgc_cache_count));
    return (struct sgc_cache *)sgc_aw_load_acq(&sgc_cache_table[id]);
}

/* The number of the thread that the section is of. */
static inline uint32_t sgc_section_owner(const struct sgc_section *self)
{
    return self != NULL ? ((const struct sgc_cache *)self)->id : SGC_NO_OWNER;
}

/* Adds to a counter that only the calling thread writes. */
static inline void sgc_count_add(sgc_aw_t *count, size_t n)
{
    sgc_aw_store_rel(count, sgc_aw_load(count) + n);
}

/* In bytes from the cache's start. */
static inline uint32_t sgc_bin_offset(uint32_t kind, uint32_t cls)
{
    return (uint32_t)(offsetof(struct sgc_cache, bin) + (kind * SGC_CLASSES_MAX + cls) * sizeof(struct sgc_bin));
}

/* Where freeing looks for the bin of the page's objects. */
static inline uint32_t sgc_bin_of_page(uint32_t kind, uint32_t cls)
{
    return sgc_kind_uncollectable(kind) ? sgc_bin_watched(SGC_WATCH_UNCOLLECTABLE) : sgc_bin_offset(kind, cls);
}

/* From now on freeing any of the page's objects takes the slow way.  By any thread that holds an
 * object of the page, in a section; DATED_HERE: by the page's owner. */
void sgc_page_watch(uint32_t page, enum sgc_watch why);

/* That reason, and no other, is no more.  DATED: world stopped.  DATED_HERE: by the owner, in a
 * section. */
static inline void sgc_page_unwatch(uint32_t page, enum sgc_watch why)
{
    struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && (why == SGC_WATCH_DATED || why == SGC_WATCH_DATED_HERE));
    sgc_a32_cas(&d->bin, sgc_bin_watched(why), sgc_bin_of_page(d->kind, d->cls));
}

static inline bool sgc_page_is_watched(const struct sgc_page *d, enum sgc_watch why)
{
    return sgc_a32_load(&d->bin) <= sgc_bin_watched(why);
}

/* Something is registered about an object of the page. */
static inline void sgc_page_free_slowly(uint32_t page)
{
    sgc_page_watch(page, SGC_WATCH_REGISTERED);
}

/* Makes the current epoch the bin's: the bin forgets the pages that it knew in an older one.  Under
 * the cache's lock. */
void sgc_bin_renew(struct sgc_bin *bin);

/* A page that is on the lists as done becomes active some time in this epoch, or is found by the
 * next sweep.  Under the cache's lock. */
void sgc_bin_make_ready(struct sgc_bin *bin, uint32_t page);

static inline struct sgc_bin *sgc_bin_at(struct sgc_cache *cache, uint32_t offset)
{
    return (struct sgc_bin *)(void *)((char *)cache + offset);
}


#endif
