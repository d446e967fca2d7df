/* SPDX-License-Identifier: MIT */
/*
 * The family: what a program calls.  Each function has a name of ours here and is exported under
 * the one of the standard, so that the compiler, which knows what malloc means, makes nothing else
 * of its body.
 *
 * All of them: any thread, also before main and after a thread's last destructor; not from a
 * signal handler that may have interrupted one of them.  Out of memory is NULL and ENOMEM.  Sizes
 * above PTRDIFF_MAX are out of memory.  Every block is a multiple of 16 bytes and begins at one;
 * malloc(0) is a block, too.  Of an address that is no block's, or that of one freed already, the
 * library writes a message, and the program ends; where it goes on (malloc/harden.h), the call does
 * nothing, and returns NULL or 0.
 */
#ifndef SGC_MALLOC_FAMILY_H
#define SGC_MALLOC_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/compiler.h"
#include "platform/report.h"

/* Under that name, for everybody; and one name more for what has the other.  In a sanitizer's
 * build, whose malloc is the program's, there are our names alone. */
#if SGC_SANITIZED
#define SGC_EXPORTED(name)
#define SGC_ALIAS(of, name)
#define SGC_LINKER_NAME(function, name) #function
#else
#define SGC_EXPORTED(name) __asm__(#name) __attribute__((visibility("default")))
#define SGC_ALIAS(of, name) __asm__(".globl " #name "\n\t.set " #name ", " #of)
#define SGC_LINKER_NAME(function, name) #name
#endif

/* A program may define some of the names itself, and then these are its functions for everybody.
 * So the library has one name more for its own, and SGC_IS_OURS asks: is sgc_NAME the function
 * that the process calls so?  The compiler must not see which two are compared: it takes functions
 * of two names for different. */
