/* SPDX-License-Identifier: MIT */
/*
 * The start of a plain malloc: the heap, at the first call of the family or in this library's
 * constructor, whichever comes first.  By raw system calls alone: no file is opened, no thread
 * made, no handler installed, and nothing calls back before the heap is ready.
 *
 *   what      written by                          read by     ordering
 *   state     IDLE to BUSY by the thread that     everybody   compare-and-swap; the others by release, read with
 *             starts it, then WATCHING and DONE,              acquire: a thread that sees DONE, and in WATCHING
 *             or FAILED                                       the starter, has the heap
 */
#ifndef SGC_MALLOC_START_H
#define SGC_MALLOC_START_H

#include <stdbool.h>

#include "alloc/small/cache.h"

/* A cache that the calling thread may use as its own until it ends the turn: its own; or the common
 * one, under its lock, where the thread is over or has got none. */
struct sgc_turn {
    struct sgc_cache *cache;        /* NULL: there is no heap */
    bool common;
};

/* Makes the heap if need be; the calls of other threads wait for the one that does.  Outside
 * sections. */
struct sgc_turn sgc_turn_begin(void);
void sgc_turn_end(const struct sgc_turn *turn);

#endif
