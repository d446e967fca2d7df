/* SPDX-License-Identifier: MIT */
/*
 * Sweeping ahead of need.
 */
#ifndef SGC_ALLOC_BACKGROUND_WORK_H
#define SGC_ALLOC_BACKGROUND_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "alloc/small/cache.h"

/* Sweeps ahead: up to `most` pages of all caches, orphans and spans, giving empty ones back.
 * False when nothing is left to do for this epoch.  By the service thread, or a thread that needs
 * pages; outside sections.  Under a guard: an empty page is in our hands only until the pool has it. */
bool sgc_sweep_ahead(uint32_t most, struct sgc_section *self);

/* The same for the pages of one cache. */
bool sgc_sweep_cache(struct sgc_cache *cache, uint32_t most, struct sgc_section *self);

#endif
