/* SPDX-License-Identifier: MIT */
/*
 * Messages about wrong frees, and what follows them: SGC_HARDEN and SGC_HARDEN_ACTION.
 *
 * Each message is a line on standard error that names the function that the program has called,
 * the address, and the object that lies there.  At level 0 the first of each sort is written.
 * Above, each is, and the program ends, or with SGC_HARDEN_ACTION=report it goes on: the call has
 * changed nothing.
 *
 *   what    written by    read by   ordering
 *   known   any thread    same      one read-modify-write, which stands for itself
 */
#ifndef SGC_MALLOC_HARDEN_H
#define SGC_MALLOC_HARDEN_H

/* Tells that no block begins at the address which the function was called with.  Comes back where
 * the program goes on.  An address outside the heap is passed over until the constructors run: the
 * loader may give back what it had before. */
__attribute__((cold, noinline)) void sgc_tell_wrong(const char *function, const void *address);

#endif
