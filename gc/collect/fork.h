/* SPDX-License-Identifier: MIT */
/*
 * Fork.  Before it, the forking thread takes the GC lock and every lock, so no cycle runs and no thread is
 * inside a section with a lock; sections without one may be abandoned at any instruction.  The
 * world is not stopped across fork itself: the C library takes its own locks there (malloc, stdio), which a stopped
 * thread might hold.
 */
#ifndef SGC_GC_COLLECT_FORK_H
#define SGC_GC_COLLECT_FORK_H

/* Installs the handlers, which do nothing if the client has chosen to call them itself (GC_set_handle_fork). */
void sgc_fork_init(void);
extern int sgc_fork_mode;               /* 1: by pthread_atfork; 0: not at all; -1: the client calls.  Set before the start */

void sgc_fork_prepare(void);
void sgc_fork_parent(void);
void sgc_fork_child(void);

#endif
