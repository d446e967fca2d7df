/* SPDX-License-Identifier: MIT */
/*
 * Zeroing past the caches, where nothing better is known than what the C library does.  [any]
 */
#include <string.h>

#include "platform/platform.h"

void sgc_mem_zero_streaming(void *start, size_t bytes)
{
    memset(start, 0, bytes);
}
