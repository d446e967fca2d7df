/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/pool.c: runs of pages, coalescing, growth, limits and running out, against a model that is
 * an array of bytes.
 */
#include "tests/lib/child.h"
#include "tests/lib/heap.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

enum { ARENAS = 16, PAGES = ARENAS * SGC_ARENA_PAGES };

static struct sgc_section *self;

static uint32_t take(uint32_t count, bool *zero)
{
    return sgc_pool_take(count, self, zero);
}

static uint32_t take_only(uint32_t count)
{
    bool zero;

    return sgc_pool_take(count, self, &zero);
}

static bool take_at(uint32_t first, size_t count)
{
    bool zero;

    return sgc_pool_take_at(first, count, self, &zero);
}

static void give(uint32_t first, uint32_t count)
{
    sgc_pool_give(first, count, self);
}

/* ---- single cases ---- */

static void test_across_arenas(void)
{
    bool zero;
    uint32_t committed = sgc_pool.committed;
    uint32_t a = take_only(SGC_ARENA_PAGES - 10);
    uint32_t b = take(3 * SGC_ARENA_PAGES, &zero);

    tap_ok(a == 1 && b == SGC_ARENA_PAGES - 9, "a run of three arenas begins in the free end of the first");
    tap_ok(sgc_pool.committed > committed && sgc_aw_load(&sgc_heap.limit) == (size_t)sgc_pool.committed * SGC_ARENA,
           "the heap has grown for it, and its limit says so");
    memset((void *)sgc_page_start(b), 1, (size_t)3 * SGC_ARENA);
    tap_ok(sgc_heap_contains(sgc_page_start(b + 3 * SGC_ARENA_PAGES - 1)), "all of it is committed");
    give(a, SGC_ARENA_PAGES - 10);
    give(b, 3 * SGC_ARENA_PAGES);
    tap_ok(take(3 * SGC_ARENA_PAGES, &zero) == 1 && !zero, "given back, arenas coalesce");
    give(1, 3 * SGC_ARENA_PAGES);
    sgc_pool_check();
}

static void test_limit(void)
{
    sgc_pool_set_limit((size_t)10 * SGC_PAGE);
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
    uint32_t first = take_only(10);
    tap_ok(first != SGC_NO_PAGE, "ten pages within a limit of ten");
    tap_ok(take_only(1) == SGC_NO_PAGE, "the eleventh is refused");
    give(first + 9, 1);
    tap_ok(take_only(1) == first + 9, "a page with contents counts once, free or not");
    tap_ok(!take_at(first + 10, 1), "nor are there more behind them");
    give(first + 8, 2);
    tap_ok(take_at(first + 8, 2), "but for those");
    uint32_t committed = sgc_pool.committed;
    give(first, 10);
    tap_ok(take_only(8 * SGC_ARENA_PAGES) == SGC_NO_PAGE && sgc_pool.committed == committed,
           "what the limit forbids commits nothing");
    sgc_pool_set_limit(0);
    tap_ok(take_only(11) != SGC_NO_PAGE, "without a limit there is more");
    give(first, 11);
    sgc_pool_check();
}

static void test_exhaustion(void)
{
    uint32_t all = PAGES - 1, committed = sgc_pool.committed;

    tap_ok(take_only(PAGES) == SGC_NO_PAGE && take_only(UINT32_MAX) == SGC_NO_PAGE,
           "more than is reserved is refused");
    tap_ok(sgc_pool.committed == committed, "and commits nothing");
    tap_ok(take_only(1) == 1 && !take_at(2, all) && !take_at(2, UINT32_MAX) && !take_at(2, SIZE_MAX) &&
           sgc_pool.committed == committed, "nor does it lie behind a page");
    give(1, 1);
    tap_ok(take_only(all) == 1 && sgc_pool.committed == ARENAS, "every page but the first can be had at once");
    tap_ok(take_only(1) == SGC_NO_PAGE && !take_at(all + 1, 1), "then there is none");
    tap_ok(!sgc_pool_expand(1, self), "nor can the heap be expanded");
    give(1, all);
    sgc_pool_check();
}

/* ---- against the model ---- */

struct run {
    uint32_t first, count;
};

static unsigned char used[PAGES];
static unsigned char dirty[PAGES];

