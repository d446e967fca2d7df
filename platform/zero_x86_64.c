/* SPDX-License-Identifier: MIT */
/*
 * Zeroing past the caches.  [any]
 */
#include <emmintrin.h>

#include "platform/platform.h"

enum { LINE = 64 };

/* Whole lines are written at once, so none is read from memory first.  The stores are weakly ordered: the fence makes
 * them precede what is published afterwards. */
void sgc_mem_zero_streaming(void *start, size_t bytes)
{
    __m128i zero = _mm_setzero_si128();
    char *end = (char *)start + bytes;

    for (char *line = start; line < end; line += LINE)
        for (int i = 0; i < LINE; i += (int)sizeof zero)
            _mm_stream_si128((__m128i *)(void *)(line + i), zero);
    _mm_sfence();
}
