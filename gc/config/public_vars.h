/* SPDX-License-Identifier: MIT */
/*
 * The public variables of gc.h, as the library sees them.
 *
 * A client may assign to these variables at any time, from any thread and without asking, so each
 * is read where its value decides something, and there is no second copy.  gc.h declares them with
 * plain types; here the same symbols have atomic types of the same size, so that our own accesses
 * are defined whatever other threads do.  They are not SGC_STATE: a program may hold its own copy
 * of them (a copy relocation).
 *
 *   what             written by                    read by                    ordering
 *   hooks            clients, setters              who calls the hook         release / acquire
 *   everything else  clients, setters; gc_no: the  who needs it               relaxed: each is one word that
 *                    collecting thread                                        stands for itself
 */
#ifndef SGC_GC_CONFIG_PUBLIC_VARS_H
#define SGC_GC_CONFIG_PUBLIC_VARS_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/atomics.h"

/* VAR(TYPE, NAME, FIRST VALUE): a variable GC_NAME of gc.h. */
#define SGC_CLIENT_VARS(VAR) \
    VAR(sgc_a32_t, all_interior_pointers, 1) \
    VAR(sgc_a32_t, dont_gc, 0)                               /* how often collections are disabled */ \
    VAR(sgc_a32_t, dont_expand, 0) \
    VAR(sgc_a32_t, dont_precollect, 0) \
    VAR(sgc_a32_t, finalize_on_demand, 0) \
    VAR(sgc_a32_t, find_leak, 0) \
    VAR(sgc_a32_t, full_freq, 19) \
    VAR(sgc_a32_t, gcj_debug_kind, 0) \
    VAR(sgc_a32_t, gcj_kind, 0) \
    VAR(sgc_a32_t, java_finalization, 1) \
    VAR(sgc_a32_t, no_dls, 0) \
    VAR(sgc_a32_t, parallel, 0) \
    VAR(sgc_a32_t, use_entire_heap, 0) \
    VAR(sgc_aw_t, finalizer_notifier, 0)                     /* void (*)(void) */ \
    VAR(sgc_aw_t, least_plausible_heap_addr, 0)              /* void *; of the reserved address space, from the start on */ \
    VAR(sgc_aw_t, greatest_plausible_heap_addr, 0) \
    VAR(sgc_aw_t, free_space_divisor, 3) \
    VAR(sgc_aw_t, gc_no, 0) \
    VAR(sgc_aw_t, max_retries, 0) \
    VAR(sgc_aw_t, non_gc_bytes, 0) \
    VAR(sgc_aw_t, time_limit, 999999) \
    VAR(sgc_aw_t, oom_fn, (uintptr_t)sgc_oom_default)        /* sgc_oom_t */ \
    VAR(sgc_aw_t, on_abort, 0)                               /* void (*)(const char *message); 0: our own way */ \
    VAR(sgc_aw_t, on_heap_resize, 0)                         /* void (*)(uintptr_t bytes) */ \
    VAR(sgc_aw_t, push_other_roots, (uintptr_t)sgc_client_push_nothing) /* void (*)(void) */ \
    VAR(sgc_aw_t, stackbottom, 0)                            /* char * */

#define SGC_CLIENT_VAR(type, name, initial) \
    extern type sgc_client_##name __asm__("GC_" #name) __attribute__((visibility("default")));
SGC_CLIENT_VARS(SGC_CLIENT_VAR)
#undef SGC_CLIENT_VAR

/* Nothing is finalized then: an object would live on for that, and be no leak. */
static inline bool sgc_finding_leaks(void)
{
    return sgc_a32_load(&sgc_client_find_leak) != 0;
}

/* The hook that is called when memory has run out (GC_oom_fn); the allocation returns its result.
 * The first such hook reports it once and returns NULL. */
typedef void *(*sgc_oom_t)(size_t bytes);
void *sgc_oom_default(size_t bytes);

/* The first hook that pushes roots, until the client sets another. */
void sgc_client_push_nothing(void);

/* Hands what the client assigned before the start to the options.  Before they are read. */
void sgc_client_vars_to_options(void);

/* And what they say in the end back to the variables.  After they have been read. */
void sgc_client_vars_from_options(void);

#endif
