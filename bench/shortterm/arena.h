/* SPDX-License-Identifier: MIT */
/*
 * An arena as programs write it by hand: blocks of the C library, in which objects lie one behind the other, all of which
 * are let go at once.  What regions are to be held against.
 */
#ifndef SGC_BENCH_SHORTTERM_ARENA_H
#define SGC_BENCH_SHORTTERM_ARENA_H

#include <stddef.h>

/* An object of so many bytes, not cleared; ends the program if there is no memory. */
void *arena_malloc(size_t bytes);

/* The same, cleared, as objects of a region are. */
void *arena_calloc(size_t bytes);

/* Lets all objects go, and keeps the blocks. */
void arena_reset(void);

#endif
