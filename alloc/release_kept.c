/* SPDX-License-Identifier: MIT */
/*
 * When bins give up what they keep: see alloc/release.h.
 *
 * The bytes freed before a look bound its cost: a bin is left alone if its pages are many more than
 * its freed slots would fill; a look at freed slots in vain is repeated only when a fourth more is
 * at hand; and the looks at all bins become rarer while they are in vain.
 *
 *   what       written by                 read by   ordering
 *   schedules  the cache's thread, each   same      program order; a new thread of the number begins with what the old one
 *              its own                              left, by the registry's lock: these are only hints
 */
#include "alloc/release.h"

#include "alloc/pages/pool.h"
#include "alloc/pages/homes.h"

enum {
    KEPT_MIN = 4,                   /* pages' worth at hand; less is nothing to look for, */
    KEPT_BIN = SGC_PAGE / 2,        /* nor are so many bytes of a bin */
    DENSE = 4,                      /* at least a fourth of what the pages of a bin hold is at
                                     * hand, */
    EXPECTED_PAGES = 16,            /* not counting so many, */
    GROWN = 4,                      /* and a fourth more than at the last look */
    FOUND_MANY = 4,                 /* pages for which a look at all bins was worth while */
    PAUSE_MIN = 2, PAUSE_MAX = 16,  /* demands for pages between two such looks */
    DELIVERED_MANY = 16,            /* pages in which others have freed something: unless the last look was in vain they
                                       call for one */
};

/* ---- which bin ---- */

struct kept {
    size_t bytes;                   /* of freed slots at hand */
    uint32_t kind, cls;
};

/* Of the bins with more than `above` bytes at hand, `smallest` is the one with the fewest; all that
 * they have. */
static size_t kept_above(const struct sgc_cache *cache, uint32_t kind, size_t above, struct kept *smallest)
{
    size_t all = 0;

    for (uint32_t half = 0; half < 2; half++)
        for (uint64_t bins = cache->active[kind][half]; bins != 0; bins &= bins - 1) {
            uint32_t cls = half * 64 + (uint32_t)__builtin_ctzll(bins);
            const struct sgc_bin *bin = &cache->bin[kind][cls];
            size_t bytes = (size_t)sgc_bin_nfreed(bin) * bin->size;

            if (bytes <= above)
                continue;
            all += bytes;
            if (bytes < smallest->bytes)
                *smallest = (struct kept){ bytes, kind, cls };
        }
    return all;
}

static size_t kept_of_all(const struct sgc_cache *cache, size_t above, struct kept *smallest)
{
    size_t all = 0;

    *smallest = (struct kept){ .bytes = SIZE_MAX };
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        all += kept_above(cache, kind, above, smallest);
    return all;
}

/* Unless it has many pages, and few of them are likely to be empty; so many may be, besides those
 * whose slots are at hand. */
static uint32_t try_bin(struct sgc_cache *cache, const struct kept *kept, uint32_t others)
{
    size_t likely = kept->bytes / SGC_PAGE + others;

    if (sgc_emptied_more_pages(cache, kept->kind, kept->cls, likely * DENSE + EXPECTED_PAGES))
        return 0;
    return sgc_emptied_give_up(cache, kept->kind, kept->cls);
}

/* ---- giving up ---- */

/* When a cache goes through its bins again. */
struct schedule {
    uint32_t kept;                  /* pages' worth of freed slots that must be at hand */
    uint16_t wait, pause;           /* demands for pages until all bins are looked at; how many it
                                     * waits each time */
};

SGC_STATE static struct schedule *schedules;

void sgc_kept_init(void)
{
    schedules = sgc_owner_table_make(sizeof *schedules);
}

/* Bins that keep many freed slots.  Those with the fewest come first: if they are enough, the
 * others are left in peace.  One that did not give them up is passed over, with those that have as
 * many. */
static uint32_t give_up_kept(struct sgc_cache *cache, struct schedule *schedule, uint32_t want)
{
    struct kept smallest;
    size_t above = KEPT_BIN, kept = kept_of_all(cache, above, &smallest) / SGC_PAGE;
    uint32_t again = (uint32_t)(kept + kept / GROWN + KEPT_MIN), found = 0;

    if (schedule->kept > again)
        schedule->kept = again;
    if (kept < KEPT_MIN || kept < schedule->kept)
        return 0;
    while (found < want && smallest.bytes != SIZE_MAX) {
        found += try_bin(cache, &smallest, 0);
        if (sgc_bin_nfreed(&cache->bin[smallest.kind][smallest.cls]) != 0)
            above = smallest.bytes;
        kept_of_all(cache, above, &smallest);
    }
    schedule->kept = found == 0 ? again : 0;
    return found;
}

