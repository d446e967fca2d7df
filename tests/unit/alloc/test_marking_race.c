/* SPDX-License-Identifier: MIT */
/*
 * alloc/marking.c: a thread marks whatever is allocated, and reads the descriptors as markers do, while others allocate, free
 * what is theirs and what is not, resize, drop, and end.  In each stop every object that is held is allocated, and nothing
 * else but what was dropped.  Some marks are given up, some stops resume the mark.
 *
 * Each object says of itself what it is, in a word that no list of free slots uses.
 */
#include "tests/lib/heap.h"
#include "tests/lib/sanitized.h"

enum { MUTATORS = 3, HELD = 250, GIVEN = 32, ROUNDS = TEST_SANITIZED ? 8 : 30, STEPS = 300, KINDS = 4 };

/* What threads do besides: in each mark something else is left out, since one sort of free hides that another went wrong. */
enum { GIVE = 1, END = 2, RETIRE = 4, DROP = 8, ALL = 15 };

enum { STATE_HELD = 0x4e1d, STATE_DROPPED = 0xd20b, STATE_FREED = 0xf2ee, STATE_GONE = 0x60e };

struct object {
    uintptr_t links[2];
    sgc_aw_t state;
    uintptr_t filler;
};

static sgc_a32_t stop, steps, does, frees_only;
static pthread_rwlock_t world = PTHREAD_RWLOCK_INITIALIZER;     /* who has it for writing has stopped the world */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

static struct object *held[MUTATORS][HELD];
static sgc_aw_t given[GIVEN];               /* to whoever takes it */

/* ---- the program ---- */

static size_t some_size(uint64_t *random)
{
    static const size_t sizes[] = { 32, 112, 1024, 21840 / 3, 21840 / 3, 70000, 3 * SGC_PAGE };
    uint32_t i = heap_random(random, 80);

    return sizes[i < 76 ? i / 19 : i - 73];
}

/* NULL: what was freed and dropped since the last flip takes up all that there may be. */
static struct object *make(struct sgc_cache *cache, uint64_t *random)
{
    size_t bytes = some_size(random);
    uint32_t kind = heap_random(random, KINDS);
    struct object *o = heap_alloc(cache, bytes, kind);

    if (o != NULL)
        sgc_aw_store(&o->state, STATE_HELD);
    return o;
}

static void free_it(struct sgc_cache *cache, struct object *o)
{
    if (sgc_aw_swap(&o->state, STATE_FREED) != STATE_HELD || sgc_object_free(cache, o) != SGC_FREE_DONE)
        abort();
}

static void resize(struct sgc_cache *cache, struct object *o, uint64_t *random)
{
    uint32_t page = heap_page(o);

    if (sgc_page_state(&sgc_heap.pages[page]) != SGC_PAGE_SPAN)
        return;
    sgc_span_resize(&cache->section, page, 30000 + heap_random(random, 2 * SGC_PAGE));
    sgc_span_set_reach(page, 64 + heap_random(random, 4096));
}

static bool may(uint32_t what)
{
    return (sgc_a32_load(&does) & what) != 0;
}

static void give(struct sgc_cache *cache, struct object *o, uint64_t *random)
{
    struct object *other = (struct object *)sgc_aw_swap(&given[heap_random(random, GIVEN)], (uintptr_t)o);

    if (other != NULL)
        free_it(cache, other);
}

static void let_go(struct sgc_cache *cache, struct object *o, uint64_t *random)
{
    uint32_t how = heap_random(random, 8);

    if (how == 0 && may(DROP))
        sgc_aw_store(&o->state, STATE_DROPPED);
    else if (how < 4 && may(GIVE))
        give(cache, o, random);
    else
        free_it(cache, o);
}

static void do_something(struct sgc_cache *cache, struct object **mine, uint64_t *random)
{
    struct object **o = &mine[heap_random(random, HELD)];

    if (*o == NULL && sgc_a32_load(&frees_only) == 0)
        *o = make(cache, random);
    else if (*o != NULL && heap_random(random, 8) == 0)
        resize(cache, *o, random);
    else if (*o != NULL) {
        let_go(cache, *o, random);
        *o = NULL;
    }
}

