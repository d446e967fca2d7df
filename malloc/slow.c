/* SPDX-License-Identifier: MIT */
/* The slow paths: malloc/slow.h.  On any thread, outside sections. */
#include "malloc/slow.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "alloc/free.h"
#include "alloc/large/span.h"
#include "alloc/new_objects.h"
#include "malloc/give_back.h"
#include "malloc/start.h"
#include "platform/report.h"

enum { ZERO_BY_SPAN = SGC_SMALL_MAX };      /* bytes above which the span knows whether it reads as zero */

/* ---- new blocks ---- */

static void *from_heap(struct sgc_cache *cache, size_t bytes, size_t align, bool zeroed)
{
    uint32_t cls;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (sgc_class_find(bytes, align, &cls))
        return sgc_small_refill(cache, SGC_KIND_POINTER_FREE, cls);
    return sgc_span_alloc(&cache->section, bytes, zeroed ? SGC_KIND_CONSERVATIVE : SGC_KIND_POINTER_FREE, align);
}

static void *new_block(size_t bytes, size_t align, bool zeroed)
{
    struct sgc_turn turn;
    void *block = NULL;

    sgc_assert(align >= SGC_GRANULE && (align & (align - 1)) == 0);
    if (bytes <= PTRDIFF_MAX - SGC_PAGE && align <= PTRDIFF_MAX / 2) {
        turn = sgc_turn_begin();
        if (turn.cache != NULL)
            block = from_heap(turn.cache, bytes != 0 ? bytes : 1, align, zeroed);
        sgc_turn_end(&turn);
    }
    sgc_assert((uintptr_t)block % align == 0);
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

void *sgc_block_new_slowly(size_t bytes)
{
    return new_block(bytes, SGC_GRANULE, false);
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

/* A span that is zeroed has a kind that says so, and which growing it would zero for, too. */
void *sgc_block_new_zeroed(size_t bytes)
{
    void *block = new_block(bytes, SGC_GRANULE, bytes > ZERO_BY_SPAN);

    sgc_assert(block == NULL || bytes <= ZERO_BY_SPAN || (uintptr_t)block % SGC_PAGE == 0);
    if (block != NULL && bytes > ZERO_BY_SPAN)
        sgc_page_set_kind(&sgc_heap.pages[sgc_page_number((uintptr_t)block)], SGC_KIND_POINTER_FREE);
    return block;
}

/* ---- wrong frees: the heap knows of each address what lies there ---- */

static _Noreturn void tell_outside(const char *function, const void *address)
{
    sgc_fatal("%s(%p): no block of this malloc lies there; it is another malloc's, a variable, or the stack. A module that was "
              "loaded with RTLD_DEEPBIND has the C library's malloc: load it without", function, address);
}

static _Noreturn void tell_freed(const char *function, const void *address, const struct sgc_object *o)
{
    sgc_fatal("%s(%p): the block of %zu bytes there has been freed already, or was never handed out; free it once",
              function, address, o->bytes);
}

static _Noreturn void tell_inside(const char *function, const void *address, const struct sgc_object *o)
{
    const char *is = sgc_object_allocated(o) ? "the middle of a block" : "the middle of what is no block";

    sgc_fatal("%s(%p): %s, %zu bytes behind its beginning; pass the address that malloc has returned",
              function, address, is, (size_t)((uintptr_t)address - o->start));
}

/* Ends the program with the function's name, the address, and what lies there.  An address outside
 * the heap is passed over until the constructors run: ld.so may give back what it had before. */
__attribute__((cold, noinline))
static void tell_wrong(const char *function, const void *address)
{
    struct sgc_object o;

    if (!sgc_heap_contains((uintptr_t)address)) {
        if (sgc_malloc_reached())
            tell_outside(function, address);
        return;
    }
    if (!sgc_object_slot((uintptr_t)address, &o))
        sgc_fatal("%s(%p): there is no block; it has been freed, or was never handed out. Free a block once",
                  function, address);
    if (o.start == (uintptr_t)address)
        tell_freed(function, address, &o);
    tell_inside(function, address, &o);
}

/* ---- blocks that there are ---- */

static bool free_block(void *block)
{
    struct sgc_turn turn = sgc_turn_begin();
    bool freed;

    sgc_assert(sgc_heap_contains((uintptr_t)block));
    freed = turn.cache != NULL && sgc_object_free(turn.cache, block) == SGC_FREE_DONE;
    if (freed)
        sgc_give_back(turn.cache);
    sgc_turn_end(&turn);
    return freed;
}

/* Frees a block of the thread's own page, or a large one, or ends the program. */
__attribute__((noinline))
static void free_or_tell(void *block, const char *function)
{
    int saved = errno;

    sgc_assert(function != NULL && block != NULL);
    if (!sgc_heap_contains((uintptr_t)block) || !free_block(block))
        tell_wrong(function, block);
    errno = saved;
}

/* Frees the small block at a granule of the heap if its page is another's.  A page becomes the
 * calling thread's by what that thread does, so it is another's until this is done.  A thread
 * without a cache has no pages, and frees even blocks of the common cache's without a lock. */
__attribute__((always_inline))
static inline bool free_anothers(const struct sgc_cache *cache, size_t granule)
{
    uint32_t page = (uint32_t)(granule / SGC_PAGE_GRANULES);

    sgc_assert(sgc_page_ok(page) && (cache == sgc_self || cache->id == SGC_NO_OWNER));
    return sgc_page_owner(page) != cache->id && sgc_alloc_bit(granule) && sgc_remote_free(page, granule);
}

/* Allocation bits are set only where small blocks begin. */
void sgc_block_free_slowly(void *block, const char *function)
{
    size_t granule = sgc_exact_granule(block);

    sgc_assert(function != NULL);
    if (granule < sgc_aw_load(&sgc_heap.granules) && free_anothers(sgc_fast_cache, granule))
        return;
    if (block != NULL)
        free_or_tell(block, function);
}

bool sgc_block_find(const void *block, const char *function, struct sgc_object *object)
{
    sgc_assert(block != NULL && function != NULL);
    if (sgc_heap_contains((uintptr_t)block) && sgc_object_find((uintptr_t)block, object) &&
        object->start == (uintptr_t)block)
        return true;
    tell_wrong(function, block);
    return false;
}

/* Pages that the span needs no more go back. */
static bool resize_span(const struct sgc_object *o, size_t bytes)
{
    struct sgc_turn turn;
    bool done;

    sgc_assert(o->span && sgc_page_ok(o->page) && o->start == sgc_page_start(o->page));
    if (bytes <= SGC_SMALL_MAX)
        return false;
    turn = sgc_turn_begin();
    done = turn.cache != NULL && sgc_span_resize(&turn.cache->section, o->page, bytes);
    sgc_turn_end(&turn);
    return done;
}

/* Not where it would waste more than half of the slot. */
bool sgc_block_resize(const struct sgc_object *o, size_t bytes)
{
    sgc_assert(sgc_object_ok(o) && bytes != 0);
    if (bytes > PTRDIFF_MAX - SGC_PAGE)
        return false;
    if (o->span)
        return resize_span(o, bytes);
    return bytes <= o->bytes && (bytes > o->bytes / 2 || o->bytes <= 2 * SGC_GRANULE);
}
