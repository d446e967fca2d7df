/* SPDX-License-Identifier: MIT */
/*
 * Messages about wrong frees, and what follows them: SGC_HARDEN and SGC_HARDEN_ACTION.
 *
 * Each message is a line on standard error that names the function that the program has called,
 * the address, and the object that lies there.  At level 0 the first of each sort is written.
 * Above, each is, and the program ends, or with SGC_HARDEN_ACTION=report it goes on: the call has
 * changed nothing.
 *
 *   what                   written by                   read by     ordering
 *   known                  any thread                   same        one read-modify-write, which stands for
 *                                                                   itself
 *   sgc_constructors_run   this library's constructor   everybody   relaxed: a stale value lets one foreign
 *                                                                   address pass
 */
#ifndef SGC_MALLOC_HARDEN_H
#define SGC_MALLOC_HARDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "malloc/options.h"
#include "malloc/threads.h"
#include "platform/atomics.h"
#include "platform/report.h"

/* Tells that no block begins at the address which the function was called with.  Comes back where
 * the program goes on.  It passes over an address outside the heap until constructors run: the
 * loader may give back memory that it had before. */
__attribute__((cold, noinline)) void sgc_tell_wrong(const char *function, const void *address);

/* Tells so where nothing else is known. */
void sgc_tell_nothing(const char *function, const void *address);

/* 1: it does not; the library's constructor has run. */
SGC_INNER sgc_a32_t sgc_constructors_run;

/* Does the program go on after a message? */
static inline bool sgc_tells_and_goes_on(void)
{
    return sgc_malloc_options.harden == 0 || sgc_malloc_options.action == SGC_HARDEN_REPORT;
}

/* A handler of SIGABRT may call malloc: so the common cache, if this thread has it, is given back
 * before a message that ends the program. */
static inline void sgc_tell_outside_malloc(void)
{
    if ((sgc_thread_inside & SGC_INSIDE_COMMON) != 0)
        sgc_thread_leave_common();
    sgc_thread_inside = 0;
}

#define SGC_TELL(...) \
    (sgc_tells_and_goes_on() ? sgc_error(__VA_ARGS__) : (sgc_tell_outside_malloc(), sgc_fatal(__VA_ARGS__)))

#endif
