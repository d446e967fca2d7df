/* SPDX-License-Identifier: MIT */
/*
 * Who points at an object: to find out why it is still there.
 *
 * These functions look through all memory that the collector scans, with the world stopped: each call costs about what
 * a collection costs.  They are for objects of any sort, whether or not they were allocated for debugging.
 */
#ifndef GC_BACKPTR_H
#define GC_BACKPTR_H

#include "gc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GC_UNREFERENCED,        /* nothing that the collector scans points at it */
    GC_NO_SPACE,            /* the address belongs to no object */
    GC_REFD_FROM_ROOT,      /* by a word of static data, of a stack, or thread-local */
    GC_REFD_FROM_REG,       /* SGC never says so: stopped threads keep their registers on their stacks */
    GC_REFD_FROM_HEAP,      /* by a word of another object */
    GC_FINALIZER_REFD       /* SGC never says so */
} GC_ref_kind;

/* Finds a word that points at the object to which `address` belongs.  From a root: its address is stored in *base and 0
 * in *offset; from an object: that object's first address (of one allocated for debugging, what the client has of it)
 * and the distance of the word from there.  Static data comes first, then other threads, then the heap, last the
 * caller's own stack, where `address` itself is likely to be.  `base` and `offset` are left alone in the other cases. */
GC_API GC_ref_kind GC_CALL GC_get_back_ptr_info(void *address, void **base, size_t *offset) GC_ATTR_NONNULL(1);

/* An address in the heap, or NULL while that is empty; it need not belong to an object. */
GC_API void *GC_CALL GC_generate_random_heap_address(void);

/* An address inside a random object; NULL if there is none. */
GC_API void *GC_CALL GC_generate_random_valid_address(void);

/* Writes to the log what points at the object, what points at that, and so on, up to a root. */
GC_API void GC_CALL GC_print_backtrace(void *address) GC_ATTR_NONNULL(1);

/* Collects, and does what GC_print_backtrace does for a random object. */
GC_API void GC_CALL GC_generate_random_backtrace(void);

#ifdef __cplusplus
}
#endif

#endif