static void end_and_begin(struct sgc_cache *cache)
{
    pthread_mutex_lock(&registry);
    sgc_cache_close(cache, &cache->section);
    if (!sgc_cache_open(cache, false))
        abort();
    pthread_mutex_unlock(&registry);
}

static void *mutate(void *number)
{
    struct sgc_cache *cache = heap_test.cache[1 + (intptr_t)number];
    uint64_t random = 1 + (uint64_t)(intptr_t)number;

    sgc_cache_use(cache);
    while (sgc_a32_load_acq(&stop) == 0) {
        uint32_t times = 1 + heap_random(&random, 40);

        pthread_rwlock_rdlock(&world);
        for (uint32_t i = 0; i < times; i++)
            do_something(cache, held[(intptr_t)number], &random);
        sgc_a32_add(&steps, times);
        if (heap_random(&random, 60) == 0 && may(END))
            end_and_begin(cache);
        pthread_rwlock_unlock(&world);
        if (times < 5)
            sgc_yield();
    }
    return NULL;
}

/* ---- the marker ---- */

static uintptr_t read_words;            /* so that reading is for something */

static void mark_small(uint32_t page, const struct sgc_page *d, uint64_t *random)
{
    size_t first = (size_t)page * SGC_PAGE_WORDS;

    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++) {
        uintptr_t white = sgc_aw_load_acq(sgc_bits_word(w, sgc_heap.alloc_role));

        if (white != 0 && sgc_a8_load_acq(&d->remote) != 0)
            white &= ~sgc_aw_load(&sgc_heap.remote_bits[w]);
        if (white == 0 || heap_random(random, 4) == 0)
            continue;
        read_words += d->weight + d->piece + d->reciprocal + d->granules + d->kind + d->cls;
        if (heap_random(random, 16) == 0)
            sgc_yield();
        sgc_aw_or(sgc_bits_word(w, sgc_mark_role()), white);
    }
}

static void mark_spans(uint32_t first, uint64_t *random)
{
    uintptr_t white = sgc_aw_load_acq(sgc_span_word(first, sgc_heap.alloc_role));

    for (uintptr_t bits = white; bits != 0; bits &= bits - 1) {
        const struct sgc_page *d = &sgc_heap.pages[first + (uint32_t)__builtin_ctzll(bits)];

        read_words += sgc_page_kind_now(d) + sgc_aw_load_acq(&d->span_bytes);
        if (sgc_span_limited(d))
            read_words += sgc_aw_load(&d->span_reach);
    }
    if (heap_random(random, 3) != 0)
        sgc_aw_or(sgc_span_word(first, sgc_mark_role()), white);
}

/* As a stray word is followed. */
static void look_at(uint32_t page, uint64_t *random)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint8_t state = sgc_page_state(d);

    if (state == SGC_PAGE_SMALL)
        mark_small(page, d, random);
    else if (state == SGC_PAGE_SPAN_TAIL && sgc_page_back(d) <= page)
        read_words += sgc_page_state(&sgc_heap.pages[page - sgc_page_back(d)]);
}

static void mark_beside(uint64_t *random)
{
    uint32_t pages = (uint32_t)(sgc_aw_load_acq(&sgc_heap.limit) / SGC_PAGE);

    for (uint32_t page = 1; page < pages; page++) {
        if (page % SGC_ARENA_PAGES == 1)
            mark_spans(page - 1, random);
        look_at(page, random);
    }
}

/* Until the program has done something. */
static void let_it_work(void)
{
    uint32_t before = sgc_a32_load(&steps);

    while (sgc_a32_load(&steps) - before < STEPS)
        sgc_yield();
}

static void mark_held(void)
{
    for (int i = 0; i < MUTATORS; i++)
        for (int n = 0; n < HELD; n++)
            if (held[i][n] != NULL)
                heap_set_mark(held[i][n]);
    for (int n = 0; n < GIVEN; n++)
        if (sgc_aw_load(&given[n]) != 0)
            heap_set_mark((void *)sgc_aw_load(&given[n]));
}

/* ---- what must hold, world stopped ---- */

struct count {
    int held, wrong;
};

static void look(const struct sgc_object *o, void *arg)
{
    struct count *count = arg;
    uintptr_t state = sgc_aw_load(&((struct object *)o->start)->state);

    count->held += state == STATE_HELD;
    count->wrong += state != STATE_HELD && state != STATE_DROPPED;
}

