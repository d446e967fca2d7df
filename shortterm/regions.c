/* SPDX-License-Identifier: MIT */
/*
 * Dates of regions, what becomes of these when they have none, and the public functions:
 * shortterm/regions.h.
 */
#include "gc/api/api.h"
#include "shortterm/regions.h"

#include <errno.h>

#include "shortterm/global_time.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

/* ---- the word ---- */

/* A date more.  False: the last one is over, and what is in the region is about to go. */
static bool count(struct SGC_region *r)
{
    uintptr_t word;

    do {
        word = sgc_aw_load_acq(&r->word);
        if ((word & SGC_REGION_OVER) != 0)
            return false;
    } while (!sgc_aw_cas(&r->word, word, sgc_region_dated(word)));
    return true;
}

/* Takes off a date; returns the word after that. */
static uintptr_t uncount(struct SGC_region *r, uintptr_t more)
{
    uintptr_t word;

    do
        word = sgc_aw_load_acq(&r->word);
    while (!sgc_aw_cas(&r->word, word, sgc_region_taken(word, more)));
    return sgc_region_taken(word, more);
}

/* False: its last date is over. */
static bool add_bit(struct SGC_region *r, uintptr_t bit)
{
    uintptr_t word;

    sgc_assert(bit == SGC_REGION_CLOSED || bit == SGC_REGION_ORPHAN);
    do {
        word = sgc_aw_load_acq(&r->word);
        if ((word & SGC_REGION_OVER) != 0)
            return false;
    } while (!sgc_aw_cas(&r->word, word, word | bit));
    return true;
}

/* ---- the last date is over ---- */

/* Are the chunks freed?  Pointers by which the program still reaches them may dangle with
 * SGC_SHORTTERM_FREE only. */
static bool frees(uintptr_t word)
{
    return sgc_shortterm.mode == SGC_SHORTTERM_FREE && (word & SGC_REGION_TRACED) == 0;
}

/* By the owner, which uses the region: is its last date over, so that what was in it is to be gone
 * first? */
static bool is_over(const struct SGC_region *r)
{
    return sgc_region_is_left(sgc_aw_load_acq(&r->word));
}

/* A jump in between leaves the region to be emptied again.  The word is the last that changes: then
 * it is everybody's. */
static void empty_region(struct SGC_region *r)
{
    uintptr_t word = sgc_aw_load_acq(&r->word);
    bool closed = (word & SGC_REGION_CLOSED) != 0;

    sgc_assert(sgc_region_ok(r) && (word & SGC_REGION_OVER) != 0);
    if (frees(word))
        sgc_region_free_chunks(r, (word & (SGC_REGION_CLOSED | SGC_REGION_ORPHAN)) != 0);
    else
        sgc_region_leave_chunks(r);
    if (!closed)
        sgc_aw_store_rel(&r->word, sgc_region_emptied(word));
    else if (frees(word))
        GC_free((void *)sgc_region_record(r));
}

void sgc_regions_empty_all(struct SGC_region *first)
{
    struct SGC_region *next;

    for (struct SGC_region *r = first; r != NULL; r = next) {
        next = r->next_over;
        empty_region(r);
    }
}

/* By the owner: nobody allocates in it any more.  False: it is closed already. */
static bool close_region(struct SGC_region *r)
{
    sgc_assert(sgc_region_ok(r));
    if ((sgc_aw_load_acq(&r->word) & SGC_REGION_CLOSED) != 0)
        return false;
    while (!add_bit(r, SGC_REGION_CLOSED))
        empty_region(r);
    return true;
}

/* ---- dates ---- */

/* Dates that are taken off. */
struct taking {
    const struct sgc_dates *of;         /* their thread, or the one that takes orphans off */
    const struct sgc_date_list *list;   /* that is over, if a clock of the thread goes on */
    uintptr_t more;                     /* TRACED, or 0 */
    struct SGC_region *over;            /* regions that we have to ourselves */
};

/* The date is nowhere any more before it is taken off, so that none is taken off twice, wherever
 * this is left; and the owner knows of no date any more before that. */
static void take_date(struct taking *t, uintptr_t *at)
{
    struct SGC_region *r = (struct SGC_region *)*at;
    bool own = r->owner == t->of->serial;

    sgc_assert(sgc_heap_contains((uintptr_t)r));
    if (own && r->latest == t->list)
        r->latest = NULL;
    sgc_compiler_barrier();
    *at = 0;
    sgc_compiler_barrier();
    if (!sgc_region_is_takers(uncount(r, t->more), own))
        return;
    sgc_written_store(&r->next_over, t->over);
    t->over = r;
}

