/* SPDX-License-Identifier: MIT */
/*
 * alloc/whole_heap.c and the checks it calls: each really ends the process when what it checks is damaged, whether
 * assertions are built in or not.  Each damage is done to a sound heap in a child process.
 */
#include <fcntl.h>
#include <signal.h>

#include "tests/lib/child.h"
#include "tests/lib/heap.h"

static char *object, *freed, *span, *orphan;
static struct sgc_cache *cache;

static struct sgc_page *page_of(const void *p)
{
    return &sgc_heap.pages[sgc_page_number((uintptr_t)p)];
}

static struct sgc_page_record *record_of(const void *p)
{
    return &sgc_heap.records[sgc_page_number((uintptr_t)p)];
}

static struct sgc_arena *arena_of(const void *p)
{
    return sgc_arena_of_page(sgc_page_number((uintptr_t)p));
}

static uint64_t bit_of(const void *p)
{
    return sgc_arena_bit(sgc_page_number((uintptr_t)p));
}

static struct sgc_bin *bin(void)
{
    return &cache->bin[SGC_KIND_CONSERVATIVE][sgc_class_for(4)];
}

static struct sgc_bin *bin_of_freed(void)
{
    return &cache->bin[SGC_KIND_POINTER_FREE][sgc_class_for(4)];
}

static void nothing(void) { }

/* ---- the pool ---- */

static void page_in_pool_in_use(void) { arena_of(object)->free |= bit_of(object); }
static void dirty_not_free(void) { arena_of(object)->dirty |= bit_of(object); }
static void dirty_count(void) { sgc_aw_store(&sgc_pool.dirty, sgc_aw_load(&sgc_pool.dirty) + 1); }
static void lowest_too_high(void) { sgc_pool.lowest = sgc_pool.committed; }

static void tail_in_pool(void)
{
    arena_of(span)->free |= bit_of(span + SGC_PAGE);
}

/* ---- pages ---- */

static void uncollectable_unknown(void) { sgc_aw_or(&arena_of(object)->uncollectable, bit_of(object)); }
static void in_use_count(void) { sgc_aw_add_relaxed(&sgc_pool.in_use, 1); }
static void kind_unknown(void) { page_of(object)->kind = SGC_KINDS_BUILT_IN; }
static void class_unknown(void) { page_of(object)->cls = (uint8_t)sgc_size_classes.count; }
static void granules_of_another(void) { page_of(object)->granules++; }
static void zero_from_too_far(void) { record_of(object)->zero_from = SGC_PAGE_GRANULES + 1; }
static void bit_inside_object(void) { sgc_alloc_bit_set(sgc_granule_number((uintptr_t)object) + 1); }

static void bit_in_unused_end(void)
{
    char *other = heap_small(cache, 112, SGC_KIND_CONSERVATIVE);
    sgc_alloc_bit_set(sgc_granule_number(sgc_round_down((uintptr_t)other, SGC_PAGE) + SGC_PAGE - 1));
}

/* ---- spans ---- */

static void span_without_pages(void) { record_of(span)->span_pages = 0; }
static void span_too_long(void) { sgc_aw_store(&page_of(span)->span_bytes, 4 * SGC_PAGE); }
static void tail_leads_elsewhere(void) { page_of(span + SGC_PAGE)->back = 2; }
static void tail_of_another_state(void) { sgc_page_set_state(page_of(span + SGC_PAGE), SGC_PAGE_RESERVED); }
static void span_bit_astray(void) { sgc_aw_or(sgc_span_word(0, sgc_heap.alloc_role), bit_of(span + SGC_PAGE)); }
static void span_owned(void)
{
    sgc_aw_store(&sgc_heap.pages[sgc_page_number((uintptr_t)span)].tag, sgc_tag(1, sgc_heap.epoch));
}

/* ---- caches and lists ---- */

