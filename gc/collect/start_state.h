/* SPDX-License-Identifier: MIT */
/*
 * How far the start of the collector has come (gc/collect/start.h), and its end.
 */
#ifndef SGC_GC_COLLECT_START_STATE_H
#define SGC_GC_COLLECT_START_STATE_H

#include <stdbool.h>

/* Has the collector started?  One acquire load. */
bool sgc_init_done(void);

/* Makes the calling thread the one that starts it, waiting for another that is at it.  False: it
 * has been started, or could not be. */
bool sgc_init_claim(void);

/* The thread that has claimed the start is at its end. */
void sgc_init_finish(bool started);

/* Has the start begun, whatever came of it?  One acquire load; any thread, any time. */
bool sgc_init_begun(void);

/* The program has ended the collector: no allocation and no collection from now on. */
void sgc_init_end(void);
bool sgc_init_ended(void);

/* Is the calling thread in the middle of starting it?  (Then malloc may have come back to us.)  Or
 * of a fork before the start. */
bool sgc_init_mine(void);

/* Fork.  Before it: waits for another thread that starts the collector, and if nobody has, lets
 * nobody begin.  Afterwards, in the parent, and in the child; there the one thread may be in the
 * middle of starting it. */
void sgc_init_hold(void);
void sgc_init_release(void);
void sgc_init_after_fork(void);

#endif
