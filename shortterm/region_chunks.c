/* SPDX-License-Identifier: MIT */
/* The memory of regions: shortterm/region_chunks.h. */
#include "shortterm/region_chunks.h"

#include <string.h>

#include "alloc/pages/kind.h"
#include "gc/api/api.h"
#include "gc/collect/allocate.h"
#include "mark/displacements.h"
#include "mark/read_once.h"

/* ---- from an address to its region ---- */

/* The mark of a chunk at that address: a number of its own for each address, which no other object
 * has at that place. */
static uintptr_t mark_of(uintptr_t chunk)
{
    return chunk * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(0x5265676a0c6e3c4d);
}

struct SGC_region *sgc_region_of_object(const struct sgc_object *o)
{
    const struct sgc_region_chunk *chunk = (const struct sgc_region_chunk *)o->start;

    if (o->kind != SGC_KIND_CONSERVATIVE || o->bytes < SGC_REGION_CHUNK_HEAD)
        return NULL;
    return sgc_aw_load_acq(&chunk->mark) == mark_of(o->start) ? (struct SGC_region *)sgc_aw_load(&chunk->region) : NULL;
}

struct SGC_region *sgc_region_at(uintptr_t address)
{
    struct sgc_object o;

    return sgc_heap_contains(address) && sgc_object_find(address, &o) ? sgc_region_of_object(&o) : NULL;
}

/* Nobody but the program knows where in a chunk its objects begin: each address in it counts.  On
 * any marker, while other objects are made and freed: then the answer does not matter. */
SGC_BLIND static bool counts_inside(uintptr_t start, size_t distance)
{
    return distance >= SGC_REGION_CHUNK_HEAD &&
           sgc_read_once(start + offsetof(struct sgc_region_chunk, mark)) == mark_of(start);
}

/* ---- chunks ---- */

static uintptr_t first_byte(const struct sgc_region_chunk *chunk)
{
    return (uintptr_t)(chunk + 1);
}

_Static_assert(sizeof(struct sgc_region_chunk) == SGC_REGION_CHUNK_HEAD && SGC_REGION_CHUNK_HEAD % SGC_GRANULE == 0,
               "objects behind it are aligned");

static void set_head(struct sgc_region_chunk *chunk, struct SGC_region *r, size_t bytes)
{
    chunk->bytes = bytes;
    sgc_aw_store(&chunk->region, (uintptr_t)r);
    sgc_written_report(&chunk->region);
    sgc_aw_store_rel(&chunk->mark, mark_of((uintptr_t)chunk));
    sgc_assert(bytes > sizeof *chunk);
}

struct record {
    struct sgc_region_chunk head;
    struct SGC_region region;
};

uintptr_t sgc_region_record(const struct SGC_region *r)
{
    return (uintptr_t)r - offsetof(struct record, region);
}

/* The object that the out-of-memory hook returns is somebody's, and not cleared: no record. */
struct SGC_region *sgc_region_make(uintptr_t owner)
{
    struct record *record = sgc_allocate_or_null(sizeof *record, SGC_KIND_CONSERVATIVE);

    sgc_assert(owner != 0);
    if (record == NULL) {
        sgc_out_of_memory(sizeof *record);
        return NULL;
    }
    sgc_mark_inside_by(counts_inside);
    record->region.owner = owner;
    record->region.bytes = SGC_REGION_CHUNK_MIN;
    set_head(&record->head, &record->region, sizeof *record);
    return &record->region;
}

/* No object has room there until `begin_use` is followed by `use`. */
static void end_use(struct SGC_region *r)
{
    r->end = 0;
    sgc_compiler_barrier();
}

/* Its free memory begins at `next`. */
static void use(struct SGC_region *r, struct sgc_region_chunk *chunk, uintptr_t next)
{
    end_use(r);
    sgc_written_store(&r->newest, chunk);
    r->next = next;
    sgc_compiler_barrier();
    r->end = (uintptr_t)chunk + chunk->bytes;
    sgc_assert(sgc_region_ok(r));
}

