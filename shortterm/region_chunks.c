/* SPDX-License-Identifier: MIT */
/* What regions are made of: shortterm/region_chunks.h. */
#include "shortterm/region_chunks.h"

#include <string.h>

#include "alloc/pages/kind.h"
#include "gc/api/internal.h"
#include "gc/collect/allocate.h"

/* ---- from an address to its region ---- */

/* What no other object has at that place: a number of its own for each address. */
static uintptr_t mark_of(const struct sgc_region_chunk *chunk)
{
    return (uintptr_t)chunk * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(0x5265676a0c6e3c4d);
}

struct SGC_region *sgc_region_at(uintptr_t address)
{
    const struct sgc_region_chunk *chunk;
    struct sgc_object o;

    if (!sgc_heap_contains(address) || !sgc_object_find(address, &o) || o.kind != SGC_KIND_CONSERVATIVE ||
        o.bytes < SGC_REGION_CHUNK_HEAD)
        return NULL;
    chunk = (const struct sgc_region_chunk *)o.start;
    return sgc_aw_load_acq(&chunk->mark) == mark_of(chunk) ? chunk->region : NULL;
}

/* ---- chunks ---- */

static char *first_byte(struct sgc_region_chunk *chunk)
{
    return (char *)(chunk + 1);
}

_Static_assert(sizeof(struct sgc_region_chunk) == SGC_REGION_CHUNK_HEAD && SGC_REGION_CHUNK_HEAD % SGC_GRANULE == 0,
               "objects behind it are aligned");

static void use(struct SGC_region *r, struct sgc_region_chunk *chunk)
{
    sgc_dirty_store(&r->newest, chunk);
    r->next = first_byte(chunk);
    r->end = (char *)chunk + chunk->bytes;
    sgc_assert(sgc_region_ok(r));
}

static struct sgc_region_chunk *make(struct SGC_region *r, size_t bytes)
{
    struct sgc_region_chunk *chunk = sgc_allocate_or_null(bytes, SGC_KIND_CONSERVATIVE);

    sgc_assert(bytes > sizeof *chunk);
    if (chunk == NULL)
        return NULL;
    chunk->bytes = bytes;
    sgc_dirty_store(&chunk->region, r);
    sgc_aw_store_rel(&chunk->mark, mark_of(chunk));
    return chunk;
}

/* For one large object: behind the newest, which still has room. */
static void *allocate_alone(struct SGC_region *r, size_t bytes)
{
    struct sgc_region_chunk *chunk = make(r, sizeof *chunk + bytes);

    if (chunk == NULL)
        return sgc_out_of_memory(bytes);
    if (r->newest == NULL) {
        use(r, chunk);
        r->next = r->end;
    } else {
        sgc_dirty_store(&chunk->older, r->newest->older);
        sgc_dirty_store(&r->newest->older, chunk);
    }
    return first_byte(chunk);
}

static size_t larger(size_t bytes)
{
    return bytes < SGC_REGION_CHUNK_MOST ? 2 * bytes + SGC_GRANULE : bytes;
}

static void *take(struct SGC_region *r, size_t bytes)
{
    void *object = r->next;

    sgc_assert(bytes <= (size_t)(r->end - r->next));
    r->next += bytes;
    return object;
}

__attribute__((noinline))
static void *allocate_slowly(struct SGC_region *r, size_t bytes)
{
    struct sgc_region_chunk *chunk;

    if (bytes > r->bytes / 4)
        return allocate_alone(r, bytes);
    chunk = make(r, r->bytes);
    if (chunk == NULL)
        return sgc_out_of_memory(bytes);
    sgc_dirty_store(&chunk->older, r->newest);
    use(r, chunk);
    r->bytes = larger(r->bytes);
    return take(r, bytes);
}

/* An object of no bytes has an address of its own. */
void *sgc_region_allocate(struct SGC_region *r, size_t bytes)
{
    if (__builtin_expect(bytes > PTRDIFF_MAX, 0))
        return sgc_out_of_memory(bytes);
    bytes = bytes == 0 ? SGC_GRANULE : sgc_round_up(bytes, SGC_GRANULE);
    return bytes <= (size_t)(r->end - r->next) ? take(r, bytes) : allocate_slowly(r, bytes);
}

/* ---- without dates ---- */

static void forget(struct SGC_region *r)
{
    r->newest = NULL;
    r->next = r->end = NULL;
    r->bytes = SGC_REGION_CHUNK_LEAST;
}

void sgc_region_leave_chunks(struct SGC_region *r)
{
    struct sgc_region_chunk *older;

    for (struct sgc_region_chunk *chunk = r->newest; chunk != NULL; chunk = older) {
        older = chunk->older;
        chunk->region = NULL;
        chunk->older = NULL;
    }
    forget(r);
}

/* It is as a new one. */
static void keep(struct SGC_region *r, struct sgc_region_chunk *chunk)
{
    sgc_assert(chunk->region == r && chunk->older == NULL);
    memset(first_byte(chunk), 0, chunk->bytes - sizeof *chunk);
    use(r, chunk);
    r->bytes = larger(chunk->bytes);
}

/* Kept is the oldest if it is one of the smallest, so that a region that was once large does not stay so. */
void sgc_region_free_chunks(struct SGC_region *r, bool all)
{
    struct sgc_region_chunk *chunk = r->newest, *older;

    forget(r);
    for (; chunk != NULL; chunk = older) {
        older = chunk->older;
        if (older == NULL && !all && chunk->bytes == SGC_REGION_CHUNK_LEAST)
            keep(r, chunk);
        else
            GC_free(chunk);
    }
}
