/* SPDX-License-Identifier: MIT */
/* The slow paths: malloc/slow.h.  On any thread, outside sections. */
#include "malloc/slow.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "alloc/free.h"
#include "alloc/large/span.h"
#include "alloc/new_objects.h"
#include "malloc/checked.h"
#include "malloc/give_back.h"
#include "malloc/harden.h"
#include "malloc/start.h"
#include "malloc/threads.h"
#include "platform/platform.h"

enum {
    ZERO_BY_SPAN = SGC_SMALL_MAX,       /* bytes above which the span knows whether it reads as zero */
    ZERO_BY_SYSTEM = 8 << 20,
};

/* ---- new blocks ---- */

static void *from_heap(struct sgc_cache *cache, size_t bytes, size_t align, bool zeroed)
{
    uint32_t cls;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (sgc_class_find(bytes, align, &cls))
        return sgc_small_refill(cache, SGC_KIND_POINTER_FREE, cls);
    return sgc_span_alloc(&cache->section, bytes, zeroed ? SGC_KIND_CONSERVATIVE : SGC_KIND_POINTER_FREE, align);
}

/* A signal handler must not meet a checked block in the midst. */
static void *new_checked(struct sgc_cache *cache, size_t bytes, size_t align)
{
    void *block;

    sgc_inside_begin(SGC_INSIDE_BLOCK);
    block = sgc_checked_new(cache, bytes, align);
    sgc_inside_end(SGC_INSIDE_BLOCK);
    return block;
}

/* NULL: the thread has no slot at hand, or is inside malloc, or has left that by a jump: what
 * follows settles that. */
static void *try_checked(size_t bytes)
{
    void *block;

    sgc_assert(sgc_checks());
    if (sgc_self == NULL || sgc_thread_inside != 0 || sgc_section_inside(&sgc_self->section))
        return NULL;
    sgc_inside_begin(SGC_INSIDE_BLOCK);
    block = sgc_checked_try(sgc_self, bytes);
    sgc_inside_end(SGC_INSIDE_BLOCK);
    return block;
}