#define SGC_OWN(name, exported)                                                                    \
    __asm__(".globl sgc_own_" #name "\n\t.hidden sgc_own_" #name "\n\t.set sgc_own_" #name ", "    \
            SGC_LINKER_NAME(sgc_##name, exported))
#define SGC_IS_OURS(name) sgc_is_ours((sgc_code_t)sgc_##name, (sgc_code_t)sgc_own_##name)

typedef void (*sgc_code_t)(void);

__attribute__((always_inline))
static inline bool sgc_is_ours(sgc_code_t called, sgc_code_t ours)
{
    sgc_assert(called != NULL && ours != NULL);
    __asm__("" : "+r"(ours));
    return __builtin_expect(called == ours, 1);
}

/* ISO C, POSIX and C23.  free keeps errno.  realloc to 0 bytes frees the block and returns NULL; a
 * realloc that fails leaves the block alone.  aligned_alloc and posix_memalign refuse an alignment
 * that is no power of two (EINVAL), posix_memalign one that is no multiple of a pointer, too. */
void *sgc_malloc(size_t bytes) SGC_EXPORTED(malloc);
void sgc_free(void *block) SGC_EXPORTED(free);
void *sgc_calloc(size_t count, size_t bytes) SGC_EXPORTED(calloc);
void *sgc_realloc(void *block, size_t bytes) SGC_EXPORTED(realloc);
void *sgc_reallocarray(void *block, size_t count, size_t bytes) SGC_EXPORTED(reallocarray);
void *sgc_aligned_alloc(size_t align, size_t bytes) SGC_EXPORTED(aligned_alloc);
int sgc_posix_memalign(void **block, size_t align, size_t bytes) SGC_EXPORTED(posix_memalign);
void sgc_free_sized(void *block, size_t bytes) SGC_EXPORTED(free_sized);
void sgc_free_aligned_sized(void *block, size_t align, size_t bytes) SGC_EXPORTED(free_aligned_sized);

/* Older ones.  memalign takes the next power of two for an odd alignment; valloc aligns to OS
 * pages; pvalloc rounds the size up to whole ones, too. */
void *sgc_memalign(size_t align, size_t bytes) SGC_EXPORTED(memalign);
void *sgc_valloc(size_t bytes) SGC_EXPORTED(valloc);
void *sgc_pvalloc(size_t bytes) SGC_EXPORTED(pvalloc);

/* Has the program no malloc of its own?  Where it is not position-independent and takes the address
 * of a function, that is for everybody the entry of its table that jumps there, and SGC_IS_OURS
 * says no.  Of `free` the library finds out at its start; of an operator it is only slower. */
#define SGC_MALLOC_IS_OURS() (SGC_IS_OURS(free) || sgc_free_is_entry)
SGC_INNER void sgc_own_free(void *block);
SGC_INNER bool sgc_free_is_entry;               /* that leads to ours; written at the start */

/* Bytes that the block has, all of which may be used; 0 for NULL. */
size_t sgc_malloc_usable_size(void *block) SGC_EXPORTED(malloc_usable_size);

/* ---- malloc/operators.c: what C++ calls, by the names that its compilers give ----
 *
 * new without memory runs the program's handler, which the C++ library has, or throws by that
 * library; forms that do not throw (`tag`) call the library's. */
void *sgc_new(size_t bytes) SGC_EXPORTED(_Znwm);
void *sgc_new_array(size_t bytes) SGC_EXPORTED(_Znam);
void *sgc_new_nothrow(size_t bytes, const void *tag) SGC_EXPORTED(_ZnwmRKSt9nothrow_t);
void *sgc_new_array_nothrow(size_t bytes, const void *tag) SGC_EXPORTED(_ZnamRKSt9nothrow_t);
void *sgc_new_aligned(size_t bytes, size_t align) SGC_EXPORTED(_ZnwmSt11align_val_t);
void *sgc_new_array_aligned(size_t bytes, size_t align) SGC_EXPORTED(_ZnamSt11align_val_t);
void *sgc_new_aligned_nothrow(size_t bytes, size_t align, const void *tag) SGC_EXPORTED(_ZnwmSt11align_val_tRKSt9nothrow_t);
void *sgc_new_array_aligned_nothrow(size_t bytes, size_t align, const void *tag)
    SGC_EXPORTED(_ZnamSt11align_val_tRKSt9nothrow_t);
void sgc_delete(void *block) SGC_EXPORTED(_ZdlPv);
void sgc_delete_array(void *block) SGC_EXPORTED(_ZdaPv);
void sgc_delete_sized(void *block, size_t bytes) SGC_EXPORTED(_ZdlPvm);
void sgc_delete_array_sized(void *block, size_t bytes) SGC_EXPORTED(_ZdaPvm);
void sgc_delete_nothrow(void *block, const void *tag) SGC_EXPORTED(_ZdlPvRKSt9nothrow_t);
void sgc_delete_array_nothrow(void *block, const void *tag) SGC_EXPORTED(_ZdaPvRKSt9nothrow_t);
void sgc_delete_aligned(void *block, size_t align) SGC_EXPORTED(_ZdlPvSt11align_val_t);
void sgc_delete_array_aligned(void *block, size_t align) SGC_EXPORTED(_ZdaPvSt11align_val_t);
void sgc_delete_aligned_sized(void *block, size_t bytes, size_t align) SGC_EXPORTED(_ZdlPvmSt11align_val_t);
void sgc_delete_array_aligned_sized(void *block, size_t bytes, size_t align) SGC_EXPORTED(_ZdaPvmSt11align_val_t);
void sgc_delete_aligned_nothrow(void *block, size_t align, const void *tag) SGC_EXPORTED(_ZdlPvSt11align_val_tRKSt9nothrow_t);
void sgc_delete_array_aligned_nothrow(void *block, size_t align, const void *tag)
    SGC_EXPORTED(_ZdaPvSt11align_val_tRKSt9nothrow_t);

/* ---- malloc/info.c: figures, and requests that are not for us ---- */

/* The C library's, of which this library fills in what it has: `arena` bytes of pages in use or
 * with contents, `hblkhd` in large blocks, `uordblks` allocated, `fordblks` free; the ints of the
 * older form stay at INT_MAX. */
struct sgc_mallinfo {
    int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct sgc_mallinfo2 {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct sgc_mallinfo sgc_mallinfo(void) SGC_EXPORTED(mallinfo);
struct sgc_mallinfo2 sgc_mallinfo2(void) SGC_EXPORTED(mallinfo2);

/* Prints the figures to standard error, a line each; and as XML to a stream (0, or EINVAL where
 * `options` is not 0). */
void sgc_malloc_stats(void) SGC_EXPORTED(malloc_stats);
int sgc_malloc_info(int options, void *stream) SGC_EXPORTED(malloc_info);

/* Gives free memory back to the system.  1 if any went. */
int sgc_malloc_trim(size_t pad) SGC_EXPORTED(malloc_trim);

/* Nothing can be set by it: 0. */
int sgc_mallopt(int parameter, int value) SGC_EXPORTED(mallopt);

#endif
