/* SPDX-License-Identifier: MIT */
/*
 * The constants behind free lists that clients keep themselves (gc_inline.h).  They are part of the ABI: compiled
 * clients contain them.
 *
 * A tiny free list array has GC_TINY_FREELISTS heads; list i has objects of i granules, list 0 objects of one granule
 * for requests of size 0.  Such a list is the client's: its objects are allocated as far as the collector is concerned,
 * and live as long as the head is reachable.
 */
#ifndef GC_TINY_FL_H
#define GC_TINY_FL_H

#include "gc.h"

#ifndef GC_GRANULE_BYTES
#define GC_GRANULE_BYTES 16
#endif
#define GC_GRANULE_PTRS (GC_GRANULE_BYTES / GC_SIZEOF_PTR)
#define GC_GRANULE_WORDS GC_GRANULE_PTRS

/* Words to granules, rounded down and up; bdwgc 8.3 calls them pointers. */
#define GC_PTRS_TO_GRANULES(words) ((words) / GC_GRANULE_PTRS)
#define GC_PTRS_TO_WHOLE_GRANULES(words) GC_PTRS_TO_GRANULES((words) + GC_GRANULE_PTRS - 1)
#define GC_WORDS_TO_GRANULES(words) GC_PTRS_TO_GRANULES(words)

#ifndef GC_TINY_FREELISTS
#define GC_TINY_FREELISTS 25        /* objects of up to 384 bytes */
#endif

/* The size of the objects on list i, i > 0. */
#define GC_RAW_BYTES_FROM_INDEX(i) ((i) * GC_GRANULE_BYTES)

#endif