static uint32_t model_find(uint32_t count)
{
    uint32_t length = 0;

    for (uint32_t page = 1; page < PAGES; page++) {
        length = used[page] ? 0 : length + 1;
        if (length == count)
            return page - count + 1;
    }
    return SGC_NO_PAGE;
}

static bool model_take(uint32_t count, struct run *run)
{
    bool zero = false, clean = true;
    uint32_t want = model_find(count), got = take(count, &zero);

    for (uint32_t i = 0; got != SGC_NO_PAGE && i < count; i++) {
        clean = clean && !dirty[got + i];
        used[got + i] = 1;
        dirty[got + i] = 1;
    }
    *run = (struct run){ got, got == SGC_NO_PAGE ? 0 : count };
    return got == want && (got == SGC_NO_PAGE || zero == clean);
}

/* The pages behind a run are taken exactly if all of them are free. */
static bool model_extend(struct run *run, uint32_t more)
{
    uint32_t first = run->first + run->count;
    bool zero = false, clean = true, free = first + more <= PAGES;

    for (uint32_t page = first; free && page < first + more; page++) {
        free = !used[page];
        clean = clean && !dirty[page];
    }
    if (sgc_pool_take_at(first, more, self, &zero) != free)
        return false;
    if (!free)
        return true;
    memset(used + first, 1, more);
    memset(dirty + first, 1, more);
    run->count += more;
    return zero == clean;
}

static void model_give(const struct run *run)
{
    if (run->count == 0)
        return;
    memset(used + run->first, 0, run->count);
    give(run->first, run->count);
}

static bool counts_agree(void)
{
    size_t is_used = 0, is_dirty = 0;

    for (uint32_t page = 1; page < PAGES; page++) {
        is_used += used[page];
        is_dirty += dirty[page] && !used[page];
    }
    sgc_pool_check();
    return is_used == heap_in_use() && is_dirty == sgc_pool_used_bytes() / SGC_PAGE;
}

/* All pages are free; none has contents. */
static void model_begin(void)
{
    while (sgc_pool_used_bytes() != 0)
        sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
    memset(used, 0, sizeof used);
    memset(dirty, 0, sizeof dirty);
}

static void test_model(void)
{
    struct run runs[64] = { { 0, 0 } };
    uint64_t seed = 11;
    int wrong = 0, refused = 0, behind = 0, not_behind = 0;

    model_begin();
    for (int step = 0; step < 4000; step++) {
        struct run *run = &runs[heap_random(&seed, 64)];
        uint32_t count = heap_random(&seed, 4) != 0 ? 1 + heap_random(&seed, 9) : 1 + heap_random(&seed, 150);

        model_give(run);
        wrong += !model_take(count, run);
        refused += run->count == 0;
        if (run->count != 0 && heap_random(&seed, 3) == 0) {
            count = run->count;
            wrong += !model_extend(run, 1 + heap_random(&seed, 100));
            *(run->count == count ? &not_behind : &behind) += 1;
        }
        if (heap_random(&seed, 500) == 0 && sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self) == UINT64_MAX)
            for (uint32_t page = 0; page < PAGES; page++)
                dirty[page] = used[page];
        wrong += !counts_agree();
    }
    tap_ok(wrong == 0, "4000 random steps: first fit, zero and counts are the model's (%d are not)", wrong);
    tap_ok(refused > 0, "and at times there was no run (%d)", refused);
    tap_ok(behind > 100 && not_behind > 100, "runs get the pages behind them, if these are free (%d times, %d not)", behind,
           not_behind);
    for (int i = 0; i < 64; i++)
        model_give(&runs[i]);
    memset(used, 0, sizeof used);
    tap_ok(counts_agree() && model_find(PAGES - 1) == 1 && take_only(PAGES - 1) == 1, "in the end all is one run");
    give(1, PAGES - 1);
}

/* ---- growth in the ways of sgc_pool_expand; refusals: each with a heap of its own ---- */

