/* SPDX-License-Identifier: MIT */
/*
 * Stacks to run on, and going from one to another.  Without system calls, unlike swapcontext: a
 * simulation changes between markers some millions of times a second.
 */
#ifndef SGC_PERFMODEL_SIM_COROUTINE_H
#define SGC_PERFMODEL_SIM_COROUTINE_H

#include <stddef.h>

/* The stack pointer of a coroutine that does not run. */
typedef void *sgc_coroutine;

/* Makes a coroutine: the first switch to it begins with `entry`, which does not return, on that
 * stack. */
sgc_coroutine sgc_coroutine_make(char *stack, size_t bytes, void (*entry)(void));

/* Keeps the caller in *from, and goes on where `to` was kept, or begins it. */
void sgc_coroutine_switch(sgc_coroutine *from, sgc_coroutine to);

#endif
