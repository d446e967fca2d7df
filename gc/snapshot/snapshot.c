/* SPDX-License-Identifier: MIT */
/*
 * When a heap snapshot is written (gc/snapshot/snapshot.h), the order of its sections, the small
 * ones, and those that the program has a part in (doc/snapshot-format.md).  It is written in three
 * steps of one stop, by the thread that has stopped the world, the caches retired.
 *
 * Two sections cannot be read off the heap: what the program's hook pushes, which comes first, and
 * what its procedures push and what it marks by hand, which comes last (mark/noted.h).  The former
 * is written while the hook runs, no marker at work; the latter by markers, on their own, while
 * they mark.
 */
#include "gc/snapshot/snapshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "alloc/object.h"
#include "alloc/pages/homes.h"
#include "alloc/pages/pool.h"
#include "alloc/whole_heap.h"
#include "gc/collect/cycle.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/events/json_log.h"
#include "gc/snapshot/blocks.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"
#include "mark/displacements.h"
#include "mark/noted.h"
#include "options/option_file.h"
#include "platform/out_file.h"
#include "platform/text_line.h"

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

static void begin_record(enum sgc_snapshot_noted what, uint64_t offset)
{
    sgc_assert(!notes.open && !notes.pushing);
    sgc_blocks_put(what);
    if (what != SGC_SNAPSHOT_NOTED_MEMORY)
        sgc_blocks_put_step(&notes.subject, offset);
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
    sgc_blocks_put_step(&notes.last, offset);
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

static bool is_open(void)
{
    return sgc_blocks.files != 0;
}

/* Before the program's hook: begins so many files, which all get the same, in the collection of
 * that number.  All that the hook pushes from here on is written.  Its section comes before those
 * that say what the heap is like, since the hook may change that. */
static void open_snapshot(const char *const *path, int files, uint64_t cycle)
{
    sgc_assert(sgc_stopped_by_self());
    counts = (struct sgc_snapshot_counts){ .of = { 0 } };
    sgc_blocks_begin(path, files);
    put_header(cycle);
    begin_pushed();
}

/* After the hook: the heap as it is now.  From here on what the mark notes is written. */
static void put_heap(void)
{
    sgc_assert(sgc_stopped_by_self() && is_open());
    end_pushed();
    sgc_snapshot_put_names(&counts);
    put_distances();
    put_nodes();
    sgc_snapshot_put_contents(&counts);
    begin_noted();
}

/* After the mark; `complete`: it was not given up.  Each file's error, an errno, or 0; with an
 * error there is no such file. */
static void close_snapshot(bool complete, int *error)
{
    sgc_assert(sgc_stopped_by_self() && is_open());
    end_noted();
    put_trailer();
    sgc_blocks_end(complete, error);
}

/* ---- the option ---- */

struct snapshots {
    struct sgc_option_file file;
    int every;                          /* in each collection whose number is a multiple of this;
                                         * 0: in none */
    sgc_aw_t wanted;                    /* a struct sgc_snapshot_request, */
    sgc_a32_t process;                  /* of a thread of this process */
    sgc_a32_t listens;
    sgc_a32_t each;                     /* `every`, for any thread: relaxed */
    int error;                          /* that is to be told when the world runs */
    bool due;                           /* of the files that are being written the first is
                                         * SGC_SNAPSHOT's, */
    struct sgc_snapshot_request *request;   /* and the last one this one's; NULL: nobody's */
};

SGC_STATE static struct snapshots snapshots;

_Static_assert(sizeof snapshots.file.pattern >= SGC_OPTION_TEXT_BYTES, "any option fits");

static const struct sgc_option_row keys[] = {
    { "every", NULL, "in collections whose number is a multiple of this", 1, 1, INT32_MAX, SGC_NONE, SGC_OPTION_INT,
      &snapshots.every },
};

/* ---- when one is written, and into which files ---- */

static bool is_due(uint64_t cycle)
{
    sgc_assert(sgc_gc_lock_held());
    return snapshots.every != 0 && cycle % (uint64_t)snapshots.every == 0;
}

/* In the child of a fork the thread that had asked is gone, and so is its request. */
static void forget_copied(void)
{
    uint32_t mine = (uint32_t)getpid(), seen = sgc_a32_load_acq(&snapshots.process);
    uintptr_t copied = sgc_aw_load_acq(&snapshots.wanted);

    if (seen != mine && sgc_a32_cas(&snapshots.process, seen, mine))
        sgc_aw_cas(&snapshots.wanted, copied, 0);
}

/* NULL: nobody has asked. */
static struct sgc_snapshot_request *wanted(void)
{
    if (sgc_aw_load(&snapshots.wanted) != 0)
        forget_copied();
    return (struct sgc_snapshot_request *)sgc_aw_load_acq(&snapshots.wanted);
}

/* Two files, if a thread has asked in a collection that writes one anyway; unless they have one
 * name. */
static void open_files(const char *named, uint64_t cycle)
{
    const char *path[SGC_BLOCKS_FILES];
    int files = 0;

    if (snapshots.due)
        path[files++] = named;
    if (snapshots.request != NULL && (files == 0 || strcmp(named, snapshots.request->path) != 0))
        path[files++] = snapshots.request->path;
    if (files != 0)
        open_snapshot(path, files, cycle);
}

/* Is this cycle to write one, or two? */
static bool is_wanted(uint64_t cycle)
{
    sgc_assert(sgc_stopped_by_self() && snapshots.error == 0 && !is_open());
    snapshots.request = wanted();
    snapshots.due = is_due(cycle);
    return snapshots.request != NULL || snapshots.due;
}

static void begin(uint64_t cycle)
{
    char name[SGC_OUT_PATH];

    sgc_assert(sgc_stopped_by_self() && !is_open());
    if (snapshots.due && !sgc_log_file_name(snapshots.file.pattern, getpid(), &cycle, name, sizeof name)) {
        snapshots.error = ENAMETOOLONG;
        snapshots.due = false;
    }
    open_files(name, cycle);
}

/* Stores the error of a request in the request, for its thread, and that of SGC_SNAPSHOT's file for
 * a message.  When a mark was given up, the next one writes. */
static void tell(bool complete, const int *error, int last)
{
    if (snapshots.due && (complete || error[0] != ECANCELED))
        snapshots.error = error[0];
    if (snapshots.request != NULL && (complete || error[last] != ECANCELED)) {
        snapshots.request->error = error[last];
        snapshots.request->done = true;
        sgc_aw_store_rel(&snapshots.wanted, 0);
    }
}

static void end(bool complete)
{
    int error[SGC_BLOCKS_FILES], last = sgc_blocks.files - 1;

    sgc_assert(sgc_stopped_by_self() && is_open());
    close_snapshot(complete, error);
    tell(complete, error, last);
}

/* The next ones would fail in the same way. */
static void on_resumed(void *context, const struct sgc_cycle_record *record)
{
    char quoted[200];

    (void)context, (void)record;
    sgc_assert(sgc_gc_lock_held() && !sgc_world_stopped());
    if (snapshots.error == 0)
        return;
    sgc_warn("SGC_SNAPSHOT=%s: a heap snapshot cannot be written (%s, errno %d), and no more of them are. Name a file in a "
             "folder that can be written to, where there is room, and start the program again",
             sgc_quote(sgc_options.snapshot, strlen(sgc_options.snapshot), quoted, sizeof quoted),
             sgc_error_text(snapshots.error), snapshots.error);
    snapshots.error = 0;
    snapshots.every = 0;
    sgc_a32_store(&snapshots.each, 0);
}

/* By a thread that asks for a cycle, or makes one: it is then to have one stop. */
static bool is_in_one_stop(uint64_t cycle)
{
    uint32_t each = sgc_a32_load(&snapshots.each);

    return each != 0 && cycle % each == 0;
}

static bool listen_to_cycles(void)
{
    static const struct sgc_listener listener = { .resumed = on_resumed };
    static const struct sgc_cycle_snapshots parts = {
        is_in_one_stop, is_wanted, begin, is_open, put_heap, end,
    };

    if (!sgc_a32_cas(&snapshots.listens, 0, 1))
        return true;
    if (!sgc_listener_add(&listener)) {
        sgc_a32_store(&snapshots.listens, 0);
        return false;
    }
    sgc_aw_store_rel(&sgc_cycle_snapshots, (uintptr_t)&parts);
    return true;
}

/* ---- start ---- */

void sgc_snapshots_start(void)
{
    char quoted[200];

    sgc_assert(snapshots.every == 0);
    if (sgc_options.snapshot[0] == '\0')
        return;
    if (!sgc_option_file_parse(sgc_options.snapshot, keys, sizeof keys / sizeof keys[0], &snapshots.file)) {
        snapshots.every = 0;
        sgc_warn("SGC_SNAPSHOT=%s: %s; expected PATTERN or PATTERN,every=N; no heap snapshots are written",
                 sgc_quote(sgc_options.snapshot, strlen(sgc_options.snapshot), quoted, sizeof quoted), snapshots.file.wrong);
        return;
    }
    if (listen_to_cycles())
        sgc_a32_store(&snapshots.each, (uint32_t)snapshots.every);
    else
        sgc_warn("SGC_SNAPSHOT: %d listeners are registered already, so no heap snapshots are written", SGC_LISTENERS_MAX);
}

/* ---- on request ---- */

bool sgc_snapshot_ask(struct sgc_snapshot_request *request)
{
    request->error = 0;
    request->done = false;
    forget_copied();
    return listen_to_cycles() && sgc_aw_cas(&snapshots.wanted, 0, (uintptr_t)request);
}

/* The other thread's request stays. */
void sgc_snapshot_forget(struct sgc_mutator *self, struct sgc_snapshot_request *request)
{
    bool closed = sgc_gc_lock_enter(self);

    sgc_assert(sgc_gc_lock_held());
    sgc_aw_cas(&snapshots.wanted, (uintptr_t)request, 0);
    sgc_gc_lock_leave(closed);
}
