/* SPDX-License-Identifier: MIT */
/*
 * The sections of a heap snapshot: each of these puts one into the blocks (gc/snapshot/blocks.h) and counts what it has put.
 * By who has stopped the world, the caches retired, the program's hook called and no marker at work.
 */
#ifndef SGC_GC_SNAPSHOT_HEAP_PART_H
#define SGC_GC_SNAPSHOT_HEAP_PART_H

#include <stdint.h>

#include "gc/snapshot/blocks.h"

/* By enum sgc_snapshot_count. */
struct sgc_snapshot_counts {
    uint64_t of[SGC_TRAILER_COUNTS];
};

void sgc_snapshot_put_pages(struct sgc_snapshot_counts *counts);
void sgc_snapshot_put_words(struct sgc_snapshot_counts *counts);

/* gc/snapshot/roots_part.c */
void sgc_snapshot_put_roots(struct sgc_snapshot_counts *counts);
void sgc_snapshot_put_kept(struct sgc_snapshot_counts *counts);

/* The words of [lo, hi), which are whole ones, as roots, with the address and the bytes before them and 0 behind.  How many. */
uint64_t sgc_snapshot_put_root_words(uintptr_t lo, uintptr_t hi);

/* ---- for all: words of one object or range that lie in the heap's range ---- */

struct sgc_snapshot_words {
    uintptr_t start;            /* of the memory, */
    uint64_t place;             /* words from there to behind the one put last, */
    uint64_t last;              /* and where in the heap that points */
    uint64_t count;
};

/* The word at the address points that far into the heap. */
static inline void sgc_snapshot_put_word(struct sgc_snapshot_words *w, uintptr_t at, uint64_t offset)
{
    uint64_t place = (at - w->start) / sizeof at + 1;

    sgc_assert(at >= w->start && place > w->place);
    sgc_blocks_room(SGC_BLOCKS_ROOM);
    sgc_blocks_put_inside(place - w->place);
    sgc_blocks_put_inside(sgc_snapshot_zigzag(offset - w->last));
    w->place = place;
    w->last = offset;
    w->count++;
}

/* Those of [lo, hi), whole words, that point at one of the heap's first `limit` bytes. */
void sgc_snapshot_put_range(struct sgc_snapshot_words *w, uintptr_t lo, uintptr_t hi, uint64_t limit);

#endif
