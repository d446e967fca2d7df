/* SPDX-License-Identifier: MIT */
/*
 * Starting the collector.
 *
 * It starts once, at GC_INIT, SGC_init or the first allocation, on whatever thread comes first; others that come
 * meanwhile wait.  The starting thread is registered.
 */
#ifndef SGC_GC_COLLECT_START_H
#define SGC_GC_COLLECT_START_H

#include <stdbool.h>
#include <stddef.h>

/* Has the collector started?  One acquire load. */
bool sgc_init_done(void);

/* Starts it, or waits for who does.  False, after a message, if it cannot start; every allocation
 * then returns NULL.  Outside sections. */
bool sgc_init_now(void);

/* Has the start begun, whatever came of it?  One acquire load; any thread, any time. */
bool sgc_init_begun(void);

/* The program has ended the collector: no allocation and no collection from now on. */
void sgc_init_end(void);
bool sgc_init_ended(void);

/* Is the calling thread in the middle of starting it?  (Then malloc may have come back to us.)  Or of a fork before the start. */
bool sgc_init_mine(void);

/* Fork.  Before it: waits for another thread that starts the collector, and if nobody has, lets nobody begin.  Afterwards, in
 * the parent, and in the child; there the one thread may be in the middle of starting it. */
void sgc_init_hold(void);
void sgc_init_release(void);
void sgc_init_after_fork(void);

#endif
