/* SPDX-License-Identifier: MIT */
/* See mark/edge_bits.h. */
#include "mark/edge_bits.h"

__attribute__((noinline))
bool sgc_edge_remote_bit(uintptr_t edge)
{
    sgc_assert(sgc_heap_contains(sgc_heap.base + edge));
    return sgc_bit_of(sgc_aw_load(&sgc_heap.remote_bits[edge / SGC_WORD_REACH]), sgc_edge_granule(edge)) != 0;
}
