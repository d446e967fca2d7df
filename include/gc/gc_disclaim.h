/* SPDX-License-Identifier: MIT */
/*
 * Disclaim procedures: cheaper than finalizers where all objects of a kind need the same, and where it may come late.
 */
#ifndef GC_DISCLAIM_H
#define GC_DISCLAIM_H

#include "gc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Asked about a dead object before its memory is used again.  If the answer is not 0, the object stays for now, and the next
 * collection asks again. */
typedef int (GC_CALLBACK *GC_disclaim_proc)(void *object);

/* The procedure of a kind that GC_new_kind returned; NULL: none any more.  Procedures are called one at a time, by threads of
 * the program as they allocate or collect, with the world running and no lock held, so they may allocate, but not
 * wait for other threads that do.  Not for what is freed by GC_free, and not while leaks are looked for.
 *
 * Unless `mark_from_all` is set, what the object points at may be gone already; if it is set, it is kept, and chains of
 * such objects take a collection for each of their objects.  The procedure must not store the object's address
 * anywhere.  A kind that there is not, or 0 to 3, is reported. */
GC_API void GC_CALL GC_register_disclaim_proc(int kind, GC_disclaim_proc proc, int mark_from_all) GC_ATTR_NONNULL(2);

/* What GC_finalized_malloc is given: proc(object, cd) is called when the object is dead. */
struct GC_finalizer_closure {
    GC_finalization_proc proc;
    void *cd;
};

/* To be called before GC_finalized_malloc; more calls do nothing. */
GC_API void GC_CALL GC_init_finalized_malloc(void);

/* A zeroed object of at least that size, for which closure->proc is called as a disclaim procedure is.  What the object and the
 * closure point at is still there then.  GC_base(object) is the word before the object, which leads to the closure; GC_free
 * and GC_size take that address. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_finalized_malloc(
    size_t size, const struct GC_finalizer_closure *closure) GC_ATTR_NONNULL(2);

#ifdef __cplusplus
}
#endif

#endif
