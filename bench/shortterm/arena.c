/* SPDX-License-Identifier: MIT */
/* An arena by hand: bench/shortterm/arena.h. */
#include "bench/shortterm/arena.h"

#include <stdlib.h>
#include <string.h>

#include "bench/cases/case.h"

enum { BLOCK = 65536, ALIGNMENT = 16 };

struct block {
    struct block *next;
    _Alignas(ALIGNMENT) char bytes[];
};

static struct block *first, *current;
static char *at, *end;

static void use(struct block *block)
{
    current = block;
    at = block->bytes;
    end = block->bytes + BLOCK;
}

__attribute__((noinline))
static void *malloc_slowly(size_t bytes)
{
    struct block **link = current != NULL ? &current->next : &first;

    need(bytes <= BLOCK, "operations: an object is too large for the arena");
    if (*link == NULL) {
        *link = malloc(sizeof(struct block) + BLOCK);
        need(*link != NULL, "operations: there is no memory for the arena");
        (*link)->next = NULL;
    }
    use(*link);
    return arena_malloc(bytes);
}

void *arena_malloc(size_t bytes)
{
    char *object = at;

    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (__builtin_expect((size_t)(end - object) < bytes, 0))
        return malloc_slowly(bytes);
    at = object + bytes;
    return object;
}

void *arena_calloc(size_t bytes)
{
    return memset(arena_malloc(bytes), 0, bytes);
}

void arena_reset(void)
{
    if (first != NULL)
        use(first);
}
