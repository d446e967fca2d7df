/* SPDX-License-Identifier: MIT */
/*
 * Objects and their kinds, for the files of the public interface that make, fill, copy or free
 * objects.
 */
#ifndef SGC_GC_API_OBJECTS_H
#define SGC_GC_API_OBJECTS_H

#include "gc/api/api.h"

/* Does the description of an object agree with itself?  It lies in the heap, and begins where its
 * page and granule say. */
static inline bool sgc_api_object_ok(const struct sgc_object *o)
{
    return sgc_heap_contains(o->start) && o->start % SGC_GRANULE == 0 && o->bytes != 0 && o->bytes % SGC_GRANULE == 0 &&
           o->page == sgc_page_number(o->start) && o->granule == sgc_granule_number(o->start) && o->kind < sgc_kind_count();
}

/* Uncollectable objects are counted in GC_non_gc_bytes. */
void sgc_api_count_uncollectable(intptr_t bytes);

/* ---- making ---- */

/* An object of a kind by number, whatever the kind, NULL when there is no memory for it.  Of the
 * second one's the client keeps a pointer near the start (GC_malloc_ignore_off_page). */
void *sgc_api_allocate_or_null(size_t size, uint32_t kind);
void *sgc_api_near_start_or_null(size_t size, uint32_t kind);

/* The client promises to keep a pointer near the start of this object, which it has just got. */
void sgc_api_near_start(const struct sgc_object *o);

/* ---- contents ---- */

/* Copies what a client has in an object to a fresh one, and reports that.  The old one is alive
 * until this returns. */
static inline void sgc_api_copy(void *fresh, const void *object, size_t bytes)
{
    sgc_assert(sgc_heap_contains((uintptr_t)fresh));
    memcpy(fresh, object, bytes);
    sgc_written_report_range((uintptr_t)fresh, bytes);
}

/* Fills a fresh object with a text of that many bytes and as many zeros behind it as `end` says.
 * NULL stays NULL, after the out-of-memory hook was asked; errno is then ENOMEM. */
void *sgc_api_fill_copy(char *copy, const void *text, size_t bytes, size_t end);

/* Frees an object whose contents GC_realloc has moved. */
void sgc_api_free_moved(struct sgc_mutator *self, void *object);

/* ---- kinds ---- */

/* Stores the text that the client's function for that kind makes of the object, an empty one if
 * there is no function. */
void sgc_api_describe(uint32_t kind, void *object, char text[GC_TYPE_DESCR_LEN + 1]);

/* False, with a message, if there is no kind of that number. */
bool sgc_api_good_kind(const char *function, int kind);

/* The number of a kind of the interface's own, which is made if *number is still 0: with the first
 * object of it.  SGC_KIND_CONSERVATIVE, with a message about `what`, if it cannot be had.  Takes
 * the GC lock.  *number: release / acquire. */
uint32_t sgc_api_own_kind(sgc_a32_t *number, const struct sgc_kind *kind, const char *what);

/* ---- typed objects: their last words are not the client's ---- */

bool sgc_api_is_typed(uint32_t kind);
size_t sgc_api_typed_usable(const struct sgc_object *o);

/* One whose words may all be pointers; NULL when there is no memory for it. */
void *sgc_api_typed_everything(size_t size);

/* GC_realloc; the old object, whose contents have moved, goes by sgc_api_free_moved. */
void *sgc_api_typed_resize(const struct sgc_object *o, size_t size);

/* The bytes that the client may use, of an object of any kind. */
static inline size_t sgc_api_usable(const struct sgc_object *o)
{
    return sgc_api_is_typed(o->kind) ? sgc_api_typed_usable(o) : o->bytes;
}

#endif
