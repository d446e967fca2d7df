/* SPDX-License-Identifier: MIT */
/*
 * Dates for objects: the common way inline, in a brief section, and everything else.
 */
#include "gc/api/api.h"

#include <errno.h>

#include "alloc/small/small.h"
#include "shortterm/dates/counts.h"
#include "shortterm/expire.h"
#include "shortterm/global_time.h"
#include "shortterm/regions.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

/* ---- the common way ---- */

/* Is there an allocated small object of the heap that begins there?  A slot that its owner has
 * claimed and not handed out looks like one.  Outside sections a collection may exchange the
 * bitmaps in between, and the answer be no: find, below, is exact. */
__attribute__((always_inline))
static inline bool is_object(const struct sgc_page *d, size_t granule)
{
    size_t place = sgc_bit_index(granule);

    return (sgc_aw_load_acq(&sgc_alloc_words[place / 64]) >> place % 64 & 1) != 0 && sgc_a8_load(&d->remote) == 0;
}

/* The date is written before it counts. */
__attribute__((always_inline))
static inline void append(struct sgc_date_list *list, uintptr_t date)
{
    sgc_assert(*list->next != SGC_DATES_END && date != SGC_DATES_END);
    *list->next = date;
    sgc_compiler_barrier();
    list->next++;
}

/* Can a date of an object there be counted, and is its page watched, so that GC_free asks for
 * dates?  In the section in which it is counted. */
__attribute__((always_inline))
static inline bool is_countable(const struct sgc_page *d, size_t granule, enum sgc_watch why)
{
    return sgc_page_is_watched(d, why) && sgc_counts_ready(granule);
}

/* A date of the owner's more, if that is easy. */
__attribute__((always_inline))
static inline bool count_own(size_t granule)
{
    struct sgc_count *count = &sgc_counts.of[granule];
    uint8_t own = sgc_a8_load(&count->own);

    sgc_assert(sgc_counts_ready(granule));
    if ((sgc_a8_load(&count->others) & SGC_COUNT_ALONE) != 0 || sgc_count_is_stuck(own))
        return false;
    sgc_a8_store(&count->own, (uint8_t)(own + 1));
    sgc_compiler_barrier();             /* counted before it is written down */
    return true;
}

/* ---- the other ways ---- */

struct refresh {
    uintptr_t address;
    uint32_t extension;
    bool global;
    struct SGC_clock *clock;            /* if it is not global; NULL: the thread's own one */
    uintptr_t caller;
};

/* The date of any object.  In a section. */
static uintptr_t counted(struct sgc_dates *d, const struct sgc_object *o)
{
    bool own = !o->span && sgc_page_owner(o->page) == d->owner->cache.id;

    sgc_assert(sgc_object_ok(o));
    if (!sgc_shortterm.counts)
        return o->start;
    sgc_page_watch(o->page, own ? SGC_WATCH_DATED_HERE : SGC_WATCH_DATED);
    return o->start | sgc_counts_add(o->granule, own);
}

static void append_wide(struct sgc_date_list *list, uintptr_t date, uintptr_t caller)
{
    sgc_assert(*list->next != SGC_DATES_END && sgc_shortterm.words == 2);
    list->next[1] = caller;
    *list->next = date;
    sgc_compiler_barrier();
    list->next += 2;
}

static int add(struct sgc_dates *d, struct sgc_date_list *list, const struct sgc_object *o, uintptr_t caller)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    bool there;

    sgc_assert(sgc_dates_ok(d) && sgc_section_mine(section));
    if (!sgc_date_pool_fill(&d->pool, section) || (sgc_shortterm.counts && !sgc_counts_prepare(o->granule)))
        return ENOMEM;
    sgc_section_enter(section);
    there = sgc_object_allocated(o);
    if (there) {
        if (*list->next == SGC_DATES_END) {
            sgc_date_list_extend(list, &d->pool);
            d->pages++;
        }
        if (sgc_shortterm.words == 2)
            append_wide(list, counted(d, o), caller);
        else
            append(list, counted(d, o));
    }
    sgc_section_leave(section);
    if (d->expired.first != NULL)
        sgc_expire_step(d);
    return there ? 0 : ESTALE;
}

