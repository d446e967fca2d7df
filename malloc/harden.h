/* SPDX-License-Identifier: MIT */
/*
 * Messages about wrong frees, and what follows them: SGC_HARDEN and SGC_HARDEN_ACTION.
 *
 * Each message is a line on standard error that names the function that the program has called,
 * the address, and the object that lies there.  At level 0 the first of each sort is written.
 * Above, each is, and the program ends, or with SGC_HARDEN_ACTION=report it goes on: the call has
 * changed nothing.
 *
 *   what      written by                   read by     ordering
 *   known     any thread                   same        one read-modify-write, which stands for itself
 *   reached   this library's constructor   everybody   relaxed: a stale value lets one foreign
 *                                                      address pass
 */
#ifndef SGC_MALLOC_HARDEN_H
#define SGC_MALLOC_HARDEN_H

#include <stddef.h>

/* Tells that no block begins at the address which the function was called with.  Comes back where
 * the program goes on.  It passes over an address outside the heap until constructors run: the
 * loader may give back memory that it had before. */
__attribute__((cold, noinline)) void sgc_tell_wrong(const char *function, const void *address);

/* Tells so where nothing else is known. */
void sgc_tell_nothing(const char *function, const void *address);

/* From now on it does not: the library's constructor has run. */
void sgc_wrong_frees_start(void);

/* ---- of level 2: malloc/checked.h ---- */

/* The size that the program passed is not that of the request. */
void sgc_tell_size(const char *function, const void *block, size_t passed, size_t bytes);

/* The program has written behind the block. */
void sgc_tell_overrun(const char *function, const void *block, size_t bytes);

/* It has, or before the next one, and the block's size is lost.  The call changes nothing. */
void sgc_tell_broken(const char *function, const void *block);

/* It has written into a block, or the end of one, after its free. */
void sgc_tell_late_write(const void *block, size_t bytes, size_t offset);

#endif
