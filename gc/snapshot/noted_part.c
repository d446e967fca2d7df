/* SPDX-License-Identifier: MIT */
/* The sections PUSHED and NOTED: gc/snapshot/noted_part.h. */
#include "gc/snapshot/noted_part.h"

#include "alloc/object.h"
#include "alloc/whole_heap.h"
#include "mark/noted.h"

struct notes {
    struct sgc_snapshot_counts *counts;
    bool pushing;               /* the hook runs */
    bool open;                  /* a procedure does, and its record has begun */
    uint64_t subject;           /* of the last record: how far in the heap it begins, */
    uint64_t last;              /* and where its last word led */
};

SGC_STATE static struct notes notes;

/* ---- the hook ---- */

void sgc_snapshot_put_pushed(uintptr_t lo, uintptr_t hi, bool like_data)
{
    lo = sgc_round_up(lo, sizeof lo);
    hi = sgc_round_down(hi, sizeof hi);
    if (!notes.pushing || lo >= hi)
        return;
    sgc_blocks_put(like_data ? SGC_SNAPSHOT_PUSHED_DATA : SGC_SNAPSHOT_PUSHED_STACK);
    notes.counts->of[SGC_TRAILER_PUSHED_WORDS] += sgc_snapshot_put_root_words(lo, hi);
    notes.counts->of[SGC_TRAILER_PUSHED]++;
}

static void put_object(enum sgc_snapshot_pushed what, uintptr_t object)
{
    sgc_assert(notes.pushing && sgc_heap_contains(object));
    sgc_blocks_put(what);
    sgc_blocks_put(object - sgc_heap.base);
    notes.counts->of[SGC_TRAILER_PUSHED]++;
}

void sgc_snapshot_put_allocated(uintptr_t object)
{
    if (notes.pushing)
        put_object(SGC_SNAPSHOT_PUSHED_OBJECT, object);
}

/* ---- procedures ---- */

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
    notes.counts->of[SGC_TRAILER_NOTED]++;
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

/* The rest of an object that is marked is its own; of anything else nobody knows who leads to it. */
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
    notes.counts->of[SGC_TRAILER_NOTED_WORDS]++;
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

/* ---- the two sections ---- */

void sgc_snapshot_begin_pushed(struct sgc_snapshot_counts *counts)
{
    notes = (struct notes){ .counts = counts, .pushing = true };
    sgc_blocks_section(SGC_SECTION_PUSHED);
    sgc_noter_set(note);
}

void sgc_snapshot_end_pushed(void)
{
    sgc_assert(notes.pushing);
    sgc_blocks_put(0);
    notes.pushing = false;
}

void sgc_snapshot_begin_noted(void)
{
    sgc_assert(!notes.pushing);
    sgc_blocks_section(SGC_SECTION_NOTED);
}

void sgc_snapshot_end_noted(void)
{
    sgc_noter_set(NULL);
    sgc_assert(!notes.open && !notes.pushing);
    sgc_blocks_put(0);
}
