/* SPDX-License-Identifier: MIT */
/*
 * The memory of a mark stack.  On its marker.
 */
#include "mark/work.h"

#include "alloc/geometry.h"
#include "platform/platform.h"
#include "platform/report.h"

static const size_t RESERVE_DEFAULT = (size_t)4 << 30;
static const size_t RESERVE_LEAST = (size_t)64 << 10;
static const size_t STEP_LEAST = (size_t)64 << 10;

bool sgc_work_stack_init(struct sgc_work_stack *stack, size_t bytes)
{
    size_t left = sgc_limit_address_space();
    size_t want = bytes != 0 ? bytes : RESERVE_DEFAULT;

    if (left != SIZE_MAX && want > left / 16)
        want = left / 16;
    if (want < RESERVE_LEAST)
        want = RESERVE_LEAST;
    *stack = (struct sgc_work_stack){ .top = 0 };
    for (; want >= RESERVE_LEAST; want /= 2) {
        size_t rounded = sgc_round_down(want, sgc_os_page_size());

        stack->base = sgc_mem_reserve(rounded, sgc_os_page_size());
        if (stack->base == NULL)
            continue;
        stack->reserved = rounded / sizeof *stack->base;
        return true;
    }
    return false;
}

void sgc_work_stack_release(struct sgc_work_stack *stack)
{
    sgc_mem_release(stack->base, stack->reserved * sizeof *stack->base);
    *stack = (struct sgc_work_stack){ .top = 0 };
}

/* Doubles, so that a deep mark makes few system calls. */
bool sgc_work_stack_grow(struct sgc_work_stack *stack)
{
    size_t have = stack->committed * sizeof *stack->base;
    size_t all = stack->reserved * sizeof *stack->base;
    size_t step = have < STEP_LEAST ? STEP_LEAST : have;

    sgc_assert(stack->top == stack->committed);
    if (step > all - have)
        step = all - have;
    if (step == 0 || !sgc_mem_commit((char *)stack->base + have, step))
        return false;
    stack->committed = (have + step) / sizeof *stack->base;
    return true;
}

void sgc_work_stack_trim(struct sgc_work_stack *stack)
{
    size_t have = stack->committed * sizeof *stack->base;

    sgc_assert(stack->top == 0);
    if (have > 16 * STEP_LEAST)
        sgc_mem_discard((char *)stack->base + STEP_LEAST, have - STEP_LEAST);
}
