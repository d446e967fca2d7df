/* SPDX-License-Identifier: MIT */
/* Blocks that are filled with what their own addresses and sizes say, the size being the first word. */
#ifndef TESTS_UNIT_MALLOC_FILLED_H
#define TESTS_UNIT_MALLOC_FILLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
    uintptr_t *words;           /* NULL: none */
    size_t bytes;
    bool own;                   /* allocated by the thread that has it */
};

static uintptr_t block_word(const struct block *b, size_t i)
{
    return ((uintptr_t)b->words ^ b->bytes) * 31 + i * 7;
}

static void block_fill(const struct block *b)
{
    b->words[0] = b->bytes;
    for (size_t i = 1; i < b->bytes / sizeof(uintptr_t); i++)
        b->words[i] = block_word(b, i);
}

static bool block_is_whole(const struct block *b)
{
    for (size_t i = 1; i < b->bytes / sizeof(uintptr_t); i++)
        if (b->words[i] != block_word(b, i))
            return false;
    return b->words[0] == b->bytes;
}

/* One that another thread has filled; or none. */
static struct block block_at(uintptr_t *words)
{
    return (struct block){ .words = words, .bytes = words != NULL ? words[0] : 0 };
}

#endif
