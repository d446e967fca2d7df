/* SPDX-License-Identifier: MIT */
/*
 * When a collection pays: from a few measurements and settings to the number of bytes to allocate
 * before the next one.
 *
 * Pure functions of their arguments, without state, clock or collector, so that tests and
 * simulators can use them.  Why this rule, and where the parameters come from:
 * doc/design/pacing.md.
 */
#ifndef SGC_GC_PACING_PACING_RULES_H
#define SGC_GC_PACING_PACING_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "Never": sums of four do not overflow. */
#define SGC_PACE_NEVER (SIZE_MAX / 4)

/* The parameters of the rule. */
enum {
    SGC_PACE_TIMES = 19, /* cycles' durations: how long the program runs between two, so they take a
                            twentieth of the time */
    SGC_PACE_ADDED = 6 << 20, /* bytes added to what lives before it is divided by the divisor:
                                 small heaps grow faster */
    SGC_PACE_LIGHT = 4,        /* roots cost only time, pointer-free objects only memory: this part
                                  of their bytes counts */
    SGC_PACE_MIN = 256 << 10,  /* bytes between two cycles in any case: a cycle over nothing costs
                                  as much as allocating them */
    SGC_PACE_SMALL = 48 << 20, /* bytes, divided by the divisor: a heap so small need not be kept
                                  smaller */
    SGC_PACE_SHARE = 144,      /* but the program has allocated so many times what is taken for
                                  that, or it may soon end */
    SGC_PACE_NEAR = 32,        /* this part of a limited heap is lost to slots of the wrong size;
                                  freeing less is no use */
    SGC_PACE_MARGIN = 50,      /* percent of its expected time that marking beside the program may
                                  take longer */
    SGC_PACE_EARLY = 25,       /* percent of the budget before which it does not begin, however long
                                  it may take */
    SGC_PACE_BEYOND = 100,     /* percent of the budget that may be used beyond it until such a
                                  cycle has to be over */
    SGC_PACE_ROOMS = 4,        /* times that, and the thread that leads the cycle is taken not to get
                                  on: another makes it, or ends it, in a stop */
    SGC_PACE_OWN = 256,        /* what a program has that frees all by itself */
    SGC_PACE_REST = 8,         /* who leaves this part of what dies to cycles needs as many of them
                                  as who leaves all */
    SGC_PACE_RATION = 5,       /* useless cycles in a row; then the program runs this part of a
                                  cycle's time before the next */
};

struct sgc_pace_costs {
    uint64_t cycle_ns;              /* of a cycle */
    uint64_t mutator_ps;            /* how long the program runs for each byte it allocates */
    size_t lost;                    /* bytes below the limit that it cannot count on */
};

struct sgc_pace_heap {
    size_t live;                    /* bytes, as the last cycle found it */
    size_t finalizable;             /* of these, what was kept only for finalizers to run, */
    size_t pointer_free;            /* and what has no words to scan */
    size_t roots;                   /* bytes scanned besides */
    size_t size;                    /* of the heap */
    size_t allocated;               /* by the program so far */
    size_t early;                   /* bytes that the cycle freed in the program's place, which
                                       would have done so later */
    size_t own;                     /* how far the program frees by itself: sgc_pace_own */
};

