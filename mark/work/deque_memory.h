/* SPDX-License-Identifier: MIT */
/*
 * The memory of a mark stack: a stretch that grows with the stack, so that a stack
 * never moves.  Belongs to the stack's marker.
 */
#ifndef SGC_MARK_WORK_DEQUE_MEMORY_H
#define SGC_MARK_WORK_DEQUE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "mark/work/work.h"

/* Sizes in pieces of work. */
struct sgc_stack_memory {
    void *base;
    size_t committed;           /* there is memory for these */
    size_t reserved;            /* there are addresses for these */
    bool mapped;                /* which are reserved, not only planned */
};

/* Is it what sgc_stack_memory_init or _release left, or grew from that? */
static inline bool sgc_stack_memory_ok(const struct sgc_stack_memory *memory)
{
    return (memory->base != NULL) == (memory->reserved != 0) && memory->committed <= memory->reserved;
}

/* Finds addresses for up to `bytes` (0: as much as is sensible; 64 KB is the least), and never for more than
 * `max_pieces` pieces.  False if not even that can be had.  Outside sections. */
bool sgc_stack_memory_init(struct sgc_stack_memory *memory, size_t bytes, size_t max_pieces);
void sgc_stack_memory_release(struct sgc_stack_memory *memory);

/* Commits more; false when the reservation is used up or the system has no memory.  One raw system call at most; may
 * run with the world stopped. */
bool sgc_stack_memory_grow(struct sgc_stack_memory *memory);

/* Gives back what a deep mark committed, keeping a little.  Nothing on the stack is kept.  Outside pauses. */
void sgc_stack_memory_trim(struct sgc_stack_memory *memory);

#endif
