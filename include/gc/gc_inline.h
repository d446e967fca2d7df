/* SPDX-License-Identifier: MIT */
/*
 * Allocation inside the client's code, from free lists that the client keeps: for compilers that generate C.
 *
 * The sizes here are those of the objects as they lie in memory: nothing is added to a request, so a pointer just past
 * such an object does not keep it.  Add a byte if that matters.  Ordinary programs are served as fast by GC_MALLOC.
 */
#ifndef GC_INLINE_H
#define GC_INLINE_H

#include "gc.h"
#include "gc_tiny_fl.h"

#if GC_GNUC_PREREQ(3, 0)
#define GC_EXPECT(expression, outcome) __builtin_expect(expression, outcome)
#else
#define GC_EXPECT(expression, outcome) (expression)
#endif

#ifndef GC_ASSERT
#ifdef NDEBUG
#define GC_ASSERT(expression)
#else
#include <assert.h>
#define GC_ASSERT(expression) assert(expression)
#endif
#endif

#ifndef GC_PREFETCH_FOR_WRITE
#if GC_GNUC_PREREQ(3, 0) && !defined(GC_NO_PREFETCH_FOR_WRITE)
#define GC_PREFETCH_FOR_WRITE(address) __builtin_prefetch((address), 1)
#else
#define GC_PREFETCH_FOR_WRITE(address) ((void)0)
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds that clients name by number: pointer-free, and with pointers. */
#define GC_I_PTRFREE 0
#define GC_I_NORMAL 1

/* 1: nothing is added to the requests of other functions either, so nothing need be added here (SGC_END_BYTE=roots). */
GC_API int GC_CALL GC_get_dont_add_byte_at_end(void);

/* Stores in *result a list of at least one object of exactly `size` bytes (rounded up to a size that exists) and that
 * kind, and as many more as are cheap, in ascending addresses, linked through their first words; all other words of
 * kinds with pointers are zero.  NULL when not even one can be had; the out-of-memory hook is not asked.  *result must
 * be where the collector looks, for pointer-free objects, too. */
GC_API void GC_CALL GC_generic_malloc_many(size_t size, int kind, void **result);

/* One object of a kind; otherwise as GC_malloc.  An unknown kind is reported and NULL returned.  The second form
 * exists for compatibility. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_kind(size_t size, int kind);
#ifdef GC_THREADS
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_kind_global(size_t size, int kind);
#else
#define GC_malloc_kind_global GC_malloc_kind
#endif

/* bdwgc prints its free list here.  SGC has none, and says so. */
GC_API void GC_CALL GC_print_free_list(int kind, size_t granules);

/* ---- macros: statements ----------------------------------------------------------------------- */

/* A head of a list that is private to its thread. */
#if defined(GC_THREADS) && defined(AO_HAVE_store)
#define GC_FAST_M_AO_STORE(head, next) AO_store((volatile AO_t *)(head), (AO_t)(next))
#else
#define GC_FAST_M_AO_STORE(head, next) (void)(*(head) = (next))
#endif

/* Heads that are no addresses count, in granules and from 1, what has been allocated before the list is used; the
 * highest such number. */
#define GC_SGC_HIGHEST_COUNT_(direct) ((GC_word)(direct) + GC_TINY_FREELISTS + 1)

/* `result` = an object of so many granules, from the client's array `lists`.  Sizes for which it has no list are
 * `otherwise`.  Heads begin as 0; or as (void *)1, then the first `direct` granules of each size come from
 * `otherwise`, too.  `prepare` is a statement run for an object from the list, whose first word still has the link. */
#define GC_FAST_MALLOC_GRANS(result, granules, lists, direct, kind, otherwise, prepare) \
    do { \
        if (GC_EXPECT((granules) >= GC_TINY_FREELISTS, 0)) { \
            result = (otherwise); \
        } else { \
            void **sgc_head_ = (lists) + (granules); \
            void *sgc_first_ = *sgc_head_; \
            if ((GC_word)sgc_first_ != 0 && (GC_word)sgc_first_ <= (GC_word)(direct)) { \
                GC_FAST_M_AO_STORE(sgc_head_, (void *)((char *)sgc_first_ + (granules) + 1)); \
                result = (otherwise); \
                break; \
            } \
            if (GC_EXPECT((GC_word)sgc_first_ <= GC_SGC_HIGHEST_COUNT_(direct), 0)) { \
                GC_generic_malloc_many((granules) == 0 ? GC_GRANULE_BYTES : GC_RAW_BYTES_FROM_INDEX(granules), kind, \
                                       sgc_head_); \
                sgc_first_ = *sgc_head_; \
                if (sgc_first_ == NULL) { \
                    result = (*GC_get_oom_fn())((granules) * GC_GRANULE_BYTES); \
                    break; \
                } \
            } \
            { \
                void *sgc_next_ = GC_NEXT(sgc_first_); \
                result = sgc_first_; \
                GC_FAST_M_AO_STORE(sgc_head_, sgc_next_); \
                prepare; \
                GC_PREFETCH_FOR_WRITE(sgc_next_); \
                if ((kind) != GC_I_PTRFREE) { \
                    GC_end_stubborn_change(sgc_head_); \
                    GC_reachable_here(sgc_next_); \
                } \
            } \
        } \
    } while (0)

/* Words to granules, rounded up. */
#define GC_WORDS_TO_WHOLE_GRANULES(words) GC_PTRS_TO_WHOLE_GRANULES(words)

/* `result` = an object of so many words. */
#define GC_MALLOC_WORDS_KIND(result, words, lists, kind, prepare) \
    do { \
        size_t sgc_granules_ = GC_WORDS_TO_WHOLE_GRANULES(words); \
        GC_FAST_MALLOC_GRANS(result, sgc_granules_, lists, 0, kind, \
                             GC_malloc_kind(sgc_granules_ * GC_GRANULE_BYTES, kind), prepare); \
    } while (0)
#define GC_MALLOC_WORDS(result, words, lists) \
    GC_MALLOC_WORDS_KIND(result, words, lists, GC_I_NORMAL, *(void **)(result) = NULL)
#define GC_MALLOC_ATOMIC_WORDS(result, words, lists) \
    GC_MALLOC_WORDS_KIND(result, words, lists, GC_I_PTRFREE, (void)0)

/* `result` = an object of two words, these. */
#define GC_CONS(result, first, second, lists) \
    do { \
        void *sgc_car_ = (void *)(first); \
        void *sgc_cdr_ = (void *)(second); \
        GC_MALLOC_WORDS_KIND(result, 2, lists, GC_I_NORMAL, (void)0); \
        if ((result) != NULL) { \
            *(void **)(result) = sgc_car_; \
            GC_PTR_STORE_AND_DIRTY((void **)(result) + 1, sgc_cdr_); \
            GC_reachable_here(sgc_car_); \
        } \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
