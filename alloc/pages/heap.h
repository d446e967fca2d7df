/* SPDX-License-Identifier: MIT */
/*
 * The heap's address space and its side tables.
 *
 * One range of addresses holds the pages and, at fixed offsets behind them, every table that
 * describes them:
 *
 *   pages | bits | remote bits | page descriptors | page records | arenas | span bits
 *
 * Nothing is backed until the arena it belongs to is committed (alloc/pages/pool.c).  "Is this word
 * a heap pointer" is one subtraction and one comparison with `limit`; a page's descriptor is found
 * by a shift.
 *
 * bits holds two bitmaps, one bit per granule, word by word in turn: word 2w+r is word w of bitmap
 * r.  One says what is allocated, the other is being marked; `alloc_role` says which is which and
 * is flipped at the end of a mark.  They lie together because the marker looks at both for each
 * edge: one cache line serves both.  Where nothing is ever marked (SGC_TRACES 0) there is the first
 * alone.
 *
 * span_bits does the same for spans: one bit per page, that of the span's first page; word 2a+r is
 * arena a's in role r.
 *
 *   what          written by                               read by        ordering
 *   base, tables  sgc_heap_reserve, before any thread      everybody      thread creation
 *   memory,       who makes the heap grow                  same           the pool's lock, under which that is decided
 *   table_memory
 *   limit,        whoever commits an arena, under the      everybody      release after the tables of the arena
 *   granules      pool's lock                                             are there / acquire
 *   alloc_role,   the collecting thread, world stopped     everybody      stopping and resuming the world
 *   alloc_words,
 *   epoch
 *   homes         sgc_homes_init, before any thread        everybody      thread creation
 *   marking       the collecting thread, world stopped     everybody      stopping the world: within a section, and
 *                                                                         under a lock, it does not change
 *   alloc bits    small: the page's owner; span: under     everybody      release: a marker beside the program loads
 *                 the spans' lock                                         them with acquire and then has the descriptor;
 *                                                                         otherwise relaxed: a reader that has not been
 *                                                                         handed the object by its owner has no claim to
 *                                                                         see it
 *   mark bits     markers; before a mark, and by who sets  markers        stopping the world; who sets a page up publishes
 *                 a page up, cleared; while `marking` is                  its state, or the first allocation bit,
 *                 set by nobody else                                      afterwards (alloc/pages/marks.h)
 *   remote bits   any thread: atomic or; taken by the      owner, markers read-modify-writes, and sequentially
 *                 page's owner: atomic exchange                           consistent: doc/design/remote-free.md
 */
#ifndef SGC_ALLOC_PAGES_HEAP_H
#define SGC_ALLOC_PAGES_HEAP_H

#include <stdbool.h>

#include "alloc/pages/geometry.h"
#include "alloc/pages/page_rules.h"
#include "platform/atomics.h"
#include "platform/compiler.h"
#include "platform/nodes/topology.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/stretch.h"

struct sgc_page;
struct sgc_page_record;
struct sgc_arena;

enum sgc_huge_pages { SGC_HUGE_OFF, SGC_HUGE_ON, SGC_HUGE_AUTO };

/* Where memory lies on a machine with several memory nodes: alloc/pages/homes.h. */
enum sgc_numa { SGC_NUMA_OFF, SGC_NUMA_LOCAL, SGC_NUMA_BALANCED, SGC_NUMA_INTERLEAVE_HEAP, SGC_NUMA_AUTO };


/* Fixed before the heap is used. */
struct sgc_heap_config {
    size_t reserve;                 /* address space for pages; 0: automatic */
    size_t limit;                   /* most bytes in pages at a time; 0: none */
    bool interior_pointers;         /* any address inside an object keeps it */
    bool end_byte;                  /* each request gets one byte more */
    bool poison;                    /* fill what is reclaimed, to catch uses of it */
    bool names;                     /* its mappings are shown by name, where the system can */
    uint32_t spare_pages;           /* most pages that a thread keeps in spare spans; 0: none */
    size_t cache_bytes;             /* of the last-level cache: a larger heap is not in it; 0:
                                     * unknown */
    enum sgc_huge_pages huge_pages;
    struct sgc_page_rule page_rule; /* where a thread that has run out of pages gets one */
    enum sgc_numa numa;             /* not SGC_NUMA_AUTO */
};

enum { SGC_BITMAP_TABLES = 2, SGC_TABLES = 6 };

