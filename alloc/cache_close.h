/* SPDX-License-Identifier: MIT */
/*
 * The end of a cache.
 */
#ifndef SGC_ALLOC_CACHE_CLOSE_H
#define SGC_ALLOC_CACHE_CLOSE_H

#include "alloc/small/cache.h"

/* Its thread ends: slots go back, pages to the orphans.  By its thread, outside sections, or by the
 * only thread in the child of a fork. */
void sgc_cache_close(struct sgc_cache *cache, struct sgc_section *self);

#endif
