/* SPDX-License-Identifier: MIT */
/* A process that gets less of its system: fewer calls, lower limits. */
#ifndef TESTS_LIB_REFUSE_H
#define TESTS_LIB_REFUSE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/tap.h"

/* From now on these calls of the thread, and of those that it makes, fail with EPERM.  False if
 * there are no filters. */
bool refuse_calls(long first, long second, long third);
bool refuse_call(long number);

/* From now on calls of that number whose argument's lower half is `value` fail so, in all threads of the process. */
bool refuse_in_all(long number, unsigned argument, uint32_t value, int error);

enum { LIMIT_NOTHING = 4096 };          /* no mapping more is had; RLIM_INFINITY: all is as before */

/* So much of a resource (RLIMIT_...), or as much as may be had.  False: it cannot be limited. */
bool limit_to(int resource, rlim_t most);

/* Of address space. */
bool limit_memory(rlim_t bytes);

/* How many real-time signals may wait; may be raised again. */
void set_queue(rlim_t length);

#endif