struct sgc_heap {
    uintptr_t base;
    sgc_aw_t limit;                 /* bytes from base to the end of the highest committed arena */
    sgc_aw_t granules;              /* the same in granules */
    size_t reserved;                /* bytes of addresses for pages */
    sgc_aw_t *bits;
    sgc_aw_t *remote_bits;
    sgc_aw_t *span_bits;
    struct sgc_page *pages;
    struct sgc_page_record *records;
    struct sgc_arena *arenas;
    uint32_t alloc_role;            /* 0 or 1: which bitmap says what is allocated */
    uint32_t epoch;                 /* number of the last finished cycle, from 1 */
    sgc_a32_t marking;              /* a mark goes on beside the program */
    uint32_t homes;                 /* nodes that arenas have their home on; 1: no arena has one */
    size_t os_page;
    struct sgc_stretch memory;      /* of the pages */
    struct sgc_stretch table_memory[SGC_TABLES];        /* in the order in which they lie */
    struct sgc_heap_config config;
};
SGC_INNER struct sgc_heap sgc_heap;

/* The first word of the bitmap that says what is allocated.  Beside the heap, where it is found by
 * one instruction. */
SGC_INNER sgc_aw_t *sgc_alloc_words;

/* Reserves the heap.  False, with a message, if not even a small heap can be reserved.  Once: by
 * sgc_heap_init (alloc/whole_heap.h). */
bool sgc_heap_reserve(const struct sgc_heap_config *config);

/* Commits the pages below `end`, and of the tables what their arenas need.  False if the system
 * refuses; the pages are asked for first and all at once, so that a refusal leaves next to nothing
 * charged. */
bool sgc_heap_commit(uint32_t end);

/* Has it refused because something else lies where the next pages would be?  Then those up to
 * `end`, the end of an arena, are passed over: only the tables are committed.  False if it was not
 * that, or the tables are refused. */
bool sgc_heap_pass(uint32_t end);

/* The OS pages that a table gains with arenas [first, end), maybe none.  The bitmaps are the first
 * tables. */
void *sgc_heap_table_part(int table, uint32_t first, uint32_t end, size_t *bytes);

static inline bool sgc_heap_contains(uintptr_t address)
{
    return address - sgc_heap.base < sgc_aw_load(&sgc_heap.limit);
}

/* Does a mark go on beside the program?  Within a section, and under a lock, the answer stays the
 * same. */
static inline bool sgc_heap_is_marking(void)
{
    return SGC_TRACES && sgc_a32_load(&sgc_heap.marking) != 0;
}

/* Is it the number of a page that is committed?  Page 0 stands for none. */
static inline bool sgc_page_ok(uint32_t page)
{
    return page != 0 && (uintptr_t)page << SGC_PAGE_LOG < sgc_aw_load(&sgc_heap.limit);
}

static inline uint32_t sgc_page_number(uintptr_t address)
{
    return (uint32_t)((address - sgc_heap.base) >> SGC_PAGE_LOG);
}

static inline uintptr_t sgc_page_start(uint32_t page)
{
    return sgc_heap.base + ((uintptr_t)page << SGC_PAGE_LOG);
}

/* The number of an address's granule in the heap, and within its page. */
static inline size_t sgc_granule_number(uintptr_t address)
{
    return (address - sgc_heap.base) >> SGC_GRANULE_LOG;
}

static inline uint32_t sgc_granule_in_page(uintptr_t address)
{
    return (uint32_t)(address - sgc_heap.base) % SGC_PAGE >> SGC_GRANULE_LOG;
}

static inline void *sgc_granule_address(size_t granule)
{
    return (void *)(sgc_heap.base + (granule << SGC_GRANULE_LOG));
}

/* ---- arenas ---- */

/* Free pages of one sort: what a single page is looked for among. */
enum sgc_pool_sort {
    SGC_POOL_USED,             /* with contents */
    SGC_POOL_NOBODYS,           /* of these, on no list */
    SGC_POOL_CLEAN,             /* without contents */
    SGC_POOL_SORTS
};

/* Sixty-four pages, each a bit of the words that say in which state they are.  Which word is
 * written by whom: alloc/pages/pool.h. */
