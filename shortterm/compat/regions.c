/* SPDX-License-Identifier: MIT */
/*
 * libscm's regions: numbers of the calling thread for SGC's.  The table is a root, as thread-local
 * variables are.
 */
#include "shortterm/compat/compat.h"

#include <errno.h>

static _Thread_local SGC_region_t *regions[SCM_MAX_REGIONS];

static SGC_region_t *find(int number)
{
    return number >= 0 && number < SCM_MAX_REGIONS ? regions[number] : NULL;
}

int scm_create_region(void)
{
    sgc_scm_enter();
    for (int number = 0; number < SCM_MAX_REGIONS; number++)
        if (regions[number] == NULL) {
            regions[number] = SGC_region_new();
            return regions[number] != NULL ? number : -1;
        }
    return -1;
}

void scm_unregister_region(int region)
{
    SGC_region_t *closed = find(region);

    if (closed == NULL)
        return;
    regions[region] = NULL;
    SGC_region_close(closed);
}

void *scm_malloc_in_region(size_t size, int region)
{
    SGC_region_t *in = find(region);
    void *object = in != NULL ? SGC_region_malloc(in, size) : NULL;

    if (object == NULL)
        errno = in != NULL ? ENOMEM : EINVAL;
    return object;
}

static int by_clock(void *region, unsigned extension, void *clock)
{
    return SGC_region_refresh_clock(region, extension, clock);
}

static int by_global_time(void *region, unsigned extension, void *clock)
{
    (void)clock;
    return SGC_region_refresh_global(region, extension);
}

void scm_refresh_region_with_clock(int region, unsigned extension, unsigned clock)
{
    SGC_clock_t *by = sgc_scm_clock(clock);

    if (find(region) != NULL && (clock == 0 || by != NULL))
        sgc_scm_refresh(by_clock, find(region), extension, by);
}

void scm_refresh_region(int region, unsigned extension)
{
    scm_refresh_region_with_clock(region, extension, 0);
}

void scm_global_refresh_region(int region, unsigned extension)
{
    if (find(region) != NULL)
        sgc_scm_refresh(by_global_time, find(region), extension, NULL);
}
