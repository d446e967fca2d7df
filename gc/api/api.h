/* SPDX-License-Identifier: MIT */
/*
 * Declarations for every file of the public interface.  Each function of the interface stands in
 * the file of its subject; its contract is in the public header and is not repeated there.
 * gc/api/objects.h and gc/api/hooks.h have the declarations that only some of the files share.
 */
#ifndef SGC_GC_API_API_H
#define SGC_GC_API_API_H

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
#include "platform/report.h"
#include "platform/written/written.h"

/* The calling thread as a mutator; starts the collector and registers the thread if need be.  NULL,
 * after a message, when that fails. */
struct sgc_mutator *sgc_api_self(void);

/* True if a setting comes too late: `function` works before GC_INIT() only.  That is reported,
 * unless the setting is the `same` as it was: programs, and GC_INIT() of several of their parts,
 * set again what they have set or were told. */
bool sgc_api_too_late(const char *function, bool same);

/* Sets an option from a number, before the start. */
bool sgc_api_set_option(const char *option, long value);

/* Writes a hook under the GC lock: see gc/collect/client_hooks.h. */
void sgc_api_set_hook(sgc_aw_t *hook, uintptr_t value);

/* Another name of the function. */
#define SGC_API_SAME(function) __attribute__((alias(#function)))

/* GC_set_NAME and GC_get_NAME of one word: of a hook; of a setting that is on or off; of a setting
 * that may be any number. */
#define SGC_API_HOOK(name, type, word) \
    void GC_set_##name(type hook) { sgc_api_set_hook(&(word), (uintptr_t)hook); } \
    type GC_get_##name(void) { return (type)sgc_aw_load_acq(&(word)); }
#define SGC_API_SWITCH(name, word) \
    void GC_set_##name(int on) { sgc_a32_store(&(word), on != 0); } \
    int GC_get_##name(void) { return (int)sgc_a32_load(&(word)); }
#define SGC_API_NUMBER(name, type, word) \
    void GC_set_##name(type number) { sgc_aw_store(&(word), number); } \
    type GC_get_##name(void) { return sgc_aw_load(&(word)); }

#endif
