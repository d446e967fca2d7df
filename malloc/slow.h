/* SPDX-License-Identifier: MIT */
/*
 * The slow paths: what the common ones have no slot for, large blocks, alignments, other threads'
 * blocks, and threads that have no cache.
 */
#ifndef SGC_MALLOC_SLOW_H
#define SGC_MALLOC_SLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "alloc/object.h"

/* NULL: ENOMEM is said. */
__attribute__((noinline)) void *sgc_block_new_slowly(size_t bytes);

/* The common path for more than SGC_FAST_MAX bytes: as long as bins have them. */
__attribute__((noinline)) void *sgc_block_new_larger(size_t bytes);

/* At a multiple of `align`, a power of two. */
void *sgc_block_new_aligned(size_t bytes, size_t align);

/* All zero. */
void *sgc_block_new_zeroed(size_t bytes);

/* Frees the block, or tells that there is none (malloc/harden.h); `function` is the name for that.
 * NULL is let pass.  Keeps errno. */
__attribute__((noinline)) void sgc_block_free_slowly(void *block, const char *function);

/* Finds the block that begins there.  False, and EINVAL: there is none, which is told, and the
 * program goes on. */
bool sgc_block_find(const void *block, const char *function, struct sgc_object *object);

/* Makes the block larger or smaller in place.  False: it has to move. */
bool sgc_block_resize(const struct sgc_object *object, size_t bytes);

#endif
