/* SPDX-License-Identifier: MIT */
/*
 * Pages taken, given, counted as live, used for spans and given back to the system by several threads at once, under
 * each policy, and by threads that wander over four memory nodes: no page is ever in two hands, and in the end every page
 * is accounted for.
 */
#include "alloc/pages/live_pages.h"
#include "alloc/page_supply.h"
#include "tests/lib/child.h"
#include "tests/lib/fake_nodes.h"
#include "tests/lib/heap.h"

enum { THREADS = 3, STEPS = 3000, HELD = 24 };

static sgc_a32_t wrong;

struct hand {
    uint32_t page[HELD], pages[HELD];           /* a single page, or a run for a span */
    uint64_t stamp[HELD];
};

static uint64_t *first_word(uint32_t page)
{
    return (uint64_t *)sgc_page_start(page);
}

static void drop(struct sgc_cache *cache, struct hand *hand, uint32_t i)
{
    if (hand->page[i] == SGC_NO_PAGE)
        return;
    if (*first_word(hand->page[i]) != hand->stamp[i] ||
        *first_word(hand->page[i] + hand->pages[i] - 1) != hand->stamp[i])
        sgc_a32_add(&wrong, 1);
    if (hand->pages[i] > 1)
        sgc_pool_give(hand->page[i], hand->pages[i], &cache->section);
    else
        sgc_pool_give_singles(&hand->page[i], 1, cache->id, &cache->section);
    hand->page[i] = SGC_NO_PAGE;
}

static void pick(struct sgc_cache *cache, struct hand *hand, uint32_t i, uint64_t stamp, uint32_t pages)
{
    struct sgc_taken taken = { SGC_NO_PAGE, false };

    hand->pages[i] = pages;
    if (pages > 1)
        taken.page = sgc_policy_take_pages(pages, &cache->section, &taken.zero);
    else
        sgc_policy_take_singles(cache, 1, &taken);
    hand->page[i] = taken.page;
    if (taken.page == SGC_NO_PAGE)
        return;
    if (taken.zero && *first_word(taken.page) != 0)
        sgc_a32_add(&wrong, 1);
    sgc_heap.records[hand->page[i]].zero_from = 1;
    hand->stamp[i] = stamp;
    *first_word(hand->page[i]) = *first_word(hand->page[i] + pages - 1) = stamp;
}

static void *play(void *arg)
{
    struct sgc_cache *cache = arg;
    struct hand hand = { { 0 }, { 0 }, { 0 } };
    struct sgc_page_figures figures;
    uint64_t random = cache->id;

    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t i = heap_random(&random, HELD), what = heap_random(&random, 100);

        drop(cache, &hand, i);
        if (what < 60)
            pick(cache, &hand, i, (uint64_t)cache->id << 32 | step, 1);
        else if (what < 65)
            pick(cache, &hand, i, (uint64_t)cache->id << 32 | step, 2 + heap_random(&random, 40));
        else if (what == 65)
            sgc_policy_owner_ends(cache->id, &cache->section);
        else if (what == 66)
            sgc_pool_decay(sgc_clock_ns(), 0, 2, &cache->section);
        else if (what == 67)
            sgc_policy_figures(&figures);
        else if (what < 72)
            sgc_live_pages_count(cache->id);
    }
    for (uint32_t i = 0; i < HELD; i++)
        drop(cache, &hand, i);
    return NULL;
}

static int race(enum sgc_page_policy policy, size_t limit)
{
    struct sgc_page_figures figures;

    heap_start((size_t)64 * SGC_ARENA, limit * SGC_PAGE, false);
    sgc_heap.config.page_rule = (struct sgc_page_rule){ policy, 2 * SGC_K_ONE };
    for (int i = 0; i < 20; i++)
        sgc_live_pages_count(SGC_NO_OWNER);
    heap_run_threads(THREADS, play);
    sgc_heap_check();
    sgc_policy_figures(&figures);
    if (sgc_a32_load(&wrong) != 0)
        return 1;
    if (sgc_pool_in_use_bytes() != 0 || sgc_aw_load(&sgc_pool.small) != 0)
        return 2;
    if (limit != 0 && figures.max_consumed > limit)
        return 3;
    return policy != SGC_POLICY_AL || limit != 0 || figures.remote == 0 ? 0 : 4;
}

/* The node of the calling thread, which moves on after some pages. */
static int wandering(void)
{
    static _Thread_local unsigned asked;

    return (int)((asked++ / 16 + (sgc_self != NULL ? sgc_self->id : 0)) % 4);
}

static int race_on_nodes(enum sgc_page_policy policy, size_t limit)
{
    fake_nodes_begin(4);
    fake_nodes.where = wandering;
    heap_test.numa = SGC_NUMA_LOCAL;
    return race(policy, limit) == 0 && sgc_heap.homes == 4 && sgc_aw_load(&sgc_pool.far) != 0 ? 0 : 5;
}

#define EACH ": no page in two hands, every page accounted for"

int main(void)
{
    child_ok_of(race(SGC_POLICY_PS, 0), "PS" EACH);
    child_ok_of(race(SGC_POLICY_AL, 0), "AL" EACH);
    child_ok_of(race(SGC_POLICY_LPS, 0), "LPS(2)" EACH);
    child_ok_of(race(SGC_POLICY_LPS, 60), "LPS(2) at the limit" EACH);
    child_ok_of(race(SGC_POLICY_AL, 60), "AL at the limit" EACH);
    child_ok_of(race_on_nodes(SGC_POLICY_LPS, 0), "four nodes, LPS(2)" EACH);
    child_ok_of(race_on_nodes(SGC_POLICY_PS, 0), "four nodes, PS" EACH);
    child_ok_of(race_on_nodes(SGC_POLICY_AL, 60), "four nodes, AL at the limit" EACH);
    return tap_done();
}
