/* SPDX-License-Identifier: MIT */
/*
 * When a collection pays: from a few measurements and settings to the number of bytes to allocate before the next one.
 *
 * Pure functions of their arguments, without state, clock or collector, so that tests and simulators can use them.
 * Why these rules, and where the figures come from: doc/design/pacing.md.
 */
#ifndef SGC_GC_PACING_PACING_RULES_H
#define SGC_GC_PACING_PACING_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "Never": sums with it do not overflow. */
#define SGC_PACE_NEVER (SIZE_MAX / 4)

enum {
    SGC_PACE_SAMPLES = 5,
    SGC_PACE_DIVISOR = 3,           /* the free space divisor for which the figures below are */
    SGC_PACE_WASTE = 32,            /* a 32nd of a limited heap is slots of the wrong size */
    SGC_PACE_TIMES = 19,            /* the program is to run so many times as long as a cycle: a twentieth of the time */
    SGC_PACE_BEARABLE = 9,          /* in a small heap it runs nine times as long in any case: a tenth of the time */
    SGC_PACE_DEAR = 4,              /* cycles are dear that would take more than a fifth of it */
    SGC_PACE_PERCENT = 80,          /* percent of what is alive, by which a small heap grows, */
    SGC_PACE_LARGE_PERCENT = 35,    /* and a large one, */
    SGC_PACE_POINTER_FREE = 5,      /* of what is alive, a fifth of what has no words to scan counts */
    SGC_PACE_UNNOTICED = 49,        /* a fiftieth of the time */
    SGC_PACE_USELESS = 50,          /* a cycle at the limit is to free one 50th of the heap */
    SGC_PACE_TRIES = 5,             /* useless cycles in a row before they are rationed ... */
    SGC_PACE_RATION = 8,            /* ... to eight ninths of the time */
    SGC_PACE_SHARE = 128,           /* a small heap is not filled before the program has allocated 128 times as much */
    SGC_PACE_MARKER_NS = 1000000,   /* what each of several markers must have to do to be worth waking */
    SGC_PACE_ALONE_NS = 9000000,    /* what one marker does alone, since several take more time of the processors */
    SGC_PACE_REUSED = 3,            /* memory that is touched already serves for up to three budgets ... */
    SGC_PACE_GROWS = 16,            /* ... to the last bit if less than a sixteenth of what was allocated had died */
};

static const size_t SGC_PACE_SMALL_HEAP = (size_t)16 << 20;     /* so little memory is not worth saving */
static const size_t SGC_PACE_BRIEF = (size_t)32 << 20;          /* who has not allocated more than that may end soon */
static const size_t SGC_PACE_BESIDE = (size_t)5 << 19;          /* by which a large one grows besides */
static const size_t SGC_PACE_DOUBLED = (size_t)9 << 18;         /* until it has grown by so much a heap doubles */
static const size_t SGC_PACE_ROOTS = (size_t)2 << 20;           /* larger roots are mostly tables */
static const size_t SGC_PACE_RELIEF = (size_t)256 << 10;        /* beside the growth, where large roots make cycles dear */
static const size_t SGC_PACE_LEAST = (size_t)256 << 10;         /* between two cycles, whatever the limit */
static const size_t SGC_PACE_FIRST = (size_t)256 << 10;         /* before the first cycle, and before any other */
static const size_t SGC_PACE_LITTLE = (size_t)512 << 10;        /* less only where nobody notices the cycles */
static const size_t SGC_PACE_TOUCHED = (size_t)3 << 19;         /* so much that is touched already is worth using first ... */
static const size_t SGC_PACE_LEFT = (size_t)512 << 10;          /* ... but for this: not every request finds its place */

/* ---- smoothing ---- */

/* The last few samples of a cost.  Their median ignores the cycles that the scheduler stretched, and follows a real
 * change after three. */
struct sgc_pace_samples {
    uint64_t value[SGC_PACE_SAMPLES];
    uint32_t count;                 /* ever added */
};

static inline void sgc_pace_sample(struct sgc_pace_samples *s, uint64_t value)
{
    s->value[s->count++ % SGC_PACE_SAMPLES] = value;
}

