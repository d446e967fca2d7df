/* SPDX-License-Identifier: MIT */
/* The words of objects that lie in the heap's range, and the types of objects: see
 * gc/snapshot/snapshot.h. */
#include "gc/snapshot/snapshot.h"

#include "gc/collect/client_hooks.h"
#include "gc/roots/roots.h"
#include "gc/snapshot/heap_pages.h"
#include "mark/descriptor.h"
#include "mark/word_form.h"

/* ---- words of a range ---- */

/* The words of one object or range that lie in the heap's range. */
struct words {
    uintptr_t start;            /* of the memory, */
    uint64_t place;             /* words from there to behind the one put last, */
    uint64_t last;              /* and where in the heap that points */
    uint64_t count;
};

/* The word at the address points that far into the heap. */
static inline void put_word(struct words *w, uintptr_t at, uint64_t offset)
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

/* Puts those of [lo, hi), whole words, that point at one of the heap's first `limit` bytes.  Reads
 * memory as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static void put_range(struct words *w, uintptr_t lo, uintptr_t hi, uint64_t limit)
{
    const uintptr_t base = sgc_heap.base;
    const bool plain = sgc_words_are_plain();

    sgc_assert(lo % sizeof(uintptr_t) == 0);
    for (; lo + sizeof(uintptr_t) <= hi; lo += sizeof(uintptr_t)) {
        uintptr_t word = sgc_read_once(lo), offset = (plain ? word : sgc_word_address(word)) - base;

        if (offset < limit)
            put_word(w, lo, offset);
    }
}

/* One more byte than there is: without the end byte a word just behind the heap may mean the last
 * object. */
uint64_t sgc_snapshot_put_root_words(uintptr_t lo, uintptr_t hi)
{
    struct words words = { .start = lo };

    sgc_assert(lo % sizeof lo == 0 && hi % sizeof hi == 0 && lo < hi);
    sgc_blocks_room(SGC_BLOCKS_ROOM);
    sgc_blocks_put_inside(lo);
    sgc_blocks_put_inside(hi - lo);
    put_range(&words, lo, hi, sgc_aw_load(&sgc_heap.limit) + 1);
    sgc_blocks_put(0);
    return words.count;
}

/* ---- types: of an object as far as its first word says, which points into a module where C++ and
 * Objective-C have what describes a class.  A type gets a number, from 1, when it comes for the
 * first time, as long as there are numbers; 0: the word points into no module ---- */

enum { SLOTS_LOG = 14, SLOTS = 1 << SLOTS_LOG };
_Static_assert(2 * (int)SGC_SNAPSHOT_TYPES <= (int)SLOTS, "at most half of the slots are used");

struct types {
    uintptr_t lo, bytes;                /* modules lie there, and maybe more */
    bool guards;                        /* some objects may have some */
    uint32_t known;                     /* numbers that were given */
    uint32_t objects, differ;           /* of the page: how many there are; 0: they are of one
                                           type */
    uint16_t page[SGC_PAGE_GRANULES];   /* their numbers */
    uint16_t slot_of[SGC_SNAPSHOT_TYPES + 1];   /* by number */
    uint16_t number[SLOTS];
    uintptr_t word[SLOTS];              /* first words that have numbers; 0: a free slot */
};

/* Memory for them comes with the first snapshot, and stays; NULL: no object has a type. */
SGC_STATE static struct types *types;

static uint32_t type_slot(uintptr_t word)
{
    return (uint32_t)((uint64_t)word * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOTS_LOG));
}

static void begin_types(void)
{
    const struct sgc_modules *m = &sgc_root_modules;
    struct types *t = types != NULL ? types : sgc_mem_obtain(sizeof *t);

    types = t;
    if (t == NULL)
        return;
    memset(t, 0, sizeof *t);
    t->guards = sgc_client_hooks.guards_used();
    if (m->modules == 0)
        return;
    t->lo = m->module[0].range.lo;
    for (int i = 0; i < m->modules; i++)
        t->bytes = m->module[i].range.hi - t->lo > t->bytes ? m->module[i].range.hi - t->lo : t->bytes;
}

static uintptr_t client_part(uintptr_t start, size_t bytes)
{
    size_t before = sgc_client_hooks.bytes_before_client(start, bytes);

    sgc_assert(before + sizeof start <= bytes);
    return start + before;
}

static uint32_t find_type(uintptr_t word)
{
    struct types *t = types;
    uint32_t slot = type_slot(word);

    while (t->word[slot] != 0 && t->word[slot] != word)
        slot = (slot + 1) % SLOTS;
    if (t->word[slot] == word)
        return t->number[slot];
    if (t->known == SGC_SNAPSHOT_TYPES || sgc_snapshot_module_at(word) < 0)
        return 0;
    t->word[slot] = word;
    t->number[slot] = (uint16_t)++t->known;
    t->slot_of[t->known] = (uint16_t)slot;
    return t->known;
}

/* Notes the type of the page's next object.  Reads memory as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static inline void note_type(uintptr_t start, size_t bytes)
{
    struct types *t = types;
    uintptr_t word;
    uint32_t number = 0;

    if (t == NULL)
        return;
    word = *(const uintptr_t *)(__builtin_expect(t->guards, 0) ? client_part(start, bytes) : start);
    if (word - t->lo < t->bytes && !sgc_heap_contains(word))
        number = t->word[type_slot(word)] == word ? t->number[type_slot(word)] : find_type(word);
    sgc_assert(t->objects < SGC_PAGE_GRANULES && number <= t->known);
    t->page[t->objects] = (uint16_t)number;
    t->differ |= number ^ t->page[0];
    t->objects++;
}

enum { NUMBER_BYTES = 2 };              /* of a type's, at most */
_Static_assert(SGC_SNAPSHOT_TYPES < 1 << 7 * NUMBER_BYTES && NUMBER_BYTES * SGC_PAGE_GRANULES < SGC_SNAPSHOT_BLOCK,
               "those of a page fit into a block");

