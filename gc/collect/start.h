/* SPDX-License-Identifier: MIT */
/*
 * Starting the collector, and what becomes of it in a fork.
 *
 * It starts once, at GC_INIT, SGC_init or the first allocation, on whatever thread comes first;
 * others that come meanwhile wait.  The starting thread is registered; so is any other that comes
 * to the collector without being registered.
 */
#ifndef SGC_GC_COLLECT_START_H
#define SGC_GC_COLLECT_START_H

#include "gc/threads/mutator.h"
#include "gc/threads/upper.h"

/* Starts it, or waits for who does.  False, after a message, if it cannot start; every allocation
 * then returns NULL.  Outside sections. */
bool sgc_init_now(void);

/* The calling thread's record; registers a thread that was not, with a warning: the first
 * allocation of a thread that never registered.  NULL when it cannot be registered. */
struct sgc_mutator *sgc_mutator_adopt(void);

/* Registers the calling thread, which is not registered yet, without a warning: for a call that
 * returns no object that only this thread's stack would keep.  NULL when it cannot be
 * registered. */
struct sgc_mutator *sgc_mutator_admit(void);

/* Starts a layer on top of the collector (gc/threads/upper.h): from now on it is called.  Once; on
 * any mutator, outside sections and blocked regions, with the GC lock or without.  A layer that
 * marks by itself ends concurrent collections. */
void sgc_upper_start(struct sgc_mutator *self, const struct sgc_upper *upper);

/* ---- fork (gc/collect/fork.c) ----
 *
 * Before it, the forking thread takes the GC lock and every lock, so no cycle runs and no thread
 * is inside a section with a lock; sections without one may be abandoned at any instruction.  The
 * world is not stopped across fork itself: the C library takes its own locks there (malloc,
 * stdio), which a stopped thread might hold. */

/* Installs the handlers, which do nothing if the client has chosen to call them itself
 * (GC_set_handle_fork). */
void sgc_fork_init(void);

void sgc_fork_prepare(void);
void sgc_fork_parent(void);
void sgc_fork_child(void);

/* 1: by pthread_atfork; 0: not at all; -1: the client calls.  Set before the start. */
extern int sgc_fork_mode;

#endif