/* The lowest bits of a word. */
static inline uintptr_t low_bits(size_t bits)
{
    return bits >= 64 ? UINTPTR_MAX : ((uintptr_t)1 << bits) - 1;
}

/* Those of the word of granules from `at` on that are of the claimed run. */
static uintptr_t run_bits(const struct sgc_bin *bin, size_t at)
{
    size_t from = sgc_granule_number((uintptr_t)bin->cur), to = sgc_granule_number((uintptr_t)bin->end);

    if (bin->cur >= bin->end || to <= at || from >= at + 64)
        return 0;
    return low_bits(to - at) & ~low_bits(from <= at ? 0 : from - at);
}

/* Is nothing allocated in the active page but the run? */
static bool has_run_only(const struct sgc_bin *bin)
{
    size_t first = sgc_page_first_granule(bin->page);

    for (size_t at = first; at < first + SGC_PAGE_GRANULES; at += 64)
        if ((sgc_aw_load(sgc_slot_word(at)) & ~run_bits(bin, at)) != 0)
            return false;
    return true;
}

static bool is_promising(struct sgc_cache *cache, const struct sgc_bin *bin)
{
    bool promising;

    sgc_lock(cache->lock, &cache->section);
    promising = (bin->active_epoch == sgc_heap.epoch && bin->page != SGC_NO_PAGE && has_run_only(bin)) ||
                (cache->delivered != 0 && bin->lists.head[SGC_LIST_USABLE] != SGC_NO_PAGE);
    sgc_unlock(cache->lock, &cache->section);
    return promising;
}

/* Those that have slots, or a run; if other threads have freed something, all, since it may be long
 * ago that they had. */
static uint64_t bins_of(const struct sgc_cache *cache, uint32_t kind, uint32_t half, uint32_t delivered)
{
    uint32_t count = sgc_size_classes.count > half * 64 ? sgc_size_classes.count - half * 64 : 0;

    sgc_assert(half < 2 && sgc_kind_ok(kind));
    return delivered == 0 ? cache->active[kind][half] : low_bits(count);
}

static uint32_t give_up_kind(struct sgc_cache *cache, uint32_t kind, uint32_t delivered)
{
    uint32_t found = 0;

    for (uint32_t half = 0; half < 2; half++)
        for (uint64_t bins = bins_of(cache, kind, half, delivered); bins != 0; bins &= bins - 1) {
            uint32_t cls = half * 64 + (uint32_t)__builtin_ctzll(bins);
            const struct sgc_bin *bin = &cache->bin[kind][cls];
            struct kept kept = { (size_t)sgc_bin_nfreed(bin) * bin->size, kind, cls };

            if (bin->size != 0 && is_promising(cache, bin))
                found += try_bin(cache, &kept, delivered);
        }
    return found;
}

/* After a look in vain the next one comes later. */
static void pause_now(struct schedule *schedule, bool in_vain)
{
    if (!in_vain)
        schedule->pause = PAUSE_MIN;
    else if (schedule->pause < PAUSE_MAX)
        schedule->pause *= 2;
    schedule->wait = schedule->pause;
}

/* The first one is not at once, unless others have freed something in many pages. */
static bool is_time(struct schedule *schedule)
{
    if (schedule->pause == 0)
        schedule->wait = schedule->pause = PAUSE_MAX / 2;
    return schedule->wait == 0 || --schedule->wait == 0;
}

/* All bins that had a page in this epoch: what other threads have freed, and active pages in which
 * nothing is left. */
static uint32_t give_up_all(struct sgc_cache *cache, struct schedule *schedule)
{
    uint32_t found = 0, delivered = cache->delivered;

    if (!is_time(schedule) && (delivered < DELIVERED_MANY || schedule->pause == PAUSE_MAX))
        return 0;
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        found += give_up_kind(cache, kind, delivered);
    cache->delivered = 0;
    pause_now(schedule, found < FOUND_MANY);
    return found;
}

uint32_t sgc_kept_give_up(struct sgc_cache *cache, uint32_t want)
{
    struct schedule *schedule = &schedules[cache->id];
    uint32_t found;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (schedules == NULL || sgc_heap_is_marking())
        return 0;
    sgc_guard_enter(&cache->section);
    found = give_up_kept(cache, schedule, want);
    if (found < want)
        found += give_up_all(cache, schedule);
    sgc_guard_leave(&cache->section);
    return found;
}
