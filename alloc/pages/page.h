/* SPDX-License-Identifier: MIT */
/*
 * The two entries of a page: a small descriptor that the marker reads for every edge, and a record
 * with the rest.
 *
 *   what                 written by                            read by             ordering
 *   descriptor           whoever holds the page while it is    everybody           the release of its state, and of
 *                        SGC_PAGE_RESERVED (fresh from the                         its alloc bits; markers beside the
 *                        pool, or on its way back)                                 program load either with acquire,
 *                                                                                  before they read the others
 *   bin                  as the descriptor; who registers      the owner           relaxed: who frees an object has been
 *                        something about an object                                 handed it by who registered
 *   remote               remote freers: 1; the owner: 0        owner, markers      see doc/design/remote-free.md
 *   tag                  the holder of the owner's cache       everybody           release / acquire
 *                        lock, adoption
 *   next, prev, list     under the owner's cache lock          same lock           the lock
 *                        (orphans: the orphans' lock; spans:
 *                        the spans' lock; free pages: the
 *                        pool's, `list` being their owner)
 *   zero_from            who makes the page one of small       owner; who sweeps   the lock under which it is on its list:
 *                        objects; then the owner, as it        it, or gives it     the owner claims only from pages taken
 *                        claims, in a section without a lock   back empty          from `todo`, others sweep only those on it;
 *                                                                                  between a claim and that the world stops,
 *                                                                                  or the page becomes an orphan (both locks)
 *   offered              under the owner's cache lock (orphans:        the owner, too,  who sweeps it publishes the tag
 *                        the orphans' lock)                    without a lock   afterwards; from then on only the owner
 *                                                                               writes it
 *   inbox_next, queued   see alloc/small/remote_free.c
 *   spare_next, warm     see alloc/large/span.h
 *   back                 who sets a span up                    everybody           as the descriptor; atomic, since who looks
 *                                                                                  late may find `bin` there instead: what it
 *                                                                                  leads to must be looked at, whether it is a
 *                                                                                  span and reaches so far
 *   kind                 as the descriptor                     everybody           as the descriptor; atomic, for who looks at
 *                                                                                  pages beside their threads: it may be that
 *                                                                                  of before
 *   kind of a span,      who reserved the span, or has it as   everybody           as the descriptor; atomic, and released one
 *   span_bytes,          a spare one; who resizes it: the                          by one, since those of an object are written
 *   limited, span_reach  owner of the object                                       beside markers (alloc/large/span.h)
 */
#ifndef SGC_ALLOC_PAGES_PAGE_H
#define SGC_ALLOC_PAGES_PAGE_H

#include "alloc/pages/heap.h"
#include "alloc/pages/kind.h"
#include "alloc/pages/size_class.h"

enum sgc_page_state {
    SGC_PAGE_FREE = 0,          /* in the pool, or never used */
    SGC_PAGE_RESERVED,          /* being set up or taken down: holds no object */
    SGC_PAGE_SMALL,             /* objects of one size class */
    SGC_PAGE_SPAN,              /* the first page of a span */
    SGC_PAGE_SPAN_TAIL,         /* its others: `back` pages after the first */
};

struct sgc_page {
    union {
        struct {
            uint32_t reciprocal;    /* of the object size: see sgc_slot_of */
            uint16_t granules;      /* object size */
            uint16_t piece;         /* for the marker: what is added to an object's address as a
                                     * piece of work */
        };
        sgc_aw_t span_bytes;        /* a span's first page: bytes of its object, end byte
                                     * included */
    };
    union {
        uint32_t back;          /* span tails: pages to the span's first, */
        sgc_a32_t back_now;     /* for who looks beside the thread that has the page */
        sgc_a32_t bin;          /* small objects: where the bin that freeing looks at is in a cache,
                                 * in bytes */
    };
    sgc_a8_t state;             /* enum sgc_page_state */
    union {
        uint8_t kind;
        sgc_a8_t kind_now;      /* likewise */
    };
    union {
        uint8_t cls;
        bool limited;           /* a span's first page: words that point beyond span_reach don't
                                 * count */
        sgc_a8_t limited_now;   /* likewise */
    };
    sgc_a8_t remote;            /* remote bits of this page may be set */
    sgc_aw_t tag;               /* owner << 32 | epoch: see sgc_tag */
    union {
        sgc_aw_t span_reach;    /* if `limited`: words that point at these first bytes of the object
                                 * keep it */
        uint64_t weight;        /* small objects: what a marked one means for the marker, see
                                 * below */
    };
};
_Static_assert(sizeof(struct sgc_page) == 32, "two descriptors a cache line, found by a shift");

/* Acquire and release: a thread that sees a state sees the descriptor that goes with it. */
static inline uint8_t sgc_page_state(const struct sgc_page *d)
{
    return sgc_a8_load_acq(&d->state);
}

static inline void sgc_page_set_state(struct sgc_page *d, enum sgc_page_state state)
{
    sgc_a8_store_rel(&d->state, (uint8_t)state);
}

enum { SGC_PIECE_DESCRIBED = 4 };    /* mark/work/deque_memory.h */

/* The weight of an object for the marker, in one word that is added up over a batch of them: from
 * the lowest bit on granules without words to scan, granules with, and the number of objects.  The
 * highest bit says that there are words to scan; in a sum it means nothing. */
enum {
    SGC_TALLY_GRANULES = 25,   /* bits of each of the lower two: */
    SGC_TALLY_MAX = 4096,     /* so many objects can be added up */
};
_Static_assert(SGC_TALLY_MAX * SGC_PAGE_GRANULES < 1 << SGC_TALLY_GRANULES &&
               SGC_TALLY_MAX < 1 << (63 - 2 * SGC_TALLY_GRANULES), "no sum overflows");

