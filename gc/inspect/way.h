/* SPDX-License-Identifier: MIT */
/*
 * Ways from roots to objects.  By who has stopped the world.
 *
 * The search goes forward from the roots, in breadth: its queue is also the record of how each
 * object was reached, on the shortest way.  It takes a word for the same objects as a collection
 * would, and looks at the same words of typed ones; where a client's procedure says which those
 * are, at all.  Its memory is from the system: an entry per object, and a bit per granule.
 */
#ifndef SGC_GC_INSPECT_WAY_H
#define SGC_GC_INSPECT_WAY_H

#include "alloc/granule_set.h"
#include "alloc/object.h"
#include "gc/threads/mutator.h"
#include "sgc.h"

/* The roots and words that count in a search: each value adds to those before. */
enum sgc_ways_by {
    SGC_WAYS_CERTAIN,           /* roots that are no stacks, and words that are an object's
                                   address */
    SGC_WAYS_LIKELY,            /* all that a collection takes for a pointer, but on the searching
                                   thread's own stack */
    SGC_WAYS_OWN_STACK,         /* there, too */
    SGC_WAYS_DATES,             /* and dates that are not over */
};

struct sgc_way_step;

struct sgc_ways {
    const struct sgc_mutator *self;
    uintptr_t frame;            /* its stack is looked through from here on; 0: from where it
                                   stands */
    uintptr_t target;           /* first address of the object that is looked for; 0: all that can
                                   be come to */
    bool (*dead)(uintptr_t object);     /* uncollectable objects that are no roots; NULL: all are */

    bool found;                 /* the target: it is the last step */
    enum sgc_ways_by by;
    struct sgc_granule_set seen;
    struct sgc_way_step *step;
    uint32_t used, capacity;
    uint32_t next;              /* to be looked through */
    uint32_t first, count;      /* the way traced last: step[first], then each one's next, count of
                                   them */
};

/* Gets memory.  The members up to `target` have been set.  False if there is none; sgc_ways_end
 * must follow in any case. */
bool sgc_ways_begin(struct sgc_ways *w);

/* Looks for the target.  CERTAIN and LIKELY begin anew; the others go on where the one before has
 * ended without it. */
void sgc_ways_search(struct sgc_ways *w, enum sgc_ways_by by);

/* Has the search come to the object that begins at that granule? */
static inline bool sgc_ways_came_to(const struct sgc_ways *w, size_t granule)
{
    return sgc_granule_set_has(&w->seen, granule);
}

/* Traces the way to that object, and returns the root at its beginning; SGC_HELD_BY_NOTHING: there
 * is no way.  After a search. */
SGC_held_t sgc_ways_trace(struct sgc_ways *w, uintptr_t object);

/* Calls visit with each step of the way that was traced last, `count` of them.  Also when the world
 * runs again. */
void sgc_ways_visit(const struct sgc_ways *w, SGC_step_proc visit, void *data);

/* Also when the world runs again. */
void sgc_ways_end(struct sgc_ways *w);

/* ---- telling: on any mutator, world running, unless the client has stopped it ---- */

struct sgc_way_telling {
    SGC_held_t held;            /* what the way begins with */
    size_t count;               /* of objects on it */
    uintptr_t before;           /* first address of the one before; at the beginning 0 */
};

/* Prints a step, or of a long way, in its middle, nothing.  The last argument of sgc_ways_visit is
 * a telling. */
void sgc_way_print_step(const struct SGC_step *step, void *telling);

#endif
