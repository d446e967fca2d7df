/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/pacing_rules.h: what must hold for any figures, tried with random ones; and a program that is simulated with it.
 */
#include "gc/pacing/pacing_rules.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)
#define GB ((size_t)1 << 30)

enum { CASES = 20000 };

struct figures {
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap;
    struct sgc_pace_bounds bounds;
};

static size_t budget(const struct figures *f)
{
    return sgc_pace_budget(&f->costs, &f->heap, &f->bounds);
}

/* ---- random figures ---- */

static uint64_t state;

/* Of any magnitude below two to the power of `bits`. */
static uint64_t random_bits(unsigned bits)
{
    unsigned shift = (unsigned)(random_mixed(&state) >> 33) % bits;

    return random_mixed(&state) >> (64 - bits) >> shift;
}

static struct figures random_figures(unsigned bits)
{
    struct figures f = {
        .costs = { random_bits(bits), random_bits(bits), 0 },
        .heap = { random_bits(bits), random_bits(bits), random_bits(bits), random_bits(bits), random_bits(bits),
                  random_bits(bits), 0, 0 },
        .bounds = { .divisor = random_bits(6), .limit = SIZE_MAX },
    };

    return f;
}

/* In how many of the cases something does not hold. */
static size_t failures(bool (*holds)(struct figures f), unsigned bits)
{
    size_t wrong = 0;

    for (int i = 0; i < CASES; i++)
        wrong += !holds(random_figures(bits));
    return wrong;
}

#define ALWAYS(holds, ...) tap_ok(failures(holds, 40) == 0, __VA_ARGS__)

/* ---- what must hold ---- */

static bool more_live_more_budget(struct figures f)
{
    struct figures g = f;

    f.heap.allocated = g.heap.allocated = f.heap.finalizable = g.heap.finalizable = 0;
    f.heap.pointer_free = g.heap.pointer_free = 0;
    g.heap.live += random_bits(30);
    return budget(&g) >= budget(&f);
}

static bool no_smaller_heap(struct figures f)
{
    struct figures g = f;

    g.heap.live += random_bits(30);
    f.heap.finalizable = g.heap.finalizable = 0;
    return g.heap.live + budget(&g) >= f.heap.live + budget(&f);
}

static bool wider_limit_more_budget(struct figures f)
{
    struct figures g = f;

    f.bounds.limit = random_bits(40);
    g.bounds.limit = f.bounds.limit + random_bits(40);
    f.bounds.use_limit = g.bounds.use_limit = random_bits(1) != 0;
    return budget(&g) >= budget(&f);
}

static bool larger_divisor_less(struct figures f)
{
    struct figures g = f;

    g.bounds.divisor++;
    return budget(&g) <= budget(&f);
}

static bool dearer_cycles_fewer(struct figures f)
{
    struct figures g = f;

    g.costs.cycle_ns += random_bits(30);
    f.bounds.named = g.bounds.named = random_bits(40);
    return budget(&g) >= budget(&f);
}

/* Whatever costs say: doubled, or a small heap, or what the user has named. */
static bool bounded(struct figures f)
{
    size_t most = sgc_pace_larger(f.heap.live + f.heap.roots, SGC_PACE_SMALL);

    f.bounds.named = random_bits(40);
    return budget(&f) >= SGC_PACE_MIN && budget(&f) <= sgc_pace_larger(most, f.bounds.named);
}

static bool within_limit(struct figures f)
{
    size_t limit = f.bounds.limit = f.heap.live + random_bits(40);
    size_t least = sgc_pace_larger(SGC_PACE_MIN, f.heap.live / SGC_PACE_NEAR);

    f.bounds.granted = f.bounds.initial = random_bits(40);
    return budget(&f) >= SGC_PACE_MIN && budget(&f) <= sgc_pace_larger(least, limit - f.heap.live);
}

/* If cycles would take more than a twentieth of the time otherwise. */
static bool granted_is_used(struct figures f)
{
    f.bounds.granted = random_bits(40);
    return budget(&f) >= sgc_pace_smaller(sgc_pace_worth(&f.costs), sgc_pace_less(f.bounds.granted, f.heap.live));
}

