/* SPDX-License-Identifier: MIT */
/*
 * The sizes everything else is built on.  Constants only.
 *
 * Why 64 KB pages: a descriptor table of 32 bytes per page then covers 256 MB with 128 KB, which
 * stays in the first- and second-level caches while marking; a thread refills rarely; and every
 * class up to a third of a page can share pages.  A page that is used only in part costs only the
 * OS pages touched, since objects are handed out in ascending order, unless its class is in great
 * demand.
 */
#ifndef SGC_ALLOC_PAGES_GEOMETRY_H
#define SGC_ALLOC_PAGES_GEOMETRY_H

#include <stddef.h>
#include <stdint.h>

#include "platform/compiler.h"

enum {
    SGC_GRANULE_LOG = 4,
    SGC_PAGE_LOG = 16,
    SGC_ARENA_LOG = 22,

    SGC_GRANULE = 1 << SGC_GRANULE_LOG,
    SGC_PAGE = 1 << SGC_PAGE_LOG,
    SGC_ARENA = 1 << SGC_ARENA_LOG,

    SGC_PAGE_GRANULES = SGC_PAGE / SGC_GRANULE,         /* 4096 */
    SGC_PAGE_WORDS = SGC_PAGE_GRANULES / 64,            /* bitmap words per page: 64 */
    SGC_ARENA_PAGES = SGC_ARENA / SGC_PAGE,             /* 64: one machine word of page bits */
    SGC_ARENA_BITMAP = SGC_ARENA / SGC_GRANULE / 8,     /* bytes of a bitmap per arena: 32 KB */

    SGC_SMALL_MAX = 21840,      /* largest class: three objects per page */

    SGC_BITMAPS = SGC_TRACES ? 2 : 1,   /* what is allocated, and what is being marked */
};

_Static_assert(SGC_ARENA_PAGES == 64, "an arena's pages are the bits of one word");

#endif