/* The address lies in that object, and is not what the program has of it. */
static int refresh_region(struct sgc_dates *d, const struct refresh *r, const struct sgc_object *o)
{
    struct SGC_region *region = sgc_region_of_object(o);

    sgc_assert(r->extension <= sgc_shortterm.extension);
    if (region == NULL)
        return EINVAL;
    return sgc_region_refresh(d, region, (struct sgc_region_date){ r->extension, r->global, r->clock });
}

static int refresh(struct sgc_dates *d, const struct refresh *r)
{
    struct sgc_date_list *list = NULL;
    struct sgc_object o;
    int error;

    sgc_assert(sgc_dates_ok(d));
    if (r->extension > sgc_shortterm.extension)
        return ERANGE;
    error = sgc_named_object(r->address, &o);
    if (error != 0)
        return error == EINVAL && sgc_heap_contains(r->address) ? refresh_region(d, r, &o) : error;
    if (!r->global)
        list = sgc_date_buffer_list(r->clock != NULL ? &r->clock->objects : &d->local, r->extension);
    else if (sgc_time_enter(d))
        list = sgc_date_buffer_list(&d->global, r->extension + SGC_TIME_LATER);
    return list != NULL ? add(d, list, &o, r->caller) : ENOMEM;
}

int sgc_refresh_for(void *object, unsigned extension, bool global, uintptr_t caller)
{
    struct refresh r = { (uintptr_t)object, extension, global, NULL, caller };
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    return d == NULL ? error : refresh(d, &r);
}

/* Reached by a jump, so the return address is the program's.  A common way that read it itself
 * would need a stack frame. */
__attribute__((noinline))
static int refresh_slowly(void *object, unsigned extension, bool global)
{
    return sgc_refresh_for(object, extension, global, (uintptr_t)__builtin_return_address(0));
}

/* Jumped to. */
__attribute__((noinline))
static int refresh_missed(void *object, unsigned extension, bool global, struct sgc_cache *cache)
{
    sgc_brief_end(&cache->section);
    return refresh_slowly(object, extension, global);
}

__attribute__((noinline))
static int refresh_expires(struct sgc_dates *d)
{
    sgc_expire_step(d);
    return 0;
}

__attribute__((noinline))
static int refresh_interrupted(struct sgc_dates *d)
{
    sgc_brief_leave_slowly(&d->owner->cache.section, NULL);
    return d->expired.first != NULL ? refresh_expires(d) : 0;
}

/* Where the object is.  Each way out of the common ones is a return or a jump, so that they need no
 * stack frame. */
struct place {
    size_t granule;
    const struct sgc_page *page;
};

__attribute__((always_inline))
static inline struct place find_place(const void *object)
{
    size_t granule = sgc_exact_granule(object);

    return (struct place){ granule, &sgc_heap.pages[granule / SGC_PAGE_GRANULES] };
}

__attribute__((always_inline))
static inline bool is_common(const struct place *w)
{
    return w->granule < sgc_aw_load(&sgc_heap.granules) && is_object(w->page, w->granule);
}

/* A refresh that takes the common way so far: the list of its date is found once the object is
 * known to be one. */
struct common {
    struct sgc_dates *d;
    struct sgc_cache *cache;            /* of the thread */
    const struct sgc_date_buffer *buffer;
    uint32_t later;
    bool global;
};

__attribute__((always_inline))
static inline struct sgc_date_list *list_of(const struct common *c)
{
    return sgc_date_buffer_list(c->buffer, c->later);
}

