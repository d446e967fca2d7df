/* SPDX-License-Identifier: MIT */
/*
 * The numbers of dates of all objects: a table of two bytes a granule, beside the heap, for the
 * modes in which an object's last date means something.  shortterm/dates/count_rules.h says what
 * the bytes mean, and why the numbers are exact.
 *
 * The table is reserved whole, and committed arena by arena, when an object there gets its first
 * date.
 *
 *   of      sgc_counts_init, once, before any date   everybody        threads that make dates have
 *                                                                     seen it made
 *   ready   a thread that needs an arena's part: 1   everybody        release, when it is
 *                                                                     committed / acquire
 *   doubt   a thread that counts in vain: 1; the     the collecting   relaxed; stopping the world
 *           collecting thread: 0                     thread
 *   kept    a thread that keeps an object that may   the collecting   relaxed; stopping the world
 *           be freed, or may have left one by a      thread
 *           jump: 1; the collecting thread
 *
 * An object that has lost a number to a jump, or has had too many dates, is the tracer's, and so is
 * each that comes to its place, until all is counted anew.
 */
#ifndef SGC_SHORTTERM_DATES_COUNTS_H
#define SGC_SHORTTERM_DATES_COUNTS_H

#include "alloc/pages/heap.h"
#include "shortterm/dates/count.h"

struct sgc_counts {
    struct sgc_count *of;           /* by granule; NULL: nothing is counted */
    sgc_a8_t *ready;                /* by arena */
    sgc_a32_t doubt;                /* some numbers are too high: to be counted anew */
    sgc_a32_t kept;                 /* objects without dates may have FREEABLE */
};
SGC_INNER struct sgc_counts sgc_counts;

enum {
    SGC_DATE_OTHER = 1,             /* in the word of a date: it is counted in `others` */
    SGC_ARENA_GRANULES_LOG = SGC_ARENA_LOG - SGC_GRANULE_LOG,
};

/* The object of a date: objects begin where granules do. */
static inline uintptr_t sgc_date_object(uintptr_t date)
{
    return date / SGC_GRANULE * SGC_GRANULE;
}

/* Reserves the table.  False: the system refuses, and nothing has changed.  Once, with the GC
 * lock. */
bool sgc_counts_init(void);

/* Makes room for the counts of the arena with that granule.  False: the system has no memory, and
 * nothing has changed.  Outside sections. */
bool sgc_counts_prepare(size_t granule);

/* How many dates an object has; 127: so many or more.  0 where nothing is counted.  Any thread. */
int sgc_counts_of(size_t granule);

/* Has any object of the page dates, or anything that is noted in these numbers?  Dates that others
 * make meanwhile may be missed.  In a section, or world stopped. */
bool sgc_counts_in_page(uint32_t page);

/* ---- the collecting thread, world stopped ---- */

/* Were numbers found to be too high, or may they be? */
static inline bool sgc_counts_doubted(void)
{
    return sgc_a32_load(&sgc_counts.doubt) != 0;
}

/* Some may be from now on.  Any thread. */
static inline void sgc_counts_doubt(void)
{
    sgc_a32_store(&sgc_counts.doubt, 1);
}

/* To count anew: all numbers become 0, then each date is added again.  EXPIRED stays where it is in
 * use (`expired`).  FREEABLE goes: of an object with a number that was too high it is not known
 * whether it was set for that one, or for one that lay there before. */
void sgc_counts_wipe(bool expired);

/* Forgets FREEABLE, which the program has set, for objects that have no date and are gone, before
 * others come to their places.  World stopped, a mark is complete. */
void sgc_counts_forget_gone(bool (*is_gone)(size_t granule));

/* ---- in a section ---- */

static inline bool sgc_counts_ready(size_t granule)
{
    sgc_assert(sgc_counts.of != NULL && granule < sgc_heap.reserved >> SGC_GRANULE_LOG);
    return sgc_a8_load_acq(&sgc_counts.ready[granule >> SGC_ARENA_GRANULES_LOG]) != 0;
}

