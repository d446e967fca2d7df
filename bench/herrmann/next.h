/* SPDX-License-Identifier: MIT */
/*
 * The next malloc behind this library: that of the library that comes after it in the list of
 * LD_PRELOAD, or the C library's.
 *
 * Blocks of these functions have no header (block.h), but for the few that are allocated while the
 * loader is asked where the functions are.
 */
#ifndef BENCH_HERRMANN_NEXT_H
#define BENCH_HERRMANN_NEXT_H

#include <stddef.h>

void *next_malloc(size_t size);
void *next_calloc(size_t count, size_t size);
void *next_memalign(size_t alignment, size_t size);

/* Of a block that one of the three returned. */
void next_free(void *block);
void *next_realloc(void *block, size_t size);
size_t next_usable(void *block);

#endif
