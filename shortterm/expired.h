/* SPDX-License-Identifier: MIT */
/*
 * verify: objects that have expired and are still there.  Each collection looks whether the program can reach them, as long as
 * they last: until they are reclaimed, freed by hand, or have a date again.
 *
 * The numbers of an object's dates note it, too (SGC_COUNT_EXPIRED), so that the thread that frees
 * the object can forget it.
 *
 *   the list    the collecting thread, world stopped                        same    the GC lock
 *   the note    the collecting thread, world stopped; who frees the object  same    stopping the world
 */
#ifndef SGC_SHORTTERM_EXPIRED_H
#define SGC_SHORTTERM_EXPIRED_H

#include "gc/threads/mutator.h"

/* All of these but the last: world stopped, in this order. */

/* Forgets those that have a date again, or have been freed by hand. */
void sgc_expired_tidy(void);

/* Room for so many more.  False: the system has no memory, and nothing has changed. */
bool sgc_expired_reserve(size_t more);

/* The object has lost its last date: that of the thread (0: it has ended, or was a hold), given at `caller`. */
void sgc_expired_add(uintptr_t object, uintptr_t caller, sgc_tid_t thread);

/* When all is marked: forgets what is garbage, and makes findings of what the program can reach, as far as that has not been
 * told yet or is surer now. */
void sgc_expired_judge(void);

/* The program frees the object by hand.  On any mutator, by the thread that has the object. */
void sgc_expired_forget(uintptr_t object);

#endif
