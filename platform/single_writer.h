/* SPDX-License-Identifier: MIT */
/*
 * One bit of a bit string that no other thread writes: set, or taken (cleared, saying whether it
 * was set).
 *
 * Atomic towards signal handlers on the same thread where the processor has an instruction for it,
 * which also spares the arithmetic of finding the word.  Other threads may read the words: each
 * change is one store of a whole word with release.  Where that matters to a sanitizer, or the
 * processor has no such instruction, it is spelled out; then a handler must not come between, which
 * sections see to (platform/section/section.h).
 */
#ifndef SGC_PLATFORM_SINGLE_WRITER_H
#define SGC_PLATFORM_SINGLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/atomics.h"
#include "platform/compiler.h"

#if defined(__x86_64__) && defined(__LP64__) && !SGC_SANITIZED

__attribute__((always_inline))
static inline void sgc_own_bit_set(sgc_aw_t *words, size_t bit)
{
    __asm__ volatile("btsq %1, (%0)" : : "r"(words), "r"(bit) : "memory", "cc");
}

__attribute__((always_inline))
static inline bool sgc_own_bit_take(sgc_aw_t *words, size_t bit)
{
    bool was;

    __asm__ volatile("btrq %2, (%1)" : "=@ccc"(was) : "r"(words), "r"(bit) : "memory");
    return was;
}

#else

static inline void sgc_own_bit_set(sgc_aw_t *words, size_t bit)
{
    sgc_aw_t *word = &words[bit / 64];

    sgc_aw_store_rel(word, sgc_aw_load(word) | (uintptr_t)1 << (bit % 64));
}

static inline bool sgc_own_bit_take(sgc_aw_t *words, size_t bit)
{
    sgc_aw_t *word = &words[bit / 64];
    uintptr_t old = sgc_aw_load(word), mask = (uintptr_t)1 << (bit % 64);

    sgc_aw_store_rel(word, old & ~mask);
    return (old & mask) != 0;
}

#endif

#endif