static bool settings_hold(struct figures f)
{
    struct figures entire = f, fixed = f, least = f;

    f.bounds.initial = random_bits(40);
    entire.bounds.use_entire_heap = fixed.bounds.dont_expand = true;
    least.bounds.limit = random_bits(40);
    least.bounds.minimum = random_bits(64);
    return f.heap.live + budget(&f) >= f.bounds.initial && f.heap.live + budget(&entire) >= f.heap.size &&
           budget(&fixed) == sgc_pace_larger(SGC_PACE_MIN, sgc_pace_less(f.heap.size, f.heap.live)) &&
           budget(&least) >= sgc_pace_smaller(least.bounds.minimum, SGC_PACE_NEVER);
}

/* What finalizers alone keep might as well be gone, and objects without pointers might be roots. */
static bool weighed(struct figures f)
{
    struct figures gone = f, free = f, roots = f;

    f.heap.allocated = gone.heap.allocated = free.heap.allocated = roots.heap.allocated = 0;
    gone.heap.live = sgc_pace_less(f.heap.live, f.heap.finalizable);
    f.heap.pointer_free = gone.heap.pointer_free = gone.heap.finalizable = 0;
    free.heap.live += 64 * MB;
    free.heap.finalizable = 0;
    roots.heap.live = free.heap.live - sgc_pace_smaller(free.heap.pointer_free, free.heap.live / 2);
    free.heap.pointer_free = free.heap.live - roots.heap.live;
    roots.heap.roots += free.heap.pointer_free;
    roots.heap.finalizable = roots.heap.pointer_free = 0;
    free.bounds.divisor = roots.bounds.divisor = 3;
    return budget(&f) == budget(&gone) && budget(&free) - budget(&roots) + 1 <= 2;
}

static bool half_is_reused(struct figures f)
{
    size_t touched = random_bits(40), worth = random_bits(40), b = budget(&f), more = sgc_pace_more(b, touched, worth);

    return more == 0 || (more >= SGC_PACE_MIN && more <= touched / 2 && more <= b && b + more <= worth);
}

static size_t earliest(const struct figures *f)
{
    return sgc_pace_scale(budget(f), SGC_PACE_EARLY, 100);
}

/* Marking that takes up to as much longer as the margin ends before the budget does, or it begins as early as it may. */
static bool trigger_is_early(struct figures f)
{
    uint64_t marking = random_bits(40);
    size_t start = sgc_pace_trigger(budget(&f), SGC_PACE_NEVER, &f.costs, marking, 25);
    size_t meanwhile = sgc_pace_in_time(&f.costs, marking + marking / 4);

    return start <= budget(&f) && (start == earliest(&f) || start + meanwhile <= budget(&f));
}

/* Whatever marking costs, and however fast the program is, there is a part of each budget in which none begins; it is enough
 * to see how fast the program is. */
static bool not_back_to_back(struct figures f)
{
    size_t b = budget(&f), least = earliest(&f), start = sgc_pace_trigger(b, random_bits(40), &f.costs, random_bits(64), 25);

    f.costs.mutator_ps = 0;
    return start >= least && sgc_pace_trigger(b, SGC_PACE_NEVER, &f.costs, UINT64_MAX, 25) == least &&
           least >= SGC_PACE_MIN / 100 * SGC_PACE_EARLY;
}

/* Less room than budget: marking ends before that is used up; and where there is more it changes nothing. */
static bool room_is_enough(struct figures f)
{
    size_t b = budget(&f), room = random_bits(40), lost = random_bits(40), marking = random_bits(40);
    size_t all = sgc_pace_trigger(b, SGC_PACE_NEVER, &f.costs, marking, 25), start;
    size_t meanwhile = sgc_pace_in_time(&f.costs, marking + marking / 4);

    f.costs.lost = lost;
    start = sgc_pace_trigger(b, room, &f.costs, marking, 25);
    return start <= all && (start == earliest(&f) || start + meanwhile + lost <= room) && (room < b + lost || start == all);
}

/* A heap whose memory ends before its limit, and that allocates some more until a mark has begun: after a few cycles at the
 * limit one in twenty of them, at most, meets it again. */