static int expand(void)
{
    heap_start((size_t)8 * SGC_ARENA, 0, false);
    struct sgc_section *s = &sgc_self->section;
    if (!sgc_pool_expand(2 * SGC_ARENA_PAGES, s) || sgc_pool.promised != 3 * SGC_ARENA_PAGES || sgc_pool.committed != 1)
        return 1;
    /* beyond what it was granted before */
    if (!sgc_pool_expand(SGC_ARENA_PAGES, s) || sgc_pool.promised != 4 * SGC_ARENA_PAGES)
        return 5;
    if (sgc_pool_expand(8 * SGC_ARENA_PAGES, s))
        return 2;
    sgc_pool_set_limit(SGC_ARENA);
    if (sgc_pool_expand(SGC_ARENA_PAGES + 1, s))
        return 3;
    return sgc_pool_in_use_bytes() == 0 ? 0 : 4;
}

/* RLIMIT_DATA counts what is writable, so the commit itself is refused. */
static int refused_commit(void)
{
    heap_start((size_t)16 * SGC_ARENA, 0, false);
    struct sgc_section *s = &sgc_self->section;
    size_t taken = 0, again = 0;
    bool zero;

    if (!limit_to(RLIMIT_DATA, 32 << 20))
        return 2;
    while (sgc_pool_take(8, s, &zero) != SGC_NO_PAGE)
        taken++;
    sgc_pool_check();
    if (taken == 0 || taken >= (size_t)16 * SGC_ARENA_PAGES / 8 - 1)
        return 3;
    if (sgc_pool.growing)
        return 4;
    sgc_pool_give(1, 8, s);
    if (sgc_pool_take(8, s, &zero) != 1)
        return 5;
    limit_to(RLIMIT_DATA, RLIM_INFINITY);
    while (sgc_pool_take(1, s, &zero) != SGC_NO_PAGE)
        again++;
    sgc_pool_check();
    return again > 0 ? 0 : 6;
}

static void test_refusals(void)
{
    child_ok(expand, "expanding: as much as asked for, within the reserve and the limit, or not");
    if (TEST_SANITIZED)
        tap_skip("a sanitizer needs data memory of its own");
    else
        child_ok(refused_commit, "when the system refuses a commit, what is there still serves");
}

/* ---- several threads: growing, waiting for who grows, never the same page twice ---- */

enum { TAKERS = 3, TAKES = 400, HELD = 12 };
static sgc_a32_t shared_pages;

static bool stamped(const struct run *run, uint64_t stamp)
{
    for (uint32_t i = 0; i < run->count; i++)
        if (*(uint64_t *)sgc_page_start(run->first + i) != stamp)
            return false;
    return true;
}

static void *take_and_give(void *arg)
{
    struct sgc_cache *cache = arg;
    struct run held[HELD] = { { 0, 0 } };
    uint64_t stamp[HELD] = { 0 }, random = cache->id;

    for (int step = 0; step < TAKES; step++) {
        uint32_t i = heap_random(&random, HELD), count = 1 + heap_random(&random, step % 4 == 0 ? 130 : 9);
        bool zero;

        if (!stamped(&held[i], stamp[i]))
            sgc_a32_add(&shared_pages, 1);
        if (held[i].count != 0)
            sgc_pool_give(held[i].first, held[i].count, &cache->section);
        held[i].first = sgc_pool_take(count, &cache->section, &zero);
        held[i].count = held[i].first == SGC_NO_PAGE ? 0 : count;
        if (held[i].count != 0 && sgc_pool_take_at(held[i].first + count, 1 + (size_t)step % 70, &cache->section, &zero))
            held[i].count += 1 + (uint32_t)step % 70;
        stamp[i] = (uint64_t)cache->id << 32 | (uint32_t)step;
        for (uint32_t page = 0; page < held[i].count; page++)
            *(uint64_t *)sgc_page_start(held[i].first + page) = stamp[i];
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].count != 0)
            sgc_pool_give(held[i].first, held[i].count, &cache->section);
    return NULL;
}

static int concurrent(void)
{
    heap_start((size_t)64 * SGC_ARENA, 0, false);
    heap_run_threads(TAKERS, take_and_give);
    sgc_pool_check();
    if (sgc_a32_load(&shared_pages) != 0)
        return 1;
    return sgc_pool_in_use_bytes() == 0 && !sgc_pool.growing && sgc_pool.committed > 4 ? 0 : 2;
}

int main(void)
{
    child_ok(concurrent, "three threads that take, grow and give never hold the same page");
    test_refusals();
    heap_start((size_t)ARENAS * SGC_ARENA, 0, false);
    self = &sgc_self->section;
    return tap_all(test_across_arenas, test_limit, test_exhaustion, test_model);
}
