/* SPDX-License-Identifier: MIT */
/*
 * The manager: a thread of the library's own that prepares blocks and disposes of freed ones.
 *
 * It is made at the first call that asks it for something, blocks all signals, never ends, and
 * allocates from the next malloc only.  Where no thread can be had, the threads of the program do
 * its rounds.  Nobody has to wait for it: waits have a time limit, after which a thread does its
 * work itself.
 */
#ifndef BENCH_HERRMANN_MANAGER_H
#define BENCH_HERRMANN_MANAGER_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum { MANAGER_REFILL = 1, MANAGER_DRAIN = 2 };     /* what it may be asked for */

/* ---- at the library's start: one of the two ---- */

/* The manager sleeps until it is asked, then calls this with all it was asked for. */
void manager_start(void (*serve)(unsigned asked));

/* The manager calls this, which never returns. */
void manager_start_body(void (*body)(void));

/* ---- any thread ---- */

/* Makes the manager if there is none.  True: it runs. */
bool manager_runs(void);

/* Asks for these, and goes on.  errno is kept.  Not under a lock of the system's. */
void manager_ask(unsigned what);

/* Waits until there(bin) holds, or the time limit.  Returns whether it does. */
bool manager_wait(bool (*there)(unsigned bin), unsigned bin);

/* A time limit for pthread_cond_timedwait on a condition that manager_condition has made. */
struct timespec manager_limit(void);
void manager_condition(pthread_cond_t *condition);

/* Waits on conditions are no places where a thread is cancelled.  The second gets what the first
 * returned. */
int manager_hold_cancellation(void);
void manager_allow_cancellation(int before);

/* ---- the manager, in a round ---- */

/* There may be what somebody waits for. */
void manager_changed(void);

/* ---- rare ---- */

/* CPU time of its thread; 0 if there is none. */
double manager_cpu_seconds(void);

/* Between the two no round goes on.  Not in a round. */
void manager_hold_rounds(void);
void manager_resume_rounds(void);

/* Instead of the second in the child of a fork, which begins without the thread. */
void manager_begin_in_child(void);

#endif
