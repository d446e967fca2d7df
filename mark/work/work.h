/* SPDX-License-Identifier: MIT */
/*
 * Pieces of marking work.
 *
 * A piece is a range of words that may hold pointers: an object, a part of a large one, small objects side by
 * side, a part of a root range.  Constant data; how pieces are kept and passed on is in mark/work/deque.h.
 */
#ifndef SGC_MARK_WORK_WORK_H
#define SGC_MARK_WORK_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sgc_work {
    uintptr_t start;            /* its lowest bits say what kind of piece it is */
    size_t bytes;
};

/* Words lie at multiples of 8, so three bits of `start` are free. */
enum {
    SGC_WORK_HEAP = 0,          /* words of an object, or static data that counts like the heap */
    SGC_WORK_ROOTS = 1,         /* words of roots */
    SGC_WORK_PAGES = 2,         /* uncollectable objects: the number of an arena times 8; bytes: how many arenas */
    SGC_WORK_OBJECT = 4,        /* an object that is not scanned word by word: mark/descriptor.h */
    SGC_WORK_DESCRIBED = 5,     /* something that a client's procedure pushed: instead of the size, its descriptor */
    SGC_WORK_KINDS = 7,         /* the mask */
};

/* Is it of a kind that there is? */
static inline bool sgc_work_ok(const struct sgc_work *work)
{
    uintptr_t kind = work->start & SGC_WORK_KINDS;

    return kind <= SGC_WORK_PAGES || kind == SGC_WORK_OBJECT || kind == SGC_WORK_DESCRIBED;
}

#endif
