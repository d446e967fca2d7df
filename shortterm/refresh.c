/* SPDX-License-Identifier: MIT */
/*
 * Dates for objects: the common way inline, in a brief section, and everything else.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "alloc/small/small.h"
#include "gc/api/guards.h"
#include "shortterm/global_time.h"
#include "shortterm/regions.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

/* ---- the common way ---- */

/* Is there an allocated small object of the heap that begins there?  Of a page of our own we know, too, whether it was handed
 * out, unless the page's objects are freed slowly.  In a section. */
__attribute__((always_inline))
static inline bool is_object(struct sgc_cache *cache, const void *object, size_t granule)
{
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];
    size_t place = sgc_bit_index(granule);

    if ((sgc_aw_load_acq(&sgc_alloc_words[place / 64]) >> place % 64 & 1) == 0 || sgc_a8_load(&d->remote) != 0)
        return false;
    return sgc_tag_owner(sgc_aw_load(&d->tag)) != cache->id ||
           sgc_bin_handed_out(sgc_bin_at(cache, sgc_a32_load(&d->bin)), object);
}

/* The date is written before it counts. */
__attribute__((always_inline))
static inline void append(struct sgc_date_list *list, uintptr_t date)
{
    *list->next = date;
    sgc_compiler_barrier();
    list->next++;
}

/* ---- the other ways ---- */

struct refresh {
    uintptr_t address;
    uint32_t extension;
    bool global;
    struct SGC_clock *clock;            /* if it is not global; NULL: the thread's own one */
};

/* The object that the address means: with guards around it the program has another address of it. */
static int find(uintptr_t address, struct sgc_object *o)
{
    if (!sgc_heap_contains(address) || !sgc_object_slot(address, o))
        return EINVAL;
    sgc_assert(sgc_api_object_ok(o));
    if (!sgc_object_allocated(o))
        return ESTALE;
    if (o->start == address)
        return 0;
    switch (sgc_debug_around((void *)address)) {
    case SGC_DEBUG_NONE:
        return EINVAL;
    case SGC_DEBUG_FREED:
    case SGC_DEBUG_FREED_WRITTEN:
        return ESTALE;
    default:
        return 0;
    }
}

static int add(struct sgc_dates *d, struct sgc_date_buffer *buffer, uint32_t later, const struct sgc_object *o)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct sgc_date_list *list = sgc_date_buffer_list(buffer, later);
    bool there;

    sgc_assert(sgc_dates_ok(d) && sgc_section_mine(section));
    if (!sgc_date_pool_fill(&d->pool, section))
        return ENOMEM;
    sgc_section_enter(section);
    there = sgc_object_allocated(o);
    if (there) {
        if (*list->next == SGC_DATES_END)
            sgc_date_list_extend(list, &d->pool);
        append(list, o->start);
    }
    sgc_section_leave(section);
    return there ? 0 : ESTALE;
}

static int refresh(struct sgc_dates *d, const struct refresh *r)
{
    struct sgc_object o;
    int error;

    sgc_assert(sgc_dates_ok(d));
    if (r->extension > sgc_shortterm.extension)
        return ERANGE;
    error = find(r->address, &o);
    if (error == EINVAL && sgc_region_at(r->address) != NULL)
        return sgc_region_refresh(d, sgc_region_at(r->address), &(struct sgc_region_date){ r->extension, r->global, r->clock });
    if (error != 0)
        return error;
    if (!r->global)
        return add(d, r->clock != NULL ? &r->clock->objects : &d->local, r->extension, &o);
    return sgc_time_enter(d) ? add(d, &d->global, r->extension + SGC_TIME_LATER, &o) : ENOMEM;
}

__attribute__((noinline))
static int refresh_slowly(void *object, unsigned extension, bool global)
{
    struct refresh r = { (uintptr_t)object, extension, global, NULL };
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    return d == NULL ? error : refresh(d, &r);
}

/* Jumped to. */
__attribute__((noinline))
static int refresh_missed(void *object, unsigned extension, bool global, struct sgc_cache *cache)
{
    sgc_brief_end(&cache->section);
    return refresh_slowly(object, extension, global);
}

__attribute__((noinline))
static int refresh_looks(struct sgc_section *section)
{
    sgc_brief_look(section, NULL);
    return 0;
}

__attribute__((always_inline))
static inline int refresh_by(struct sgc_mutator *self, struct sgc_date_list *list, void *object, unsigned extension,
                             bool global)
{
    size_t granule = sgc_exact_granule(object);
    struct sgc_cache *cache = &self->cache;

    if (__builtin_expect(granule >= sgc_aw_load(&sgc_heap.granules), 0))
        return refresh_slowly(object, extension, global);
    sgc_brief_enter(&cache->section);
    if (__builtin_expect(!is_object(cache, object, granule) || *list->next == SGC_DATES_END, 0))
        return refresh_missed(object, extension, global, cache);
    append(list, (uintptr_t)object);
    if (sgc_brief_leave(&cache->section))
        return refresh_looks(&cache->section);
    return 0;
}

int SGC_refresh(void *object, unsigned extension)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;

    if (__builtin_expect(d == NULL || extension >= d->room, 0))
        return refresh_slowly(object, extension, false);
    return refresh_by(self, sgc_date_buffer_list(&d->local, extension), object, extension, false);
}

int SGC_refresh_global(void *object, unsigned extension)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;

    if (__builtin_expect(d == NULL || extension >= d->room || !d->in_time, 0))
        return refresh_slowly(object, extension, true);
    return refresh_by(self, sgc_date_buffer_list(&d->global, extension + SGC_TIME_LATER), object, extension, true);
}

int SGC_refresh_clock(void *object, unsigned extension, SGC_clock_t *clock)
{
    struct refresh r = { (uintptr_t)object, extension, false, clock };
    struct sgc_dates *d;
    int error;

    if (clock == NULL)
        return SGC_refresh(object, extension);
    d = sgc_dates_now(&error);
    if (d == NULL)
        return error;
    return clock->dates == d ? refresh(d, &r) : EPERM;
}
