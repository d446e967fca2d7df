/* SPDX-License-Identifier: MIT */
/*
 * When free pages go back to the system: at the slow free that leaves more of them with contents
 * than a bound, by the thread that frees.  There is no other thread, and no later moment: a program
 * that falls idle after a burst has given it back.
 *
 * The bound is an eighth of the pages in use, and at least 8 MB.  A program that takes again at
 * once what it has given back pays for each OS page: so the bound rises by what was taken again
 * within half a second of a discard, and falls by half at the first discard without that.
 *
 *   what           written by                             read by    ordering
 *   busy           the thread that discards, by           others     acquire, release: what follows is its alone
 *                  compare-and-swap; the child of a fork
 *   extra          that thread                            anybody    relaxed: a figure
 *   the rest       that thread                            the same   busy
 */
#ifndef SGC_MALLOC_GIVE_BACK_H
#define SGC_MALLOC_GIVE_BACK_H

#include "alloc/small/cache.h"

/* Pages may have come to the pool.  By the cache's thread, outside sections. */
void sgc_give_back(struct sgc_cache *cache);

/* The same after the caller has freed a block, maybe the last one of a page that an ended thread has
 * left behind. */
void sgc_give_back_after(struct sgc_cache *cache, const void *block);

/* In the child of a fork, by its only thread. */
void sgc_give_back_after_fork(void);

#endif
