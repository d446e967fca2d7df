/* SPDX-License-Identifier: MIT */
/*
 * What bdwgc's library exports without declaring it in a header, and some programs use all the same: printing, and
 * telling of memory that was allocated or freed behind the collector's back.  Any thread.
 */
#include "gc/api/internal.h"

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

void GC_printf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print(STDOUT_FILENO, format, args);
    va_end(args);
}

void GC_err_printf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print(STDERR_FILENO, format, args);
    va_end(args);
}

void GC_log_printf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print(sgc_report_fd(), format, args);
    va_end(args);
}

/* Clients with allocators of their own count for bdwgc, which cannot see inside their lists.  Here what was taken by
 * GC_generic_malloc_many has been counted when it was taken. */
void GC_incr_bytes_allocd(size_t bytes)
{
    (void)bytes;
}

void GC_incr_bytes_freed(size_t bytes)
{
    (void)bytes;
}
