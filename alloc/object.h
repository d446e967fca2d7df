/* SPDX-License-Identifier: MIT */
/*
 * From an address to the object it lies in.
 */
#ifndef SGC_ALLOC_OBJECT_H
#define SGC_ALLOC_OBJECT_H

#include "alloc/pages/page.h"

struct sgc_object {
    uintptr_t start;
    size_t bytes;               /* all of it, end byte included */
    size_t granule;             /* of its start, in the heap */
    uint32_t page;              /* of its start */
    uint32_t kind;
    bool span;
};

static inline bool sgc_object_ok(const struct sgc_object *o)
{
    return o->start == (uintptr_t)sgc_granule_address(o->granule) && o->granule / SGC_PAGE_GRANULES == o->page &&
           o->bytes != 0 && o->kind < SGC_KINDS;
}

/* The slot or span that the address lies in, allocated or not.  False if there is none: outside the
 * heap, in a free page, or in the unused end of a page.  Any thread, any time. */
bool sgc_object_slot(uintptr_t address, struct sgc_object *object);

/* Is it allocated now, as the marker would see it if the world stopped here?  Exact for the calling
 * thread's own and for settled objects; racing with another thread's allocation or free, either
 * answer may come. */
bool sgc_object_allocated(const struct sgc_object *object);

/* Finds the allocated object that the address lies in: sgc_object_slot and sgc_object_allocated in
 * one. */
bool sgc_object_find(uintptr_t address, struct sgc_object *object);

/* Does the address lie in an allocated object?  Agrees with sgc_object_find, and is faster.  In a
 * section, or with the world stopped. */
bool sgc_object_inside(uintptr_t address);

/* Is the address the first one of an allocated object?  Agrees with sgc_object_find, and is
 * faster.  In a section. */
bool sgc_object_starts(uintptr_t address);

#endif
