/* SPDX-License-Identifier: MIT */
/* Blocks of no bytes: malloc/empty.h.  On any thread. */
#include "malloc/empty.h"

#include "alloc/pages/geometry.h"
#include "platform/platform.h"
#include "platform/report.h"

enum { BLOCKS = 4096, WORD_BITS = 64, WORDS = BLOCKS / WORD_BITS, BYTES = BLOCKS * SGC_GRANULE };

SGC_STATE static char *start;
SGC_STATE static sgc_aw_t bits[WORDS], next;

void sgc_empty_start(void)
{
    sgc_assert(start == NULL);
    start = sgc_mem_reserve(BYTES, sgc_os_page_size());
}

void *sgc_empty_new(void)
{
    for (int tries = 0; start != NULL && tries < BLOCKS; tries++) {
        size_t i = sgc_aw_add(&next, 1) % BLOCKS;
        uintptr_t bit = (uintptr_t)1 << i % WORD_BITS;

        if ((sgc_aw_or(&bits[i / WORD_BITS], bit) & bit) == 0)
            return start + i * SGC_GRANULE;
    }
    return NULL;
}

bool sgc_empty_contains(const void *address)
{
    return start != NULL && (uintptr_t)address - (uintptr_t)start < BYTES;
}

/* The word with the block's bit; NULL: none begins there. */
static sgc_aw_t *find(const void *block, uintptr_t *bit)
{
    size_t offset = (uintptr_t)block - (uintptr_t)start;

    sgc_assert(sgc_empty_contains(block));
    *bit = (uintptr_t)1 << offset / SGC_GRANULE % WORD_BITS;
    return offset % SGC_GRANULE == 0 ? &bits[offset / SGC_GRANULE / WORD_BITS] : NULL;
}

bool sgc_empty_there(const void *block)
{
    uintptr_t bit;
    sgc_aw_t *word = find(block, &bit);

    return word != NULL && (sgc_aw_load(word) & bit) != 0;
}

bool sgc_empty_free(const void *block)
{
    uintptr_t bit;
    sgc_aw_t *word = find(block, &bit);

    return word != NULL && (sgc_aw_and(word, ~bit) & bit) != 0;
}
