/* SPDX-License-Identifier: MIT */
/*
 * Pieces of marking work, and the stack a marker keeps them on.
 *
 * A piece is a range of words that may hold pointers: an object, a part of a large one, a part of a
 * root range.  The stack lies in memory that is reserved once and committed as it grows, so it never moves.
 *
 *   what                 written by     read by       ordering
 *   everything           its marker     its marker    one marker, world stopped; the parallel form splits the
 *                                                     stack by a watermark into a private and a public part
 *
 * The functions below are all that scanning knows of how work is passed; the parallel version
 * implements the same ones (with offers and thefts behind sgc_work_pop).
 */
#ifndef SGC_MARK_WORK_H
#define SGC_MARK_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sgc_work {
    uintptr_t start;
    size_t bytes;
};

struct sgc_work_stack {
    struct sgc_work *base;
    size_t top;                 /* pieces on it */
    size_t committed;           /* pieces there is memory for */
    size_t reserved;            /* pieces there is address space for */
    size_t deepest;             /* since this was last reset */
};

/* Reserves address space for up to `bytes` (0: as much as is sensible).  False if even a small stack cannot be
 * had.  Outside sections. */
bool sgc_work_stack_init(struct sgc_work_stack *stack, size_t bytes);
void sgc_work_stack_release(struct sgc_work_stack *stack);

/* Gives back what a deep mark committed, keeping a little.  Outside pauses. */
void sgc_work_stack_trim(struct sgc_work_stack *stack);

/* Makes room for more; false when the system has no memory: the caller flags the page instead.
 * One raw system call at most; may run with the world stopped. */
bool sgc_work_stack_grow(struct sgc_work_stack *stack);

static inline bool sgc_work_push(struct sgc_work_stack *stack, uintptr_t start, size_t bytes)
{
    if (__builtin_expect(stack->top == stack->committed, 0) && !sgc_work_stack_grow(stack))
        return false;
    stack->base[stack->top++] = (struct sgc_work){ start, bytes };
    return true;
}

static inline bool sgc_work_pop(struct sgc_work_stack *stack, struct sgc_work *work)
{
    if (stack->top == 0)
        return false;
    if (stack->top > stack->deepest)
        stack->deepest = stack->top;
    *work = stack->base[--stack->top];
    return true;
}

#endif