static void freed_but_allocated(void) { sgc_alloc_bit_set(sgc_granule_number((uintptr_t)freed)); }
static void freed_uncounted(void) { bin_of_freed()->nfreed = SGC_BIN_OPEN; }
static void freed_in_closed_bin(void) { bin_of_freed()->nfreed = 1; }
static void freed_link_astray(void) { bin_of_freed()->freed->next = (struct sgc_freed *)(void *)&cache; }
static void freed_place_wrong(void) { bin_of_freed()->freed->place++; }
static void claimed_not_allocated(void) { sgc_alloc_bit_clear(sgc_granule_number((uintptr_t)bin()->cur)); }
static void run_backward(void) { bin()->limit = bin()->cur - 64; }
static void next_in_another_page(void) { bin()->next += SGC_PAGE_GRANULES; }
static void dirty_too_far(void) { bin()->dirty += 2 * SGC_PAGE; }
static void run_of_older_epoch(void) { bin()->active_epoch--; }
static void page_of_another(void)
{
    sgc_aw_store(&sgc_heap.pages[sgc_page_number((uintptr_t)object)].tag, sgc_tag(7, sgc_heap.epoch));
}
static void wrong_label(void) { record_of(object)->list ^= 3; }
static void wrong_link_back(void) { record_of(object)->prev = 60; }
static void wrong_tail(void) { bin()->lists.tail[SGC_LIST_DONE] = 60; }
static void orphan_owned(void)
{
    sgc_aw_store(&sgc_heap.pages[sgc_page_number((uintptr_t)orphan)].tag, sgc_tag(1, sgc_heap.epoch));
}

static const struct {
    const char *name;
    void (*damage)(void);
} damages[] = {
#define DAMAGE(f) { #f, f }
    DAMAGE(page_in_pool_in_use),
    DAMAGE(dirty_not_free),
    DAMAGE(dirty_count),
    DAMAGE(lowest_too_high),
    DAMAGE(tail_in_pool),
    DAMAGE(in_use_count),
    DAMAGE(uncollectable_unknown),
    DAMAGE(span_bit_astray),
    DAMAGE(kind_unknown),
    DAMAGE(class_unknown),
    DAMAGE(granules_of_another),
    DAMAGE(zero_from_too_far),
    DAMAGE(bit_inside_object),
    DAMAGE(bit_in_unused_end),
    DAMAGE(span_without_pages),
    DAMAGE(span_too_long),
    DAMAGE(tail_leads_elsewhere),
    DAMAGE(tail_of_another_state),
    DAMAGE(span_owned),
    DAMAGE(freed_but_allocated),
    DAMAGE(freed_uncounted),
    DAMAGE(freed_in_closed_bin),
    DAMAGE(freed_link_astray),
    DAMAGE(freed_place_wrong),
    DAMAGE(claimed_not_allocated),
    DAMAGE(run_backward),
    DAMAGE(next_in_another_page),
    DAMAGE(dirty_too_far),
    DAMAGE(run_of_older_epoch),
    DAMAGE(page_of_another),
    DAMAGE(wrong_label),
    DAMAGE(wrong_link_back),
    DAMAGE(wrong_tail),
    DAMAGE(orphan_owned),
};

static void (*current)(void);

/* A panic ends by SIGABRT; anything else, and a fault before all, is no check. */
static int damaged(void)
{
    current();
    sgc_heap_check();
    return 0;
}

static void build_heap(void)
{
    heap_start((size_t)64 << 20, 0, false);
    cache = sgc_self;
    struct sgc_cache *ended = heap_cache();
    orphan = heap_small(ended, 1000, SGC_KIND_CONSERVATIVE);
    heap_cache_end(ended);
    freed = heap_small(cache, 64, SGC_KIND_POINTER_FREE);
    heap_free_local(cache, freed);
    for (int i = 0; i < 2000; i++)
        object = heap_small(cache, 64, SGC_KIND_CONSERVATIVE);
    span = heap_alloc(cache, 3 * SGC_PAGE, SGC_KIND_CONSERVATIVE);
    sgc_span_free(&cache->section, sgc_page_number((uintptr_t)heap_alloc(cache, SGC_PAGE, SGC_KIND_CONSERVATIVE)));
}

int main(void)
{
    build_heap();
    sgc_report_to(open("/dev/null", O_WRONLY));
    current = nothing;
    tap_ok(run_in_child(damaged) == 0, "a sound heap passes");
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        current = damages[i].damage;
        int result = run_in_child(damaged);
        tap_ok(result == 128 + SIGABRT, "%s is found (%d)", damages[i].name, result);
    }
    return tap_done();
}
