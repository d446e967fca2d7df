/* SPDX-License-Identifier: MIT */
/* Carving: alloc/small/carve.h.  On the cache's own thread. */
#include "alloc/small/carve.h"

#include "alloc/small/freed.h"
#include "alloc/small/small.h"

enum {
    CARVE_BYTES = SGC_BOUND_BYTES / 2,  /* at a time, or one slot: the list has room for frees still, */
    CARVE_SLOTS = 64,                   /* and no more slots than these */
};

/* Slots of one page, in ascending order. */
struct carved {
    size_t slot[CARVE_SLOTS];   /* granules of the heap */
    uint32_t count, wanted;
};

/* One is handed out at once: that much can be had without a list, too. */
static uint32_t slots_at_once(const struct sgc_bin *bin)
{
    uint32_t count = CARVE_BYTES / bin->size, room = sgc_bin_freed_room(bin);

    count = count < 1 ? 1 : count < CARVE_SLOTS ? count : CARVE_SLOTS;
    return count <= room ? count : room + 1;
}

/* Adds the free slots of one word, the first of which is at `at`; returns the granule behind the
 * last of those that it has added. */
static size_t add_word(const struct sgc_bin *bin, size_t at, uint64_t free, size_t end, struct carved *c)
{
    size_t slot = at;

    for (; free != 0 && c->count < c->wanted; free &= free - 1) {
        slot = at + (uint32_t)__builtin_ctzll(free);
        if (slot >= end)
            return end;
        c->slot[c->count++] = slot;
    }
    return slot + bin->size / SGC_GRANULE;
}

/* Of the active page, from where it has not been looked at. */
static void search(struct sgc_bin *bin, uint32_t cls, struct carved *c)
{
    const struct sgc_size_class *class = &sgc_size_classes.of[cls];
    size_t at = bin->next, end = sgc_page_first_granule(bin->page) + (size_t)class->per_page * class->granules;
    sgc_aw_t *word;
    uint64_t free;

    sgc_assert(at >= sgc_page_first_granule(bin->page) && at <= end && c->wanted != 0);
    while (c->count < c->wanted && (free = sgc_find_free(&bin->size, class->starts, end, &at, &word)) != 0)
        at = add_word(bin, at, free, end, c);
    bin->next = at < end ? at : end;
}

/* Below `zero_from` each slot has been handed out before. */
static void note_used(uint32_t page, size_t end)
{
    struct sgc_page_record *r = &sgc_heap.records[page];
    uint32_t to = (uint32_t)(end - sgc_page_first_granule(page));

    sgc_assert(to <= SGC_PAGE_GRANULES);
    if (to > r->zero_from)
        r->zero_from = to;
}

/* All but the first. */
static void fill_list(struct sgc_bin *bin, const struct carved *c)
{
    sgc_assert(!sgc_bin_has_freed(bin) && c->count - 1 <= sgc_bin_freed_room(bin));
    for (uint32_t i = c->count; i-- > 1;)
        *bin->freed++ = (struct sgc_freed){ sgc_granule_address(c->slot[i]), sgc_bit_index(c->slot[i]) };
}

/* In a section.  NULL: there is no free slot where it may look. */
static void *carve(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind, uint32_t cls)
{
    struct carved c;

    c.count = 0;
    if (bin->active_epoch != sgc_heap.epoch)
        return NULL;
    c.wanted = slots_at_once(bin);
    while (c.count == 0 && (bin->page != SGC_NO_PAGE || sgc_bin_next_active(bin))) {
        search(bin, cls, &c);
        if (c.count == 0)
            bin->page = SGC_NO_PAGE;
    }
    if (c.count == 0)
        return NULL;
    note_used(bin->page, bin->next);
    sgc_bin_activate(cache, kind, cls);
    fill_list(bin, &c);
    sgc_own_bit_set(sgc_alloc_words, sgc_bit_index(c.slot[0]));
    return sgc_granule_address(c.slot[0]);
}

/* The bin has an array from the first time on, if there is memory for it. */
void *sgc_small_carve(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void *object;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    if (sgc_bin_freed_room(bin) == 0)
        sgc_bin_make_room(cache, kind, cls);
    sgc_section_enter(&cache->section);
    object = sgc_bin_has_freed(bin) ? sgc_bin_pop(bin) : carve(cache, bin, kind, cls);
    sgc_section_leave(&cache->section);
    return object;
}
