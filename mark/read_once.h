/* SPDX-License-Identifier: MIT */
/*
 * Reading a word of the program's memory: the only way in which marking looks at what objects and
 * roots consist of, besides platform/find_pointers.h.  On any marker.
 */
#ifndef SGC_MARK_READ_ONCE_H
#define SGC_MARK_READ_ONCE_H

#include <stdint.h>

#include "platform/compiler.h"

/* These loops read memory that was never meant for them (other functions' stack frames, the gaps
 * between variables), so sanitizers are told to look away, here and in the functions that they are
 * inlined into.  Code that synchronises with other markers is called, not inlined. */
#define SGC_BLIND __attribute__((no_sanitize("address", "thread", "undefined")))

/* ThreadSanitizer does look at what it is inlined into, if that synchronises. */
#if SGC_TSAN
#define SGC_INLINE_BLIND SGC_BLIND __attribute__((noinline, unused)) static
#else
#define SGC_INLINE_BLIND SGC_BLIND __attribute__((always_inline)) static inline
#endif

/* A word of the program's memory, loaded once: it may change between two loads, and be in the heap
 * for one of them only. */
SGC_INLINE_BLIND uintptr_t sgc_read_once(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

#endif
