/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the files of the public interface share.  Each function of the interface stands in the api_ file of
 * its subject; its contract is in the public header and is not repeated there.
 */
#ifndef SGC_GC_API_INTERNAL_H
#define SGC_GC_API_INTERNAL_H

#define GC_BUILD
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#define GC_REQUIRE_WCSDUP

#include "gc/gc.h"
#include "gc/gc_backptr.h"
#include "gc/gc_inline.h"
#include "gc/gc_mark.h"
#include "sgc.h"

#include <string.h>

#include "alloc/object.h"
#include "gc/collect/cycle.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/mutator.h"
#include "platform/atomics.h"
#include "platform/dirty.h"
#include "platform/report.h"

/* Does what was found out about an object agree?  It lies in the heap, and begins where its page and granule say. */
static inline bool sgc_api_object_ok(const struct sgc_object *o)
{
    return sgc_heap_contains(o->start) && o->start % SGC_GRANULE == 0 && o->bytes != 0 && o->bytes % SGC_GRANULE == 0 &&
           o->page == sgc_page_number(o->start) && o->granule == sgc_granule_number(o->start) && o->kind < sgc_kind_count();
}

/* The calling thread as a mutator; starts the collector and registers the thread if need be.  NULL, after a
 * message, when that fails. */
struct sgc_mutator *sgc_api_self(void);

/* True if a setting comes too late: `function` works before GC_INIT() only.  That is reported, unless it is the `same` as
 * it was: programs, and GC_INIT() of several of their parts, set again what they have set or were told. */
bool sgc_api_too_late(const char *function, bool same);

/* Sets an option from a number, before the start. */
bool sgc_api_set_option(const char *option, long value);

/* Writes a hook under the GC lock: see gc/collect/client_hooks.h. */
void sgc_api_set_hook(sgc_aw_t *hook, uintptr_t value);

/* Keeps the value if it is at least `min`; otherwise a message. */
void sgc_api_set_min(const char *function, sgc_a32_t *setting, int value, int min);

/* Another name of the function. */
#define SGC_API_SAME(function) __attribute__((alias(#function)))

/* GC_set_NAME and GC_get_NAME of what is kept in one word: a hook; a setting that is on or off; one that may be any number; one
 * that is `min` or more. */
#define SGC_API_HOOK(name, type, word) \
    void GC_set_##name(type hook) { sgc_api_set_hook(&(word), (uintptr_t)hook); } \
    type GC_get_##name(void) { return (type)sgc_aw_load_acq(&(word)); }
#define SGC_API_SWITCH(name, word) \
    void GC_set_##name(int on) { sgc_a32_store(&(word), on != 0); } \
    int GC_get_##name(void) { return (int)sgc_a32_load(&(word)); }
#define SGC_API_NUMBER(name, type, word) \
    void GC_set_##name(type number) { sgc_aw_store(&(word), number); } \
    type GC_get_##name(void) { return sgc_aw_load(&(word)); }
#define SGC_API_MIN_NUMBER(name, min, word) \
    void GC_set_##name(int number) { sgc_api_set_min("GC_set_" #name, &(word), number, min); } \
    int GC_get_##name(void) { return (int)sgc_a32_load(&(word)); }

/* Uncollectable objects are counted in GC_non_gc_bytes. */
void sgc_api_count_uncollectable(intptr_t bytes);

/* An object of a kind by number, whatever the kind, NULL when there is no memory for it; the second of which the client keeps a
 * pointer near the start (GC_malloc_ignore_off_page). */
void *sgc_api_allocate_or_null(size_t size, uint32_t kind);
void *sgc_api_near_start_or_null(size_t size, uint32_t kind);

/* Copies what a client has in an object to a fresh one, and reports that.  The old one is alive until this returns. */
static inline void sgc_api_copy(void *fresh, const void *object, size_t bytes)
{
    sgc_assert(sgc_heap_contains((uintptr_t)fresh));
    memcpy(fresh, object, bytes);
    sgc_dirty_report_range((uintptr_t)fresh, bytes);
}

