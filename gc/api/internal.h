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

#include "alloc/object.h"
#include "gc/threads/mutator.h"
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

/* The calling thread's section, NULL if it is not registered. */
struct sgc_section *sgc_api_section(void);

/* True if a setting comes too late: `function` works before GC_INIT() only.  That is reported, unless it is the `same` as
 * it was: programs, and GC_INIT() of several of their parts, set again what they have set or were told. */
bool sgc_api_too_late(const char *function, bool same);

/* Sets an option from a number, before the start. */
bool sgc_api_set_option(const char *option, long value);

/* Writes a hook under the GC lock: see gc/collect/client_hooks.h. */
void sgc_api_set_hook(sgc_aw_t *hook, uintptr_t value);

/* Keeps the value if it is at least `least`; otherwise a message. */
void sgc_api_set_at_least(const char *function, sgc_a32_t *setting, int value, int least);

/* GC_set_NAME and GC_get_NAME of what is kept in one word: a hook; a setting that is on or off; one that may be any number; one
 * that is `least` or more. */
#define SGC_API_HOOK(name, type, word) \
    void GC_set_##name(type hook) { sgc_api_set_hook(&(word), (uintptr_t)hook); } \
    type GC_get_##name(void) { return (type)sgc_aw_load_acq(&(word)); }
#define SGC_API_SWITCH(name, word) \
    void GC_set_##name(int on) { sgc_a32_store(&(word), on != 0); } \
    int GC_get_##name(void) { return (int)sgc_a32_load(&(word)); }
#define SGC_API_NUMBER(name, type, word) \
    void GC_set_##name(type number) { sgc_aw_store(&(word), number); } \
    type GC_get_##name(void) { return sgc_aw_load(&(word)); }
#define SGC_API_AT_LEAST(name, least, word) \
    void GC_set_##name(int number) { sgc_api_set_at_least("GC_set_" #name, &(word), number, least); } \
    int GC_get_##name(void) { return (int)sgc_a32_load(&(word)); }

/* Uncollectable objects are counted in GC_non_gc_bytes. */
void sgc_api_count_uncollectable(intptr_t bytes);

/* An object of a kind by number, whatever the kind, NULL when there is no memory for it; the second of which the client keeps a
 * pointer near the start (GC_malloc_ignore_off_page). */
void *sgc_api_allocate_or_null(size_t size, uint32_t kind);
void *sgc_api_near_start_or_null(size_t size, uint32_t kind);

/* Fills a fresh object with a text of that many bytes and as many zeros behind it as `end` says.  NULL stays NULL, after the
 * out-of-memory hook was asked; errno is then ENOMEM. */
void *sgc_api_fill_copy(char *copy, const void *text, size_t bytes, size_t end);

/* What the client has of an object, which has a header if it was allocated for debugging. */
struct sgc_object;
uintptr_t sgc_api_client_address(const struct sgc_object *object);

enum { SGC_API_OBJECT_TEXT = 450 };

/* "48 bytes at 0x...", and what is known besides of the object to which the address belongs; false if there is none. */
bool sgc_api_describe_object(uintptr_t address, char text[SGC_API_OBJECT_TEXT]);

/* What the client's function says about an object of that kind, an empty text if there is none. */
void sgc_api_describe(uint32_t kind, void *object, char text[GC_TYPE_DESCR_LEN + 1]);

/* False, with a message, if there is no kind of that number. */
bool sgc_api_good_kind(const char *function, int kind);

/* The kind of objects like that one's that are not collected; SGC_KINDS, with a message, if it cannot be made. */
uint32_t sgc_api_uncollectable_kind(uint32_t kind);

/* Runs fn(arg) as GC_do_blocking does, or just runs it if the thread is blocked already or not registered. */
void *sgc_api_block(GC_fn_type fn, void *arg);

/* Figures, api_query.c. */
size_t sgc_api_free_bytes(void);
size_t sgc_api_live_bytes(void);

/* While SGC_check runs a check, a violation comes back here instead of ending the process (api_check.c). */
void sgc_api_violation(const char *line);

/* Puts the client's hooks, and SGC_check's, where messages are made. */
void sgc_api_install_reports(void);

#endif
