/* SPDX-License-Identifier: MIT */
/* The first use of short-term memory: shortterm/start.h. */
#include "gc/api/internal.h"
#include "shortterm/start.h"

#include <errno.h>

#include "gc/collect/start.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"
#include "shortterm/counts.h"
#include "shortterm/date_pages.h"
#include "shortterm/verify.h"

/* Takes over the settings.  Choices that the program makes from then on come too late, and are
 * lost. */
static void settle(struct sgc_mutator *self)
{
    sgc_date_pages_lock(sgc_section_of(self));
    sgc_shortterm_settle();
    if (sgc_shortterm.counts && !sgc_counts_init())
        sgc_shortterm_count_nothing();
    sgc_date_pages_unlock(sgc_section_of(self));
}

void sgc_shortterm_start(struct sgc_mutator *self)
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
}

struct sgc_dates *sgc_dates_get(struct sgc_mutator *self)
{
    struct sgc_dates *d = sgc_dates_of(self);

    sgc_assert(sgc_mutator_mine(self));
    if (d != NULL)
        return d;
    sgc_shortterm_start(self);
    return sgc_dates_make(self);
}

struct sgc_dates *sgc_dates_slowly(int *error)
{
    struct sgc_mutator *self = sgc_api_self();
    struct sgc_dates *d;

    *error = self == NULL ? ENOMEM : sgc_world_is_blocked(self) || sgc_stopped_by_self() ? EBUSY : 0;
    if (*error != 0)
        return NULL;
    d = sgc_dates_get(self);
    if (d == NULL)
        *error = ENOMEM;
    return d;
}

int SGC_shortterm_mode(void)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL)
        return -1;
    sgc_shortterm_start(self);
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