static bool lost_is_learnt(struct figures f)
{
    size_t limit = ((size_t)1 << 25) + random_bits(32), unusable = random_bits(64) % (limit / 5), live = limit / 8, met = 0;
    const struct sgc_pace_costs costs = { .mutator_ps = 1 + f.costs.mutator_ps, .lost = 0 };
    struct sgc_pace_costs c = costs;

    for (int cycle = 0; cycle < 1000; cycle++) {
        bool ran_out = sgc_pace_trigger(limit, limit - live, &c, 0, 25) + unusable > limit - live;

        met += ran_out && cycle > 10;
        c.lost = sgc_pace_lost(c.lost, limit, ran_out);
    }
    return met <= 50 && c.lost <= limit / 4 && sgc_pace_lost(c.lost, limit / 64, false) <= limit / 256;
}

/* Sums of pacing.c with four of them do not overflow. */
static bool no_overflow(struct figures f)
{
    size_t *any[] = { &f.heap.live, &f.heap.roots, &f.heap.pointer_free, &f.heap.allocated, &f.heap.size, &f.bounds.minimum,
                      &f.bounds.granted, &f.bounds.initial, &f.bounds.named, &f.heap.early, &f.heap.own };

    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (random_bits(2) != 0)
            *any[i] = SIZE_MAX - random_bits(10);
    return budget(&f) >= SGC_PACE_MIN && budget(&f) <= SGC_PACE_NEVER &&
           sgc_pace_trigger(budget(&f), SGC_PACE_NEVER, &f.costs, UINT64_MAX, 25) <= budget(&f);
}

/* So much more, and as if it were still alive. */
static bool early_counts(struct figures f)
{
    struct figures g = f;

    f.heap.early = random_bits(40);
    g.heap.live += f.heap.early;
    return budget(&f) == budget(&g) + f.heap.early;
}

/* Whoever frees more has no smaller budget, nor one of more than four times the growth; if more dies besides, no larger one. */
static bool own_frees_count(struct figures f)
{
    size_t allocated = random_bits(40), freed = random_bits(40), dead = random_bits(40);
    struct figures more = f, less = f, none = f;

    f.heap.own = sgc_pace_own(allocated, freed, dead);
    more.heap.own = sgc_pace_own(allocated, freed + random_bits(40), dead);
    less.heap.own = sgc_pace_own(allocated, freed, dead + random_bits(40));
    return f.heap.own <= SGC_PACE_OWN && budget(&more) >= budget(&f) && budget(&less) <= budget(&f) &&
           budget(&none) <= budget(&f) && budget(&f) <= 4 * budget(&none);
}

/* Who frees nothing, or leaves an eighth of what dies to cycles. */
static bool others_have_no_more(struct figures f)
{
    size_t allocated = random_bits(40), freed = random_bits(40);

    return sgc_pace_own(allocated, 0, f.heap.live) == 0 && sgc_pace_own(allocated, freed, freed / (SGC_PACE_REST - 1) + 1) == 0;
}

static void test_properties(void)
{
    ALWAYS(more_live_more_budget, "more alive: no smaller budget");
    ALWAYS(no_smaller_heap, "nor ever a smaller heap");
    ALWAYS(wider_limit_more_budget, "a wider limit: no smaller budget");
    ALWAYS(larger_divisor_less, "a larger divisor: no larger budget");
    ALWAYS(dearer_cycles_fewer, "dearer cycles: no denser ones");
    ALWAYS(bounded, "a heap doubles at most, or is small, or as large as the user has named");
    ALWAYS(within_limit, "there is room for it below the limit, or it is very small; it is never nothing");
    ALWAYS(granted_is_used, "a heap that the client has asked for is used, if that is cheaper");
    ALWAYS(settings_hold, "the initial heap is used first; all of it, or no more, or the client's minimum, where that is set");
    ALWAYS(weighed, "what finalizers alone keep does not count, pointer-free objects as little as roots");
    ALWAYS(half_is_reused, "half of the touched memory is used before the cycle, if that is worth it");
    ALWAYS(trigger_is_early, "marking beside the program ends before the budget is used up");
    ALWAYS(not_back_to_back, "and begins only when a part of it is, however fast the program is");
    ALWAYS(room_is_enough, "nor later than the limit leaves room");
    ALWAYS(lost_is_learnt, "what a program cannot count on below its limit is learnt, and marks begin before it");
    ALWAYS(early_counts, "what a cycle frees in the program's place counts as if it were alive");
    ALWAYS(own_frees_count, "who frees more by itself has no smaller budget, and at most four times as much");
    ALWAYS(others_have_no_more, "who leaves an eighth of what dies to cycles has no more than who leaves all");
    tap_ok(sgc_pace_own(MB, MB, 0) == SGC_PACE_OWN && sgc_pace_own(16 * MB, MB, 0) == SGC_PACE_OWN / 16,
           "all counts if all was freed, a sixteenth if a sixteenth was");
    tap_ok(failures(no_overflow, 64) == 0, "nothing overflows");
}

