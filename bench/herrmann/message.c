/* SPDX-License-Identifier: MIT */
/* Owns nothing; any thread. */
#include "bench/herrmann/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 400 };

static const char begin[] = "libherrmann: ";

static void write_line(const char *format, va_list args)
{
    char line[LINE_BYTES];
    size_t length;
    ssize_t written;

    memcpy(line, begin, sizeof begin);
    vsnprintf(line + sizeof begin - 1, sizeof line - sizeof begin, format, args);
    length = strlen(line);
    line[length] = '\n';        /* vsnprintf was given one byte less than there is */
    written = write(STDERR_FILENO, line, length + 1);
    (void)written;              /* nobody could be informed */
}

void message_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(format, args);
    va_end(args);
}

void message_refuse(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(format, args);
    va_end(args);
    _exit(MESSAGE_STATUS);
}