/* Of two in the middle the lower one, since disturbances only ever add. */
static inline uint64_t sgc_pace_median(const struct sgc_pace_samples *s, uint64_t unknown)
{
    uint32_t n = s->count < SGC_PACE_SAMPLES ? s->count : SGC_PACE_SAMPLES;
    uint64_t sorted[SGC_PACE_SAMPLES];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;

        for (; at > 0 && sorted[at - 1] > s->value[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = s->value[i];
    }
    return n != 0 ? sorted[(n - 1) / 2] : unknown;
}

/* ---- what is known ---- */

struct sgc_pace_costs {
    uint64_t fixed_ns;              /* of a cycle, whatever is alive */
    uint64_t mark_ps;               /* picoseconds that each live byte adds */
    uint64_t mutator_ps;            /* how long the program runs for each byte it allocates */
};

struct sgc_pace_heap {
    size_t live;                    /* bytes, as the last cycle found it */
    size_t finalizable;             /* of these, what was kept only for finalizers to run, */
    size_t pointer_free;            /* and what has no words to scan */
    size_t roots;                   /* bytes scanned besides */
    size_t size;                    /* of the heap */
    size_t allocated;               /* by the program so far */
};

struct sgc_pace_bounds {
    size_t cache;                   /* bytes that the processors' caches hold */
    size_t near;                    /* that the caches next to the processors hold */
    size_t divisor;                 /* GC_FREE_SPACE_DIVISOR */
    size_t minimum;                 /* between two cycles, as the client asks */
    size_t initial;                 /* heap size below which there is no collection */
    size_t limit;                   /* of the heap's size; SIZE_MAX: none */
    bool declared;                  /* the limit is what the client has named: the heap may take as much */
    bool use_limit;                 /* all of it, whatever collections cost */
    bool use_entire_heap;           /* its size is used up first */
    bool dont_expand;               /* it is used up and no more */
};

static inline size_t sgc_pace_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t sgc_pace_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t sgc_pace_less(size_t a, size_t b)
{
    return a > b ? a - b : 0;
}

/* If the two contradict each other `least` wins. */
static inline size_t sgc_pace_between(size_t value, size_t least, size_t most)
{
    return sgc_pace_larger(least, sgc_pace_smaller(value, most));
}

static inline size_t sgc_pace_to_bytes(double bytes)
{
    return bytes < (double)SGC_PACE_NEVER ? (size_t)bytes : SGC_PACE_NEVER;
}

/* `bytes` times three, divided by the divisor. */
static inline size_t sgc_pace_in_proportion(size_t bytes, size_t divisor)
{
    return sgc_pace_to_bytes((double)bytes * SGC_PACE_DIVISOR / (double)sgc_pace_larger(divisor, 1));
}

/* ---- the rules ---- */

/* What a cycle is expected to cost. */
static inline double sgc_pace_cycle_ns(const struct sgc_pace_costs *c, size_t live)
{
    return (double)c->fixed_ns + (double)live * (double)c->mark_ps / 1000;
}

/* What the program allocates while it runs `times` as long as a cycle takes. */
static inline size_t sgc_pace_for_time(const struct sgc_pace_costs *c, size_t live, unsigned times)
{
    double mutator_ns = (double)(c->mutator_ps != 0 ? c->mutator_ps : 1) / 1000;

    return sgc_pace_to_bytes(sgc_pace_cycle_ns(c, live) * times / mutator_ns);
}

/* What was kept only for finalizers is garbage when they have run.  If it counted as alive, a program that finalizes all it
 * makes would get twice as much for each cycle. */
static inline size_t sgc_pace_staying(const struct sgc_pace_heap *h)
{
    return sgc_pace_less(h->live, h->finalizable);
}

/* What stays, where an object without words to scan counts little: it takes heap, but a string of a megabyte is marked as fast as a
 * pair. */
static inline size_t sgc_pace_weighed(const struct sgc_pace_heap *h)
{
    double pointer_free = h->live != 0 ? (double)sgc_pace_smaller(h->pointer_free, h->live) / (double)h->live : 0;

    return (size_t)((double)sgc_pace_staying(h) * (1 - pointer_free * (SGC_PACE_POINTER_FREE - 1) / SGC_PACE_POINTER_FREE));
}

/* Of roots half counts, and of what they have beyond 2 MB a fifth: they cost time, but no heap, and large ones are mostly tables
 * without pointers. */
static inline size_t sgc_pace_rooted(const struct sgc_pace_heap *h)
{
    return sgc_pace_smaller(h->roots, SGC_PACE_ROOTS) / 2 + sgc_pace_less(h->roots, SGC_PACE_ROOTS) / 5;
}

/* A small heap doubles, a larger one grows in proportion to what is alive, a large one a little less.  `counted`:
 * roots, too. */
static inline size_t sgc_pace_usual_growth(const struct sgc_pace_heap *h, size_t counted)
{
    size_t part = sgc_pace_smaller(counted / 100 * SGC_PACE_PERCENT, counted / 100 * SGC_PACE_LARGE_PERCENT + SGC_PACE_BESIDE);

    return sgc_pace_larger(part, sgc_pace_smaller(sgc_pace_staying(h), SGC_PACE_DOUBLED));
}

/* The divisor's share of it.  It doubles at most, however small that is; and the divisor is documented to grant twice what is
 * scanned, divided by it, which is more where it is large. */
static inline size_t sgc_pace_growth(const struct sgc_pace_heap *h, const struct sgc_pace_bounds *b)
{
    size_t counted = sgc_pace_weighed(h) + sgc_pace_rooted(h), growth = sgc_pace_usual_growth(h, counted);
    size_t granted = sgc_pace_smaller(growth, counted / sgc_pace_larger(b->divisor, 1) * 2);

    return sgc_pace_smaller(sgc_pace_larger(sgc_pace_in_proportion(growth, b->divisor), granted),
                            sgc_pace_larger(counted, growth));
}

/* What is left of a heap of that size. */
static inline size_t sgc_pace_room(size_t size, const struct sgc_pace_heap *h, const struct sgc_pace_bounds *b)
{
    return sgc_pace_less(sgc_pace_in_proportion(size, b->divisor), h->live);
}

/* So little memory is not worth saving, but a brief program would touch it for the first time, and never again. */
static inline size_t sgc_pace_small(const struct sgc_pace_heap *h, const struct sgc_pace_bounds *b)
{
    return sgc_pace_smaller(sgc_pace_room(SGC_PACE_SMALL_HEAP, h, b), sgc_pace_less(h->allocated, SGC_PACE_BRIEF) / SGC_PACE_SHARE);
}

/* What may be spent to keep collections rare: a little in any case, and up to a limit that the client has named as much
 * as the program has allocated so far, since touching memory for the first time costs, too. */
static inline size_t sgc_pace_most(const struct sgc_pace_heap *h, const struct sgc_pace_bounds *b)
{
    size_t most = sgc_pace_larger(sgc_pace_growth(h, b), sgc_pace_small(h, b));

    if (!b->declared)
        return most;
    return sgc_pace_larger(most, sgc_pace_smaller(sgc_pace_room(b->limit, h, b), h->allocated));
}

/* What the near cache holds beside it, so that what lives is still there when it is marked, or a little, however large the divisor;
 * but no more than the caches hold. */
static inline size_t sgc_pace_cache(const struct sgc_pace_heap *h, const struct sgc_pace_bounds *b)
{
    return sgc_pace_smaller(sgc_pace_larger(sgc_pace_less(b->near, h->live), SGC_PACE_LITTLE), b->cache);
}

/* Cycles over large roots are dear although little is alive: so much may be spent on them. */
static inline size_t sgc_pace_relief(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                     const struct sgc_pace_bounds *b)
{
    size_t most = sgc_pace_smaller(sgc_pace_growth(h, b) + sgc_pace_smaller(h->roots, SGC_PACE_RELIEF), b->cache);

    return sgc_pace_smaller(sgc_pace_for_time(c, h->live, SGC_PACE_DEAR), most);
}

/* What keeps cycles bearable, and if that is very little, unnoticed. */
static inline size_t sgc_pace_bearable(const struct sgc_pace_costs *c, size_t live)
{
    size_t unnoticed = sgc_pace_for_time(c, live, SGC_PACE_UNNOTICED);

    return sgc_pace_larger(sgc_pace_for_time(c, live, SGC_PACE_BEARABLE), sgc_pace_smaller(unnoticed, SGC_PACE_LITTLE));
}

/* A small heap stays in the cache.  But it takes no more of that than keeps cycles bearable, and no more at a time than
 * the program has allocated so far: a brief program would touch it for the first time, and what the first cycle cost says
 * little.  Who has named a limit does not mind. */
static inline size_t sgc_pace_cached(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                     const struct sgc_pace_bounds *b)
{
    size_t bearable = sgc_pace_smaller(sgc_pace_bearable(c, sgc_pace_staying(h)), sgc_pace_cache(h, b));
    size_t wanted = sgc_pace_smaller(sgc_pace_larger(bearable, sgc_pace_relief(c, h, b)), h->allocated);

    return b->declared ? b->cache : sgc_pace_larger(wanted, sgc_pace_smaller(SGC_PACE_FIRST, sgc_pace_cache(h, b)));
}

/* A heap has its growth also where more collections would be cheap: most programs that allocate slowly have little heap
 * beside what else they use. */
static inline size_t sgc_pace_least(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                    const struct sgc_pace_bounds *b)
{
    return sgc_pace_larger(sgc_pace_growth(h, b), sgc_pace_cached(c, h, b));
}

/* Near the limit collections get denser, down to a 16th of what is alive; from there on the limit itself
 * calls for them. */
static inline size_t sgc_pace_within(size_t budget, const struct sgc_pace_heap *h, size_t limit)
{
    size_t room = sgc_pace_less(limit - limit / SGC_PACE_WASTE, h->live);

    return sgc_pace_smaller(budget, sgc_pace_larger(room, sgc_pace_larger(h->live / 16, SGC_PACE_LEAST)));
}

/* What keeps cycles to a twentieth of the time; but the program itself gets slower when its memory leaves the caches, so if they
 * suffice for a tenth, no more than they hold.  Beyond that it grows until it is a twentieth again. */
static inline size_t sgc_pace_worth(const struct sgc_pace_costs *c, size_t live, const struct sgc_pace_bounds *b)
{
    size_t cheap = sgc_pace_for_time(c, live, SGC_PACE_TIMES), bearable = sgc_pace_for_time(c, live, SGC_PACE_BEARABLE);

    return sgc_pace_smaller(cheap, sgc_pace_larger(b->cache, bearable + sgc_pace_less(bearable, b->cache)));
}

static inline size_t sgc_pace_wish(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                   const struct sgc_pace_bounds *b)
{
    size_t room = sgc_pace_less(h->size, h->live);
    size_t wish = sgc_pace_worth(c, sgc_pace_staying(h), b);

    if (b->dont_expand)
        return sgc_pace_larger(room, b->cache);
    if (b->use_limit)
        return SGC_PACE_NEVER;
    wish = sgc_pace_between(wish, sgc_pace_least(c, h, b), sgc_pace_most(h, b));
    return b->use_entire_heap ? sgc_pace_larger(wish, room) : wish;
}

/* The bytes to allocate before the next cycle. */
static inline size_t sgc_pace_budget(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                     const struct sgc_pace_bounds *b)
{
    size_t budget = sgc_pace_larger(sgc_pace_wish(c, h, b), sgc_pace_less(b->initial, h->live));

    budget = sgc_pace_larger(sgc_pace_within(budget, h, b->limit), b->minimum);
    return sgc_pace_smaller(budget, SGC_PACE_NEVER);
}

/* What the program may allocate before the next cycle as long as that takes no new memory: what is worth it decides alone.  But
 * no more than some budgets, so that what a peak has left behind goes back to the system in the end. */
static inline size_t sgc_pace_most_reused(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                          const struct sgc_pace_bounds *b)
{
    size_t most = sgc_pace_smaller(sgc_pace_worth(c, sgc_pace_staying(h), b), sgc_pace_budget(c, h, b) * SGC_PACE_REUSED);

    return b->dont_expand || b->use_limit ? 0 : sgc_pace_within(most, h, b->limit);
}

/* The budget is used up, and so much memory is free that is touched already: is it to be used before the cycle after
 * all? */
static inline bool sgc_pace_may_reuse(size_t budget, size_t most, size_t touched)
{
    return most >= budget + SGC_PACE_LEAST && touched >= SGC_PACE_TOUCHED;
}

/* What is left of it when the cycle comes.  `kept`, in 256ths: how much the last cycle has found alive of what was allocated before
 * it.  If that was nearly all, the next one is not likely to spare the heap its growth. */
static inline size_t sgc_pace_left(size_t kept)
{
    return SGC_PACE_LEFT / SGC_PACE_GROWS * sgc_pace_smaller(sgc_pace_less(256, kept), SGC_PACE_GROWS);
}

/* Is it still?  Not once the heap has grown for a request that found no place, or all of it has gone back to the system. */
static inline bool sgc_pace_reuses(size_t touched, size_t left, size_t heap, size_t ceiling)
{
    return heap <= ceiling && touched > left;
}

/* ---- at the limit ---- */

/* Did a cycle at the limit free so little that the next would come at once? */
static inline bool sgc_pace_useless(size_t freed, size_t limit)
{
    return freed < limit / SGC_PACE_USELESS;
}

/* Is another cycle at the limit to be tried?  After a few useless ones only when the program has run for a while. */
static inline bool sgc_pace_try(uint32_t useless, uint64_t ran_ns, uint64_t cycle_ns)
{
    return useless < SGC_PACE_TRIES || ran_ns >= cycle_ns / SGC_PACE_RATION;
}

/* ---- markers ---- */

/* How many are worth waking for so much marking (of one marker), of `most`. */
static inline int sgc_pace_markers(double marking_ns, int most)
{
    double worth = marking_ns < SGC_PACE_ALONE_NS ? 0 : marking_ns / SGC_PACE_MARKER_NS;
    int wanted = worth < 1 ? 1 : worth < most ? (int)worth + 1 : most;

    return wanted < most ? wanted : most < 1 ? 1 : most;
}

#endif