/* ---- a simulated program ---- */

struct run {
    struct figures f;
    size_t largest;                 /* bytes */
    unsigned cycles;
    double share;                   /* of the time, for cycles */
};

/* 50 us a cycle, 2 GB/s marked, 1 GB/s allocated: allocates `bytes`, of which `kept` permille stay alive. */
static struct run simulate(size_t live, size_t bytes, unsigned kept, size_t named)
{
    struct run run = { .f = { .costs = { 50000, 1000, 0 }, .heap = { .live = live },
                              .bounds = { .divisor = 3, .named = named, .limit = named != 0 ? named : SIZE_MAX } } };
    double ns = 0;

    while (run.f.heap.allocated < bytes && run.cycles < 1000000) {
        size_t next = budget(&run.f);

        run.largest = sgc_pace_larger(run.largest, run.f.heap.live + next);
        run.f.heap.allocated += next;
        run.f.heap.live += next / 1000 * kept;
        run.f.costs.cycle_ns = 50000 + run.f.heap.live / 2;
        ns += (double)run.f.costs.cycle_ns;
        run.cycles++;
    }
    run.share = ns / (ns + (double)run.f.heap.allocated);
    return run;
}

static void test_simulated(void)
{
    struct run dead = simulate(0, GB, 0, 0), growth = simulate(0, GB, 1000, 0), small = simulate(4 * MB, 4 * GB, 0, 0);
    struct run large = simulate(256 * MB, 4 * GB, 0, 0), named = simulate(4 * MB, GB, 0, 64 * MB);
    struct run brief = simulate(4 * MB, 24 * MB, 0, GB);

    tap_ok(dead.largest < MB && dead.share < 0.1, "all die young: %zu KB, %.1f %% of the time", dead.largest >> 10,
           dead.share * 100);
    tap_ok(growth.cycles <= 40, "1 GB that lives: %u cycles", growth.cycles);
    tap_ok(small.largest <= 16 * MB && small.share < 0.25, "4 MB live: %zu MB, %.0f %%", small.largest / MB, small.share * 100);
    tap_ok(large.largest < 384 * MB, "256 MB live, in a heap that is larger by less than a half");
    tap_ok(named.share < 0.1 && named.largest <= 64 * MB, "a named limit may be used: %.0f %% of the time", named.share * 100);
    tap_ok(brief.largest <= 32 * MB, "but a brief program takes little of it (%zu MB)", brief.largest / MB);
}

/* ---- at the limit ---- */

static void test_limit(void)
{
    tap_ok(sgc_pace_useless(0, 64 * MB) && !sgc_pace_useless(4 * MB, 64 * MB), "a cycle that frees next to nothing is useless");
    tap_ok(sgc_pace_try(0, 0, 1000) && sgc_pace_try(SGC_PACE_RATION - 1, 0, 1000), "a few of them are no reason to give up");
    tap_ok(!sgc_pace_try(SGC_PACE_RATION, 0, 1000) && !sgc_pace_try(1000, 100, 1000), "more of them are");
    tap_ok(sgc_pace_try(1000, 1000, 1000), "until the program has run for a while");
}

int main(void)
{
    return tap_all(test_properties, test_simulated, test_limit);
}
