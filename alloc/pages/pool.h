/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages.
 *
 * An arena's free pages are the bits of one word, so neighbours coalesce by being neighbours and a
 * run of pages is found by looking at words, lowest address first, which keeps the heap dense and
 * leaves whole arenas free at its end.  A second word says which of the free pages have contents
 * (`dirty`); the others read as zero and have no backing.  A third says which of those are on the
 * free page list of a thread; they are in the words all the same.
 *
 * Pages are committed one after the other.  The last arena may be there in part only, where the
 * system grants no more, and one in the middle, or nothing of it, where something else lies at its
 * addresses: `there` says how many of its pages exist.  The others are in no word and in no use,
 * like pages that somebody has for ever.
 *
 *   what                     written by                  read by            ordering
 *   free, dirty, listed,     under the pool's lock       same               the lock
 *   freed_at
 *   uncollectable, rescan,   any thread, atomic or/and   collecting thread  stopping the world
 *   noted
 *   coming                   who has the pages in hand;  who waits          acquire-release RMW, first under the lock that
 *                            who waits: a bit                               the pages were found under: who does not find
 *                                                                           them there any more finds them here
 *   committed, pages, there  under the pool's lock       same               the lock (sgc_heap.limit publishes it)
 *   home of an arena         under the pool's lock,      anybody            sgc_heap.limit publishes it; it never changes
 *                            before the arena is
 *                            published
 *   home: lowest, counts     under the pool's lock       same               the lock
 *   promised                 who grows (growing)         same               the lock, under which that is set and cleared
 *   refused                  who grows, under the lock   whoever reports    acquire-release RMW; a later one takes an earlier
 *                                                        it: 0              one's place
 *   the counts               under the pool's lock       anybody            relaxed: figures for pacing and reports
 */
#ifndef SGC_ALLOC_PAGES_POOL_H
#define SGC_ALLOC_PAGES_POOL_H

#include "alloc/pages/heap.h"
#include "platform/section/lock.h"

/* The free pages of all arenas of one home.  Counted, so that no arena is looked at when there are
 * none. */
struct sgc_pool_home {
    uint32_t lowest_of[SGC_POOL_SORTS];     /* no such arena below has a page of this sort */
    uint32_t used, clean;                   /* pages with contents, and without */
};

struct sgc_pool {
    struct sgc_lock lock;
    uint32_t committed;         /* arenas of which pages are in the pool, or holes between them */
    uint32_t pages;             /* pages in the pool: all below but those of holes */
    uint32_t promised;          /* pages that the system has granted: those, and what
                                 * sgc_pool_expand asked for */
    uint32_t lowest;            /* no arena below has a free page */
    struct sgc_pool_home home[SGC_NODES_MAX];       /* by the home of the arenas */
    bool growing;               /* somebody commits the next arenas; nobody else may */
    uint32_t discarding;        /* free pages on their way to the system, in nobody's word of free
                                 * pages */
    sgc_a32_t coming;           /* pages on their way here, doubled, and whether somebody sleeps
                                 * until there are none */
    sgc_a32_t grown;            /* counts growths: waiters sleep on it */
    sgc_aw_t refused;           /* bytes that the system has refused when the heap was to grow; 0:
                                 * none since that was reported */
    sgc_aw_t in_use;            /* pages handed out */
    sgc_aw_t small;             /* of these, the ones handed out one by one: of small objects */
    sgc_aw_t dirty;             /* free pages with contents */
    sgc_aw_t max_consumed;      /* most pages in use and dirty together so far */
    sgc_aw_t limit;             /* most pages in use and dirty together; SIZE_MAX: none */
    sgc_aw_t returned;          /* bytes given back to the system so far */
    sgc_aw_t taken[SGC_SOURCES];    /* pages taken one by one, by where they came from */
    sgc_aw_t remote;            /* of these, pages that another thread had last, */
    sgc_aw_t foreign;           /* pages that another thread was the first to use since they have
                                 * contents, */
    sgc_aw_t far;               /* and pages of an arena whose home is not the thread's node */
};
SGC_INNER struct sgc_pool sgc_pool;

bool sgc_pool_init(void);

/* Takes `count` adjacent pages out of the pool, growing the heap if need be, and says whether they
 * all read as zero.  They are SGC_PAGE_FREE still.  SGC_NO_PAGE if the limit or the system forbids.
 * Outside sections. */
uint32_t sgc_pool_take(uint32_t count, struct sgc_section *self, bool *zero);

