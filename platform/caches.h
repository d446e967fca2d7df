/* SPDX-License-Identifier: MIT */
/*
 * The processors' caches.
 */
#ifndef SGC_PLATFORM_CACHES_H
#define SGC_PLATFORM_CACHES_H

#include <stddef.h>

/* Bytes of the first processor's data (or unified) cache of that level; 0 if the system does not say.  `root` is "/sys",
 * or a made-up tree in tests.  [any] */
size_t sgc_cache_bytes(const char *root, int level);

#endif
