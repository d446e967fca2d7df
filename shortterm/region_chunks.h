/* SPDX-License-Identifier: MIT */
/*
 * The memory of regions.
 *
 * A region's objects lie in chunks, one behind the other, without a word for each.  A chunk is an
 * object of the heap, which begins with the region's address, and has a mark that says that it is
 * one: so an address in it leads to the region.  The region's record has such a head, too.  So the
 * program's pointer to a region is no object's first address, but one in the record's memory:
 * nobody can give a date to the record, or free it.  Objects in a region are scanned with their
 * chunk.
 *
 * "The last one" is the thread that has the region to itself after its last date.
 *
 *   word         any thread: compare-and-swap                everybody       acquire-release RMW
 *                (shortterm/region_rules.h); the last one:
 *                release
 *   latest       the owner                                   the owner       program order
 *   next_over    the last one                                same            program order
 *   mark         the thread that makes the chunk, when it    everybody       acquire
 *                is one: release
 *   region       the thread that makes the chunk; the one    everybody       by `mark`; relaxed
 *                that takes it out of its region: 0
 *   the others   the owner; the last one                     same; markers   `word`; markers see
 *                                                                            words, at any moment
 *
 * A jump may leave every function here.  So the owner finds no room in a region that is in the
 * middle of a change: `end` is 0 before anything changes, and is set last.  A chunk belongs to the
 * region's list, or has left it: by one store.
 */
#ifndef SGC_SHORTTERM_REGION_CHUNKS_H
#define SGC_SHORTTERM_REGION_CHUNKS_H

#include "alloc/object.h"
#include "alloc/pages/geometry.h"
#include "shortterm/dates/date_list.h"
#include "shortterm/region_rules.h"

struct sgc_region_chunk {
    sgc_aw_t region;                    /* 0: it is no part of it any more */
    struct sgc_region_chunk *older;
    size_t bytes;
    sgc_aw_t mark;
};

struct SGC_region {
    uintptr_t next, end;                /* free memory of the newest chunk; end 0: none */
    struct sgc_region_chunk *newest;
    size_t bytes;                       /* of the next chunk */
    uintptr_t owner;                    /* serial of the thread's dates */
    sgc_aw_t word;
    struct sgc_date_list *latest;       /* where the owner's latest date is, if it is not over */
    struct SGC_region *next_over;
};

/* Bytes of a region's chunks, each about twice as large as the one before: a little less than a
 * power of two, so that there is room for the end byte. */
enum { SGC_REGION_CHUNK_HEAD = 32, SGC_REGION_CHUNK_MIN = 4096 - SGC_GRANULE, SGC_REGION_CHUNK_MAX = 262144 - SGC_GRANULE };

static inline bool sgc_region_ok(const struct SGC_region *r)
{
    return (r->end == 0 || (r->next <= r->end && r->newest != NULL)) && r->owner != 0 && r->bytes >= SGC_REGION_CHUNK_MIN &&
           sgc_region_word_ok(sgc_aw_load(&r->word));
}

/* The region in whose memory the address, or the object, lies; NULL if it lies in none. */
struct SGC_region *sgc_region_at(uintptr_t address);
struct SGC_region *sgc_region_of_object(const struct sgc_object *o);

/* A region of that thread's dates, without a chunk; NULL if there is no memory. */
struct SGC_region *sgc_region_make(uintptr_t owner);

/* The object that the region's record is. */
uintptr_t sgc_region_record(const struct SGC_region *r);

/* By the owner: are so many bytes, and more than none, free in the newest chunk?  Its free memory
 * is whole granules. */
static inline bool sgc_region_has_room(const struct SGC_region *r, size_t bytes)
{
    return bytes - 1 < SGC_REGION_CHUNK_MAX && (intptr_t)bytes <= (intptr_t)(r->end - r->next);
}

/* By the owner: takes so many bytes, which sgc_region_has_room has found, in whole granules. */
static inline void *sgc_region_take(struct SGC_region *r, size_t bytes)
{
    uintptr_t object = r->next;

    sgc_assert(r->end != 0 && bytes % SGC_GRANULE == 0 && bytes <= r->end - r->next);
    r->next = object + bytes;
    return (void *)object;
}

/* By the owner, outside sections.  Without memory returns what the client's out-of-memory hook
 * says. */
void *sgc_region_allocate(struct SGC_region *r, size_t bytes);

/* Both empty the region: the first frees its chunks, but for one, if not `all`; the second leaves
 * them to the collector, each alone.  By the thread that has the region to itself after its last
 * date. */
void sgc_region_free_chunks(struct SGC_region *r, bool all);
void sgc_region_leave_chunks(struct SGC_region *r);

#endif