static struct sgc_region_chunk *make(struct SGC_region *r, size_t bytes)
{
    struct sgc_region_chunk *chunk = sgc_allocate_or_null(bytes, SGC_KIND_CONSERVATIVE);

    sgc_assert(bytes > sizeof *chunk);
    if (chunk != NULL)
        set_head(chunk, r, bytes);
    return chunk;
}

/* For one large object: behind the newest, which still has room. */
static void *allocate_alone(struct SGC_region *r, size_t bytes)
{
    struct sgc_region_chunk *chunk = make(r, sizeof *chunk + bytes);

    sgc_assert(bytes != 0 && bytes % SGC_GRANULE == 0);
    if (chunk == NULL)
        return sgc_out_of_memory(bytes);
    if (r->newest == NULL) {
        use(r, chunk, (uintptr_t)chunk + chunk->bytes);
    } else {
        sgc_written_store(&chunk->older, r->newest->older);
        sgc_written_store(&r->newest->older, chunk);
    }
    return chunk + 1;
}

static size_t larger(size_t bytes)
{
    sgc_assert(bytes >= SGC_REGION_CHUNK_MIN && bytes <= SGC_REGION_CHUNK_MAX);
    return bytes < SGC_REGION_CHUNK_MAX ? 2 * bytes + SGC_GRANULE : bytes;
}

__attribute__((noinline))
static void *allocate_slowly(struct SGC_region *r, size_t bytes)
{
    struct sgc_region_chunk *chunk;

    sgc_assert(!sgc_region_has_room(r, bytes));
    if (bytes > r->bytes / 4)
        return allocate_alone(r, bytes);
    chunk = make(r, r->bytes);
    if (chunk == NULL)
        return sgc_out_of_memory(bytes);
    sgc_written_store(&chunk->older, r->newest);
    use(r, chunk, first_byte(chunk));
    r->bytes = larger(r->bytes);
    return sgc_region_take(r, bytes);
}

/* An object of no bytes has an address of its own. */
void *sgc_region_allocate(struct SGC_region *r, size_t bytes)
{
    sgc_assert(sgc_region_ok(r));
    if (__builtin_expect(bytes > PTRDIFF_MAX - SGC_GRANULE, 0))
        return sgc_out_of_memory(bytes);
    bytes = bytes == 0 ? SGC_GRANULE : sgc_round_up(bytes, SGC_GRANULE);
    return sgc_region_has_room(r, bytes) ? sgc_region_take(r, bytes) : allocate_slowly(r, bytes);
}

/* ---- without dates ---- */

/* The newest chunk leaves the region's list; NULL: it has none. */
static struct sgc_region_chunk *take_out(struct SGC_region *r)
{
    struct sgc_region_chunk *chunk = r->newest;

    end_use(r);
    if (chunk != NULL)
        sgc_written_store(&r->newest, chunk->older);
    r->bytes = SGC_REGION_CHUNK_MIN;
    return chunk;
}

/* It still has its mark: what points into it keeps it. */
void sgc_region_leave_chunks(struct SGC_region *r)
{
    struct sgc_region_chunk *chunk;

    while ((chunk = take_out(r)) != NULL) {
        sgc_assert(sgc_aw_load(&chunk->region) == (uintptr_t)r);
        sgc_aw_store(&chunk->region, 0);
        chunk->older = NULL;
    }
}

/* It is as a new one. */
static void keep(struct SGC_region *r, struct sgc_region_chunk *chunk)
{
    sgc_assert(sgc_aw_load(&chunk->region) == (uintptr_t)r && chunk->older == NULL);
    memset(chunk + 1, 0, chunk->bytes - sizeof *chunk);
    use(r, chunk, first_byte(chunk));
    r->bytes = larger(chunk->bytes);
}

/* Kept is the oldest if it is one of the smallest, so that a region that was once large does not
 * stay so. */
void sgc_region_free_chunks(struct SGC_region *r, bool all)
{
    struct sgc_region_chunk *chunk;

    while ((chunk = take_out(r)) != NULL)
        if (!all && chunk->older == NULL && chunk->bytes == SGC_REGION_CHUNK_MIN) {
            keep(r, chunk);
            return;
        } else {
            GC_free(chunk);
        }
}
