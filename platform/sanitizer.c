/* SPDX-License-Identifier: MIT */
/* Sanitizers of the program are told of memory that is not from malloc. */
#include "platform/platform.h"

#include "platform/report.h"

/* LeakSanitizer's, if the program has it. */
extern void __lsan_register_root_region(const void *start, size_t bytes) __attribute__((weak));

void sgc_sanitizer_root(const void *start, size_t bytes)
{
    sgc_assert(start != NULL && bytes != 0);
    if (__lsan_register_root_region != NULL)
        __lsan_register_root_region(start, bytes);
}
