/* SPDX-License-Identifier: MIT */
/*
 * What programs do to hold objects.  On any mutator.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "gc/finalize/finalize.h"
#include "shortterm/counts.h"
#include "shortterm/expire.h"
#include "shortterm/holds.h"
#include "shortterm/start.h"
#include "shortterm/verify.h"
#include "sgc_shortterm.h"

/* The calling thread's dates, if it may change them now, and an object may begin there; otherwise NULL and the error. */
static struct sgc_dates *may(const void *object, int *error)
{
    *error = EINVAL;
    return sgc_registrable((uintptr_t)object) ? sgc_dates_now(error) : NULL;
}

int SGC_hold(void *object)
{
    int error;
    struct sgc_dates *d = may(object, &error);
    struct sgc_section *section;

    if (d == NULL)
        return error;
    section = sgc_section_of(d->owner);
    if (GC_base(object) != object)
        return GC_base(object) == NULL ? ESTALE : EINVAL;
    if (!sgc_holds_reach(d->owner, (uintptr_t)object))
        return ENOMEM;
    sgc_date_pages_lock(section);
    error = sgc_hold(d->owner, (uintptr_t)object);
    sgc_date_pages_unlock(section);
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
    struct sgc_dates *d = may(object, &error);
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    bool last = false;

    if (d == NULL)
        return error;
    if (sgc_verifies())
        sgc_date_pool_fill(&d->pool, sgc_section_of(d->owner));
    sgc_date_pages_lock(sgc_section_of(d->owner));
    error = sgc_unhold(d->owner, (uintptr_t)object, &last);
    last = last && has_expired(d, (uintptr_t)object, caller);
    sgc_date_pages_unlock(sgc_section_of(d->owner));
    if (last)
        sgc_expire_object(d, (uintptr_t)object);
    return error;
}
