/* SPDX-License-Identifier: MIT */
/*
 * The memory of a mark stack.  On its marker.
 */
#include "mark/work/deque_memory.h"

#include "platform/platform.h"
#include "platform/report.h"

enum { PIECE = sizeof(struct sgc_work) };

static const size_t RESERVE_DEFAULT = (size_t)4 << 30;
static const size_t RESERVE_MIN = (size_t)64 << 10;
static const size_t STEP_MIN = (size_t)64 << 10;

static size_t bytes_wanted(size_t bytes, size_t most)
{
    size_t left = sgc_limit_address_space();
    size_t want = bytes != 0 ? bytes : RESERVE_DEFAULT;

    sgc_assert(most >= RESERVE_MIN / PIECE);
    if (left != SIZE_MAX && want > left / 16)
        want = left / 16;
    if (want > most * PIECE)
        want = most * PIECE;
    return want > RESERVE_MIN ? want : RESERVE_MIN;
}

bool sgc_stack_memory_init(struct sgc_stack_memory *memory, size_t bytes, size_t most)
{
    size_t want = bytes_wanted(bytes, most);

    *memory = (struct sgc_stack_memory){ .base = NULL };
    for (; want >= RESERVE_MIN; want /= 2) {
        size_t rounded = sgc_round_down(want, sgc_os_page_size());

        memory->base = sgc_mem_reserve(rounded, sgc_os_page_size());
        if (memory->base == NULL)
            continue;
        memory->reserved = rounded / PIECE;
        return true;
    }
    return false;
}

void sgc_stack_memory_release(struct sgc_stack_memory *memory)
{
    sgc_assert(sgc_stack_memory_ok(memory));
    sgc_mem_release(memory->base, memory->reserved * PIECE);
    *memory = (struct sgc_stack_memory){ .base = NULL };
}

/* Doubles, so that a deep mark makes few system calls. */
bool sgc_stack_memory_grow(struct sgc_stack_memory *memory)
{
    size_t have = memory->committed * PIECE;
    size_t all = memory->reserved * PIECE;
    size_t step = have < STEP_MIN ? STEP_MIN : have;

    sgc_assert(sgc_stack_memory_ok(memory) && memory->base != NULL);
    if (step > all - have)
        step = all - have;
    if (step == 0 || !sgc_mem_commit((char *)memory->base + have, step))
        return false;
    memory->committed = (have + step) / PIECE;
    return true;
}

void sgc_stack_memory_trim(struct sgc_stack_memory *memory)
{
    size_t have = memory->committed * PIECE;

    sgc_assert(sgc_stack_memory_ok(memory));
    if (have > 16 * STEP_MIN)
        sgc_mem_discard((char *)memory->base + STEP_MIN, have - STEP_MIN);
}
