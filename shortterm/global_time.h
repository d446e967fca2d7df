/* SPDX-License-Identifier: MIT */
/*
 * Global time: the word that all threads change, by the rules of shortterm/dates/time_rules.h.
 *
 *   the word          any thread in a section, by compare-and-      everybody   acquire-release
 *                     swap; world stopped: the collecting thread                RMW
 *   phase, in_time,   their thread, in the same section, before     same        program order;
 *   out_for_now       or after the exchange as those rules say                  stopping the world
 */
#ifndef SGC_SHORTTERM_GLOBAL_TIME_H
#define SGC_SHORTTERM_GLOBAL_TIME_H

#include "shortterm/dates.h"

/* All of these, unless something else is said: by the thread of the record, outside sections. */

/* The thread takes part from now on, if it does not yet.  False if there is no memory for its
 * lists, or 65535 threads take part already. */
bool sgc_time_enter(struct sgc_dates *d);

/* The thread takes part no more; true if it did. */
bool sgc_time_exit(struct sgc_dates *d);

/* A thread that has vanished takes part no more.  By the thread that buries it, which alone has the
 * record. */
void sgc_time_gone(struct sgc_dates *d);

/* The thread ticks; false if it has ticked in this phase already. */
bool sgc_time_pass(struct sgc_dates *d);

/* Global time, and threads that take part. */
uint32_t sgc_time_phase(void);
uint32_t sgc_time_threads(void);

/* Brings the word in order: threads may have left a function of ours by a jump, or be gone.  World
 * stopped, or in the child of a fork. */
void sgc_time_count_again(void);

/* Global time is `now`, with nobody active.  For tests. */
void sgc_time_reset(uint32_t now);

#endif
