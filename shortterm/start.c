/* SPDX-License-Identifier: MIT */
/* How the public functions of short-term memory begin: shortterm/start.h. */
#include "gc/api/api.h"
#include "gc/api/objects.h"
#include "shortterm/start.h"

#include <errno.h>
#include <string.h>

#include "gc/api/guards.h"
#include "gc/collect/start.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"
#include "shortterm/dates/date_pages.h"

/* Takes over the settings.  Choices that the program makes from then on come too late, and are
 * lost. */
static void settle(struct sgc_mutator *self)
{
    sgc_assert(sgc_gc_lock_held());
    sgc_shortterm_lock(sgc_section_of(self));
    sgc_shortterm_settle();
    sgc_shortterm_unlock(sgc_section_of(self));
}

/* Starts the layer, if nobody has.  On a mutator, outside sections. */
static void start(struct sgc_mutator *self)
{
    bool closed;

    sgc_assert(sgc_mutator_mine(self));
    if (sgc_upper() != NULL)
        return;
    closed = sgc_gc_lock_enter(self);
    if (sgc_upper() == NULL) {
        settle(self);
        sgc_upper_start(self, sgc_verifies() ? &sgc_shortterm_verifying : &sgc_shortterm_layer);
    }
    sgc_gc_lock_leave(closed);
    sgc_assert(sgc_upper() != NULL);
}

/* The thread's record, which is made if need be; NULL if there is no memory.  On the thread,
 * outside sections. */
static struct sgc_dates *get_dates(struct sgc_mutator *self)
{
    struct sgc_dates *d = sgc_dates_of(self);

    sgc_assert(sgc_mutator_mine(self));
    if (d != NULL)
        return d;
    start(self);
    return sgc_dates_make(self);
}

struct sgc_dates *sgc_dates_slowly(int *error)
{
    struct sgc_mutator *self = sgc_api_self();
    struct sgc_dates *d;

    *error = self == NULL ? ENOMEM : sgc_world_is_blocked(self) || sgc_stopped_by_self() ? EBUSY : 0;
    if (*error != 0)
        return NULL;
    d = get_dates(self);
    sgc_assert(d == NULL || (sgc_dates_ok(d) && d->owner == self));
    if (d == NULL)
        *error = ENOMEM;
    return d;
}

int sgc_named_object(uintptr_t address, struct sgc_object *o)
{
    if (!sgc_heap_contains(address))
        return EINVAL;
    if (!sgc_object_find(address, o))
        return ESTALE;                  /* the page of one that has gone, perhaps */
    sgc_assert(sgc_api_object_ok(o));
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

/* ---- what was settled ---- */

int SGC_shortterm_mode(void)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL)
        return -1;
    start(self);
    return (int)sgc_shortterm.mode;
}

size_t SGC_get_shortterm(struct SGC_shortterm *settings, size_t size)
{
    struct SGC_shortterm s = { .mode = SGC_shortterm_mode() };
    size_t known = size < sizeof s ? size : sizeof s;

    s.extension = (int)sgc_shortterm.extension;
    s.collect = sgc_shortterm.eager ? SGC_SHORTTERM_EAGER : SGC_SHORTTERM_LAZY;
    s.step = (int)sgc_shortterm.step;
    s.page_bytes = (int)(sizeof(struct sgc_date_page) + (sgc_date_words + 1) * sizeof(uintptr_t));
    memset(settings, 0, size);
    memcpy(settings, &s, known);
    return known;
}
