/* SPDX-License-Identifier: MIT */
/*
 * What regions are made of.
 *
 * A region is an object of the heap, and so are the chunks in which its objects lie, one behind the other, without a word for
 * each.  A chunk begins with the region's address, and has a mark that says that it is one: so an address in it leads to the
 * region.  Its objects are scanned with the chunk.
 *
 *   dates          any thread that refreshes or takes off a date: atomic add     who takes off the last   acquire-release RMW
 *   traced         who gives up dates without their being over: 1, before        who takes off the last   by `dates`
 *   over           who took off the last date and is not the owner: release      the owner                acquire
 *   latest         the owner                                                     the owner                program order
 *   next_over      who took off the last date                                    same                     program order
 *   mark           who makes the chunk, when it is one: release                  everybody                acquire
 *   the others,    the owner; once it is closed, who takes off the last date     same; markers            `dates`; markers see
 *   chunks                                                                                                words, at any moment
 */
#ifndef SGC_SHORTTERM_REGION_CHUNKS_H
#define SGC_SHORTTERM_REGION_CHUNKS_H

#include "alloc/pages/geometry.h"
#include "shortterm/date_list.h"

struct sgc_region_chunk {
    struct SGC_region *region;          /* NULL: it is no part of it any more */
    struct sgc_region_chunk *older;
    size_t bytes;
    sgc_aw_t mark;
};

struct SGC_region {
    char *next, *end;                   /* free memory of the newest chunk */
    struct sgc_region_chunk *newest;
    size_t bytes;                       /* of the next chunk */
    uintptr_t owner;                    /* serial of the thread's dates */
    bool closed;
    sgc_a32_t over, traced;
    sgc_aw_t dates;
    struct sgc_date_list *latest;       /* where the owner put the latest date, if that is not over */
    struct SGC_region *next_over;
};

/* Bytes of a region's chunks, each about twice as large as the one before: a little less than a power of two, so that there is
 * room for the end byte. */
enum { SGC_REGION_CHUNK_HEAD = 32, SGC_REGION_CHUNK_LEAST = 4096 - SGC_GRANULE, SGC_REGION_CHUNK_MOST = 262144 - SGC_GRANULE };

static inline bool sgc_region_ok(const struct SGC_region *r)
{
    return r->next <= r->end && r->owner != 0 && (r->end == NULL || r->newest != NULL) && r->bytes >= SGC_REGION_CHUNK_LEAST;
}

/* The region in whose memory the address lies, NULL if it lies in none. */
struct SGC_region *sgc_region_at(uintptr_t address);

/* The owner, outside sections.  NULL: what the client's out-of-memory hook says. */
void *sgc_region_allocate(struct SGC_region *r, size_t bytes);

/* The region is empty.  Its chunks are freed, but for one, if not `all`; or they are left to the collector, each alone.  By the
 * owner, or when the region is closed and has no date. */
void sgc_region_free_chunks(struct SGC_region *r, bool all);
void sgc_region_leave_chunks(struct SGC_region *r);

#endif
