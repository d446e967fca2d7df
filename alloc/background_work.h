/* SPDX-License-Identifier: MIT */
/*
 * Sweeping and clearing ahead of need.
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

/* Clears what sweeping has left of the bitmap that will be marked next, arena by arena.  After each cycle, before the next.
 * The work is shared: any number of threads may call it.  Returns when all is clear. */
void sgc_clear_begin(void);             /* by the collecting thread, world stopped, after the flip */
void sgc_clear_again(void);             /* likewise, after a mark that was given up; and in the child of a fork, where a thread
                                           that does not exist any more may have been in the middle of it */
bool sgc_clear_some(uint32_t arenas);   /* false when nothing is left to take */
void sgc_clear_finish(void);            /* clears what is left and waits for the others */

#endif
