/* SPDX-License-Identifier: MIT */
/*
 * The public functions for regions.  On any mutator.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "shortterm/regions.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

/* The calling thread's dates if it is the region's owner; otherwise NULL and the error.  NULL comes of SGC_region_new without
 * memory. */
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
    if (sgc_region_is_over(r))
        sgc_region_empty(r);
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
    return sgc_region_close(region) ? 0 : EALREADY;
}

SGC_region_t *SGC_region_of(const void *address)
{
    return sgc_region_at((uintptr_t)address);
}
