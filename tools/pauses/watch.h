/* SPDX-License-Identifier: MIT */
/* The threads of libsgcpauses that look at the clock. */
#ifndef TOOLS_PAUSES_WATCH_H
#define TOOLS_PAUSES_WATCH_H

#include <pthread.h>

#include "tools/pauses/file.h"

/* How to start a thread: pthread_create, or the collector's form of it. */
typedef int (*sgc_pauses_create_t)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* CLOCK_MONOTONIC. */
uint64_t sgc_pauses_now(void);

/*
 * Starts the probe by way of `collected`, so that the collector stops it as it stops the program's threads, and by way of
 * `plain` the control thread if the file's flags ask for it.  Signals that only the program expects are blocked in both,
 * those in `needed` (a list ended by 0) are not.  Returns 0 or an errno.  On a thread of the program, at a moment at which it
 * may create threads.
 */
int sgc_pauses_watch(struct sgc_pauses_file *file, const int *needed, sgc_pauses_create_t collected, sgc_pauses_create_t plain);

#endif
