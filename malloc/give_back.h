/* SPDX-License-Identifier: MIT */
/*
 * When free pages go back to the system: at the slow free that leaves more of them with contents
 * than a bound, by the thread that frees.  There is no other thread, and no later moment: a program
 * that falls idle after a burst has given it back.
 *
 * The bound is an eighth of the pages in use, and at least 8 MB.  A program that takes again at
 * once what it has given back pays for each OS page: so the bound rises by what was taken again
 * within half a second of a discard.  It falls by half at the first discard without that, and by
 * what goes because of its age: a slow free looks for an arena in which nothing was freed for half
 * a second, at most each 10 ms, and discards its free pages.  Memory that the system does not
 * take, since it is locked, is kept in addition, and tried again after half a second.
 *
 *   what           written by                             read by    ordering
 *   busy           the thread that discards, by           others     acquire, release: what follows is its alone
 *                  compare-and-swap; the child of a fork
 *   extra, ticked, that thread; the child of a fork       anybody    relaxed: figures
 *   kept
 *   the rest       that thread                            the same   busy
 */
#ifndef SGC_MALLOC_GIVE_BACK_H
#define SGC_MALLOC_GIVE_BACK_H

#include "alloc/small/cache.h"

/* Pages may have come to the pool: discards what is too much there, or too old.  By the cache's
 * thread, outside sections. */
void sgc_give_back(struct sgc_cache *cache);

/* A slow path has freed the block: gives its page back if nothing is left in it and no thread owns
 * it; then as sgc_give_back. */
void sgc_give_back_after(struct sgc_cache *cache, const void *block);

/* Discards all that is free: the pool's pages, with what the cache has at hand and what others have
 * freed in orphans.  By the cache's thread, outside sections. */
void sgc_give_back_all(struct sgc_cache *cache);

/* In the child of a fork, by its only thread. */
void sgc_give_back_after_fork(void);

#endif