static void *new_block(size_t bytes, size_t align, bool zeroed)
{
    struct sgc_turn turn;
    void *block = NULL;

    sgc_assert(align >= SGC_GRANULE && (align & (align - 1)) == 0);
    if (bytes <= PTRDIFF_MAX - SGC_PAGE && align <= PTRDIFF_MAX / 2) {
        turn = sgc_turn_begin();
        if (turn.cache != NULL)
            block = sgc_checks() ? new_checked(turn.cache, bytes, align) :
                                   from_heap(turn.cache, bytes != 0 ? bytes : 1, align, zeroed);
        sgc_turn_end(&turn);
    }
    sgc_assert((uintptr_t)block % align == 0);
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

void *sgc_block_new_slowly(size_t bytes)
{
    void *block = sgc_checks() ? try_checked(bytes) : NULL;

    return block != NULL ? block : new_block(bytes, SGC_GRANULE, false);
}

/* Before there is a cache all classes lead to a bin that is empty. */
void *sgc_block_new_larger(size_t bytes)
{
    struct sgc_bin *bin;

    sgc_assert(bytes > SGC_FAST_MAX);
    if (bytes > SGC_SMALL_MAX)
        return sgc_block_new_slowly(bytes);
    bin = &sgc_fast_cache->bin[SGC_KIND_POINTER_FREE][sgc_class_for((bytes + SGC_GRANULE - 1) / SGC_GRANULE)];
    if (__builtin_expect(!sgc_bin_has_freed(bin), 0))
        return sgc_block_new_slowly(bytes);
    sgc_assert(bin->size >= bytes);
    return sgc_bin_pop(bin);
}

void *sgc_block_new_aligned(size_t bytes, size_t align)
{
    return new_block(bytes, align > SGC_GRANULE ? align : SGC_GRANULE, false);
}

/* A program may never touch most of a large block: the system zeroes what it touches, whatever the
 * pages had in them. */
static void *new_zeroed_by_system(size_t bytes)
{
    void *block = new_block(bytes, SGC_GRANULE, false);

    sgc_assert(bytes >= ZERO_BY_SYSTEM && !sgc_checks());
    if (block != NULL && !sgc_mem_discard(block, sgc_round_up(bytes, sgc_os_page_size())))
        memset(block, 0, bytes);
    return block;
}

/* A span that is zeroed has a kind that says so, and which growing it would zero for, too.  Checked
 * blocks are zero, and have their seals behind what was asked for. */
void *sgc_block_new_zeroed(size_t bytes)
{
    void *block;

    if (bytes >= ZERO_BY_SYSTEM && !sgc_checks())
        return new_zeroed_by_system(bytes);
    block = new_block(bytes, SGC_GRANULE, bytes > ZERO_BY_SPAN);
    sgc_assert(block == NULL || bytes <= ZERO_BY_SPAN || (uintptr_t)block % SGC_PAGE == 0);
    if (block != NULL && bytes > ZERO_BY_SPAN)
        sgc_page_set_kind(&sgc_heap.pages[sgc_page_number((uintptr_t)block)], SGC_KIND_POINTER_FREE);
    return block;
}

/* ---- blocks that there are ---- */

static bool free_block(void *block)
{
    struct sgc_turn turn = sgc_turn_begin();
    bool freed;

    sgc_assert(sgc_heap_contains((uintptr_t)block));
    freed = turn.cache != NULL && sgc_object_free(turn.cache, block) == SGC_FREE_DONE;
    if (freed)
        sgc_give_back_after(turn.cache, block);
    sgc_turn_end(&turn);
    return freed;
}

/* Frees a block of the thread's own page, or a large one, or ends the program. */
__attribute__((noinline))
static void free_or_tell(void *block, const char *function)
{
    int saved = errno;

    sgc_assert(block != NULL && function != NULL);
    if (!sgc_heap_contains((uintptr_t)block) || !free_block(block))
        sgc_tell_wrong(function, block);
    errno = saved;
}

/* Frees the small block at a granule of the heap if its page is another thread's.  A page becomes
 * the calling thread's by what that thread does, so it is another's until this is done.  A thread
 * without a cache has no pages, and frees even blocks of the common cache's without a lock.  Pages
 * that ended threads have left take the slow way: the last block takes them along. */
__attribute__((always_inline))
static inline bool free_anothers(const struct sgc_cache *cache, size_t granule)
{
    uint32_t page = (uint32_t)(granule / SGC_PAGE_GRANULES), owner = sgc_page_owner(page);

    sgc_assert(sgc_page_ok(page) && (cache == sgc_self || cache->id == SGC_NO_OWNER));
    return owner != cache->id && owner != SGC_ORPHANS && sgc_alloc_bit(granule) && sgc_remote_free(page, granule);
}

/* Allocation bits are set only where small blocks begin. */
__attribute__((always_inline))
static inline void free_unchecked(void *block, const char *function)
{
    size_t granule = sgc_exact_granule(block);

    if (granule < sgc_aw_load(&sgc_heap.granules) && free_anothers(sgc_fast_cache, granule))
        return;
    if (block != NULL)
        free_or_tell(block, function);
}

/* A block that has waited may be freed in its place.  By a thread that has a cache without a
 * turn. */
__attribute__((noinline))
static void free_checked(void *block, size_t bytes, const char *function)
{
    struct sgc_turn turn;

    sgc_assert(block != NULL && sgc_checks());
    if (sgc_self != NULL) {
        sgc_threads_settle();
        sgc_inside_begin(SGC_INSIDE_BLOCK);
        block = sgc_checked_free(sgc_self, block, bytes, function);
        sgc_inside_end(SGC_INSIDE_BLOCK);
    } else {
        turn = sgc_turn_begin();
        block = turn.cache != NULL ? sgc_checked_free(turn.cache, block, bytes, function) : NULL;
        sgc_turn_end(&turn);
    }
    if (block != NULL)
        free_or_tell(block, function);
}

void sgc_block_free_slowly(void *block, size_t bytes, const char *function)
{
    sgc_assert(function != NULL);
    if (!sgc_checks())
        free_unchecked(block, function);
    else if (block != NULL)
        free_checked(block, bytes, function);
}

bool sgc_block_find(const void *block, const char *function, struct sgc_object *object)
{
    bool found;

    sgc_assert(block != NULL && function != NULL);
    if (sgc_checks()) {
        found = sgc_checked_find(block, function, object);
    } else {
        found = sgc_heap_contains((uintptr_t)block) && sgc_object_find((uintptr_t)block, object) &&
                object->start == (uintptr_t)block;
        if (!found)
            sgc_tell_wrong(function, block);
    }
    if (!found)
        errno = EINVAL;
    return found;
}

bool sgc_block_resize_span(const struct sgc_object *o, size_t bytes)
{
    struct sgc_turn turn;
    bool done;

    sgc_assert(o->span && sgc_object_ok(o) && bytes != 0);
    if (bytes <= SGC_SMALL_MAX || bytes > PTRDIFF_MAX - SGC_PAGE || sgc_checks())
        return false;
    turn = sgc_turn_begin();
    done = turn.cache != NULL && sgc_span_resize(&turn.cache->section, o->page, bytes);
    if (done && bytes < o->bytes)
        sgc_give_back(turn.cache);
    sgc_turn_end(&turn);
    return done;
}
