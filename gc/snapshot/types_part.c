/* SPDX-License-Identifier: MIT */
/*
 * Types of objects, as far as their first words say: those that point into a module, where C++ and
 * Objective-C have what describes a class.  See gc/snapshot/snapshot.h.
 *
 * Objects of a page that have one type are put together.  A type gets a number when it comes for
 * the first time, as long as there are numbers; who reads counts likewise.
 */
#include "gc/snapshot/snapshot.h"

#include "gc/collect/client_hooks.h"
#include "gc/roots/roots.h"
#include "gc/snapshot/heap_pages.h"
#include "mark/read_once.h"

enum { SLOTS_LOG = 14, SLOTS = 1 << SLOTS_LOG };
_Static_assert((int)SGC_SNAPSHOT_TYPES < (int)SLOTS, "there are free slots");

/* The types that have numbers, by first words. */
struct known {
    uint32_t count;
    uint16_t number[SLOTS];
    uintptr_t word[SLOTS];              /* 0: a free slot */
};

static struct known known;
SGC_STATE_LARGE(known);

static uint32_t slot_of(uintptr_t word)
{
    uint32_t slot = (uint32_t)((uint64_t)word * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOTS_LOG));

    sgc_assert(word != 0);
    while (known.word[slot] != 0 && known.word[slot] != word)
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* ---- some objects of one type ---- */

struct types {
    struct sgc_snapshot_counts *counts;
    bool guards;                        /* some objects may have some */
    uintptr_t word;                     /* of those that wait; 0: it points into no module */
    uint64_t objects;                   /* their number */
};

static void put_new(uintptr_t word, uint32_t slot)
{
    int module = sgc_snapshot_module_at(word);

    sgc_assert(module >= 0);
    sgc_blocks_put((uint64_t)module);
    sgc_blocks_put(word - sgc_root_modules.module[module].range.lo);
    if (known.count == SGC_SNAPSHOT_TYPES)
        return;
    known.word[slot] = word;
    known.number[slot] = (uint16_t)known.count++;
}

static void put_type(uintptr_t word, bool several)
{
    uint32_t slot = word != 0 ? slot_of(word) : 0;
    uint64_t what = SGC_SNAPSHOT_TYPE_NONE;

    if (word != 0)
        what = known.word[slot] == 0 ? SGC_SNAPSHOT_TYPE_NEW : SGC_SNAPSHOT_TYPE_KNOWN + (uint64_t)known.number[slot];
    sgc_blocks_put(what << 1 | several);
    if (what == SGC_SNAPSHOT_TYPE_NEW)
        put_new(word, slot);
}

static void put_waiting(struct types *t)
{
    if (t->objects == 0)
        return;
    put_type(t->word, t->objects > 1);
    if (t->objects > 1)
        sgc_blocks_put(t->objects - 2);
    t->counts->of[SGC_TRAILER_TYPED] += t->word != 0 ? t->objects : 0;
    t->objects = 0;
}

/* ---- objects ---- */

/* Where the client's part of an object begins. */
static uintptr_t client_part(uintptr_t start, size_t bytes)
{
    size_t before = sgc_client_hooks.bytes_before_client(start, bytes);

    sgc_assert(before + sizeof start <= bytes);
    return start + before;
}

/* 0 unless it points into a module. */
static uintptr_t type_of(uintptr_t word)
{
    if (word == 0 || sgc_heap_contains(word))
        return 0;
    return known.word[slot_of(word)] != 0 || sgc_snapshot_module_at(word) >= 0 ? word : 0;
}

/* Most objects are like the one before.  Reads memory as the marker does. */
SGC_BLIND static inline void put_object(void *arg, const struct sgc_page *d, uintptr_t start, size_t bytes)
{
    struct types *t = arg;
    uintptr_t word = *(const uintptr_t *)(__builtin_expect(t->guards, 0) ? client_part(start, bytes) : start);

    sgc_assert(sgc_snapshot_scans(d));
    if (word != t->word)
        word = type_of(word);
    if (word != t->word)
        put_waiting(t);
    t->word = word;
    t->objects++;
}

static void put_small(struct types *t, uint32_t page)
{
    uint64_t live[SGC_PAGE_WORDS];

    sgc_snapshot_live(page, live);
    sgc_snapshot_each(page, live, put_object, t);
    put_waiting(t);
}

static void put_span(struct types *t, uint32_t page)
{
    if (!sgc_span_bit(page))
        return;
    put_object(t, &sgc_heap.pages[page], sgc_page_start(page), sgc_span_bytes(page));
    put_waiting(t);
}

void sgc_snapshot_put_types(struct sgc_snapshot_counts *counts)
{
    struct types t = { .counts = counts, .guards = sgc_client_hooks.guards_used() };

    memset(&known, 0, sizeof known);
    sgc_blocks_section(SGC_SECTION_TYPES);
    for (uint32_t page = 1; sgc_snapshot_goes_on(page); page++) {
        const struct sgc_page *d = &sgc_heap.pages[page];
        uint8_t state = sgc_page_state(d);

        if (state == SGC_PAGE_SMALL && sgc_snapshot_scans(d))
            put_small(&t, page);
        else if (state == SGC_PAGE_SPAN && sgc_snapshot_scans(d))
            put_span(&t, page);
    }
    sgc_blocks_put(0);
}