static inline uint64_t sgc_mark_tally(uint32_t granules, bool pushes)
{
    uint64_t one = (uint64_t)1 << 2 * SGC_TALLY_GRANULES;

    sgc_assert(granules != 0 && granules <= SGC_PAGE_GRANULES);
    return pushes ? (uint64_t)1 << 63 | one | (uint64_t)granules << SGC_TALLY_GRANULES : one | granules;
}

static inline bool sgc_mark_tally_pushes(uint64_t weight)
{
    return weight >> 63 != 0;
}

enum { SGC_NO_OWNER = 0, SGC_NO_PAGE = 0 };

/* Owner numbers are below; the last is that of pages that no thread owns. */
enum { SGC_OWNERS_MAX = 32768, SGC_ORPHANS = SGC_OWNERS_MAX - 1 };

struct sgc_page_record {
    uint32_t next, prev;
    uint32_t list;              /* label of the list it is on (alloc/pages/page_lists.c), 0: on
                                 * none */
    union {
        uint32_t zero_from;     /* granules from here on have never been handed out and are zero */
        uint32_t spare_next;    /* of a spare span: alloc/large/span.h */
    };
    uint32_t inbox_next;        /* shares its place with nothing: a page may die, and be a span's,
                                 * in an inbox */
    sgc_a32_t queued;
    uint32_t span_pages;
    bool warm;                  /* a spare span: it was in use until just now */
    bool offered;               /* small objects: the owner has put it on its usable list and not
                                 * taken it off since */
    uint16_t home;              /* the owner that was the first to use it since it has contents; 0:
                                 * it has none */
};
_Static_assert(SGC_OWNERS_MAX <= UINT16_MAX + 1, "an owner's number is a home");

#define SGC_TAG_OF_NONE UINTPTR_MAX     /* of no page: there are fewer owners */

static inline uintptr_t sgc_tag(uint32_t owner, uint32_t epoch)
{
    sgc_assert(owner < SGC_OWNERS_MAX);
    return (uintptr_t)owner << 32 | epoch;
}

static inline uint32_t sgc_tag_owner(uintptr_t tag)
{
    return (uint32_t)(tag >> 32);
}

static inline uint32_t sgc_tag_epoch(uintptr_t tag)
{
    return (uint32_t)tag;
}

static inline uint32_t sgc_page_owner(uint32_t page)
{
    return sgc_tag_owner(sgc_aw_load_acq(&sgc_heap.pages[page].tag));
}

static inline size_t sgc_span_bytes(uint32_t page)
{
    return sgc_aw_load(&sgc_heap.pages[page].span_bytes);
}

/* ---- a descriptor, for who looks while its thread may be writing it ---- */

/* Of a page of small objects, or a span's first; tails have none.  A thread that sees a span of a
 * kind with pointers does not see words that were there before the object. */
static inline uint32_t sgc_page_kind_now(const struct sgc_page *d)
{
    return sgc_a8_load_acq(&d->kind_now);
}

static inline void sgc_page_set_kind(struct sgc_page *d, uint32_t kind)
{
    sgc_a8_store_rel(&d->kind_now, (uint8_t)kind);
}

/* Of a page that was the tail of a span just now: pages to where that began.  It need not be true
 * any more. */
static inline uint32_t sgc_page_back(const struct sgc_page *d)
{
    return sgc_a32_load(&d->back_now);
}

static inline void sgc_page_set_back(struct sgc_page *d, uint32_t back)
{
    sgc_a32_store(&d->back_now, back);
}

/* A thread that sees that it is limited sees its reach. */
static inline bool sgc_span_limited(const struct sgc_page *d)
{
    return sgc_a8_load_acq(&d->limited_now) != 0;
}

static inline void sgc_span_set_limited(struct sgc_page *d, bool limited)
{
    sgc_a8_store_rel(&d->limited_now, limited);
}

static inline size_t sgc_page_first_granule(uint32_t page)
{
    return (size_t)page * SGC_PAGE_GRANULES;
}

/* A page is taken for an owner: its home, if it has none.  True if that is another owner.  By who
 * has the page, or under the pool's lock. */
static inline bool sgc_page_settle(uint32_t page, uint32_t owner)
{
    struct sgc_page_record *r = &sgc_heap.records[page];

    sgc_assert(sgc_page_ok(page) && owner < SGC_OWNERS_MAX);
    if (r->home == SGC_NO_OWNER)
        r->home = (uint16_t)owner;
    return r->home != owner;
}

/* It has no contents any more, or never got any. */
static inline void sgc_page_unsettle(uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    sgc_heap.records[page].home = SGC_NO_OWNER;
}

/* Makes a RESERVED page one of small objects, without any; writes all of its bits.  `bin`: what
 * freeing finds in its descriptor. */
void sgc_page_set_up_small(uint32_t page, uint32_t cls, uint32_t kind, uint32_t bin, uintptr_t tag, bool zero);

/* In both roles, and the remote ones.  Pages without small objects have none set: by the thread
 * that takes such a page down. */
void sgc_page_clear_bits(uint32_t page);

/* Allocated slots, remote frees not yet taken over counted as allocated. */
uint32_t sgc_page_live(uint32_t page);

/* Panics if the page's descriptor, record and bits contradict each other.  World stopped, or by the
 * owner. */
void sgc_page_check(uint32_t page);

const char *sgc_page_state_name(uint32_t state);

#endif
