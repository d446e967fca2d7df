/* SPDX-License-Identifier: MIT */
/*
 * Typed objects: the program says which words are pointers, and only those are followed.
 *
 * For a type T with pointers in the members p and q:
 *
 *     GC_word bits[GC_BITMAP_SIZE(T)] = { 0 };
 *     GC_set_bit(bits, GC_WORD_OFFSET(T, p));
 *     GC_set_bit(bits, GC_WORD_OFFSET(T, q));
 *     GC_descr descriptor = GC_make_descriptor(bits, GC_WORD_LEN(T));
 *     T *object = GC_malloc_explicitly_typed(sizeof(T), descriptor);
 */
#ifndef GC_TYPED_H
#define GC_TYPED_H

#include "gc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A bit for each word of the object, 1 if it may be a pointer; the lowest bit of the first word is the first one's. */
typedef GC_word *GC_bitmap;

/* The bits of a word, the n-th bit of a bitmap, and setting it. */
#define GC_WORDSZ (8 * sizeof(GC_word))
#define GC_get_bit(bitmap, n) (((bitmap)[(n) / GC_WORDSZ] >> ((n) % GC_WORDSZ)) & 1)
#define GC_set_bit(bitmap, n) ((bitmap)[(n) / GC_WORDSZ] |= (GC_word)1 << ((n) % GC_WORDSZ))

/* Of a type and its member, in words; bdwgc 8.3 calls them pointers. */
#define GC_OFFSETOF_IN_PTRS(type, member) (offsetof(type, member) / sizeof(void *))
#define GC_SIZEOF_IN_PTRS(type) (sizeof(type) / sizeof(void *))
#define GC_WORD_OFFSET(type, member) GC_OFFSETOF_IN_PTRS(type, member)
#define GC_WORD_LEN(type) GC_SIZEOF_IN_PTRS(type)
#define GC_BITMAP_SIZE(type) ((GC_WORD_LEN(type) + GC_WORDSZ - 1) / GC_WORDSZ)

typedef GC_word GC_descr;

/* The descriptor of objects with that bitmap, of which the first `length` bits count: make one for each type and keep it.
 * Objects may be larger; words beyond the bitmap are no pointers.  0 for the length means that there are none at all.
 *
 * Long bitmaps take some memory for ever.  If there is none for it, that is reported, and all words that the bitmap speaks
 * of count as pointers.  NULL, or a length that no object has, is reported too, and then all words of the object count. */
GC_API GC_descr GC_CALL GC_make_descriptor(const GC_word *bitmap, size_t length);

/* A zeroed object of that type, as large as its bitmap at least.  It is freed like any other.  GC_size tells what the program
 * may use: the descriptor lies behind that.
 *
 * Descriptors as in gc_mark.h are taken as well.  One that makes no sense is reported when the object is first looked at,
 * and then each of its words counts.
 *
 * GC_realloc keeps what the descriptor says of the words up to the last pointer; all words behind that may be pointers then,
 * and in an object of more than 62 words, or with a longer bitmap that grows, every word may be one.  So elements added to an
 * array are followed.  Where the descriptor names no pointers at all, there are none in the added words; what a mark procedure
 * looks at stays its own affair.  bdwgc's GC_realloc forgets the descriptor: there allocate a new object. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_explicitly_typed(size_t size, GC_descr descriptor);

/* GC_malloc_explicitly_typed for a large object of which the program keeps a pointer near the beginning
 * (GC_malloc_ignore_off_page). */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_explicitly_typed_ignore_off_page(size_t size,
                                                                                                     GC_descr descriptor);

/* A zeroed array of elements of that type.  Their size is a multiple of that of a pointer; if not, that is reported, and
 * each word of the array counts.  An array too large to be is one for which there is no memory.  GC_realloc: see above; most
 * larger arrays even stay exact. */
GC_API GC_ATTR_MALLOC GC_ATTR_CALLOC_SIZE(1, 2) void *GC_CALL GC_calloc_explicitly_typed(size_t count, size_t size,
                                                                                         GC_descr descriptor);

/* For many arrays of the same sort, GC_calloc_explicitly_typed in two steps.  The first works out how they are made and stores
 * that in *prepared, which the client may copy, and drop when it needs it no more: 1, or 0 if they would be too large.  The
 * second makes one; after a 0 it is one for which there is no memory.  `bytes` is sizeof(struct GC_calloc_typed_descr_s);
 * another number is reported, nothing is done, and 0 or NULL returned. */
#define GC_CALLOC_TYPED_DESCR_PTRS 1
#define GC_CALLOC_TYPED_DESCR_WORDS 8
struct GC_calloc_typed_descr_s {
    GC_uintptr_t opaque_p[GC_CALLOC_TYPED_DESCR_PTRS];
    GC_word opaque[GC_CALLOC_TYPED_DESCR_WORDS - GC_CALLOC_TYPED_DESCR_PTRS];
};
GC_API int GC_CALL GC_calloc_prepare_explicitly_typed(struct GC_calloc_typed_descr_s *prepared, size_t bytes, size_t count,
                                                      size_t size, GC_descr descriptor) GC_ATTR_NONNULL(1);
GC_API GC_ATTR_MALLOC void *GC_CALL GC_calloc_do_explicitly_typed(const struct GC_calloc_typed_descr_s *prepared, size_t bytes)
    GC_ATTR_NONNULL(1);

/* Objects allocated for debugging have no types. */
#ifdef GC_DEBUG
#define GC_MALLOC_EXPLICITLY_TYPED(size, descriptor) ((void)(descriptor), GC_MALLOC(size))
#define GC_MALLOC_EXPLICITLY_TYPED_IGNORE_OFF_PAGE(size, descriptor) GC_MALLOC_EXPLICITLY_TYPED(size, descriptor)
#define GC_CALLOC_EXPLICITLY_TYPED(count, size, descriptor) ((void)(descriptor), GC_MALLOC((count) * (size)))
#else
#define GC_MALLOC_EXPLICITLY_TYPED(size, descriptor) GC_malloc_explicitly_typed(size, descriptor)
#define GC_MALLOC_EXPLICITLY_TYPED_IGNORE_OFF_PAGE(size, descriptor) \
    GC_malloc_explicitly_typed_ignore_off_page(size, descriptor)
#define GC_CALLOC_EXPLICITLY_TYPED(count, size, descriptor) GC_calloc_explicitly_typed(count, size, descriptor)
#endif

#ifdef __cplusplus
}
#endif

#endif