/* Fills a fresh object with a text of that many bytes and as many zeros behind it as `end` says.  NULL stays NULL, after the
 * out-of-memory hook was asked; errno is then ENOMEM. */
void *sgc_api_fill_copy(char *copy, const void *text, size_t bytes, size_t end);

/* Stores the text that the client's function for that kind makes of the object, an empty one if
 * there is no function. */
void sgc_api_describe(uint32_t kind, void *object, char text[GC_TYPE_DESCR_LEN + 1]);

/* False, with a message, if there is no kind of that number. */
bool sgc_api_good_kind(const char *function, int kind);

/* The kind of objects like that one's that are not collected; SGC_KINDS, with a message, if it cannot be made. */
uint32_t sgc_api_uncollectable_kind(uint32_t kind);

/* Puts the client's hooks, and SGC_check's, where messages are made. */
void sgc_api_install_reports(void);

/* Collects as GC_gcollect does, without a function that may stop it, and has a snapshot written.  0, with the result; or why
 * that was not tried, an errno.  `entry`: the stack pointer of the client's call. */
struct sgc_snapshot_request;
int sgc_api_collect_for(struct sgc_snapshot_request *snapshot, uintptr_t entry, enum sgc_collect_result *result);

/* ---- figures ---- */

size_t sgc_api_free_bytes(void);
size_t sgc_api_live_bytes(void);

/* Counters that only the API shows.  Written by the collecting thread at the end of a cycle (`measuring` by whoever starts to
 * measure), read by anybody: relaxed, each stands for itself. */
struct sgc_api_counters {
    sgc_aw_t live_objects;              /* as the last cycle found them */
    sgc_aw_t reclaimed_last;            /* bytes of dead objects the last cycle found */
    sgc_aw_t reclaimed_before;          /* and those before it */
    sgc_a32_t measuring;
    sgc_aw_t measured_ns;               /* in collections, since measuring */
};
extern struct sgc_api_counters sgc_api_counters;

/* ---- finalizers and links ---- */

/* Programs keep types in the lowest bits of pointers, and bdwgc, which looks at marks by granules, takes such a pointer for the
 * object's: Lisp systems register finalizers and links for their conses like this. */
static inline uintptr_t sgc_api_untagged(const void *object)
{
    return (uintptr_t)object / SGC_GRANULE * SGC_GRANULE;
}

/* There is no memory to remember a registration.  True if the client's hook says to try again; otherwise it is
 * reported. */
bool sgc_api_memory_made(const char *function, const void *what);

/* Says why the address is not the first one of an object. */
void sgc_api_no_object(const char *function, const void *object);

/* ---- kinds that the interface makes for itself, with the first object of each ---- */

/* The number of a kind, which is made if *number is still 0.  SGC_KIND_CONSERVATIVE, with a message about `what`, if it cannot
 * be had.  Takes the GC lock.  *number: release / acquire. */
uint32_t sgc_api_own_kind(sgc_a32_t *number, const struct sgc_kind *kind, const char *what);

/* The client promises to keep a pointer near the start of this object, which it has just got. */
void sgc_api_near_start(const struct sgc_object *o);

/* ---- typed objects: their last words are not the client's ---- */

bool sgc_api_is_typed(uint32_t kind);
size_t sgc_api_typed_usable(const struct sgc_object *o);

/* One whose words may all be pointers; NULL when there is no memory for it. */
void *sgc_api_typed_everything(size_t size);

/* GC_realloc; the old object, whose contents have moved, goes by the second. */
void *sgc_api_typed_resize(const struct sgc_object *o, size_t size);
void sgc_api_free_moved(struct sgc_mutator *self, void *object);

/* The bytes that the client may use. */
static inline size_t sgc_api_usable(const struct sgc_object *o)
{
    return sgc_api_is_typed(o->kind) ? sgc_api_typed_usable(o) : o->bytes;
}

#endif
