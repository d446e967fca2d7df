/* SPDX-License-Identifier: MIT */
/*
 * The declarations that the files of libscm share.  libscm is a library of its own that uses the
 * public interface of libsgc only, so that its names, and those that the linker's --wrap makes, are
 * in no other program.
 */
#ifndef SGC_SHORTTERM_COMPAT_COMPAT_H
#define SGC_SHORTTERM_COMPAT_COMPAT_H

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "scm/libscm.h"
#include "scm/stm-debug.h"
#pragma GCC visibility pop

#include "sgc_shortterm.h"

/* Makes the calling thread a mutator, silently: programs written for libscm create threads without
 * a word.  Each function that may be a thread's first begins with this. */
extern _Thread_local bool sgc_scm_known;
void sgc_scm_know_thread(void);

static inline void sgc_scm_enter(void)
{
    if (__builtin_expect(!sgc_scm_known, 0))
        sgc_scm_know_thread();
}

/* An object of the heap that scm_malloc can free, of at least that size; NULL with errno ENOMEM. */
void *sgc_scm_resize(void *object, size_t size);

/* How many bytes the object has; 0 for one in a region, of which nobody knows. */
static inline size_t sgc_scm_usable(void *object)
{
    return SGC_region_of(object) != NULL ? 0 : GC_size(object);
}

#endif
