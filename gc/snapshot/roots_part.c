/* SPDX-License-Identifier: MIT */
/* Roots, and what finalization keeps: gc/snapshot/heap_part.h. */
#include "gc/snapshot/heap_part.h"

#include "gc/finalize/finalize.h"
#include "gc/roots/roots.h"

_Static_assert((int)SGC_ROOT_STATIC + 1 == (int)SGC_SNAPSHOT_STATIC && (int)SGC_ROOT_DATE + 1 == (int)SGC_SNAPSHOT_DATE,
               "in one order");

/* One more byte than there is: without the end byte a word just behind the heap may mean the last object. */
uint64_t sgc_snapshot_put_root_words(uintptr_t lo, uintptr_t hi)
{
    struct sgc_snapshot_words words = { .start = lo };

    sgc_assert(lo % sizeof lo == 0 && hi % sizeof hi == 0 && lo < hi);
    sgc_blocks_room(SGC_BLOCKS_ROOM);
    sgc_blocks_put_inside(lo);
    sgc_blocks_put_inside(hi - lo);
    sgc_snapshot_put_range(&words, lo, hi, sgc_aw_load(&sgc_heap.limit) + 1);
    sgc_blocks_put(0);
    return words.count;
}

static void put_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range,
                     const struct sgc_root_copy *copy)
{
    struct sgc_snapshot_counts *counts = arg;
    uintptr_t lo = sgc_round_up(range.lo, sizeof lo), hi = sgc_round_down(range.hi, sizeof hi);

    (void)copy;
    sgc_assert((unsigned)kind <= SGC_ROOT_DATE && range.lo <= range.hi);
    if (lo >= hi)
        return;
    sgc_blocks_put((uint64_t)kind + 1);
    sgc_blocks_put(whose != NULL ? (uint64_t)whose->tid : 0);
    counts->of[SGC_TRAILER_ROOTS] += sgc_snapshot_put_root_words(lo, hi);
    counts->of[SGC_TRAILER_RANGES]++;
}

void sgc_snapshot_put_roots(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_ROOTS);
    sgc_roots_visit(put_root, counts, true);
    sgc_blocks_put(0);
}

/* ---- finalization ---- */

static void put_address(struct sgc_snapshot_counts *counts, enum sgc_snapshot_root root, uintptr_t address)
{
    if (!sgc_heap_contains(address))
        return;
    sgc_blocks_put(root);
    sgc_blocks_put(address - sgc_heap.base);
    counts->of[SGC_TRAILER_KEPT]++;
}

static void put_kept(void *arg, uintptr_t address)
{
    put_address(arg, SGC_SNAPSHOT_FINALIZATION, address);
}

static void put_finalizer(void *arg, uintptr_t object)
{
    sgc_assert(sgc_heap_contains(object));
    put_address(arg, SGC_SNAPSHOT_FINALIZER, object);
}

void sgc_snapshot_put_kept(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_KEPT);
    sgc_finalization_visit(put_kept, counts);
    sgc_finalization_visit_finalizers(put_finalizer, counts);
    sgc_blocks_put(0);
}
