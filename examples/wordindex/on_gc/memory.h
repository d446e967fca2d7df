/* SPDX-License-Identifier: MIT */
/*
 * Where the program's memory comes from: the collector.  The build puts this folder or on_malloc/
 * on the include path; nothing else differs between the two programs.
 *
 * All of it may be called on any thread.  GC_THREADS makes gc.h redirect pthread_create, so every
 * file that starts threads includes this header.
 */
#ifndef WORDINDEX_MEMORY_H
#define WORDINDEX_MEMORY_H

#define GC_THREADS
#include <gc.h>

#include <stdio.h>

#include "examples/wordindex/complain.h"

/* Called once, first, on the main thread. */
static inline void mem_start(void)
{
    GC_INIT();
}

/* Memory without pointers that is not zeroed; NULL when there is none. */
static inline void *mem_try_bytes(size_t size)
{
    return GC_malloc_atomic(size);
}

/* The same for those who cannot go on without it. */
static inline void *mem_bytes(size_t size)
{
    void *memory = GC_malloc_atomic(size);

    return memory != NULL ? memory : out_of_memory(size);
}

/* Zeroed memory that may hold pointers. */
static inline void *mem_object(size_t size)
{
    void *memory = GC_malloc(size);

    return memory != NULL ? memory : out_of_memory(size);
}

/* What the allocator has done so far, one "name value" a line. */
static inline void mem_statistics(FILE *out)
{
    fprintf(out, "memory gc\n");
    fprintf(out, "collections %lu\n", (unsigned long)GC_get_gc_no());
    fprintf(out, "allocated_bytes %lu\n", (unsigned long)GC_get_total_bytes());
    fprintf(out, "heap_bytes %lu\n", (unsigned long)GC_get_heap_size());
    fprintf(out, "unmapped_bytes %lu\n", (unsigned long)GC_get_unmapped_bytes());
}

#endif
