/* SPDX-License-Identifier: MIT */
/*
 * How threads wait for a collection to end.
 *
 * A thread that sleeps leaves its processor idle, and to wake an idle processor takes longer than a collection that finds
 * little alive (figures: doc/journal/threads-and-roots.md).  So they spin first, for a bounded time, as long as there is a
 * processor for each thread that is stopped and each marker; and so does the stopper until they stand still.
 *
 *   what             written by                          read by                       ordering
 *   busy             the stopper: markers, and threads   waiting threads               relaxed: a stale value costs some
 *                    stopped so far                                                    spinning, or a sleep
 *   processors       the starting thread                 any                           thread creation
 */
#ifndef SGC_GC_THREADS_SPIN_WAIT_H
#define SGC_GC_THREADS_SPIN_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/platform.h"

void sgc_spin_wait_init(int processors);

/* A stop begins that keeps so many markers busy; and it concerns one more thread.  By the stopper. */
void sgc_spin_wait_begin(uint32_t markers);
void sgc_spin_wait_add_thread(void);

/* Spins for a moment, if with `extra` more threads each one has a processor.  True when *word (acquire) is not
 * `value` any more, false when it is time to sleep.  [any] */
bool sgc_spin_wait(const sgc_a32_t *word, uint32_t value, uint32_t extra);

/* The stopper waits likewise for those it has asked: true when *word (acquire) has become 0. */
bool sgc_spin_wait_zero(const sgc_a32_t *word);

#endif