struct sgc_arena {
    uint64_t free;              /* pages nobody uses */
    uint64_t dirty;             /* of these, the ones with contents */
    uint64_t freed_at;          /* when a page last became free, ns */
    sgc_aw_t uncollectable;     /* pages of uncollectable kinds */
    sgc_aw_t rescan;            /* pages whose marked objects must be scanned again */
    uint64_t listed;            /* of the dirty ones, those on some thread's free page list */
    sgc_aw_t noted;             /* pages in which something was freed since marking beside the
                                 * program began */
    uint8_t home;               /* node that it is bound to; 0 if arenas have no homes */
    uint8_t there;              /* pages that the system has granted, the arena's first */
    uint8_t spare[6];           /* a cache line each: three words above are written by all */
};
_Static_assert(sizeof(struct sgc_arena) == 64, "one cache line");

static inline struct sgc_arena *sgc_arena_of_page(uint32_t page)
{
    sgc_assert(page < sgc_heap.reserved / SGC_PAGE);
    return &sgc_heap.arenas[page / SGC_ARENA_PAGES];
}

static inline uintptr_t sgc_arena_bit(uint32_t page)
{
    return (uintptr_t)1 << (page % SGC_ARENA_PAGES);
}

/* The word of the span bits in that role which has the page's bit, sgc_arena_bit(page). */
static inline sgc_aw_t *sgc_span_word(uint32_t page, uint32_t role)
{
    sgc_assert(role <= 1);
    return &sgc_heap.span_bits[2 * (page / SGC_ARENA_PAGES) + role];
}

/* Free pages of one arena. */
static inline uint64_t sgc_pool_pages_of(const struct sgc_arena *arena, enum sgc_pool_sort sort)
{
    if (sort == SGC_POOL_CLEAN)
        return arena->free & ~arena->dirty;
    return sort == SGC_POOL_USED ? arena->dirty : arena->dirty & ~arena->listed;
}

/* ---- the two bitmaps, and the remote bits ---- */

static inline uint32_t sgc_mark_role(void)
{
    sgc_assert(SGC_BITMAPS == 2);
    return sgc_heap.alloc_role ^ 1u;
}

/* Word w (64 granules) of the bitmap in that role. */
static inline sgc_aw_t *sgc_bits_word(size_t w, uint32_t role)
{
    sgc_assert(role < SGC_BITMAPS);
    return &sgc_heap.bits[SGC_BITMAPS == 1 ? w : SGC_BITMAPS * w + role];
}

static inline uintptr_t sgc_bit_mask(size_t granule)
{
    return (uintptr_t)1 << (granule % 64);
}

static inline sgc_aw_t *sgc_alloc_word(size_t granule)
{
    return sgc_bits_word(granule / 64, sgc_heap.alloc_role);
}

static inline sgc_aw_t *sgc_mark_word(size_t granule)
{
    return sgc_bits_word(granule / 64, sgc_mark_role());
}

static inline sgc_aw_t *sgc_remote_word(size_t granule)
{
    return &sgc_heap.remote_bits[granule / 64];
}

/* Where a granule's bit is in the bit string that begins at word 0 of one role, the words of the
 * other role included. */
static inline size_t sgc_bit_index(size_t granule)
{
    return SGC_BITMAPS == 2 ? granule + (granule & ~(size_t)63) : granule;
}

static inline bool sgc_alloc_bit(size_t granule)
{
    return (sgc_aw_load(sgc_alloc_word(granule)) & sgc_bit_mask(granule)) != 0;
}

static inline bool sgc_mark_bit(size_t granule)
{
    return (sgc_aw_load(sgc_mark_word(granule)) & sgc_bit_mask(granule)) != 0;
}

static inline bool sgc_remote_bit(size_t granule)
{
    return (sgc_aw_load(sgc_remote_word(granule)) & sgc_bit_mask(granule)) != 0;
}

/* Only by the owner of the page: no other thread writes these words, so a load and a store do.
 * Release, so that a thread which sees the bit sees the object's page set up. */
static inline void sgc_alloc_bit_set(size_t granule)
{
    sgc_aw_t *word = sgc_alloc_word(granule);

    sgc_aw_store_rel(word, sgc_aw_load(word) | sgc_bit_mask(granule));
}

/* Clears a granule's allocation bit.  Only by the owner of the page, with a load and a store;
 * release, since a thread that reads the word may see other bits by this store. */
static inline void sgc_alloc_bit_clear(size_t granule)
{
    sgc_aw_t *word = sgc_alloc_word(granule);

    sgc_aw_store_rel(word, sgc_aw_load(word) & ~sgc_bit_mask(granule));
}

#endif