/* Takes just these pages, of which the one before is in use, growing the heap if they lie beyond
 * its end; otherwise the same.  False: they are not all free, or the limit or the system
 * forbids. */
bool sgc_pool_take_at(uint32_t first, size_t count, struct sgc_section *self, bool *zero);

/* Takes up to `max` single pages for an owner, each from where the page rule says; returns how
 * many.  Otherwise the same. */
struct sgc_taken {
    uint32_t page;
    bool zero;
};
uint32_t sgc_pool_take_singles(uint32_t owner, uint32_t max, struct sgc_taken *taken, struct sgc_section *self);

/* Puts pages back.  Their descriptors must say SGC_PAGE_FREE.  Inside or outside sections. */
void sgc_pool_give(uint32_t first, uint32_t count, struct sgc_section *self);

/* Puts pages back that have no contents: the pool has said that they read as zero, and the caller
 * has written nothing into them.  Inside or outside sections. */
void sgc_pool_give_clean(uint32_t first, uint32_t count, struct sgc_section *self);

/* Puts several runs of pages back at once, as sgc_pool_give does one. */
struct sgc_run {
    uint32_t first, count;
};
void sgc_pool_give_runs(const struct sgc_run *runs, uint32_t count, struct sgc_section *self);

/* Puts back single pages that were made ready, onto their last owner's free page list
 * (SGC_NO_OWNER: nobody's); those that were never used, as pages without contents. */
void sgc_pool_give_singles(const uint32_t *pages, uint32_t count, uint32_t owner, struct sgc_section *self);

/* Free pages that are on no list any more and that the pool does not have yet are in the hands of a
 * thread, which says so under the lock that it found them under, and again when the pool has them.
 * Under a guard: others may wait for them. */
void sgc_pool_transit_begin(uint32_t count);
void sgc_pool_transit_end(uint32_t count);

/* Waits until no pages are on their way: before memory is said to have run out, when nothing is
 * left to be swept, or to be given back.  With no such pages in hand; outside sections. */
void sgc_pool_transit_wait(struct sgc_section *self);

/* Makes up to `max` pages of an owner's free page list nobody's.  False when it is empty.  Inside
 * or outside sections. */
bool sgc_pool_forget_owner(uint32_t owner, uint32_t max, struct sgc_section *self);

/* Under the lock: free pages of the arena have come, or are of another sort now. */
void sgc_pool_note_arena(uint32_t arena);

/* Makes sure that the system grants `pages` more pages; the heap goes on growing into them step by
 * step.  Outside sections. */
bool sgc_pool_expand(size_t pages, struct sgc_section *self);

/* Gives the backing of pages that became free more than `age` ns before `now` back to the system,
 * whole arenas first; at most `arenas` of them, not counted those of which the system takes
 * nothing (locked memory).  Returns when the next will be due (ns), UINT64_MAX
 * if none is waiting, `now` if more is due already.  Outside sections, under a guard. */
uint64_t sgc_pool_decay(uint64_t now, uint64_t age, uint32_t arenas, struct sgc_section *self);

/* Gives back the pages of one arena, if one is due among the next few from *arena on, which moves
 * on: a short step, for threads that have something else to do.  Outside sections, under a
 * guard. */
void sgc_pool_decay_next(uint64_t now, uint64_t age, uint32_t *arena, struct sgc_section *self);

/* Takes the lock when no thread makes the pool grow: before a fork. */
void sgc_pool_lock_settled(struct sgc_section *self);

void sgc_pool_set_limit(size_t bytes);          /* 0: none */

/* Bytes in pages in use plus free pages with contents: what the heap costs. */
size_t sgc_pool_heap_bytes(void);
size_t sgc_pool_in_use_bytes(void);
size_t sgc_pool_used_bytes(void);

/* Panics on a contradiction.  World stopped, or under the lock. */
void sgc_pool_check(void);

/* In the child of a fork. */
void sgc_pool_after_fork(void);

/* In the child of a fork, when the other threads' caches are closed: frees the pages that these
 * threads had taken and not put to use yet, or were giving back. */
void sgc_pool_take_back_lost(void);

