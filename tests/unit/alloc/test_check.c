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

/* Of its page. */
static size_t last_granule(const void *p)
{
    return sgc_page_first_granule(heap_page(p)) + SGC_PAGE_GRANULES - 1;
}

static void nothing(void) { }

/* A name, and what is done to the heap; RUN_DAMAGE to a run, which a plain malloc's bins do not have. */
#define DAMAGES \
    /* the pool */ \
    DAMAGE(page_in_pool_in_use, arena_of(object)->free |= bit_of(object)) \
    DAMAGE(dirty_not_free, arena_of(object)->dirty |= bit_of(object)) \
    DAMAGE(dirty_count, sgc_aw_store(&sgc_pool.dirty, sgc_aw_load(&sgc_pool.dirty) + 1)) \
    DAMAGE(lowest_too_high, sgc_pool.lowest = sgc_pool.committed) \
    DAMAGE(tail_in_pool, arena_of(span)->free |= bit_of(span + SGC_PAGE)) \
    DAMAGE(in_use_count, sgc_aw_add_relaxed(&sgc_pool.in_use, 1)) \
    DAMAGE(used_count_of_home, sgc_pool.home[0].used++) \
    DAMAGE(clean_count_of_home, sgc_pool.home[0].clean++) \
    DAMAGE(lowest_of_home_too_high, sgc_pool.home[0].lowest_of[SGC_POOL_CLEAN] = sgc_pool.committed) \
    DAMAGE(home_unknown, sgc_heap.arenas[0].home = 1) \
    /* pages */ \
    DAMAGE(uncollectable_unknown, sgc_aw_or(&arena_of(object)->uncollectable, bit_of(object))) \
    DAMAGE(kind_unknown, page_of(object)->kind = SGC_KINDS_BUILT_IN) \
    DAMAGE(class_unknown, page_of(object)->cls = (uint8_t)sgc_size_classes.count) \
    DAMAGE(granules_of_another, page_of(object)->granules++) \
    DAMAGE(zero_from_too_far, record_of(object)->zero_from = SGC_PAGE_GRANULES + 1) \
    DAMAGE(bit_inside_object, sgc_alloc_bit_set(sgc_granule_number((uintptr_t)object) + 1)) \
    DAMAGE(bit_in_unused_end, sgc_alloc_bit_set(last_granule(heap_small(cache, 112, SGC_KIND_CONSERVATIVE)))) \
    /* spans */ \
    DAMAGE(span_bit_astray, sgc_aw_or(sgc_span_word(0, sgc_heap.alloc_role), bit_of(span + SGC_PAGE))) \
    DAMAGE(span_without_pages, record_of(span)->span_pages = 0) \
    DAMAGE(span_too_long, sgc_aw_store(&page_of(span)->span_bytes, 4 * SGC_PAGE)) \
    DAMAGE(tail_leads_elsewhere, page_of(span + SGC_PAGE)->back = 2) \
    DAMAGE(tail_of_another_state, sgc_page_set_state(page_of(span + SGC_PAGE), SGC_PAGE_RESERVED)) \
    DAMAGE(span_owned, sgc_aw_store(&page_of(span)->tag, sgc_tag(1, sgc_heap.epoch))) \
    /* caches and lists */ \
    DAMAGE(freed_but_allocated, sgc_alloc_bit_set(sgc_granule_number((uintptr_t)freed))) \
    DAMAGE(freed_more_than_room, bin_of_freed()->freed += SGC_FREED_MAX) \
    RUN_DAMAGE(freed_without_array, bin()->freed_first++) \
    DAMAGE(freed_astray, bin_of_freed()->freed[-1].object = &cache) \
    DAMAGE(freed_place_wrong, bin_of_freed()->freed[-1].place++) \
    RUN_DAMAGE(claimed_not_allocated, sgc_alloc_bit_clear(sgc_granule_number((uintptr_t)bin()->cur))) \
    RUN_DAMAGE(run_backward, bin()->limit = bin()->cur - 64) \
    DAMAGE(next_in_another_page, bin()->next += SGC_PAGE_GRANULES) \
    DAMAGE(dirty_too_far, bin()->dirty += 2 * SGC_PAGE) \
    RUN_DAMAGE(run_of_older_epoch, bin()->active_epoch--) \
    DAMAGE(page_of_another, sgc_aw_store(&page_of(object)->tag, sgc_tag(7, sgc_heap.epoch))) \
    DAMAGE(wrong_label, record_of(object)->list ^= 3) \
    DAMAGE(wrong_link_back, record_of(object)->prev = 60) \
    DAMAGE(wrong_tail, bin()->lists.tail[SGC_LIST_DONE] = 60) \
    DAMAGE(orphan_owned, sgc_aw_store(&page_of(orphan)->tag, sgc_tag(1, sgc_heap.epoch)))

#define DAMAGE(name, damage) static void name(void) { damage; }
#define RUN_DAMAGE DAMAGE
DAMAGES
#undef DAMAGE
#undef RUN_DAMAGE

static const struct {
    const char *name;
    void (*damage)(void);
    bool of_run;
} damages[] = {
#define DAMAGE(name, damage) { #name, name, false },
#define RUN_DAMAGE(name, damage) { #name, name, true },
    DAMAGES
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
        if (!SGC_TRACES && damages[i].of_run)
            continue;
        current = damages[i].damage;
        int result = run_in_child(damaged);
        tap_ok(result == 128 + SIGABRT, "%s is found (%d)", damages[i].name, result);
    }
    return tap_done();
}
