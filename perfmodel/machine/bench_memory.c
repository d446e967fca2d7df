/* SPDX-License-Identifier: MIT */
/*
 * How long accesses to memory and caches take.
 *
 *   what      written by              read by       ordering
 *   word      whose number it is      the other     acquire and release: the number goes to and fro
 *   a ring    the thread that makes   the one that  it is made before that thread begins
 *             it                      chases
 */
#include "perfmodel/machine/bench.h"

#include <stdlib.h>

#include "platform/atomics.h"
#include "platform/compiler.h"
#include "platform/report.h"

enum { ROUNDS = 12, SHORT_ROUNDS = 60, LOADS = 20000, AHEAD = 32, TIMES = 300, WARM = 1 << 20, PAGE = 4096 };

static uint64_t volatile sink; /* what is read is used, or it would not be read */

static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static uint64_t random_below(uint64_t *state, uint64_t bound)
{
    sgc_assert(bound > 0 && bound <= UINT32_MAX);
    return ((random_next(state) >> 32) * bound) >> 32;
}

/* ---- dependent loads ---- */

struct ring {
    char *memory;
    uint64_t *order;
    size_t bytes, stride, places;
    bool rmw;
};

/* With strides of pages the lines are spread over the sets of a cache. */
static uint64_t offset_of(const struct ring *r, uint64_t i)
{
    sgc_assert(i < r->places);
    return i * r->stride + i * SGC_CACHE_LINE % r->stride;
}

static sgc_aw_t *word_at(const struct ring *r, uint64_t offset)
{
    sgc_assert(offset % SGC_CACHE_LINE == 0 && offset + SGC_CACHE_LINE <= r->bytes);
    return (sgc_aw_t *)(void *)(r->memory + offset);
}

/* One ring in random order: each place has the offset of the next. */
static bool make_ring(struct ring *r, const struct sgc_bench_chase *c)
{
    uint64_t state = 88172645463325252u;

    *r = (struct ring){ .bytes = c->bytes, .stride = c->stride, .places = c->bytes / c->stride, .rmw = c->rmw };
    sgc_assert(r->places >= 2 && r->stride >= SGC_CACHE_LINE);
    r->memory = sgc_bench_memory(c->bytes, c->huge);
    r->order = malloc(r->places * sizeof *r->order);
    if (r->memory == NULL || r->order == NULL)
        return false;
    for (uint64_t i = 0; i < r->places; i++)
        r->order[i] = i;
    for (uint64_t i = r->places - 1; i > 0; i--) {
        uint64_t other = random_below(&state, i), moved = r->order[i];

        r->order[i] = r->order[other];
        r->order[other] = moved;
    }
    for (uint64_t i = 0; i < r->places; i++)
        sgc_aw_store(word_at(r, offset_of(r, r->order[i])), offset_of(r, r->order[(i + 1) % r->places]));
    return true;
}

static void release_ring(struct ring *r)
{
    if (r->memory != NULL)
        sgc_bench_release(r->memory, r->bytes);
    free(r->order);
}

static uint64_t chase(const struct ring *r, uint64_t at, uint64_t loads)
{
    for (uint64_t n = 0; n < loads; n++)
        at = r->rmw ? sgc_aw_add(word_at(r, at), 0) : sgc_aw_load(word_at(r, at));
    return at;
}

/* All around a ring first, which may fit a cache; a very large one fits none. */
static double time_chase(const struct ring *r)
{
    uint64_t at = chase(r, 0, r->places < WARM ? r->places : 0);
    double min = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double begun = sgc_bench_own_ns(), time;

        at = chase(r, at, LOADS);
        time = (sgc_bench_own_ns() - begun) / LOADS;
        min = i == 0 || time < min ? time : min;
    }
    sink = at;
    return min;
}

double sgc_bench_chase(const struct sgc_bench_chase *c)
{
    struct ring r;
    double min = 0;

    sgc_assert(c->stride % SGC_CACHE_LINE == 0 && c->bytes >= 2 * c->stride);
    sgc_bench_pin(c->home);
    if (make_ring(&r, c)) {
        sgc_bench_pin(c->cpu);
        min = time_chase(&r);
    }
    release_ring(&r);
    return min;
}

/* ---- independent ones ---- */

struct independent {
    char *memory[SGC_BENCH_CPUS];
    uint64_t state[SGC_BENCH_CPUS];     /* goes on from round to round: the lines of the one before
                                           are in a cache */
    size_t bytes;
    bool rmw;
};

