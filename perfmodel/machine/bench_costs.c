/* SPDX-License-Identifier: MIT */
/*
 * Measures the computing of the parts of marking, all in the nearest cache: of the collector's own
 * stack, lock and search for pointers, and, for parts that are tied to its heap (from a word to its
 * object, an object's page, marks), of loops that do the same steps.
 */
#include "perfmodel/machine/bench.h"

#include <string.h>

#include "mark/work/deque.h"
#include "mark/work/futex_lock.h"
#include "platform/find_pointers.h"

enum { ROUNDS = 5, REPEATS = 200, WORDS = 512, PIECES = 64, PAGES = 64, STEALS = 8 };

static uintptr_t volatile sink;

/* A page of the made-up heap, with the figures that a marker takes from an object's page. */
struct page {
    uint64_t bytes, reciprocal, kind;
    sgc_aw_t bits[64];
};

struct bench {
    uintptr_t words[WORDS], found[WORDS + SGC_WORDS_BEYOND];
    struct page page[PAGES];
    struct sgc_deque own, other;
    struct sgc_futex_lock lock;
    sgc_words_form *find;
};

static struct bench bench;
static const uintptr_t heap = UINT64_C(1) << 40, heap_bytes = (uintptr_t)PAGES << 16;

/* The least time of one of so many steps. */
static double time_of(uintptr_t (*step)(void), double steps)
{
    double min = 0;

    sgc_assert(steps > 0);
    for (int i = 0; i < ROUNDS; i++) {
        double begun = sgc_bench_own_ns(), time;
        uintptr_t sum = 0;

        for (int k = 0; k < REPEATS; k++)
            sum += step();
        sink = sum;
        time = (sgc_bench_own_ns() - begun) / REPEATS / steps;
        min = i == 0 || time < min ? time : min;
    }
    return min;
}

/* ---- words ---- */

static uintptr_t find_words(void)
{
    struct sgc_words range = { (uintptr_t)bench.words, sizeof bench.words };

    return bench.find(bench.found, &range, 1, heap, heap_bytes);
}

/* In words that all point into the heap: the page, the object by its reciprocal, its bit, which is
 * set. */
static uintptr_t find_edges(void)
{
    uintptr_t sum = find_words();

    for (size_t i = 0; i < WORDS; i++) {
        struct page *page = &bench.page[bench.found[i] >> 16];
        uint64_t object = (bench.found[i] & 0xffff) * page->reciprocal >> 32, granule = object * page->bytes >> 4;

        sum += sgc_aw_load(&page->bits[granule / 64]) >> granule % 64 & 1;
    }
    return sum;
}

static void fill_words(bool inside)
{
    uint64_t state = 1;

    for (size_t i = 0; i < WORDS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bench.words[i] = inside ? heap + (state >> 20) % heap_bytes : i;
    }
    for (size_t i = 0; i < PAGES; i++)
        bench.page[i] = (struct page){ .bytes = 64, .reciprocal = (UINT64_C(1) << 32) / 64 + 1, .kind = i % 4 };
}

/* ---- objects and marks ---- */

static uintptr_t read_pages(void)
{
    uintptr_t sum = 0;

    for (size_t i = 0; i < WORDS; i++) {
        const struct page *page = &bench.page[(bench.words[i] - heap) >> 16];

        sum += page->kind == 3 ? page->bytes : sum ^ page->bytes;
    }
    return sum;
}

static uintptr_t mark_plainly(void)
{
    for (size_t i = 0; i < WORDS; i++) {
        sgc_aw_t *word = &bench.page[i % PAGES].bits[i / PAGES];

        sgc_aw_store(word, sgc_aw_load(word) | (uintptr_t)1 << i % 64);
    }
    return sgc_aw_load(&bench.page[0].bits[0]);
}

static uintptr_t mark_atomically(void)
{
    uintptr_t sum = 0;

    for (size_t i = 0; i < WORDS; i++)
        sum += sgc_aw_or(&bench.page[i % PAGES].bits[i / PAGES], (uintptr_t)1 << i % 64);
    return sum;
}

/* ---- the stack ---- */

static uintptr_t push_and_pop(void)
{
    struct sgc_work work = { 0, 0 };
    uintptr_t sum = 0;

    for (uintptr_t i = 0; i < PIECES; i++)
        sgc_deque_push(&bench.own, heap + i, 64);
    for (int i = 0; i < PIECES; i++)
        sum += sgc_deque_pop(&bench.own, &work) ? work.start : 0;
    return sum;
}

/* Pushed, shown to others, and stolen one by one, if they are; taken from the thief's stack, or
 * from their own. */
static uintptr_t share_and_pop(bool stolen)
{
    struct sgc_work work;
    uintptr_t sum = 0;

    for (uintptr_t i = 0; i < PIECES; i++)
        sgc_deque_push(&bench.own, heap + i, 64);
    sgc_deque_share(&bench.own);
    for (int i = 0; stolen && i < STEALS; i++)
        sum += sgc_deque_steal(&bench.own, &bench.other, SGC_STEAL_ONE);
    while (sgc_deque_pop(&bench.other, &work))
        sum += work.start;
    while (sgc_deque_pop(&bench.own, &work))
        sum += work.start;
    sgc_deque_take_back(&bench.own);
    while (sgc_deque_pop(&bench.own, &work))
        sum += work.start;
    return sum;
}

