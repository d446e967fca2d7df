/* SPDX-License-Identifier: MIT */
/* What the two files of storm_signals share: the parts, and the bomber's list of targets. */
#ifndef TESTS_STRESS_STORM_SIGNALS_H
#define TESTS_STRESS_STORM_SIGNALS_H

#include "tests/stress/object.h"

enum { BOMBARD, PROFILE, ALTSTACK, ALTSTACK_COLLECTS, LONGJMP, LONGJMP_MALLOC, LONGJMP_WAIT,
       READ, BLOCKING_READ, SLEEP, CONDITION, SEMAPHORE, MASKED, COLLECT };

/* From here on, and no longer, the bomber sends signals to the calling thread. */
void target_join(void);
void target_leave(void);

/* The waiting threads: each runs one of these until the storm ends. */
#define WAITERS 6
void waiters_prepare(void);
void waiter(int which);

#endif
