/* SPDX-License-Identifier: MIT */
/*
 * Freed slots at hand: memory for their arrays.  On the cache's own thread, under a guard.
 */
#include "alloc/small/freed.h"

#include <string.h>

enum { CHUNK = SGC_FREED_ARRAY_LARGE };     /* bytes obtained from the system at a time, for small
                                               arrays of many bins */

/* Takes an array from the cache's chunk.  Arrays that a bin has outgrown are not used again:
 * together they are a third of the bin's present one. */
static struct sgc_freed_array *small_array(struct sgc_cache *cache, uint32_t bytes)
{
    char *array;

    if ((size_t)(cache->array_end - cache->array) < bytes) {
        char *chunk = sgc_mem_obtain(CHUNK);

        if (chunk == NULL)
            return NULL;
        cache->array = chunk;
        cache->array_end = chunk + CHUNK;
    }
    array = cache->array;
    cache->array = array + bytes;
    return (struct sgc_freed_array *)(void *)array;
}

/* NULL when the system has no memory. */
static struct sgc_freed_array *new_array(struct sgc_cache *cache, uint32_t bytes)
{
    struct sgc_freed_array *array = bytes < SGC_FREED_ARRAY_LARGE ? small_array(cache, bytes) : sgc_mem_obtain(bytes);

    if (array != NULL)
        array->slots = bytes / (uint32_t)sizeof(struct sgc_freed) - 1;
    return array;
}

/* The bin's slots go on in another array.  Under the cache's lock, so not left half way.  The C
 * library copies by vector registers that hardly anybody else uses, and what stays there counts as
 * the client's. */
static void move_to(struct sgc_bin *bin, struct sgc_freed_array *array)
{
    uint32_t count = sgc_bin_nfreed(bin);

    sgc_assert(count < array->slots);
    if (count != 0) {
        memcpy(array->of, sgc_bin_freed(bin), count * sizeof *array->of);
        sgc_forget_vectors();
    }
    bin->freed = array->of + count;
    bin->freed_first = (uint32_t)(uintptr_t)array->of;
    bin->freed_full = (uint32_t)(uintptr_t)bin->freed;
}

static bool grow(struct sgc_cache *cache, struct sgc_bin *bin)
{
    struct sgc_freed_array *old = sgc_bin_freed_array(bin), *array;
    size_t bytes = old == NULL ? SGC_FREED_ARRAY_MIN : sgc_freed_array_bytes(old) * SGC_FREED_GROWTH;

    if (bytes > SGC_FREED_ARRAY_MAX || (array = new_array(cache, (uint32_t)bytes)) == NULL)
        return false;
    sgc_lock(cache->lock, &cache->section);
    move_to(bin, array);
    sgc_unlock(cache->lock, &cache->section);
    if (old != NULL && sgc_freed_array_bytes(old) >= SGC_FREED_ARRAY_LARGE)
        sgc_mem_release(old, sgc_freed_array_bytes(old));
    return true;
}

bool sgc_bin_make_room(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    bool grown;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (!cache->keeps_freed || !sgc_kind_keeps_freed(kind))
        return false;
    if (sgc_bin_nfreed(bin) >= sgc_bin_bound(bin))
        return false;
    if (sgc_bin_nfreed(bin) < sgc_bin_freed_room(bin))
        return true;
    sgc_guard_enter(&cache->section);
    grown = grow(cache, bin);
    sgc_guard_leave(&cache->section);
    return grown;
}
