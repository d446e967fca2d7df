/* SPDX-License-Identifier: MIT */
/* The table of layouts: mark/layouts.h. */
#include "mark/layouts.h"

#include "platform/platform.h"
#include "platform/report.h"

enum {
    FIRST_WORDS = 4096,         /* of the first chunk */
    CHUNKS = 24,                /* half a terabyte */
};

struct layouts {
    sgc_aw_t used;
    sgc_aw_t chunk[CHUNKS];
};

SGC_STATE static struct layouts layouts;

/* ---- positions: those of a chunk follow those of the chunks before it ---- */

static uint32_t chunk_of(size_t position)
{
    sgc_assert(position / FIRST_WORDS < SIZE_MAX);
    return 63 - (uint32_t)__builtin_clzll(position / FIRST_WORDS + 1);
}

static size_t chunk_words(uint32_t chunk)
{
    sgc_assert(chunk <= CHUNKS);
    return (size_t)FIRST_WORDS << chunk;
}

static size_t chunk_start(uint32_t chunk)
{
    return chunk_words(chunk) - FIRST_WORDS;
}

/* The first position from this one on where so many words lie in one chunk; SIZE_MAX: nowhere. */
static size_t fitting(size_t position, size_t count)
{
    uint32_t chunk = chunk_of(position);

    sgc_assert(count != 0);
    for (; chunk < CHUNKS && count > chunk_start(chunk + 1) - position; chunk++)
        position = chunk_start(chunk + 1);
    return chunk < CHUNKS ? position : SIZE_MAX;
}

static size_t reserve(size_t count)
{
    size_t position, used;

    do {
        used = sgc_aw_load(&layouts.used);
        position = fitting(used, count);
        if (position == SIZE_MAX)
            return SIZE_MAX;
    } while (!sgc_aw_cas(&layouts.used, used, position + count));
    return position;
}

/* ---- memory ---- */

static uintptr_t *memory_of(uint32_t chunk)
{
    sgc_assert(chunk < CHUNKS);
    return (uintptr_t *)sgc_aw_load_acq(&layouts.chunk[chunk]);
}

static uintptr_t *make_chunk(uint32_t chunk)
{
    size_t bytes = chunk_words(chunk) * sizeof(uintptr_t);
    void *memory = memory_of(chunk) == NULL ? sgc_mem_obtain(bytes) : NULL;

    if (memory != NULL && !sgc_aw_cas(&layouts.chunk[chunk], 0, (uintptr_t)memory))
        sgc_mem_release(memory, bytes);
    return memory_of(chunk);
}

uintptr_t sgc_layout_add(size_t count, uintptr_t **words)
{
    size_t position = reserve(count);
    uintptr_t *memory = position != SIZE_MAX ? make_chunk(chunk_of(position)) : NULL;

    sgc_assert(count != 0);
    *words = memory != NULL ? memory + (position - chunk_start(chunk_of(position))) : NULL;
    return position;
}

const uintptr_t *sgc_layout_words(uintptr_t number, size_t *max_words)
{
    const uintptr_t *memory;
    uint32_t chunk;

    if (number >= sgc_aw_load(&layouts.used))
        return NULL;
    chunk = chunk_of(number);
    memory = memory_of(chunk);
    *max_words = chunk_start(chunk + 1) - number;
    return memory != NULL ? memory + (number - chunk_start(chunk)) : NULL;
}
