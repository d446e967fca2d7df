/* SPDX-License-Identifier: MIT */
/*
 * Dates for all that an object leads to.
 *
 * A walk finds these objects with the world stopped, as a mark would; they get their dates when the
 * world runs again, first of all the object itself, which leads to the others.  No other thread
 * uses the lists of the walk, and their memory is not the heap's:
 *
 *   object   the objects found, in order, those before `next` looked through; bit 0: it gets a date
 *   seen     the granules at which they begin
 */
#include "gc/api/api.h"

#include <errno.h>
#include <string.h>

#include "alloc/granule_set.h"
#include "gc/collect/external_stop.h"
#include "gc/config/options.h"
#include "mark/descriptor.h"
#include "mark/word_form.h"
#include "shortterm/dates/counts.h"
#include "shortterm/region_chunks.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

enum { GETS_DATE = 1, FIRST_ROOM = 8192 };

struct reach {
    uintptr_t start;            /* of the object that the program names */
    size_t max;                 /* objects to be found */
    int error;
    uintptr_t *object;
    size_t count, room, next;
    struct sgc_granule_set seen;
};

__attribute__((unused))
static inline bool reach_ok(const struct reach *r)
{
    return r->next <= r->count && r->count <= r->room && r->count <= r->max && (r->room == 0 || r->object != NULL);
}

/* ---- memory ---- */

static size_t object_bytes(size_t room)
{
    return sgc_round_up(room * sizeof(uintptr_t), sgc_os_page_size());
}

static bool grow(struct reach *r)
{
    size_t room = r->room == 0 ? FIRST_ROOM : 2 * r->room;
    uintptr_t *object = sgc_mem_obtain(object_bytes(room));

    sgc_assert(reach_ok(r) && r->count == r->room);
    if (object == NULL)
        return false;
    if (r->room != 0) {
        memcpy(object, r->object, r->count * sizeof *object);
        sgc_mem_release(r->object, object_bytes(r->room));
    }
    r->object = object;
    r->room = room;
    return true;
}

static void release_memory(struct reach *r)
{
    sgc_assert(reach_ok(r));
    sgc_granule_set_release(&r->seen);
    if (r->room != 0)
        sgc_mem_release(r->object, object_bytes(r->room));
}

/* ---- the walk: world stopped ---- */

static bool has_dates(uintptr_t start)
{
    const struct SGC_region *region = sgc_region_at(start);

    if (region != NULL)
        return sgc_region_dates_in(sgc_aw_load(&region->word)) != 0;
    return sgc_counts_of(sgc_granule_number(start)) != 0;
}

/* A date prolongs what goes with its dates, and what has none stays the collector's.  All chunks of
 * a region lead to its record, which stands for it. */
static bool gets_date(const struct sgc_object *o)
{
    const struct SGC_region *region = sgc_region_at(o->start);

    return (region == NULL || sgc_region_record(region) == o->start) && has_dates(o->start);
}

static void reached(struct reach *r, const struct sgc_object *o)
{
    sgc_assert(reach_ok(r) && sgc_object_ok(o));
    if (r->error != 0 || !sgc_granule_set_add(&r->seen, o->granule))
        return;
    if (r->count == r->max)
        r->error = E2BIG;
    else if (r->count == r->room && !grow(r))
        r->error = ENOMEM;
    else
        r->object[r->count++] = o->start | (gets_date(o) ? GETS_DATE : 0);
}

static void reach_address(struct reach *r, uintptr_t address)
{
    struct sgc_object o;

    if (sgc_heap_contains(address) && sgc_object_find(address, &o) &&
        sgc_word_keeps(address, &o, sgc_options.all_interior_pointers))
        reached(r, &o);
}

/* As a marker takes it. */
SGC_BLIND static void reach_word(void *arg, uintptr_t at)
{
    uintptr_t word = sgc_read_once(at), formed = sgc_word_formed(word);

    reach_address(arg, word);
    if (formed != word)
        reach_address(arg, formed);
}

static void reach_through(struct reach *r, uintptr_t start)
{
    struct sgc_object o;

    sgc_assert(start % SGC_GRANULE == 0 && reach_ok(r));
    if (sgc_object_find(start, &o) && o.start == start)
        sgc_visit_words(o.kind, o.start, o.bytes, reach_word, r);
}

static void walk(void *arg)
{
    struct reach *r = arg;
    struct sgc_object o;

    sgc_assert(r->count == 0 && r->room == 0 && r->error == 0);
    if (!sgc_granule_set_obtain(&r->seen) || !grow(r)) {
        r->error = ENOMEM;
        return;
    }
    if (!sgc_object_find(r->start, &o))
        return;                         /* gone: its refresh will say so */
    reached(r, &o);
    for (; r->next < r->count && r->error == 0; r->next++)
        reach_through(r, r->object[r->next] & ~(uintptr_t)GETS_DATE);
}

/* ---- dates: world running ---- */

struct wish {
    unsigned extension;
    bool global;
    uintptr_t caller;           /* in the program */
};

static int refresh_one(uintptr_t start, const struct wish *w)
{
    struct SGC_region *region = sgc_region_at(start);

    if (region != NULL)
        return w->global ? SGC_region_refresh_global(region, w->extension) : SGC_region_refresh(region, w->extension);
    return sgc_refresh_for((void *)start, w->extension, w->global, w->caller);
}

/* Gives dates to the objects found, but the first.  An object that another thread has freed
 * meanwhile gets none: another one may lie there, to which a date would put an end. */
static int refresh_found(const struct reach *r, const struct wish *w)
{
    int error = 0;

    sgc_assert(reach_ok(r) && r->next == r->count);
    for (size_t i = 1; i < r->count && error == 0; i++) {
        uintptr_t start = r->object[i] & ~(uintptr_t)GETS_DATE;

        if (start == r->object[i] || !has_dates(start))
            continue;
        error = refresh_one(start, w);
        error = error == ESTALE ? 0 : error;
    }
    return error;
}

static int refresh_all(void *object, size_t max, const struct wish *w)
{
    struct reach r = { .start = (uintptr_t)object, .max = max };
    int error;

    sgc_assert(max != 0 && sgc_shortterm.counts);
    if (!sgc_with_world_stopped(sgc_mutator_self(), walk, &r))
        r.error = EAGAIN;
    error = r.error;
    if (error == 0)
        error = sgc_refresh_for(object, w->extension, w->global, w->caller);
    if (error == 0)
        error = refresh_found(&r, w);
    release_memory(&r);
    return error;
}

/* Without counts dates free nothing, and what the object leads to lives as long as it. */
int SGC_refresh_reachable(void *object, unsigned extension, int flags, size_t most)
{
    struct wish w = { extension, (flags & SGC_SHORTTERM_GLOBAL) != 0, (uintptr_t)__builtin_return_address(0) };
    int error;

    if ((flags & ~SGC_SHORTTERM_GLOBAL) != 0 || most == 0)
        return EINVAL;
    if (sgc_dates_now(&error) == NULL)
        return error;
    if (extension > sgc_shortterm.extension)
        return ERANGE;
    if (!sgc_shortterm.counts || sgc_region_at((uintptr_t)object) != NULL)
        return sgc_refresh_for(object, extension, w.global, w.caller);
    return refresh_all(object, most, &w);
}
