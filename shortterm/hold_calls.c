/* SPDX-License-Identifier: MIT */
/*
 * The public functions that hold objects.  On any mutator.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "shortterm/counts.h"
#include "shortterm/expire.h"
#include "shortterm/holds.h"
#include "shortterm/named.h"
#include "shortterm/start.h"
#include "shortterm/verify.h"
#include "sgc_shortterm.h"

int SGC_hold(void *object)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);
    struct sgc_object o;

    if (d == NULL || (error = sgc_named_object((uintptr_t)object, &o)) != 0)
        return error;
    if (!sgc_holds_reach(d->owner, o.start))
        return ENOMEM;
    sgc_date_pages_lock(sgc_section_of(d->owner));
    error = sgc_hold(d->owner, o.start);
    sgc_date_pages_unlock(sgc_section_of(d->owner));
    return error;
}

/* The last hold's date is over, and was the object's last one.  Under the lock of the pages of dates. */
static bool has_expired(struct sgc_dates *d, uintptr_t object, uintptr_t caller)
{
    bool kept = sgc_verifies() && sgc_verify_unheld(d, object, caller);

    if (!sgc_shortterm.counts || kept)
        return false;
    return sgc_counts_take(sgc_granule_number(object), true) && !sgc_verifies();
}

int SGC_unhold(void *object)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    struct sgc_object o;
    bool last = false;

    if (d == NULL)
        return error;
    if (sgc_named_object((uintptr_t)object, &o) != 0)
        return EINVAL;                  /* what is held is there */
    if (sgc_verifies())
        sgc_date_pool_fill(&d->pool, sgc_section_of(d->owner));
    sgc_date_pages_lock(sgc_section_of(d->owner));
    error = sgc_unhold(d->owner, o.start, &last);
    last = last && has_expired(d, o.start, caller);
    sgc_date_pages_unlock(sgc_section_of(d->owner));
    if (last)
        sgc_expire_object(d, o.start);
    return error;
}
