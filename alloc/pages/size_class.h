/* SPDX-License-Identifier: MIT */
/*
 * Size classes: which object size serves a request.
 *
 * Up to 256 bytes there is a class for each granule.  Above, eight classes to a doubling, each then
 * widened to the largest size of which as many fit into a page: the rest of a page is never wasted
 * on a smaller size than it could hold.  Dividing the page this way puts a class just above every
 * power of two, where requests crowd once the end byte is added; but those above 4, 8 and 16 KB lie
 * 14 to 33 % above, so there the size itself is a class, too.
 *
 * A plain malloc (SGC_TRACES 0) has no end byte, so requests of a power of two get just that, and a
 * class is a multiple of an eighth of the power of two below: requests with an alignment find a
 * class that is little larger.
 *
 * The mix of requests behind the promise "at most 12.5 % wasted" stands in doc/design/heap-mix.md
 * and is computed by tests/unit/alloc/pages/test_size_class.c.
 *
 * Tables are written once, by sgc_size_classes_init before the first allocation, and only read
 * afterwards.
 */
#ifndef SGC_ALLOC_PAGES_SIZE_CLASS_H
#define SGC_ALLOC_PAGES_SIZE_CLASS_H

#include <stdbool.h>

#include "alloc/pages/geometry.h"
#include "platform/compiler.h"
#include "platform/report.h"

enum {
    SGC_CLASSES_MAX = 80,
    SGC_FAST_MAX = 1024,        /* requests up to here find their class by one look */
};

struct sgc_size_class {
    uint32_t granules;          /* object size */
    uint32_t reciprocal;        /* ceil(2^31 / granules): see sgc_slot_of */
    uint32_t per_page;          /* objects per page */
    uint64_t starts;            /* bits 0, granules, 2 * granules ... of a word of the bitmap */
};

struct sgc_size_classes {
    uint32_t count;
    struct sgc_size_class of[SGC_CLASSES_MAX];
    uint8_t by_granules[SGC_SMALL_MAX / SGC_GRANULE + 1];
};
SGC_INNER struct sgc_size_classes sgc_size_classes;

void sgc_size_classes_init(void);

/* The class for `granules` (1 .. SGC_SMALL_MAX / SGC_GRANULE). */
static inline uint32_t sgc_class_for(size_t granules)
{
    return sgc_size_classes.by_granules[granules];
}

static inline uint32_t sgc_class_bytes(uint32_t cls)
{
    return sgc_size_classes.of[cls].granules * SGC_GRANULE;
}

/* The smallest class for `bytes` (not 0) whose objects all lie at multiples of `align`, a power of
 * two: pages do, so the size must.  False: there is none. */
static inline bool sgc_class_find(size_t bytes, size_t align, uint32_t *cls)
{
    sgc_assert(bytes != 0 && align != 0 && (align & (align - 1)) == 0);
    if (bytes > SGC_SMALL_MAX || align > SGC_SMALL_MAX)
        return false;
    for (*cls = sgc_class_for((bytes + SGC_GRANULE - 1) / SGC_GRANULE); *cls < sgc_size_classes.count; ++*cls)
        if (sgc_class_bytes(*cls) % align == 0)
            return true;
    return false;
}

/*
 * The number of the slot that holds a page's granule `g`.  With r = ceil(2^31/d) and g < 4096,
 * g*r/2^31 exceeds g/d by less than 4096/2^31 = 2^-19, while g/d lies at least 1/d > 2^-12 below
 * the next integer unless it is one: the integer parts agree.  (2^31, so that d = 1 fits into 32
 * bits.)
 */
static inline uint32_t sgc_slot_of(uint32_t g, uint32_t reciprocal)
{
    sgc_assert(g < SGC_PAGE_GRANULES);
    return (uint32_t)(((uint64_t)g * reciprocal) >> 31);
}

#endif
