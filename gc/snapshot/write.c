/* SPDX-License-Identifier: MIT */
/* The order of a snapshot's sections, and the small ones. */
#include "gc/snapshot/write.h"

#include <unistd.h>

#include "alloc/pages/homes.h"
#include "alloc/pages/pool.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/snapshot/noted_part.h"
#include "gc/threads/gc_lock.h"
#include "mark/displacements.h"

_Static_assert((int)SGC_SNAPSHOT_KINDS == (int)SGC_KINDS, "the format has as many");
_Static_assert(SGC_PAGE_GRANULES / 8 + SGC_BLOCKS_ROOM < SGC_SNAPSHOT_BLOCK, "a page's bits fit into a block");

/* Of the file that is being written. */
SGC_STATE static struct sgc_snapshot_counts counts;

static uint64_t flags(void)
{
    return (sgc_options.all_interior_pointers ? SGC_SNAPSHOT_INTERIOR : 0) |
           (sgc_options.end_byte == SGC_END_BYTE_ROOTS ? SGC_SNAPSHOT_END_WORD : 0);
}

static void put_header(uint64_t cycle)
{
    const uint64_t numbers[SGC_HEADER_NUMBERS] = {
        [SGC_HEADER_BASE] = sgc_heap.base, [SGC_HEADER_LIMIT] = sgc_aw_load(&sgc_heap.limit),
        [SGC_HEADER_WORD] = sizeof(uintptr_t), [SGC_HEADER_GRANULE_LOG] = SGC_GRANULE_LOG,
        [SGC_HEADER_PAGE_LOG] = SGC_PAGE_LOG, [SGC_HEADER_ARENA_LOG] = SGC_ARENA_LOG, [SGC_HEADER_FLAGS] = flags(),
        [SGC_HEADER_CYCLE] = cycle, [SGC_HEADER_PROCESS] = (uint64_t)getpid(),
        [SGC_HEADER_MARKERS] = (uint64_t)sgc_options.markers, [SGC_HEADER_SPLIT_BYTES] = sgc_options.split_bytes,
    };

    sgc_blocks_put(SGC_HEADER_NUMBERS);
    for (int i = 0; i < SGC_HEADER_NUMBERS; i++)
        sgc_blocks_put(numbers[i]);
}

/* While leaks are looked for nobody is asked about dead objects. */
static uint64_t kind_flags(uint32_t kind)
{
    bool asks = sgc_disclaim_asks(kind) && !sgc_finding_leaks();

    sgc_assert(sgc_kind_ok(kind));
    return (sgc_kind_uncollectable(kind) ? SGC_SNAPSHOT_KIND_UNCOLLECTABLE : 0) | (asks ? SGC_SNAPSHOT_KIND_DISCLAIMS : 0) |
           (asks && !sgc_disclaim_lets_go(kind) ? SGC_SNAPSHOT_KIND_KEEPS_CONTENTS : 0);
}

static void put_kinds(void)
{
    sgc_blocks_section(SGC_SECTION_KINDS);
    sgc_blocks_put(sgc_kind_count());
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++) {
        sgc_blocks_put(sgc_kinds.of[kind].scan);
        sgc_blocks_put(kind_flags(kind));
    }
}

/* Each as how much it is more than the one before. */
static void put_distances(void)
{
    size_t last = 0;

    sgc_blocks_section(SGC_SECTION_DISTANCES);
    for (size_t distance = 1; distance < SGC_PAGE; distance++)
        if (!sgc_options.all_interior_pointers && sgc_mark_displacement_valid(distance)) {
            sgc_blocks_put(distance - last);
            last = distance;
        }
    sgc_blocks_put(0);
}

static void put_nodes(void)
{
    sgc_blocks_section(SGC_SECTION_NODES);
    sgc_blocks_put((uint64_t)sgc_nodes());
    sgc_blocks_put(sgc_pool.committed);
    for (uint32_t arena = 0; arena < sgc_pool.committed; arena++)
        sgc_blocks_put((uint64_t)(sgc_arena_node(arena) + 1));
}

static void put_trailer(void)
{
    sgc_blocks_section(SGC_SECTION_TRAILER);
    counts.of[SGC_TRAILER_BLOCKS] = sgc_blocks.blocks;
    sgc_blocks_put(SGC_TRAILER_COUNTS);
    for (int i = 0; i < SGC_TRAILER_COUNTS; i++)
        sgc_blocks_put(counts.of[i]);
}

/* The hook's section comes before those that say what the heap is like, since the hook may change that. */
void sgc_snapshot_open(const char *const *path, int files, uint64_t cycle)
{
    sgc_assert(sgc_stopped_by_self());
    counts = (struct sgc_snapshot_counts){ .of = { 0 } };
    sgc_blocks_begin(path, files);
    put_header(cycle);
    sgc_snapshot_begin_pushed(&counts);
}

void sgc_snapshot_put_heap(void)
{
    sgc_assert(sgc_stopped_by_self() && sgc_snapshot_is_open());
    sgc_snapshot_end_pushed();
    put_kinds();
    put_distances();
    put_nodes();
    sgc_snapshot_put_pages(&counts);
    sgc_snapshot_put_words(&counts);
    sgc_snapshot_put_roots(&counts);
    sgc_snapshot_put_kept(&counts);
    sgc_snapshot_begin_noted();
}

void sgc_snapshot_close(bool complete, int *error)
{
    sgc_assert(sgc_stopped_by_self() && sgc_snapshot_is_open());
    sgc_snapshot_end_noted();
    put_trailer();
    sgc_blocks_end(complete, error);
}
