/* SPDX-License-Identifier: MIT */
/* See tests/fuzz/fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((weak)) void fuzz_describe(void);

void fuzz_found(const char *format, ...)
{
    char line[1000] = "FOUND: ";
    va_list args;
    int length;

    va_start(args, format);
    length = 7 + vsnprintf(line + 7, sizeof line - 8, format, args);
    va_end(args);
    length = length < (int)sizeof line - 1 ? length : (int)sizeof line - 2;
    line[length++] = '\n';
    if (write(2, line, (size_t)length) < 0)
        abort();
    if (fuzz_describe != NULL && getenv("FUZZ_TRACE") != NULL)
        fuzz_describe();
    abort();
}