/* Counts a date more of an object, made by the owner of its page (`own`) or by another thread.
 * Returns the tag for the word of the date: 0 or SGC_DATE_OTHER.  Only where sgc_counts_ready says
 * yes. */
static inline uintptr_t sgc_counts_add(size_t granule, bool own)
{
    struct sgc_count *count = &sgc_counts.of[granule];

    sgc_assert(sgc_counts_ready(granule));
    if (own)
        sgc_count_add_own(count);
    else
        sgc_count_add_other(count);
    sgc_compiler_barrier();             /* counted before it is written down */
    return own ? 0 : SGC_DATE_OTHER;
}

/* One of an object's dates is over, and written down no more.  True: it was the last one, and the
 * caller has the object to itself.  `other`: what its word says.  A number that does not go down is
 * too high from now on. */
static inline bool sgc_counts_take(size_t granule, bool other)
{
    struct sgc_count *count = &sgc_counts.of[granule];
    bool stuck = false, last;

    sgc_assert(sgc_counts_ready(granule));
    sgc_compiler_barrier();
    if (__builtin_expect(!other, 1)) {
        last = sgc_count_take_own(count, &stuck);
    } else {
        stuck = sgc_count_is_stuck(sgc_a8_load(&count->others));
        last = sgc_count_take_other(count);
    }
    if (__builtin_expect(stuck, 0))
        sgc_counts_doubt();
    return last;
}

/* For a date of the owner's, by the owner: can sgc_counts_take_easily take it off, which makes no
 * exchange?  It gets *own, and belongs to the same section. */
static inline bool sgc_counts_easy(size_t granule, uint8_t *own)
{
    sgc_assert(sgc_counts_ready(granule));
    return sgc_count_easy(&sgc_counts.of[granule], own);
}

static inline bool sgc_counts_take_easily(size_t granule, uint8_t own)
{
    sgc_compiler_barrier();
    return sgc_count_take_easily(&sgc_counts.of[granule], own);
}

/* The program has said that the object may be freed.  By the thread that has just allocated it. */
static inline void sgc_counts_set_freeable(size_t granule)
{
    sgc_a8_t *own = &sgc_counts.of[granule].own;

    sgc_assert(sgc_counts_ready(granule));
    sgc_a8_store(own, sgc_a8_load(own) | SGC_COUNT_FREEABLE);
}

/* Has the program said that the object may be freed?  By the thread that has it to itself after its
 * last date. */
static inline bool sgc_counts_freeable(size_t granule)
{
    sgc_assert(sgc_counts_ready(granule));
    return (sgc_a8_load(&sgc_counts.of[granule].own) & SGC_COUNT_FREEABLE) != 0;
}

/* Forgets FREEABLE, or EXPIRED.  By the thread that has the object to itself, and frees it. */
static inline void sgc_counts_free(size_t granule)
{
    sgc_assert(sgc_counts_ready(granule));
    sgc_count_clear_bit(&sgc_counts.of[granule]);
}

/* Notes that an object may stay without a date, and may have one again. */
static inline void sgc_counts_keep(void)
{
    sgc_a32_store(&sgc_counts.kept, 1);
}

/* verify: is it noted that the object, which has no date, has expired?  By the thread that has it
 * to itself, or world stopped. */
static inline bool sgc_counts_expired(size_t granule)
{
    return sgc_counts_ready(granule) && sgc_a8_load(&sgc_counts.of[granule].own) == SGC_COUNT_EXPIRED &&
           sgc_a8_load(&sgc_counts.of[granule].others) == 0;
}

/* Notes it, or forgets it. */
static inline void sgc_counts_note_expired(size_t granule, bool expired)
{
    sgc_a8_t *own = &sgc_counts.of[granule].own;

    sgc_assert(sgc_counts_ready(granule));
    sgc_a8_store(own, (uint8_t)(sgc_count_number(sgc_a8_load(own)) | (expired ? SGC_COUNT_EXPIRED : 0)));
}

#endif
