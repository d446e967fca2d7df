/* SPDX-License-Identifier: MIT */
/*
 * Pages on their way to the pool: another thread has found them free, and the pool does not have them yet.  Who would be
 * refused without them waits for them.
 *
 * That other thread stops at the seam between the two steps, with all there is in its hands, and goes on when the one that
 * asks sleeps, or has been refused.
 */
#include "tests/lib/child.h"
#include "tests/lib/heap.h"

enum { SECONDS = 60, MS = 1000000 };

static struct sgc_cache *mine, *its;
static void (*its_work)(struct sgc_section *self);
static sgc_a32_t there, may_go, again;
static bool mine_asks;          /* for a second time, when it stands at a seam itself */
static int slept;

static void await(const sgc_a32_t *word)
{
    while (sgc_a32_load_acq(word) == 0)
        sgc_sleep_ns(MS);
}

static void stop_at_seam(void)
{
    if (sgc_self == its) {
        sgc_a32_store_rel(&there, 1);
        await(&may_go);
    } else if (mine_asks) {
        mine_asks = false;
        sgc_a32_store(&there, 0);
        sgc_a32_store_rel(&again, 1);
        await(&there);
    }
}

static void let_it_go(void)
{
    sgc_a32_store_rel(&may_go, 1);
}

static void sleep_once(struct sgc_section *self, sgc_a32_t *word, uint32_t expected)
{
    if (self == &mine->section) {
        slept++;
        let_it_go();
    }
    sgc_wait(word, expected, -1);
}

static void *work(void *unused)
{
    sgc_self = its;
    sgc_guard_enter(&its->section);
    its_work(&its->section);
    sgc_guard_leave(&its->section);
    return unused;
}

/* ---- what the other thread may be doing ------------------------------------------------------------------------------ */

static void sweep_spans(struct sgc_section *self)
{
    sgc_span_sweep(1, self);
}

static void sweep_my_pages(struct sgc_section *self)
{
    sgc_sweep_cache(mine, &(uint32_t){ SGC_SWEEP_STEP }, self);
}

static void sweep_orphans(struct sgc_section *self)
{
    sgc_orphan_sweep(SGC_SWEEP_STEP, self);
}

static void give_back_an_arena(struct sgc_section *self)
{
    sgc_pool_decay(sgc_clock_ns(), 0, 1, self);
}

static void give_back_two_arenas(struct sgc_section *self)
{
    give_back_an_arena(self);
    await(&again);
    sgc_a32_store(&may_go, 0);
    give_back_an_arena(self);
}

/* ---- what is asked for meanwhile ----------------------------------------------------------------------------------- */

/* True when `pages` were had (0: a small object), after so many sleeps. */
static bool served_after(int sleeps, void (*what)(struct sgc_section *self), size_t pages)
{
    pthread_t thread;
    void *object;

    its_work = what;
    its = heap_cache();
    sgc_section_hooks.seam = stop_at_seam;
    sgc_section_hooks.sleep = sleep_once;
    pthread_create(&thread, NULL, work, NULL);
    await(&there);
    object = heap_alloc(mine, pages == 0 ? 64 : pages * SGC_PAGE, SGC_KIND_CONSERVATIVE);
    let_it_go();
    pthread_join(thread, NULL);
    sgc_heap_check();
    return object != NULL && slept == sleeps;
}

static void start(size_t arenas, size_t limit)
{
    alarm(SECONDS);
    heap_start(arenas * SGC_ARENA, limit * SGC_PAGE, false);
    mine = sgc_self;
}

static void fill_and_collect(struct sgc_cache *cache)
{
    while (heap_small(cache, SGC_SMALL_MAX, SGC_KIND_CONSERVATIVE) != NULL)
        continue;
    heap_collect(NULL, 0);
}

static void start_with_dead_span(void)
{
    start(16, 32);
    if (heap_alloc(mine, 32 * SGC_PAGE, SGC_KIND_CONSERVATIVE) == NULL)
        tap_bail("no span");
    heap_collect(NULL, 0);
}

static void start_with_dead_pages(void)
{
    start(16, SGC_SWEEP_STEP);
    fill_and_collect(mine);
}

static void start_with_orphans(void)
{
    struct sgc_cache *ended;

    start(16, SGC_SWEEP_STEP);
    ended = heap_cache();
    fill_and_collect(ended);
    heap_cache_end(ended);
}

static void start_with_free_arenas(void)
{
    void *all;

    start(4, 0);
    all = heap_alloc(mine, (4 * SGC_ARENA_PAGES - 1) * SGC_PAGE, SGC_KIND_CONSERVATIVE);
    if (all == NULL || !sgc_span_free(&mine->section, sgc_page_number((uintptr_t)all)))
        tap_bail("no span");
}

static const struct wait {
    const char *name;
    void (*start)(void);
    void (*what)(struct sgc_section *self);
    size_t pages;
    int sleeps;
    bool of_cycle;              /* what it sweeps a cycle has found dead */
} waits[] = {
    { "a dead span that another thread sweeps is waited for by a span", start_with_dead_span, sweep_spans, 20, 1, true },
    { "and by a small object", start_with_dead_span, sweep_spans, 0, 1, true },
    { "so are empty pages, by a span", start_with_dead_pages, sweep_my_pages, 5, 1, true },
    { "by a small object", start_with_dead_pages, sweep_my_pages, 0, 1, true },
    { "those of a thread that has ended", start_with_orphans, sweep_orphans, 5, 1, true },
    { "and pages that are being given back to the system", start_with_free_arenas, give_back_an_arena,
      3 * SGC_ARENA_PAGES + 1, 1, false },
    /* The second arena is taken while the one that asks gives back another, having waited for the first. */
    { "also by another thread while the one that asks gives some back itself", start_with_free_arenas, give_back_two_arenas,
      3 * SGC_ARENA_PAGES + 1, 2, false },
};

static const struct wait *current;

static int is_waited_for(void)
{
    current->start();
    mine_asks = current->sleeps > 1;
    return served_after(current->sleeps, current->what, current->pages) ? 0 : 1;
}

static int too_little(void)
{
    start_with_dead_span();
    if (served_after(1, sweep_spans, 33) || slept != 1)
        return 1;
    return heap_alloc(mine, 33 * SGC_PAGE, SGC_KIND_CONSERVATIVE) == NULL && slept == 1 ? 0 : 2;
}

/* In the child of a fork the thread that has them does not exist; its pages are found otherwise. */
static int nobody_there(void)
{
    struct sgc_section *self;

    start_with_dead_span();
    self = &mine->section;
    sgc_pool_transit_begin(32);
    sgc_pool_after_fork();
    alarm(10);
    return sgc_pool_take(33, self, &(bool){ false }) == SGC_NO_PAGE &&
           heap_alloc(mine, 33 * SGC_PAGE, SGC_KIND_CONSERVATIVE) == NULL ? 0 : 1;
}

int main(void)
{
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        current = &waits[i];
        if (SGC_TRACES || !current->of_cycle)
            child_ok(is_waited_for, "%s", current->name);
    }
    if (SGC_TRACES)
        child_ok(too_little, "what does not suffice is waited for once");
    child_ok(nobody_there, "nobody waits for a thread that a fork has lost");
    return tap_done();
}
