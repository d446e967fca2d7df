/* SPDX-License-Identifier: MIT */
/*
 * The interface of libscm in its later, public form, with clocks and regions, on top of SGC: for programs written for it, which
 * need no change.  What stm.h has, too, is described there, and what it says of addresses, settings and threads holds here.
 */
#ifndef SGC_SCM_LIBSCM_H
#define SGC_SCM_LIBSCM_H

#include <string.h>             /* programs rely on that */

#include "stm.h"

#ifndef SCM_DESCRIPTOR_PAGE_FREELIST_SIZE
#define SCM_DESCRIPTOR_PAGE_FREELIST_SIZE 10
#endif
#ifndef SCM_FINALIZER_TABLE_SIZE
#define SCM_FINALIZER_TABLE_SIZE 32
#endif
#ifndef SCM_REGION_PAGE_SIZE
#define SCM_REGION_PAGE_SIZE 4096
#endif
#ifndef SCM_REGION_PAGE_FREELIST_SIZE
#define SCM_REGION_PAGE_FREELIST_SIZE 10
#endif
#ifndef SCM_MAX_REGIONS
#define SCM_MAX_REGIONS 10
#endif
#ifndef SCM_MAX_CLOCKS
#define SCM_MAX_CLOCKS 10
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* See stm-debug.h. */
int scm_register_finalizer(int (*finalizer)(void *));
void scm_set_finalizer(void *object, int number);

/* ---- clocks ---- */

/* A clock of the calling thread beside its own one, which is number 0: a number from 1 to 9; -1: it has nine already, or there
 * is no memory.  Numbers mean something to their thread only. */
int scm_register_clock(void);

/* The clock is no more; its dates are over. */
void scm_unregister_clock(int clock);

/* scm_refresh and scm_tick by that clock. */
void scm_refresh_with_clock(void *object, unsigned int extension, unsigned int clock);
void scm_tick_clock(unsigned int clock);

/* ---- regions ---- */

/* A region of the calling thread: memory for many objects that go together.  A number from 0 to 9; -1: it has ten already, or
 * there is no memory.  Numbers mean something to their thread only. */
int scm_create_region(void);

/* Gives the region up: its number is free again.  Objects in the region live until its dates are over; without a date, as long
 * as something points at one of them. */
void scm_unregister_region(int region);

/* An object in the region, aligned to 16, not cleared.  It lives as long as the region has a date that is not over; without
 * any, it is persistent, and so is the region.  When the last date is over, the region is empty and can be used again.  NULL
 * when there is no memory or no such region. */
void *scm_malloc_in_region(size_t size, int region);

/* Give the region a date.  To refresh one of its objects does the same, on any thread. */
void scm_refresh_region(int region, unsigned int extension);
void scm_refresh_region_with_clock(int region, unsigned int extension, unsigned int clock);
void scm_global_refresh_region(int region, unsigned int extension);

#ifdef __cplusplus
}
#endif

#endif
