/* SPDX-License-Identifier: MIT */
/*
 * Blocks of no bytes, at level 2: addresses that can be neither read nor written.  An address is
 * handed out again when all others have been.
 *
 *   what          written by                         read by     ordering
 *   start         while the heap is made             everybody   as sgc_malloc_options
 *   bits, a bit   who gets a block, who frees one    the same    read-modify-writes, by which one of them
 *   for each                                                     has it; no memory goes with a block
 *   next          who gets a block                   the same    likewise
 */
#ifndef SGC_MALLOC_EMPTY_H
#define SGC_MALLOC_EMPTY_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/compiler.h"

/* Without address space for them there are none. */
void sgc_empty_start(void);

/* NULL: there are none left. */
void *sgc_empty_new(void);

/* False: there is no such block. */
bool sgc_empty_free(const void *block);

/* Is there such a block? */
bool sgc_empty_there(const void *block);

/* Does the address lie where they are? */
bool sgc_empty_contains(const void *address);

#endif
