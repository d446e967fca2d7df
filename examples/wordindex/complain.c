/* SPDX-License-Identifier: MIT */
/* Messages on stderr; see complain.h.  stdio's own lock on stderr is the only one taken. */
#include "examples/wordindex/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void say(const char *format, va_list arguments)
{
    flockfile(stderr);
    fputs("wordindex: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
}

void complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    /* Not exit: other threads may be at work, and what stdout holds is incomplete. */
    _Exit(EXIT_PARTLY);
}

void *out_of_memory(size_t size)
{
    die("out of memory: %zu bytes were wanted; index fewer files or raise the memory limit", size);
}
