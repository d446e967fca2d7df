/* SPDX-License-Identifier: MIT */
/*
 * Starting the collector.
 *
 * It starts once, at GC_INIT, SGC_init or the first allocation, on whatever thread comes first; others that come
 * meanwhile wait.  The starting thread is registered.
 */
#ifndef SGC_GC_COLLECT_START_H
#define SGC_GC_COLLECT_START_H

#include <stdbool.h>

/* Starts it, or waits for who does.  False, after a message, if it cannot start; every allocation
 * then returns NULL.  Outside sections. */
bool sgc_init_now(void);

#endif
