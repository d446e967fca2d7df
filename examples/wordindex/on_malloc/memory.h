/* SPDX-License-Identifier: MIT */
/*
 * Where the program's memory comes from: malloc, and nothing is ever freed.  It is what a program
 * without any memory management costs, for comparison; see on_gc/memory.h.
 */
#ifndef WORDINDEX_MEMORY_H
#define WORDINDEX_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

#include "examples/wordindex/complain.h"

/* Called once, first, on the main thread. */
static inline void mem_start(void)
{
}

/* Memory without pointers that is not zeroed; NULL when there is none. */
static inline void *mem_try_bytes(size_t size)
{
    return malloc(size);
}

/* The same for those who cannot go on without it. */
static inline void *mem_bytes(size_t size)
{
    void *memory = malloc(size);

    return memory != NULL ? memory : out_of_memory(size);
}

/* Zeroed memory that may hold pointers. */
static inline void *mem_object(size_t size)
{
    void *memory = calloc(1, size);

    return memory != NULL ? memory : out_of_memory(size);
}

/* What the allocator has done so far, one "name value" a line. */
static inline void mem_statistics(FILE *out)
{
    fprintf(out, "memory malloc\n");
}

#endif
