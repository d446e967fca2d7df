/* SPDX-License-Identifier: MIT */
/* The order of a snapshot's sections, the small ones, and those that the program has a part in. */
#include "gc/snapshot/write.h"

#include <unistd.h>

#include "alloc/object.h"
#include "alloc/pages/homes.h"
#include "alloc/pages/pool.h"
#include "alloc/whole_heap.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/threads/gc_lock.h"
#include "mark/displacements.h"
#include "mark/noted.h"

_Static_assert((int)SGC_SNAPSHOT_KINDS == (int)SGC_KINDS, "the format has as many");
_Static_assert(SGC_PAGE_GRANULES / 8 + SGC_BLOCKS_ROOM < SGC_SNAPSHOT_BLOCK, "a page's bits fit into a block");

/* Of the file that is being written. */
SGC_STATE static struct sgc_snapshot_counts counts;

/* ---- the small sections ---- */

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

struct notes {
    bool pushing;               /* the hook runs */
    bool open;                  /* a procedure does, and its record has begun */
    uint64_t subject;           /* of the last record: how far in the heap it begins, */
    uint64_t last;              /* and where its last word led */
};

SGC_STATE static struct notes notes;

/* ---- of the hook ---- */

void sgc_snapshot_put_pushed(uintptr_t lo, uintptr_t hi, bool like_data)
{
    lo = sgc_round_up(lo, sizeof lo);
    hi = sgc_round_down(hi, sizeof hi);
    if (!notes.pushing || lo >= hi)
        return;
    sgc_blocks_put(like_data ? SGC_SNAPSHOT_PUSHED_DATA : SGC_SNAPSHOT_PUSHED_STACK);
    counts.of[SGC_TRAILER_PUSHED_WORDS] += sgc_snapshot_put_root_words(lo, hi);
    counts.of[SGC_TRAILER_PUSHED]++;
}

static void put_object(enum sgc_snapshot_pushed what, uintptr_t object)
{
    sgc_assert(notes.pushing && sgc_heap_contains(object));
    sgc_blocks_put(what);
    sgc_blocks_put(object - sgc_heap.base);
    counts.of[SGC_TRAILER_PUSHED]++;
}

void sgc_snapshot_put_allocated(uintptr_t object)
{
    if (notes.pushing)
        put_object(SGC_SNAPSHOT_PUSHED_OBJECT, object);
}

/* ---- of procedures ---- */

static void put_step(uint64_t *from, uint64_t to)
{
    sgc_blocks_put(sgc_snapshot_zigzag(to - *from));
    *from = to;
}

static void begin_record(enum sgc_snapshot_noted what, uint64_t offset)
{
    sgc_assert(!notes.open && !notes.pushing);
    sgc_blocks_put(what);
    if (what != SGC_SNAPSHOT_NOTED_MEMORY)
        put_step(&notes.subject, offset);
    counts.of[SGC_TRAILER_NOTED]++;
}

static void begin_items(enum sgc_snapshot_noted what, uint64_t offset)
{
    begin_record(what, offset);
    notes.last = what == SGC_SNAPSHOT_NOTED_OBJECT ? offset : 0;
    notes.open = true;
}

static void begin_object(uintptr_t address)
{
    struct sgc_object o;
    bool found = sgc_object_slot(address, &o);

    sgc_assert(found);
    (void)found;
    begin_items(SGC_SNAPSHOT_NOTED_OBJECT, o.start - sgc_heap.base);
}

/* The rest of an object that is marked is its own; of anything else nobody knows who leads to
 * it. */
static void begin_entry(uintptr_t address)
{
    struct sgc_object o;

    if (sgc_object_find(address, &o) && sgc_walk_marked(&o))
        begin_object(address);
    else
        begin_items(SGC_SNAPSHOT_NOTED_MEMORY, 0);
}

static void put_item(enum sgc_snapshot_item what, uint64_t offset)
{
    sgc_assert(notes.open);
    if (offset >= sgc_aw_load(&sgc_heap.limit))
        return;
    sgc_blocks_put(what);
    put_step(&notes.last, offset);
    counts.of[SGC_TRAILER_NOTED_WORDS]++;
}

static void put_by_hand(uintptr_t object)
{
    if (notes.pushing)
        put_object(SGC_SNAPSHOT_PUSHED_MARK, object);
    else
        put_item(SGC_SNAPSHOT_ITEM_MARK, object - sgc_heap.base);
}

static void end_items(void)
{
    sgc_assert(notes.open);
    sgc_blocks_put(0);
    notes.open = false;
}

/* On any marker.  A note that comes while the program's hook runs is about the hook. */
static void note(enum sgc_noted what, uintptr_t word)
{
    switch (what) {
    case SGC_NOTED_OBJECT:
        begin_object(word);
        break;
    case SGC_NOTED_ENTRY:
        begin_entry(word);
        break;
    case SGC_NOTED_WORD:
        put_item(SGC_SNAPSHOT_ITEM_WORD, word - sgc_heap.base);
        break;
    case SGC_NOTED_END:
        end_items();
        break;
    case SGC_NOTED_BY_HAND:
        put_by_hand(word);
        break;
    case SGC_NOTED_CONTENTS:
        begin_record(SGC_SNAPSHOT_NOTED_CONTENTS, word - sgc_heap.base);
        break;
    }
}

/* ---- these two sections begin and end ---- */

static void begin_pushed(void)
{
    notes = (struct notes){ .pushing = true };
    sgc_blocks_section(SGC_SECTION_PUSHED);
    sgc_noter_set(note);
}

static void end_pushed(void)
{
    sgc_assert(notes.pushing);
    sgc_blocks_put(0);
    notes.pushing = false;
}

static void begin_noted(void)
{
    sgc_assert(!notes.pushing);
    sgc_blocks_section(SGC_SECTION_NOTED);
}

static void end_noted(void)
{
    sgc_noter_set(NULL);
    sgc_assert(!notes.open && !notes.pushing);
    sgc_blocks_put(0);
}

/* ---- the three steps ---- */

/* The hook's section comes before those that say what the heap is like, since the hook may change
 * that. */
void sgc_snapshot_open(const char *const *path, int files, uint64_t cycle)
{
    sgc_assert(sgc_stopped_by_self());
    counts = (struct sgc_snapshot_counts){ .of = { 0 } };
    sgc_blocks_begin(path, files);
    put_header(cycle);
    begin_pushed();
}

void sgc_snapshot_put_heap(void)
{
    sgc_assert(sgc_stopped_by_self() && sgc_snapshot_is_open());
    end_pushed();
    put_kinds();
    put_distances();
    put_nodes();
    sgc_snapshot_put_contents(&counts);
    begin_noted();
}

void sgc_snapshot_close(bool complete, int *error)
{
    sgc_assert(sgc_stopped_by_self() && sgc_snapshot_is_open());
    end_noted();
    put_trailer();
    sgc_blocks_end(complete, error);
}