/* In a section. */
static void take_off(void *raw, uintptr_t *from, uintptr_t *end)
{
    sgc_assert(from < end && (size_t)(end - from) % sgc_shortterm.words == 0);
    for (uintptr_t *at = from; at < end; at += sgc_shortterm.words)
        if (*at != 0)
            take_date(raw, at);
}

void sgc_regions_go_on(struct sgc_dates *d, struct sgc_date_buffer *buffer)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct sgc_date_page *first, *last;
    struct taking t = { d, NULL, 0, NULL };
    struct sgc_date_list *over;

    sgc_assert(sgc_section_mine(section) && sgc_date_buffer_ok(buffer));
    sgc_section_enter(section);
    t.list = over = sgc_date_buffer_tick(buffer);
    sgc_date_list_visit(over, take_off, &t);
    sgc_date_list_clear(over, &first, &last);
    sgc_section_leave(section);
    if (first != NULL)
        sgc_date_pages_give(&d->pool, first, last, section);
    sgc_regions_empty_all(t.over);
}

struct SGC_region *sgc_regions_take_off(struct sgc_dates *d, const struct sgc_date_queue *over)
{
    struct taking t = { d, NULL, 0, NULL };

    sgc_assert(sgc_mutator_mine(d->owner));
    sgc_date_queue_visit(over, take_off, &t);
    return t.over;
}

/* ---- a thread ends ---- */

/* In a section. */
static void orphan(void *raw, uintptr_t *from, uintptr_t *end)
{
    const struct sgc_dates *d = raw;

    sgc_assert(sgc_dates_ok(d));
    for (uintptr_t *at = from; at < end; at += sgc_shortterm.words)
        if (*at != 0 && ((struct SGC_region *)*at)->owner == d->serial)
            add_bit((struct SGC_region *)*at, SGC_REGION_ORPHAN);
}

static struct SGC_region *leave(struct sgc_dates *d, uintptr_t more, bool all)
{
    struct taking t = { d, NULL, more, NULL };

    sgc_date_buffer_visit(&d->local_regions, orphan, d);
    sgc_date_buffer_visit(&d->global_regions, orphan, d);
    sgc_date_buffer_visit(&d->local_regions, take_off, &t);
    for (const struct SGC_clock *c = d->clocks; c != NULL; c = c->next)
        sgc_date_buffer_visit(&c->regions, take_off, &t);
    if (all)
        sgc_date_buffer_visit(&d->global_regions, take_off, &t);
    return t.over;
}

void sgc_regions_leave(struct sgc_dates *d)
{
    struct SGC_region *over;

    sgc_assert(sgc_mutator_mine(d->owner));
    sgc_section_enter(sgc_section_of(d->owner));
    over = leave(d, 0, false);
    sgc_section_leave(sgc_section_of(d->owner));
    sgc_regions_empty_all(over);
}

void sgc_regions_vanished(struct sgc_dates *d, bool all)
{
    sgc_assert(sgc_dates_ok(d));
    sgc_regions_empty_all(leave(d, SGC_REGION_TRACED, all));
}

/* ---- a date more ---- */

/* The buffer of the date, made if need be; NULL: there is no memory. */
static struct sgc_date_buffer *buffer_of(struct sgc_dates *d, struct sgc_region_date date)
{
    struct sgc_date_buffer *buffer = date.global ? &d->global_regions : date.clock != NULL ? &date.clock->regions
                                                                                           : &d->local_regions;
    uint32_t lists = sgc_shortterm.extension + 1 + (date.global ? SGC_TIME_LATER : 0);

    sgc_assert(date.extension <= sgc_shortterm.extension);
    if (date.global && !sgc_time_enter(d))
        return NULL;
    return buffer->list != NULL || sgc_dates_make_lists(d, buffer, lists) ? buffer : NULL;
}

/* Counted before it is there: a date too many is one that the collector has to do without. */
static int add(struct sgc_dates *d, struct sgc_date_list *list, struct SGC_region *r)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    bool counted;

    sgc_assert(sgc_dates_ok(d) && sgc_heap_contains((uintptr_t)r));
    if (!sgc_date_pool_fill(&d->pool, section))
        return ENOMEM;
    sgc_section_enter(section);
    counted = count(r);
    if (counted) {
        if (*list->next == SGC_DATES_END)
            sgc_date_list_extend(list, &d->pool);
        if (sgc_shortterm.words > 1)
            list->next[1] = 0;          /* nobody asks who it was */
        *list->next = (uintptr_t)r;
        sgc_compiler_barrier();
        list->next += sgc_shortterm.words;
    }
    sgc_section_leave(section);
    return counted ? 0 : ESTALE;
}

