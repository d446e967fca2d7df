/* SPDX-License-Identifier: MIT */
/*
 * Blocks of no bytes, at level 2: addresses that can be neither read nor written.  An address is
 * handed out again when all others have been.
 *
 *   what          written by                         read by     ordering
 *   start         while the heap is made             everybody   as sgc_malloc_options
 *   bits, a bit   who gets a block, who frees one    the same    read-modify-writes, by which one of them
 *   for each                                                     has it; no memory goes with a block
 *   next          who gets a block                   the same    likewise
 *   used          who gets a block, who frees one    the same    relaxed: a stale value has a block sought in
 *                                                                vain, or one be given that has a byte
 */
#ifndef SGC_MALLOC_EMPTY_H
#define SGC_MALLOC_EMPTY_H

#include <stdbool.h>
#include <stdint.h>

#include "alloc/pages/geometry.h"
#include "platform/atomics.h"
#include "platform/compiler.h"
#include "platform/report.h"

enum {
    SGC_EMPTY_BLOCKS = 4096,
    SGC_EMPTY_BITS = 64,                /* a word */
    SGC_EMPTY_BYTES = SGC_EMPTY_BLOCKS * SGC_GRANULE,
};

struct sgc_empty {
    char *start;                        /* NULL: there is no address space for them, and they are none */
    sgc_aw_t bits[SGC_EMPTY_BLOCKS / SGC_EMPTY_BITS], next, used;
};
SGC_INNER struct sgc_empty sgc_empty;

/* Passes over the rest of a word of which all blocks are handed out; returns how many that are, 0
 * in another word.  Another thread may have done so. */
static inline int sgc_empty_pass(void)
{
    size_t next = sgc_aw_load(&sgc_empty.next), after = (next | (SGC_EMPTY_BITS - 1)) + 1;

    if (sgc_aw_load(&sgc_empty.bits[next % SGC_EMPTY_BLOCKS / SGC_EMPTY_BITS]) != UINTPTR_MAX)
        return 0;
    sgc_assert(after - next <= SGC_EMPTY_BITS && after % SGC_EMPTY_BITS == 0);
    sgc_aw_cas(&sgc_empty.next, next, after);
    return (int)(after - next);
}

/* The next block, if nobody has it. */
static inline void *sgc_empty_try(void)
{
    size_t i = sgc_aw_add(&sgc_empty.next, 1) % SGC_EMPTY_BLOCKS;
    uintptr_t bit = (uintptr_t)1 << i % SGC_EMPTY_BITS;

    sgc_assert(sgc_empty.start != NULL);
    if ((sgc_aw_or(&sgc_empty.bits[i / SGC_EMPTY_BITS], bit) & bit) != 0)
        return NULL;
    sgc_aw_add(&sgc_empty.used, 1);
    return sgc_empty.start + i * SGC_GRANULE;
}

/* NULL: there are none left. */
static inline void *sgc_empty_new(void)
{
    void *block = NULL;

    if (sgc_empty.start == NULL || sgc_aw_load(&sgc_empty.used) >= SGC_EMPTY_BLOCKS)
        return NULL;
    for (int tries = 0, passed; tries < SGC_EMPTY_BLOCKS && block == NULL; tries += passed != 0 ? passed : 1) {
        passed = sgc_empty_pass();
        if (passed == 0)
            block = sgc_empty_try();
    }
    return block;
}

/* Does the address lie where they are? */
static inline bool sgc_empty_contains(const void *address)
{
    return sgc_empty.start != NULL && (uintptr_t)address - (uintptr_t)sgc_empty.start < SGC_EMPTY_BYTES;
}

/* The word with the block's bit; NULL: none begins there. */
static inline sgc_aw_t *sgc_empty_word(const void *block, uintptr_t *bit)
{
    size_t offset = (uintptr_t)block - (uintptr_t)sgc_empty.start;

    sgc_assert(sgc_empty_contains(block));
    *bit = (uintptr_t)1 << offset / SGC_GRANULE % SGC_EMPTY_BITS;
    return offset % SGC_GRANULE == 0 ? &sgc_empty.bits[offset / SGC_GRANULE / SGC_EMPTY_BITS] : NULL;
}

/* Is there such a block? */
static inline bool sgc_empty_there(const void *block)
{
    uintptr_t bit;
    sgc_aw_t *word = sgc_empty_word(block, &bit);

    return word != NULL && (sgc_aw_load(word) & bit) != 0;
}

/* False: there is no such block. */
static inline bool sgc_empty_free(const void *block)
{
    uintptr_t bit;
    sgc_aw_t *word = sgc_empty_word(block, &bit);

    if (word == NULL || (sgc_aw_and(word, ~bit) & bit) == 0)
        return false;
    sgc_aw_add(&sgc_empty.used, (uintptr_t)-1);
    return true;
}

#endif
