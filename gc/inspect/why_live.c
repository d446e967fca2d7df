/* SPDX-License-Identifier: MIT */
/*
 * Why an object is alive (sgc.h).  On any mutator: the search (gc/inspect/way.h) stops the world,
 * the answer is told when it runs again.
 */
#include "gc/api/api.h"

#include "alloc/pages/pool.h"
#include "gc/collect/collect.h"
#include "gc/inspect/way.h"

struct question {
    struct sgc_ways ways;
    struct sgc_mutator *self;
    uintptr_t address;          /* that the client has asked about */
    SGC_held_t held;
};

/* The object is looked up again: it may have been freed before the world stood still. */
static void find(void *raw)
{
    struct question *q = raw;
    struct sgc_object object;

    sgc_assert(sgc_stopped_by_self() && sgc_mutator_mine(q->self));
    q->held = SGC_HELD_NO_OBJECT;
    if (!sgc_object_find(q->address, &object))
        return;
    q->ways.target = object.start;
    q->held = SGC_HELD_UNKNOWN;
    if (sgc_ways_begin(&q->ways)) {
        static const enum sgc_ways_by turns[] = { SGC_WAYS_LIKELY, SGC_WAYS_DATES, SGC_WAYS_OWN_STACK };

        for (size_t i = 0; i < sizeof turns / sizeof turns[0] && !q->ways.found; i++)
            sgc_ways_search(&q->ways, turns[i]);
        q->held = sgc_ways_trace(&q->ways, object.start);
    }
    sgc_assert((q->held == SGC_HELD_BY_NOTHING || q->held == SGC_HELD_UNKNOWN) == (q->ways.count == 0));
}

/* sgc_ways_end must follow.  From the frame of the function that the client called its own stack is
 * looked through. */
static void ask(struct question *q, const void *address, const void *frame)
{
    *q = (struct question){ .ways = { .frame = (uintptr_t)frame }, .self = sgc_api_self(),
                            .address = (uintptr_t)address, .held = SGC_HELD_UNKNOWN };
    if (q->self == NULL)
        return;
    q->ways.self = q->self;
    if (!sgc_heap_contains(q->address))
        q->held = SGC_HELD_NOT_HEAP;
    else
        sgc_with_world_stopped(q->self, find, q);
}

SGC_held_t SGC_find_way(const void *address, SGC_step_proc visit, void *data)
{
    struct question q;

    ask(&q, address, __builtin_frame_address(0));
    if (visit != NULL)
        sgc_ways_visit(&q.ways, visit, data);
    sgc_ways_end(&q.ways);
    return q.held;
}

/* ---- telling ---- */

static void print_no_way(SGC_held_t held, const void *address)
{
    sgc_assert(held == SGC_HELD_NOT_HEAP || held == SGC_HELD_NO_OBJECT || held == SGC_HELD_BY_NOTHING ||
               held == SGC_HELD_UNKNOWN);
    if (held == SGC_HELD_NOT_HEAP)
        sgc_print("%p is not in the collector's heap", address);
    else if (held == SGC_HELD_NO_OBJECT)
        sgc_print("there is no object at %p: it has been freed or reclaimed, or there never was one", address);
    else if (held == SGC_HELD_BY_NOTHING)
        sgc_print("nothing leads to the object at %p, but perhaps a register of the caller's: a collection reclaims it",
                  address);
    else
        sgc_print("why the object at %p is alive was not found out: no memory for the search, or a thread did not stop",
                address);
}

SGC_held_t SGC_why_live(const void *address)
{
    struct sgc_way_telling t;
    struct question q;

    ask(&q, address, __builtin_frame_address(0));
    t = (struct sgc_way_telling){ .held = q.held, .count = q.ways.count };
    if (q.ways.count == 0) {
        print_no_way(q.held, address);
    } else {
        sgc_print("the object at %p is alive, %zu objects from a root:", address, t.count);
        sgc_ways_visit(&q.ways, sgc_way_print_step, &t);
    }
    sgc_ways_end(&q.ways);
    return q.held;
}