/* Where the last date is over the owner's new one is for what will be in the region. */
static int add_to(struct sgc_dates *d, struct sgc_date_list *list, struct SGC_region *r)
{
    bool own = r->owner == d->serial;
    int error;

    sgc_assert(sgc_mutator_mine(d->owner) && (!own || sgc_region_ok(r)));
    do {
        if (own && is_over(r))
            empty_region(r);
        if (own && r->latest == list)
            return 0;
        error = add(d, list, r);
    } while (error == ESTALE && own && is_over(r));
    if (own && error == 0)
        r->latest = list;
    return error;
}

int sgc_region_refresh(struct sgc_dates *d, struct SGC_region *r, struct sgc_region_date date)
{
    struct sgc_date_buffer *buffer = buffer_of(d, date);

    sgc_assert(date.clock == NULL || (date.clock->dates == d && !date.global));
    if (buffer == NULL)
        return ENOMEM;
    return add_to(d, sgc_date_buffer_list(buffer, date.extension + (date.global ? SGC_TIME_LATER : 0)), r);
}

/* ---- the public functions: on any mutator ---- */

/* The calling thread's dates if it is the region's owner; otherwise NULL and the error.  NULL comes
 * of SGC_region_new without memory. */
static struct sgc_dates *owner_now(const struct SGC_region *r, int *error)
{
    struct sgc_dates *d = sgc_dates_now(error);

    if (d == NULL || (r != NULL && r->owner == d->serial))
        return d;
    *error = r == NULL ? EINVAL : EPERM;
    return NULL;
}

SGC_region_t *SGC_region_new(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL) {
        errno = error;
        return NULL;
    }
    return sgc_region_make(d->serial);
}

/* By the owner, of a region that is over, or closed: may it allocate there now? */
static bool may_allocate(struct SGC_region *r)
{
    if (is_over(r))
        empty_region(r);
    return (sgc_aw_load_acq(&r->word) & SGC_REGION_CLOSED) == 0;
}

__attribute__((noinline))
static void *allocate_slowly(struct SGC_region *r, size_t bytes)
{
    int error;

    if (owner_now(r, &error) == NULL) {
        errno = error;
        return NULL;
    }
    if ((sgc_aw_load_acq(&r->word) & (SGC_REGION_OVER | SGC_REGION_CLOSED)) != 0 && !may_allocate(r)) {
        errno = EALREADY;
        return NULL;
    }
    return sgc_region_allocate(r, bytes);
}

void *SGC_region_malloc(SGC_region_t *region, size_t bytes)
{
    const struct sgc_dates *d = sgc_dates_quickly();

    if (__builtin_expect(d == NULL || region == NULL || region->owner != d->serial, 0) ||
        (sgc_aw_load_acq(&region->word) & (SGC_REGION_OVER | SGC_REGION_CLOSED)) != 0 || !sgc_region_has_room(region, bytes))
        return allocate_slowly(region, bytes);
    return sgc_region_take(region, sgc_round_up(bytes, SGC_GRANULE));
}

static int refresh(struct SGC_region *r, struct sgc_region_date date)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL)
        return error;
    if (r == NULL)
        return EINVAL;
    if (date.extension > sgc_shortterm.extension)
        return ERANGE;
    if (date.clock != NULL && date.clock->dates != d)
        return EPERM;
    return sgc_region_refresh(d, r, date);
}

int SGC_region_refresh(SGC_region_t *region, unsigned extension)
{
    return refresh(region, (struct sgc_region_date){ extension, false, NULL });
}

int SGC_region_refresh_global(SGC_region_t *region, unsigned extension)
{
    return refresh(region, (struct sgc_region_date){ extension, true, NULL });
}

int SGC_region_refresh_clock(SGC_region_t *region, unsigned extension, SGC_clock_t *clock)
{
    return refresh(region, (struct sgc_region_date){ extension, false, clock });
}

int SGC_region_close(SGC_region_t *region)
{
    int error;

    if (owner_now(region, &error) == NULL)
        return error;
    return close_region(region) ? 0 : EALREADY;
}

SGC_region_t *SGC_region_of(const void *address)
{
    return sgc_region_at((uintptr_t)address);
}