static uintptr_t steal(void)
{
    return share_and_pop(true);
}

static uintptr_t steal_nothing(void)
{
    return share_and_pop(false);
}

static uintptr_t lock_and_unlock(void)
{
    for (int i = 0; i < PIECES; i++) {
        sgc_futex_lock(&bench.lock);
        sgc_futex_unlock(&bench.lock);
    }
    return 0;
}

/* ---- all ---- */

/* ---- a mark procedure ---- */

enum { PROC_WORDS = 8, PROC_ENTRIES = 16 };

struct entry {
    uintptr_t start, descriptor;
};

typedef struct entry *procedure_fn(const uintptr_t *object, struct entry *top, struct entry *limit);

/* As the library's function that procedures call: it is no part of them, and finds the page, the
 * object and its bit; what is not marked goes to the procedure's entries. */
static __attribute__((noinline)) struct entry *mark_and_push(uintptr_t word, struct entry *top, const struct entry *limit)
{
    const struct page *page = &bench.page[(word - heap) >> 16 & (PAGES - 1)];
    uint64_t object, granule;

    if (word - heap >= heap_bytes)
        return top;
    object = ((word - heap) & 0xffff) * page->reciprocal >> 32;
    granule = object * page->bytes >> 4;
    if ((sgc_aw_load(&page->bits[granule / 64]) >> granule % 64 & 1) != 0 || top + 1 >= limit)
        return top;
    *++top = (struct entry){ heap + object, page->kind };
    return top;
}

static struct entry *push_words(const uintptr_t *object, struct entry *top, struct entry *limit)
{
    for (int i = 0; i < PROC_WORDS; i++)
        top = mark_and_push(object[i], top, limit);
    return top;
}

static procedure_fn *volatile procedure = push_words;

static uintptr_t call_procedures(void)
{
    struct entry entries[PROC_ENTRIES];
    uintptr_t sum = 0;

    for (size_t i = 0; i < WORDS; i += PROC_WORDS)
        for (struct entry *top = procedure(bench.words + i, entries, entries + PROC_ENTRIES); top > entries; top--)
            sum += top->start;
    return sum;
}

static double time_procedures(bool inside)
{
    sgc_assert(procedure != NULL && WORDS % PROC_WORDS == 0);
    fill_words(inside);
    return time_of(call_procedures, WORDS);
}

static double time_pushed(void *unused)
{
    (void)unused;
    return time_procedures(true);
}

static double time_not_pushed(void *unused)
{
    (void)unused;
    return time_procedures(false);
}

/* ---- what is a difference ---- */

static double time_edges(void *unused)
{
    (void)unused;
    return time_of(find_edges, WORDS);
}

static double time_words(void *unused)
{
    (void)unused;
    return time_of(find_words, WORDS);
}

static double time_steals(void *unused)
{
    (void)unused;
    return time_of(steal, STEALS);
}

static double time_no_steals(void *unused)
{
    (void)unused;
    return time_of(steal_nothing, STEALS);
}

static void measure(struct sgc_machine_costs *costs, struct sgc_bench_doubts *doubts)
{
    const struct sgc_bench_pair edges = { time_edges, time_words, NULL }, steals = { time_steals, time_no_steals, NULL },
                                pushed = { time_pushed, time_not_pushed, NULL };

    fill_words(false);
    costs->word_ns = time_of(find_words, WORDS);
    fill_words(true);
    doubts->edge = !sgc_bench_difference(&edges, &costs->edge_ns);
    costs->object_ns = time_of(read_pages, WORDS);
    costs->mark_ns = time_of(mark_plainly, WORDS);
    costs->mark_rmw_ns = time_of(mark_atomically, WORDS);
    sgc_assert(sgc_deque_empty(&bench.own) && sgc_deque_empty(&bench.other));
    costs->push_ns = costs->pop_ns = time_of(push_and_pop, PIECES) / 2;
    doubts->steal = !sgc_bench_difference(&steals, &costs->steal_ns);
    sgc_assert(sgc_deque_empty(&bench.own) && sgc_deque_empty(&bench.other));
    costs->lock_ns = time_of(lock_and_unlock, PIECES);
    costs->procedure_ns = PROC_WORDS * time_procedures(false);
    doubts->procedure = !sgc_bench_difference(&pushed, &costs->procedure_edge_ns);
}

bool sgc_bench_costs(struct sgc_machine_costs *costs, struct sgc_bench_doubts *doubts, int cpu)
{
    bool have;

    sgc_assert(costs != NULL && doubts != NULL);
    sgc_assert(cpu >= 0);
    sgc_bench_pin(cpu);
    bench.find = sgc_words_inside(0, false);
    sgc_assert(bench.find != NULL);
    have = sgc_deque_init(&bench.own, 1 << 20, SGC_STACK_SPLIT);
    if (have && !sgc_deque_init(&bench.other, 1 << 20, SGC_STACK_SPLIT)) {
        sgc_deque_release(&bench.own);
        have = false;
    }
    if (!have)
        return false;
    measure(costs, doubts);
    sgc_deque_release(&bench.own);
    sgc_deque_release(&bench.other);
    return true;
}
