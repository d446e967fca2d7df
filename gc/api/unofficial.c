/* SPDX-License-Identifier: MIT */
/*
 * Functions and tables that bdwgc's library exports without declaring them in a header, and some
 * programs use all the same: printing, telling of memory that was allocated or freed behind the
 * collector's back, and private tables.  Any thread.
 */
#include "gc/api/api.h"

#include <stdio.h>
#include <unistd.h>

GC_API void GC_printf(const char *format, ...) SGC_PRINTF(1, 2);
GC_API void GC_err_printf(const char *format, ...) SGC_PRINTF(1, 2);
GC_API void GC_log_printf(const char *format, ...) SGC_PRINTF(1, 2);
GC_API void GC_incr_bytes_allocd(size_t bytes);
GC_API void GC_incr_bytes_freed(size_t bytes);

enum { LINE = 1024 };

/* Longer texts are cut. */
SGC_PRINTF(2, 0) static void print(int fd, const char *format, va_list args)
{
    char text[LINE];
    int length = vsnprintf(text, sizeof text, format, args);
    ssize_t written;

    if (length >= LINE)
        length = LINE - 1;
    sgc_assert(length < LINE);
    if (length > 0) {
        written = write(fd, text, (size_t)length);
        (void)written;
    }
}

#define PRINT(name, fd) \
    void name(const char *format, ...) \
    { \
        va_list args; \
        va_start(args, format); \
        print(fd, format, args); \
        va_end(args); \
    }

PRINT(GC_printf, STDOUT_FILENO)
PRINT(GC_err_printf, STDERR_FILENO)
PRINT(GC_log_printf, sgc_report_fd())

/* Clients with allocators of their own count for bdwgc, which cannot see inside their lists.  Here
 * what was taken by GC_generic_malloc_many has been counted when it was taken. */
void GC_incr_bytes_allocd(size_t bytes)
{
    (void)bytes;
}

void GC_incr_bytes_freed(size_t bytes)
{
    (void)bytes;
}

/* ---- tables ---- */

/*
 * Private tables that bdwgc's library exports.  No header declares them, and they mean nothing to
 * this collector; a program that was linked to them starts all the same.  The free lists are empty,
 * so code that takes an object from one finds none and calls the allocator; the big table is there
 * in its size, because a program may hold a copy of it (a copy relocation).  Nobody here reads or
 * writes them, and marking does not scan it.
 */
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