static void touch_own(void *arg, int i)
{
    struct independent *in = arg;

    in->memory[i] = sgc_bench_memory(in->bytes, true);
    in->state[i] = 88172645463325252u + (uint64_t)i;
}

static void load_ahead(void *arg, int i)
{
    struct independent *in = arg;
    uint64_t ahead = in->state[i], here = ahead, sum = 0, lines = in->bytes / SGC_CACHE_LINE;

    for (int k = 0; k < AHEAD; k++)
        __builtin_prefetch(in->memory[i] + random_below(&ahead, lines) * SGC_CACHE_LINE, 1);
    for (int n = 0; n < LOADS; n++) {
        sgc_aw_t *word;

        __builtin_prefetch(in->memory[i] + random_below(&ahead, lines) * SGC_CACHE_LINE, 1);
        word = (sgc_aw_t *)(void *)(in->memory[i] + random_below(&here, lines) * SGC_CACHE_LINE);
        sum += in->rmw ? sgc_aw_add(word, 0) : sgc_aw_load(word);
    }
    in->state[i] = here;
    sink = sum;
}

double sgc_bench_independent(size_t bytes, bool rmw, const int *cpu, int n)
{
    static struct independent in;
    double ns = 0;
    bool have = true;

    sgc_assert(n >= 1 && n <= SGC_BENCH_CPUS && bytes >= SGC_CACHE_LINE);
    in.bytes = bytes;
    in.rmw = rmw;
    have = sgc_bench_together(touch_own, &in, cpu, n, 1, &ns);
    for (int i = 0; i < n; i++)
        have = have && in.memory[i] != NULL;
    have = have && sgc_bench_together(load_ahead, &in, cpu, n, SHORT_ROUNDS, &ns);
    for (int i = 0; i < n; i++)
        if (in.memory[i] != NULL)
            sgc_bench_release(in.memory[i], bytes);
    return have ? ns / LOADS / n : 0;
}

/* ---- streams ---- */

double sgc_bench_stream(size_t bytes, int cpu)
{
    const uint64_t *memory;
    double min = 0;

    sgc_assert(bytes % sizeof *memory == 0);
    sgc_bench_pin(cpu);
    memory = sgc_bench_memory(bytes, true);
    for (int i = 0; memory != NULL && i < ROUNDS; i++) {
        double begun = sgc_bench_own_ns(), time;
        uint64_t sum = 0;

        for (size_t w = 0; w < bytes / sizeof *memory; w++)
            sum += memory[w];
        sink = sum;
        time = sgc_bench_own_ns() - begun;
        min = i == 0 || time < min ? time : min;
    }
    if (memory == NULL)
        return 0;
    sgc_bench_release((void *)(uintptr_t)memory, bytes);
    return (double)bytes * 1000 / min;
}

/* ---- handover ---- */

static void hand_over(void *arg, int i)
{
    sgc_aw_t *word = arg;

    for (int n = 0; n < TIMES; n++) {
        while (sgc_aw_load(word) != (uintptr_t)i)
            continue;
        sgc_aw_store(word, 1 - (uintptr_t)i);
    }
}

double sgc_bench_handover(int one, int other)
{
    static _Alignas(SGC_CACHE_LINE) sgc_aw_t word;
    int cpu[2] = { one, other };
    double ns = 0;

    sgc_assert(one != other);
    sgc_aw_store(&word, 0);
    return sgc_bench_together(hand_over, &word, cpu, 2, SHORT_ROUNDS, &ns) ? ns / TIMES / 2 : 0;
}

/* ---- TLB ---- */

/* A line of each page: where a step of the ring begins to take longer than the mean of few pages
 * and of very many. */
double sgc_bench_tlb_pages(int cpu)
{
    enum { FEW = 32, MANY = 1 << 15 };
    struct sgc_bench_chase c = { FEW * PAGE, PAGE, false, false, cpu, cpu };
    double few = sgc_bench_chase(&c), many;
    size_t pages = FEW;

    c.bytes = (size_t)MANY * PAGE;
    many = sgc_bench_chase(&c);
    for (; pages < MANY / 2; pages *= 2) {
        c.bytes = 2 * pages * PAGE;
        if (sgc_bench_chase(&c) > (few + many) / 2)
            break;
    }
    return (double)pages;
}