/* All of one type, which is none. */
static void put_no_types(void)
{
    sgc_blocks_put(false);
    sgc_blocks_put(0);
}

static void put_page_types(struct sgc_snapshot_counts *counts)
{
    struct types *t = types;
    uint32_t put, typed = 0;

    if (t == NULL) {
        put_no_types();
        return;
    }
    sgc_assert(t->objects != 0);
    put = t->differ != 0 ? t->objects : 1;
    sgc_blocks_room(1 + (size_t)put * NUMBER_BYTES);
    sgc_blocks_put_inside(t->differ != 0);
    for (uint32_t i = 0; i < put; i++) {
        sgc_blocks_put_inside(t->page[i]);
        typed += t->page[i] != 0;
    }
    counts->of[SGC_TRAILER_TYPED] += typed * (t->objects / put);
    t->objects = t->differ = 0;
}

static void put_types(void)
{
    const struct types *t = types;
    uint32_t known = t != NULL ? t->known : 0;

    sgc_assert(known <= SGC_SNAPSHOT_TYPES && (t == NULL || t->objects == 0));
    sgc_blocks_section(SGC_SECTION_TYPES);
    sgc_blocks_put(known);
    for (uint32_t number = 1; number <= known; number++) {
        uintptr_t word = t->word[t->slot_of[number]];
        int module = sgc_snapshot_module_at(word);

        sgc_assert(module >= 0);
        sgc_blocks_put((uint64_t)module);
        sgc_blocks_put(word - sgc_root_modules.module[module].range.lo);
    }
}

/* ---- words of objects ---- */

/* Types of dead objects may be unmapped.  There are few of them, so it is remembered of some OS
 * pages that they can be read; while the world is stopped that stays so. */
enum { KNOWN_PAGES = 64, KNOWN_PAGE_LOG = 12 };

SGC_STATE static uintptr_t readable_pages[KNOWN_PAGES];        /* their numbers; 0: none */

static void forget_readable(void)
{
    memset(readable_pages, 0, sizeof readable_pages);
}

static bool readable(uintptr_t address)
{
    uintptr_t page = address >> KNOWN_PAGE_LOG, *known = &readable_pages[page % KNOWN_PAGES];

    sgc_assert(page != 0);
    if (*known == page)
        return true;
    if (!sgc_mem_readable(address))
        return false;
    *known = page;
    return true;
}

struct objects {
    struct sgc_snapshot_counts *counts;
    uint64_t limit;
    uint32_t last;              /* page */
    struct words words;
};

static void put_visited(void *arg, uintptr_t at)
{
    struct objects *o = arg;

    put_range(&o->words, at, at + sizeof at, o->limit);
}

/* The words end with 0; of an object with a descriptor it follows whether a procedure decides of
 * others. */
static void put_object(void *arg, const struct sgc_page *d, uintptr_t start, size_t bytes)
{
    struct objects *o = arg;
    uint32_t kind = sgc_page_kind_now(d);
    bool described = sgc_kinds.of[kind].scan == SGC_SCAN_DESCRIBED, known = true;

    o->words = (struct words){ .start = start, .last = start - sgc_heap.base };
    if (described)
        known = sgc_visit_known_words(kind, start, bytes, put_visited, o, readable);
    else
        put_range(&o->words, start, start + bytes, o->limit);
    sgc_blocks_room(SGC_BLOCKS_ROOM);
    sgc_blocks_put_inside(0);
    if (described)
        sgc_blocks_put_inside(!known);
    note_type(start, bytes);
    o->counts->of[SGC_TRAILER_WORDS] += o->words.count;
}

static void begin_words(struct objects *o, uint32_t page)
{
    sgc_assert(page > o->last);
    sgc_blocks_put(page - o->last);
    o->last = page;
}

static void put_small_words(struct objects *o, uint32_t page)
{
    uint64_t live[SGC_PAGE_WORDS];

    if (sgc_snapshot_live(page, live) == 0)
        return;
    begin_words(o, page);
    sgc_snapshot_each(page, live, put_object, o);
    put_page_types(o->counts);
}

static void put_span_words(struct objects *o, uint32_t page)
{
    if (!sgc_span_bit(page))
        return;
    begin_words(o, page);
    put_object(o, &sgc_heap.pages[page], sgc_page_start(page), sgc_span_bytes(page));
    put_page_types(o->counts);
}

static bool has_words(const struct sgc_page *d)
{
    return sgc_kinds.of[sgc_page_kind_now(d)].scan != SGC_SCAN_NOTHING;
}

void sgc_snapshot_put_words(struct sgc_snapshot_counts *counts)
{
    struct objects o = { .counts = counts, .limit = sgc_aw_load(&sgc_heap.limit) };

    forget_readable();
    begin_types();
    sgc_blocks_section(SGC_SECTION_WORDS);
    for (uint32_t page = 1; sgc_snapshot_goes_on(page); page++) {
        const struct sgc_page *d = &sgc_heap.pages[page];
        uint8_t state = sgc_page_state(d);

        if (state == SGC_PAGE_SMALL && has_words(d))
            put_small_words(&o, page);
        else if (state == SGC_PAGE_SPAN && has_words(d))
            put_span_words(&o, page);
    }
    sgc_blocks_put(0);
    put_types();
}
