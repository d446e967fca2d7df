/* SPDX-License-Identifier: MIT */
/* What the memories on a collector share.  The program is linked with libgc.so.1, and the loader decides which that is. */
#ifndef ACDC_MEMORY_GC_H
#define ACDC_MEMORY_GC_H

#include <stddef.h>

struct options;

const char *gc_begin(const struct options *options);
void gc_thread_begin(void);
void gc_thread_end(void);
void *gc_allocate(size_t bytes);
void gc_add_roots(void *low, void *high);
size_t gc_size_of(void *object);

/* Bytes of the heap that are not known to be free. */
long long gc_bytes_in_use(void);

size_t gc_heap(void);
size_t gc_collections(void);

/* Objects that a collection finds now and one at the start did not find; -1: this collector does not count objects. */
long long gc_kept(void);

void gc_report(void);

#endif
