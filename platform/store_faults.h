/* SPDX-License-Identifier: MIT */
/*
 * The faults of stores into memory that may be read only: a handler of SIGSEGV, in front of the one that the program has
 * installed before.  It is installed once and stays, since a store that has met a protected page may reach it late.
 *
 *   before, answer    who installs, before there are such faults    the handler
 */
#ifndef SGC_PLATFORM_STORE_FAULTS_H
#define SGC_PLATFORM_STORE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/dirty.h"

/* From now on answer(address) is asked at each such fault, with all signals blocked.  True: the store is tried again; false:
 * the fault is the program's, which gets it as if we were not there.  The function is the same in all calls.  False: the
 * handler cannot be had.  [outside] */
bool sgc_store_faults_begin(bool (*answer)(uintptr_t address), struct sgc_dirty_refusal *why);

/* Is it still ours that the system calls?  [any] */
bool sgc_store_faults_arrive(void);

#endif
