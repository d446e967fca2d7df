/* SPDX-License-Identifier: MIT */
/* Shared by the interfaces of finalizers and of links.  On any mutator. */
#ifndef SGC_GC_API_FINALIZE_H
#define SGC_GC_API_FINALIZE_H

#include "alloc/pages/heap.h"

/* Programs keep types in the lowest bits of pointers, and bdwgc, which looks at marks by granules, takes such a pointer for the
 * object's: Lisp systems register finalizers and links for their conses like this. */
static inline uintptr_t sgc_api_untagged(const void *object)
{
    return (uintptr_t)object / SGC_GRANULE * SGC_GRANULE;
}

/* There is no memory to remember a registration.  True if the client's hook says to try again; otherwise it is
 * reported. */
bool sgc_api_memory_made(const char *function, const void *what);

/* Then nothing is registered: an object would live on for its finalizer, and be no leak. */
bool sgc_api_finding_leaks(void);

/* Says why the address is not the first one of an object. */
void sgc_api_no_object(const char *function, const void *object);

#endif