static int count_held(void)
{
    int n = 0;

    for (int i = 0; i < MUTATORS; i++)
        for (int h = 0; h < HELD; h++)
            n += held[i][h] != NULL;
    for (int i = 0; i < GIVEN; i++)
        n += sgc_aw_load(&given[i]) != 0;
    return n;
}

static void bury(uint32_t page, uint32_t granule)
{
    sgc_aw_store(&((struct object *)(sgc_page_start(page) + (size_t)granule * SGC_GRANULE))->state, STATE_GONE);
}

/* What died says so; memory that was never used says nothing. */
static void bury_dead(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint32_t used = sgc_page_state(d) == SGC_PAGE_SMALL ? sgc_heap.records[page].zero_from : 0;

    for (uint32_t g = 0; g < used && g + d->granules <= SGC_PAGE_GRANULES; g += d->granules)
        if (!sgc_alloc_bit(sgc_page_first_granule(page) + g))
            bury(page, g);
    if (sgc_page_state(d) == SGC_PAGE_SPAN && !sgc_span_bit(page))
        bury(page, 0);
}

static int wrong;

static void look_at_all(const char *when, int round)
{
    struct count count = { 0, 0 };
    int should = count_held();

    heap_retire();
    sgc_walk_objects(look, &count);
    if (count.held != should || count.wrong != 0)
        tap_diag("round %d, %s: %d objects are held, %d of them allocated; %d are allocated that should not be", round, when,
                 should, count.held, count.wrong);
    wrong += count.held != should || count.wrong != 0;
    for (uint32_t page = 1; page < sgc_aw_load(&sgc_heap.limit) / SGC_PAGE; page++)
        bury_dead(page);
    sgc_heap_check();
}

static void end_mark(int round)
{
    look_at_all("before the flip", round);
    mark_held();
    sgc_marking_finish();
    heap_flip();
    look_at_all("after the flip", round);
}

static void give_up(int round)
{
    sgc_marking_cancel();
    look_at_all("given up", round);
}

/* What was marked before is freed, and not used again. */
static void mark_and_free(uint64_t *random)
{
    mark_beside(random);
    let_it_work();
    mark_beside(random);
    sgc_a32_store(&frees_only, 1);
    let_it_work();
    if (heap_random(random, 2) == 0)
        sgc_sweep_ahead(100, &sgc_self->section);
    sgc_a32_store(&frees_only, 0);
}

static void one_round(int round, uint64_t *random)
{
    let_it_work();
    sgc_a32_store(&does, heap_random(random, ALL + 1));
    sgc_clear_finish();
    heap_sweep_all();
    pthread_rwlock_wrlock(&world);
    look_at_all("before", round);
    sgc_marking_begin();
    pthread_rwlock_unlock(&world);
    for (uint32_t attempts = may(RETIRE) ? 1 + heap_random(random, 3) : 1; attempts > 0; attempts--) {
        mark_and_free(random);
        pthread_rwlock_wrlock(&world);
        if (attempts > 1)
            look_at_all("an attempt", round);
        else if (heap_random(random, 5) == 0)
            give_up(round);
        else
            end_mark(round);
        pthread_rwlock_unlock(&world);
    }
}

int main(void)
{
    struct sgc_heap_config config = {
        .reserve = (size_t)32 * SGC_ARENA, .limit = (size_t)16 << 20, .interior_pointers = true, .end_byte = true,
        .spare_pages = 40,
    };
    pthread_t thread[MUTATORS];
    uint64_t random = 17;

    heap_start_with(&config);
    for (int i = 0; i < MUTATORS; i++)
        heap_cache();
    threads_start(thread, MUTATORS, mutate);
    for (int round = 0; round < ROUNDS; round++)
        one_round(round, &random);
    sgc_a32_store_rel(&stop, 1);
    threads_join(thread, MUTATORS);
    tap_ok(wrong == 0, "in %d marks beside %d threads: what is held is allocated, what was freed is not", ROUNDS, MUTATORS);
    tap_ok(read_words != 0, "descriptors were read meanwhile");
    return tap_done();
}
