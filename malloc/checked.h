/* SPDX-License-Identifier: MIT */
/*
 * The blocks of level 2 (SGC_HARDEN=2), which are checked: writes beyond their ends, writes after
 * their frees, second frees by whichever thread, and the sizes that the program passes to free.
 *
 * The common paths do not know of them: a thread's cache for these stays the one without slots, so
 * each call takes a slow path, and no other level pays.
 *
 *   a block      | the bytes of the request | padding | seal |
 *   in quarantine|        zero                        | seal |
 *   free memory  |        zero                               |
 *
 * The seal is a word at the slot's end: the request's size or that the block waits in quarantine,
 * with the slot's address and a secret, and the byte of the padding first.  So the byte behind the
 * request always is that byte.  A slot that somebody gets has to be all zero: a write into it after
 * a free is found then, and at the thread's next allocation if it hits the first word of the block
 * that this thread has freed last.  Freed spans are closed to reading and writing while they wait.
 * A block without bytes is an address that is always closed (malloc/empty.h).
 *
 *   what         written by                          read by            ordering
 *   a seal       who gets the block, and who takes   who frees, or      relaxed: the program itself orders uses
 *                it out of quarantine;               asks for the       of its block;
 *                who frees it                        size               compare-and-swap: one of them has it
 *   the secret   while the heap is made              everybody          as sgc_malloc_options
 */
#ifndef SGC_MALLOC_CHECKED_H
#define SGC_MALLOC_CHECKED_H

#include "alloc/object.h"
#include "alloc/small/cache.h"
#include "malloc/options.h"

/* In place of a size, where the program has not passed one. */
#define SGC_ANY_SIZE SIZE_MAX

/* Before the first cache is opened, where blocks are to be checked. */
void sgc_checked_start(void);

/* A block of zeros, at a multiple of `align`; NULL: there is no memory.  Outside sections. */
void *sgc_checked_new(struct sgc_cache *cache, size_t bytes, size_t align);

/* Such a block if the cache has a slot at hand, without a lock; NULL: it has none. */
void *sgc_checked_try(struct sgc_cache *cache, size_t bytes);

/* Takes the block into quarantine, or tells why not.  Returns a block for the caller to free, of
 * those that left the quarantine; mostly it is freed already: NULL.  Outside sections. */
void *sgc_checked_free(struct sgc_cache *cache, void *block, size_t bytes, const char *function);

/* Finds the block that begins there, with the bytes of the request: 0 for one without bytes, which
 * lies in no page.  False: there is none, which it tells. */
bool sgc_checked_find(const void *block, const char *function, struct sgc_object *object);

#endif
