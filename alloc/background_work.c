/* SPDX-License-Identifier: MIT */
/*
 * Work done ahead of need: sweeping every page of the last cycle, and clearing the bitmap for the
 * next.  On the service thread if the program leaves it time; the collecting thread finishes what is left to clear.
 *
 *   clear.next      arenas given out so far; compare-and-swap gives each arena to one thread
 *   clear.done      arenas cleared; release by each, acquire by who waits for all of them
 *   clear.arenas    how many there are; written with the world stopped
 *   clear.whatever_the_tags_say   likewise, before it
 */
#include "alloc/background_work.h"

#include <limits.h>

#include "alloc/small/orphan.h"
#include "alloc/large/span.h"
#include "alloc/small/sweep.h"

struct clearing {
    sgc_a32_t next, done, arenas;
    sgc_a32_t whatever_the_tags_say;    /* marks were set in this epoch, in swept pages too */
};

SGC_STATE static struct clearing clearing;

/* ---- sweeping ahead ---- */

static bool sweep_class(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t *most,
                        struct sgc_section *self)
{
    struct sgc_page_lists *lists = &cache->bin[kind][cls].lists;
    struct sgc_sweep_step step = { .swept = 1 };

    while (step.swept != 0 && *most > 0) {
        sgc_lock(&cache->lock, self);
        sgc_lists_sweep(lists, sgc_tag(cache->id, sgc_heap.epoch), *most, &step);
        sgc_unlock(&cache->lock, self);
        sgc_sweep_give(&step, cache->id, self);
        *most -= step.swept;
    }
    return step.swept != 0;
}

/* Sizes that were never used have no pages. */
static uint64_t used_classes(struct sgc_cache *cache, uint32_t kind, uint32_t half,
                             struct sgc_section *self)
{
    uint64_t used = 0;

    sgc_assert(half < 2 && sgc_kind_ok(kind));
    sgc_lock(&cache->lock, self);
    for (uint32_t cls = half * 64; cls < sgc_size_classes.count && cls < half * 64 + 64; cls++)
        for (int list = 0; list < SGC_LISTS; list++)
            if (cache->bin[kind][cls].lists.head[list] != SGC_NO_PAGE)
                used |= UINT64_C(1) << (cls % 64);
    sgc_unlock(&cache->lock, self);
    return used;
}

static bool sweep_classes(struct sgc_cache *cache, uint32_t kind, uint32_t *most, struct sgc_section *self)
{
    for (uint32_t half = 0; half < 2; half++) {
        uint64_t used = used_classes(cache, kind, half, self);

        for (; used != 0; used &= used - 1)
            if (sweep_class(cache, kind, half * 64 + (uint32_t)__builtin_ctzll(used), most, self))
                return true;
    }
    return false;
}

/* Nothing becomes unswept within an epoch, so a cache found done is done until the next. */
static bool sweep_cache(struct sgc_cache *cache, uint32_t *most, struct sgc_section *self)
{
    uint32_t epoch = sgc_heap.epoch;

    if (sgc_a32_load_acq(&cache->swept) == epoch)
        return false;
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        if (sweep_classes(cache, kind, most, self))
            return true;
    sgc_a32_store_rel(&cache->swept, epoch);
    return false;
}

bool sgc_sweep_cache(struct sgc_cache *cache, uint32_t most, struct sgc_section *self)
{
    sgc_assert(sgc_cache_ok(cache) && most != 0);
    return sweep_cache(cache, &most, self);
}

bool sgc_sweep_ahead(uint32_t most, struct sgc_section *self)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count);

    if (sgc_span_sweep(most, self))
        return true;
    for (uint32_t id = 1; id < count; id++)
        if (sweep_cache(sgc_cache_of(id), &most, self))
            return true;
    return sgc_orphan_sweep(most, self);
}

/* ---- clearing ---- */

static void begin(bool whatever_the_tags_say)
{
    uint32_t arenas = (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);

    sgc_a32_store(&clearing.next, 0);
    sgc_a32_store(&clearing.done, 0);
    sgc_a32_store(&clearing.whatever_the_tags_say, whatever_the_tags_say);
    sgc_a32_store_rel(&clearing.arenas, arenas);
}

void sgc_clear_begin(void)
{
    begin(false);
}

/* Between cycles nobody reads these bits, so they may be cleared once more. */
void sgc_clear_again(void)
{
    begin(true);
}

/* A page that is set up or swept meanwhile clears its own bits, which its tag says, and one that is taken down clears all of them,
 * so neither such a page nor a free one need be touched. */
static bool is_to_be_cleared(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    return sgc_page_state(d) == SGC_PAGE_SMALL &&
           (sgc_a32_load(&clearing.whatever_the_tags_say) != 0 || sgc_tag_epoch(sgc_aw_load_acq(&d->tag)) != sgc_heap.epoch);
}

static void clear_arena(uint32_t arena)
{
    sgc_assert(arena < sgc_heap.reserved / SGC_ARENA);
    sgc_aw_store(sgc_span_word(arena * SGC_ARENA_PAGES, sgc_mark_role()), 0);
    for (uint32_t i = 0; i < SGC_ARENA_PAGES; i++)
        if (is_to_be_cleared(arena * SGC_ARENA_PAGES + i))
            sgc_page_clear_marks(arena * SGC_ARENA_PAGES + i);
}

/* A thread that has looked and comes late, after another beginning, takes an arena of that one, which has at least as many. */
static bool take_arena(uint32_t *arena)
{
    uint32_t all = sgc_a32_load_acq(&clearing.arenas);

    do {
        *arena = sgc_a32_load(&clearing.next);
        if (*arena >= all)
            return false;
        sgc_seam();
    } while (!sgc_a32_cas(&clearing.next, *arena, *arena + 1));
    return true;
}

/* Until an arena that was taken is done there is no other beginning. */
bool sgc_clear_some(uint32_t arenas)
{
    uint32_t arena;

    for (; arenas > 0; arenas--) {
        if (!take_arena(&arena))
            return false;
        clear_arena(arena);
        if (sgc_a32_add(&clearing.done, 1) + 1 == sgc_a32_load(&clearing.arenas))
            sgc_wake(&clearing.done, INT_MAX);
    }
    return true;
}

void sgc_clear_finish(void)
{
    uint32_t all = sgc_a32_load_acq(&clearing.arenas);
    uint32_t done;

    while (sgc_clear_some(UINT32_MAX))
        continue;
    while ((done = sgc_a32_load_acq(&clearing.done)) < all)
        sgc_wait(&clearing.done, done, 1000000);
}
