/* SPDX-License-Identifier: MIT */
/*
 * Pieces of marking work, and the memory of a stack of them: a stretch that grows with the stack,
 * so that a stack never moves.  The memory belongs to the stack's marker.
 *
 * A piece is a range of words that may hold pointers: an object, a part of a large one, small
 * objects side by side, a part of a root range.  Constant data; how pieces are kept and passed on
 * is in mark/work/deque.h.
 */
#ifndef SGC_MARK_WORK_DEQUE_MEMORY_H
#define SGC_MARK_WORK_DEQUE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- pieces of work ---- */

struct sgc_work {
    uintptr_t start;            /* its lowest bits say what kind of piece it is */
    size_t bytes;
};

/* Words lie at multiples of 8, so three bits of `start` are free. */
enum {
    SGC_WORK_HEAP = 0,          /* words of an object, or static data that counts like the heap */
    SGC_WORK_ROOTS = 1,         /* words of roots */
    SGC_WORK_PAGES = 2,         /* uncollectable objects: the number of an arena times 8; bytes: how
                                 * many arenas */
    SGC_WORK_OBJECT = 4,        /* an object that is not scanned word by word: mark/descriptor.h */
    SGC_WORK_DESCRIBED = 5,     /* something that a client's procedure pushed: instead of the size,
                                 * its descriptor */
    SGC_WORK_KINDS = 7,         /* the mask */
};

/* Is it of a kind that there is? */
static inline bool sgc_work_ok(const struct sgc_work *work)
{
    uintptr_t kind = work->start & SGC_WORK_KINDS;

    return kind <= SGC_WORK_PAGES || kind == SGC_WORK_OBJECT || kind == SGC_WORK_DESCRIBED;
}

/* ---- memory ---- */

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

/* Finds addresses for up to `bytes` (0: as much as is sensible; 64 KB is the least), and never for
 * more than `max_pieces` pieces.  False if not even that can be had.  Outside sections. */
bool sgc_stack_memory_init(struct sgc_stack_memory *memory, size_t bytes, size_t max_pieces);
void sgc_stack_memory_release(struct sgc_stack_memory *memory);

/* Commits more; false when the reservation is used up or the system has no memory.  One raw system
 * call at most; may run with the world stopped. */
bool sgc_stack_memory_grow(struct sgc_stack_memory *memory);

/* Gives back what a deep mark committed, keeping a little.  Nothing on the stack is kept.  Outside
 * pauses. */
void sgc_stack_memory_trim(struct sgc_stack_memory *memory);

#endif
