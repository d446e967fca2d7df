/* SPDX-License-Identifier: MIT */
/*
 * What programs do with regions.  On any mutator.
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
    struct SGC_region *r;

    if (d == NULL) {
        errno = error;
        return NULL;
    }
    r = GC_malloc(sizeof *r);
    if (r != NULL) {
        r->owner = d->serial;
        r->bytes = SGC_REGION_CHUNK_LEAST;
    }
    return r;
}

void *SGC_region_malloc(SGC_region_t *region, size_t bytes)
{
    int error;
    const struct sgc_dates *d = owner_now(region, &error);

    if (d == NULL) {
        errno = error;
        return NULL;
    }
    if (__builtin_expect(sgc_a32_load_acq(&region->over) != 0, 0))
        sgc_region_empty(region);
    return sgc_region_allocate(region, bytes);
}

static int refresh(struct SGC_region *r, const struct sgc_region_date *date)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL)
        return error;
    if (r == NULL)
        return EINVAL;
    if (date->extension > sgc_shortterm.extension)
        return ERANGE;
    if (date->clock != NULL && date->clock->dates != d)
        return EPERM;
    return sgc_region_refresh(d, r, date);
}

int SGC_region_refresh(SGC_region_t *region, unsigned extension)
{
    return refresh(region, &(struct sgc_region_date){ extension, false, NULL });
}

int SGC_region_refresh_global(SGC_region_t *region, unsigned extension)
{
    return refresh(region, &(struct sgc_region_date){ extension, true, NULL });
}

int SGC_region_refresh_clock(SGC_region_t *region, unsigned extension, SGC_clock_t *clock)
{
    return refresh(region, &(struct sgc_region_date){ extension, false, clock });
}

int SGC_region_close(SGC_region_t *region)
{
    int error;

    if (owner_now(region, &error) == NULL)
        return error;
    if (region->closed)
        return EALREADY;
    if (sgc_a32_load_acq(&region->over) != 0)
        sgc_region_empty(region);
    region->closed = true;
    return 0;
}

SGC_region_t *SGC_region_of(const void *address)
{
    return sgc_region_at((uintptr_t)address);
}
