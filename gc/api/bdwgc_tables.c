/* SPDX-License-Identifier: MIT */
/*
 * Private tables that bdwgc's library exports.  No header declares them, and they mean nothing to this collector; a
 * program that was linked to them starts all the same.  The free lists are empty, so code that takes an object from
 * one finds none and calls the allocator; the big table is there in its size, because a program may hold a copy of it
 * (a copy relocation).  Nobody here reads or writes them, and marking does not scan it.
 */
#include <stddef.h>

#include "include/gc/gc.h"
#include "platform/platform.h"

enum {
    LISTS = 129,                 /* one for each object size of up to 128 granules */
    ARRAYS_BYTES = 0x2c9f0       /* of Debian's libgc 8.2.2 for x86-64 */
};

GC_API char GC_arrays[ARRAYS_BYTES];
char GC_arrays[ARRAYS_BYTES];

/* Ours, wherever the program has its copy. */
extern char sgc_own_arrays[ARRAYS_BYTES] __attribute__((alias("GC_arrays"), visibility("hidden")));
SGC_STATE_LARGE(sgc_own_arrays);

static void *empty_lists[LISTS];

GC_API void **GC_objfreelist_ptr;
GC_API void **GC_aobjfreelist_ptr;
GC_API void **GC_uobjfreelist_ptr;
GC_API void **GC_auobjfreelist_ptr;

void **GC_objfreelist_ptr = empty_lists;
void **GC_aobjfreelist_ptr = empty_lists;
void **GC_uobjfreelist_ptr = empty_lists;
void **GC_auobjfreelist_ptr = empty_lists;