/* ---- the free page lists: one an owner, of pages of the pool that the owner had last ----
 *
 * A page on a list is free in the pool's words like any other, and found there by spans and by
 * decay; who takes it for whatever use takes it off its list, which is O(1).  So a list says only
 * who comes first.  Pages that are free and have contents but are on no list are nobody's: of
 * spans, of ended threads.
 *
 * In front of a list is the lowest of the pages put on it since it was empty (a page below the
 * first goes in front, others go behind), so that reuse keeps the heap dense; another thread takes
 * from the end.
 *
 * Owners are linked by the wealth of their lists (alloc/pages/page_rules.h), those of each memory
 * node by themselves, so that a rich one is found at once.  Which node an owner's pages lie on is
 * their arenas' affair: most are on that of its thread.
 *
 *   what                              written by               read by                  ordering
 *   everything here                   under the pool's lock    same                     the lock
 *   next, prev, list of a page        under the pool's lock    same                     the lock; before and after,
 *   record, while the page is free                                                      who has the page owns them
 *   counts                            under the pool's lock    anybody, relaxed too     a stale value costs a look
 *
 * A page's `list` is then its owner's number.
 */

/* Before the first page is put on a list.  If the system refuses memory for them there are no
 * lists, and every page is nobody's. */
void sgc_free_lists_init(void);

/* A free page with contents that is on no list becomes the last owner's.  SGC_NO_OWNER: stays
 * nobody's. */
void sgc_free_list_add(uint32_t owner, uint32_t page);

/* A page on a list becomes nobody's. */
void sgc_free_list_remove(uint32_t page);

/* How many pages are on one list.  Without the lock: about. */
uint32_t sgc_free_list_count(uint32_t owner);

/* How many pages are on all lists.  Without the lock: about. */
uint32_t sgc_free_list_total(void);

/* Panics on a contradiction; there are so many arenas.  World stopped, or under the pool's lock. */
void sgc_free_lists_check(uint32_t arenas);

/* ---- for the files of the pool: under its lock ---- */

/* Changes a count, readable by anybody; returns what it is now. */
static inline size_t sgc_pool_count(sgc_aw_t *count, size_t n)
{
    size_t now = sgc_aw_load(count) + n;

    sgc_aw_store(count, now);
    return now;
}

/* May so many pages without contents be used? */
bool sgc_pool_within_limit(uint32_t fresh);

/* Could `count` more pages be in use at all?  Asked before the heap grows for them. */
static inline bool sgc_pool_may_use(uint32_t count)
{
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t now = sgc_aw_load(&sgc_pool.in_use);

    return count < sgc_heap.reserved / SGC_PAGE && now <= limit && count <= limit - now;
}

/* Free pages of the arena that are on no list have come, with contents or without; negative: are
 * gone. */
static inline void sgc_pool_count_home(const struct sgc_arena *arena, int32_t used, int32_t clean)
{
    struct sgc_pool_home *home = &sgc_pool.home[arena->home];

    sgc_assert(arena->home < sgc_heap.homes);
    home->used += (uint32_t)used;
    home->clean += (uint32_t)clean;
    sgc_assert((home->used | home->clean) >> 31 == 0);
}

/* The words of an arena that is committed agree. */
static inline bool sgc_pool_arena_ok(uint32_t arena)
{
    const struct sgc_arena *a = &sgc_heap.arenas[arena];

    return arena < sgc_pool.committed && (a->dirty & ~a->free) == 0 && (a->listed & ~a->dirty) == 0 &&
           a->home < sgc_heap.homes && (a->there == SGC_ARENA_PAGES || a->free >> a->there == 0) &&
           (arena >= sgc_pool.lowest || a->free == 0);
}

/* Free pages of the arena are taken off their lists. */
static inline void sgc_pool_unlist(uint32_t arena, uint64_t pages)
{
    sgc_assert(arena < sgc_pool.committed);
    for (uint64_t bits = sgc_heap.arenas[arena].listed & pages; bits != 0; bits &= bits - 1)
        sgc_free_list_remove(arena * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(bits));
}

/* Makes `need` more pages with this home or waits for the thread that makes some, for whatever
 * home; the lock may be given up meanwhile.  `huge`: what they are for uses most of them.  False
 * when there are no more. */
bool sgc_pool_more(uint32_t need, bool huge, uint32_t home, struct sgc_section *self);

/* Out of the pool, and back; a single page onto the list of its last owner. */
void sgc_pool_take_run(uint32_t first, uint32_t count, bool *zero);
void sgc_pool_give_run(uint32_t first, uint32_t count, uint32_t owner, uint64_t now);

/* Back, for pages without contents and without a home. */
void sgc_pool_give_clean_run(uint32_t first, uint32_t count);

#endif