/* The common way where dates are not counted. */
__attribute__((always_inline))
static inline int refresh_pinned(const struct common *c, void *object, unsigned extension)
{
    struct place w = find_place(object);
    struct sgc_date_list *list;

    sgc_assert(sgc_shortterm.words == 1 && c->cache == &c->d->owner->cache);
    if (__builtin_expect(!is_common(&w), 0))
        return refresh_slowly(object, extension, c->global);
    sgc_brief_enter(&c->cache->section);
    list = list_of(c);
    if (__builtin_expect(*list->next == SGC_DATES_END, 0))
        return refresh_missed(object, extension, c->global, c->cache);
    append(list, (uintptr_t)object);
    if (sgc_brief_leave(&c->cache->section))
        return refresh_interrupted(c->d);
    return 0;
}

/* Refreshes an object of another thread's page, where dates are counted. */
__attribute__((noinline))
static int refresh_others(void *object, unsigned extension, bool global, struct sgc_date_list *list, struct sgc_dates *d)
{
    struct place w = find_place(object);
    struct sgc_section *section = &d->owner->cache.section;
    bool room;

    sgc_assert(sgc_shortterm.counts && sgc_shortterm.words == 1);
    sgc_section_enter(section);
    room = *list->next != SGC_DATES_END && is_countable(w.page, w.granule, SGC_WATCH_DATED);
    if (room)
        append(list, (uintptr_t)object | sgc_counts_add(w.granule, sgc_tag_owner(sgc_aw_load(&w.page->tag)) ==
                                                                   d->owner->cache.id));
    sgc_section_leave(section);
    if (!room)
        return refresh_slowly(object, extension, global);
    return d->expired.first != NULL ? refresh_expires(d) : 0;
}

/* The common way where dates are counted. */
__attribute__((always_inline))
static inline int refresh_counted(const struct common *c, void *object, unsigned extension)
{
    struct place w = find_place(object);
    struct sgc_date_list *list;

    sgc_assert(sgc_shortterm.words == 1 && c->cache == &c->d->owner->cache);
    if (__builtin_expect(!is_common(&w), 0))
        return refresh_slowly(object, extension, c->global);
    if (sgc_tag_owner(sgc_aw_load(&w.page->tag)) != c->cache->id)
        return refresh_others(object, extension, c->global, list_of(c), c->d);
    sgc_brief_enter(&c->cache->section);
    list = list_of(c);
    if (__builtin_expect(!is_countable(w.page, w.granule, SGC_WATCH_DATED_HERE) || *list->next == SGC_DATES_END ||
                         !count_own(w.granule), 0))
        return refresh_missed(object, extension, c->global, c->cache);
    append(list, (uintptr_t)object);
    if (sgc_brief_leave(&c->cache->section))
        return refresh_interrupted(c->d);
    return __builtin_expect(c->d->expired.first != NULL, 0) ? refresh_expires(c->d) : 0;
}

int SGC_refresh(void *object, unsigned extension)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;
    struct common c;

    if (__builtin_expect(d == NULL || extension >= d->room, 0))
        return refresh_slowly(object, extension, false);
    c = (struct common){ d, &self->cache, &d->local, extension, false };
    return sgc_shortterm.counts ? refresh_counted(&c, object, extension) : refresh_pinned(&c, object, extension);
}

int SGC_refresh_global(void *object, unsigned extension)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;
    struct common c;

    if (__builtin_expect(d == NULL || extension >= d->room || !d->in_time, 0))
        return refresh_slowly(object, extension, true);
    c = (struct common){ d, &self->cache, &d->global, extension + SGC_TIME_LATER, true };
    return sgc_shortterm.counts ? refresh_counted(&c, object, extension) : refresh_pinned(&c, object, extension);
}

int SGC_refresh_clock(void *object, unsigned extension, SGC_clock_t *clock)
{
    struct refresh r = { (uintptr_t)object, extension, false, clock, (uintptr_t)__builtin_return_address(0) };
    struct sgc_dates *d;
    int error;

    if (clock == NULL && sgc_shortterm.words == 1)
        return SGC_refresh(object, extension);
    d = sgc_dates_now(&error);
    if (d == NULL)
        return error;
    return clock == NULL || clock->dates == d ? refresh(d, &r) : EPERM;
}
