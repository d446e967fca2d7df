/* SPDX-License-Identifier: MIT */
/*
 * The memory of a mark stack.  On its marker.
 */
#include "mark/work/deque_memory.h"

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/stretch.h"

enum { PIECE = sizeof(struct sgc_work) };

static const size_t RESERVE_DEFAULT = (size_t)4 << 30;
static const size_t RESERVE_MIN = (size_t)64 << 10;
static const size_t STEP_MIN = (size_t)64 << 10;

static size_t bytes_wanted(size_t bytes, size_t max_pieces)
{
    size_t want = bytes != 0 ? bytes : RESERVE_DEFAULT;

    sgc_assert(max_pieces >= RESERVE_MIN / PIECE);
    if (want > max_pieces * PIECE)
        want = max_pieces * PIECE;
    return want > RESERVE_MIN ? want : RESERVE_MIN;
}

static struct sgc_stretch stretch_of(const struct sgc_stack_memory *memory)
{
    return (struct sgc_stretch){
        .start = memory->base, .bytes = memory->reserved * PIECE, .have = memory->committed * PIECE, .reserved = memory->mapped,
    };
}

bool sgc_stack_memory_init(struct sgc_stack_memory *memory, size_t bytes, size_t max_pieces)
{
    size_t want = bytes_wanted(bytes, max_pieces);
    struct sgc_stretch stretch;

    *memory = (struct sgc_stack_memory){ .base = NULL };
    for (; want >= RESERVE_MIN; want /= 2) {
        if (!sgc_stretch_open(&stretch, sgc_round_down(want, sgc_os_page_size()), sgc_os_page_size()))
            continue;
        *memory = (struct sgc_stack_memory){
            .base = stretch.start, .reserved = stretch.bytes / PIECE, .mapped = stretch.reserved,
        };
        return true;
    }
    return false;
}

void sgc_stack_memory_release(struct sgc_stack_memory *memory)
{
    struct sgc_stretch stretch = stretch_of(memory);

    sgc_assert(sgc_stack_memory_ok(memory));
    sgc_stretch_close(&stretch);
    *memory = (struct sgc_stack_memory){ .base = NULL };
}

/* Doubles, so that a deep mark makes few system calls. */
bool sgc_stack_memory_grow(struct sgc_stack_memory *memory)
{
    struct sgc_stretch stretch = stretch_of(memory);
    size_t step = stretch.have < STEP_MIN ? STEP_MIN : stretch.have;

    sgc_assert(sgc_stack_memory_ok(memory) && memory->base != NULL);
    if (step > stretch.bytes - stretch.have)
        step = stretch.bytes - stretch.have;
    if (step == 0 || !sgc_stretch_grow(&stretch, stretch.have + step))
        return false;
    memory->committed = stretch.have / PIECE;
    return true;
}

void sgc_stack_memory_trim(struct sgc_stack_memory *memory)
{
    size_t have = memory->committed * PIECE;

    sgc_assert(sgc_stack_memory_ok(memory));
    if (have > 16 * STEP_MIN)
        sgc_mem_discard((char *)memory->base + STEP_MIN, have - STEP_MIN);
}