struct sgc_pace_bounds {
    size_t divisor;                 /* GC_FREE_SPACE_DIVISOR */
    size_t minimum;                 /* between two cycles, as the client asks */
    size_t initial;                 /* heap size below which there is no collection */
    size_t granted;                 /* heap size that the client has asked for since */
    size_t named;                   /* heap size that the user lets the program use; 0: not said */
    size_t limit;                   /* of the heap's size; SIZE_MAX: none */
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

/* a * b / c, at most "never". */
static inline size_t sgc_pace_scale(uint64_t a, uint64_t b, uint64_t c)
{
    unsigned __int128 scaled = (unsigned __int128)a * b / (c != 0 ? c : 1);

    return scaled < SGC_PACE_NEVER ? (size_t)scaled : SGC_PACE_NEVER;
}

/* ---- the rule ---- */

/* The bytes that the program allocates in `ns`. */
static inline size_t sgc_pace_in_time(const struct sgc_pace_costs *c, uint64_t ns)
{
    return sgc_pace_scale(ns, 1000, c->mutator_ps);
}

/* How far the program freed by itself what it allocated between two cycles, in parts of
 * SGC_PACE_OWN: the less, the more it left for the cycle to find dead. */
static inline size_t sgc_pace_own(size_t allocated, size_t freed, size_t dead)
{
    size_t own = sgc_pace_less(freed, sgc_pace_scale(dead, SGC_PACE_REST - 1, 1));

    return sgc_pace_smaller(sgc_pace_scale(own, SGC_PACE_OWN, allocated), SGC_PACE_OWN);
}

static inline size_t sgc_pace_and_own(size_t bytes, const struct sgc_pace_heap *h)
{
    return bytes + sgc_pace_scale(bytes, sgc_pace_smaller(h->own, SGC_PACE_OWN), SGC_PACE_OWN);
}

/* A heap grows in proportion to its live bytes, a small one faster, up to the double.  Objects kept
 * only for finalizers are garbage when these have run: if they counted, a program that finalizes
 * all it makes would get twice as much for each cycle.  A program that frees by itself has up to
 * twice the growth and twice the bound: cycles find nothing in its heap, and it does not use that
 * room; and a small heap may have been seen before it had its usual size. */
static inline size_t sgc_pace_growth(const struct sgc_pace_heap *h, size_t divisor)
{
    size_t staying = sgc_pace_smaller(sgc_pace_less(h->live, h->finalizable), SGC_PACE_NEVER);
    size_t pointer_free = sgc_pace_smaller(h->pointer_free, staying);
    size_t doubled = staying + sgc_pace_smaller(h->roots, SGC_PACE_NEVER) / SGC_PACE_LIGHT;
    size_t weight = doubled - pointer_free + pointer_free / SGC_PACE_LIGHT;
    size_t max = sgc_pace_and_own(doubled, h);
    size_t growth = sgc_pace_larger(sgc_pace_smaller((weight + SGC_PACE_ADDED) / divisor, max), SGC_PACE_MIN);

    return sgc_pace_and_own(growth, h);
}

/* The bytes that may be spent to keep cycles rare: the heap that the client has asked for; a small
 * heap, and the heap that the user has named, but since touching memory costs about as much as
 * marking it, these only as the program has made use of memory before. */
static inline size_t sgc_pace_spare(const struct sgc_pace_heap *h, const struct sgc_pace_bounds *b, size_t divisor)
{
    size_t small = sgc_pace_smaller(sgc_pace_less(SGC_PACE_SMALL / divisor, h->live), h->allocated / SGC_PACE_SHARE);
    size_t named = sgc_pace_smaller(sgc_pace_less(b->named, h->live), h->allocated);

    return sgc_pace_larger(sgc_pace_less(b->granted, h->live), sgc_pace_larger(small, named));
}

/* As much as makes cycles cheap. */
static inline size_t sgc_pace_worth(const struct sgc_pace_costs *c)
{
    return sgc_pace_in_time(c, sgc_pace_scale(c->cycle_ns, SGC_PACE_TIMES, 1));
}

/* But not less than the heap's growth, and not more than may be spent. */
static inline size_t sgc_pace_cheap(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                    const struct sgc_pace_bounds *b)
{
    size_t divisor = sgc_pace_larger(b->divisor, 1);

    return sgc_pace_larger(sgc_pace_growth(h, divisor), sgc_pace_smaller(sgc_pace_worth(c), sgc_pace_spare(h, b, divisor)));
}

/* The budget by costs and by the client's settings, before the limit of the heap bounds it. */
static inline size_t sgc_pace_wish(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                   const struct sgc_pace_bounds *b)
{
    size_t room = sgc_pace_less(h->size, h->live);
    size_t first = sgc_pace_larger(sgc_pace_less(b->initial, h->live), b->use_entire_heap ? room : 0);

    if (b->dont_expand)
        return sgc_pace_larger(room, SGC_PACE_MIN);
    return b->use_limit ? SGC_PACE_NEVER : sgc_pace_larger(sgc_pace_cheap(c, h, b), first);
}

/* Near the limit collections get denser; in the end the limit itself calls for them. */
static inline size_t sgc_pace_within(size_t budget, size_t live, size_t limit)
{
    size_t room = sgc_pace_less(limit - limit / SGC_PACE_NEAR, live);

    return sgc_pace_smaller(budget, sgc_pace_larger(room, sgc_pace_larger(live / SGC_PACE_NEAR, SGC_PACE_MIN)));
}

/* Counts the bytes that the cycle freed in the program's place as live: the program would have
 * freed them later, and there will be as many of them again. */
static inline struct sgc_pace_heap sgc_pace_unhurried(const struct sgc_pace_heap *h)
{
    struct sgc_pace_heap then = *h;

    then.live = sgc_pace_smaller(h->live, SGC_PACE_NEVER) + sgc_pace_smaller(h->early, SGC_PACE_NEVER);
    then.early = 0;
    return then;
}

/* The bytes to allocate before the next cycle. */
static inline size_t sgc_pace_budget(const struct sgc_pace_costs *c, const struct sgc_pace_heap *h,
                                     const struct sgc_pace_bounds *b)
{
    struct sgc_pace_heap then = sgc_pace_unhurried(h);
    size_t early = sgc_pace_smaller(h->early, SGC_PACE_NEVER);
    size_t budget = early + sgc_pace_within(sgc_pace_wish(c, &then, b), then.live, b->limit);

    return sgc_pace_smaller(sgc_pace_larger(budget, b->minimum), SGC_PACE_NEVER);
}

/* The budget is used up, and so much memory is free that is touched already: by how much the budget
 * grows before the cycle after all.  Only by half of that, so that what a peak has left behind goes
 * back to the system in the end; and it doubles at most, so that the divisor keeps its say. */
static inline size_t sgc_pace_more(size_t budget, size_t touched, size_t worth)
{
    size_t more = sgc_pace_smaller(sgc_pace_smaller(touched / 2, budget), sgc_pace_less(worth, budget));

    return more >= SGC_PACE_MIN ? more : 0;
}

/* The allocated bytes at which marking beside the program is to begin, so that it ends before the
 * budget is used up, or the `room` below the limit, unless that were too early: cycles would follow
 * each other at once, and none would see how fast the program is between them.  `margin`: percent
 * of the expected time for which it may take longer. */
static inline size_t sgc_pace_trigger(size_t budget, size_t room, const struct sgc_pace_costs *c, uint64_t marking_ns,
                                      unsigned margin)
{
    size_t meanwhile = sgc_pace_in_time(c, sgc_pace_scale(marking_ns, 100 + (uint64_t)margin, 100));
    size_t end = sgc_pace_smaller(budget, sgc_pace_less(room, c->lost));

    return sgc_pace_larger(sgc_pace_less(end, meanwhile), sgc_pace_scale(budget, SGC_PACE_EARLY, 100));
}

/* ---- at the limit ---- */

/* A program cannot count on all bytes below its limit: slots of the wrong size, and what it
 * allocates until a mark has begun.  Cycles teach it: one for which memory ran out, though it frees
 * enough, adds a part of the limit, up to a quarter in all; any other takes a little away. */
static inline size_t sgc_pace_lost(size_t lost, size_t limit, bool ran_out)
{
    size_t step = limit / SGC_PACE_NEAR;

    lost = sgc_pace_smaller(lost, limit / 4);           /* the limit may have become less */
    return ran_out ? sgc_pace_smaller(lost + step, limit / 4) : sgc_pace_less(lost, step / SGC_PACE_NEAR + 1);
}

/* Did a cycle at the limit free so little that the next would come at once? */
static inline bool sgc_pace_useless(size_t freed, size_t limit)
{
    return freed < limit / SGC_PACE_NEAR;
}

/* Is another cycle at the limit to be tried?  After a few useless ones only when the program has
 * run for a while. */
static inline bool sgc_pace_try(uint32_t useless, uint64_t ran_ns, uint64_t cycle_ns)
{
    return useless < SGC_PACE_RATION || ran_ns >= cycle_ns / SGC_PACE_RATION;
}

#endif
