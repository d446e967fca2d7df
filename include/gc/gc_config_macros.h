/* SPDX-License-Identifier: MIT */
/*
 * What gc.h needs to know of the compiler and of the client's wishes.  Included by gc.h, first.
 *
 * A client may define, before it includes gc.h:
 *   GC_THREADS                  the program has threads: thread functions are declared, and the names of
 *                               pthread.h that SGC must see are redirected (gc_pthread_redirects.h)
 *   GC_NO_THREAD_REDIRECTS      declare the thread functions, redirect nothing
 *   GC_OOM_FUNC_RETURNS_ALIAS   its out-of-memory hook returns objects that are already in use, so
 *                               the compiler must not assume that allocation returns fresh memory
 *   GC_NO_VISIBILITY            leave the visibility of the functions to the compiler's flags
 * and each GC_API, GC_CALL, GC_CALLBACK and GC_ATTR_* macro below, if it wants another spelling.
 * The library itself is compiled with GC_BUILD, which only drops the deprecation of public variables.
 */
#ifndef GC_CONFIG_MACROS_H
#define GC_CONFIG_MACROS_H

#if !defined(__linux__)
#error "SGC runs on Linux only. Compile this program for Linux, or against the original libgc."
#endif

#include <features.h>
#include <stddef.h>

/* Is the compiler at least GCC major.minor, or does it claim to be? */
#if defined(__GNUC__) && defined(__GNUC_MINOR__)
#define GC_GNUC_PREREQ(major, minor) (__GNUC__ > (major) || (__GNUC__ == (major) && __GNUC_MINOR__ >= (minor)))
#else
#define GC_GNUC_PREREQ(major, minor) 0
#endif

/* ---- threads --------------------------------------------------------------------------------- */

/* Older spellings of the client's request for threads. */
#if defined(LINUX_THREADS) && !defined(GC_LINUX_THREADS)
#define GC_LINUX_THREADS
#endif
#if defined(GC_LINUX_THREADS) && !defined(GC_THREADS)
#define GC_THREADS
#endif
#if defined(USE_LD_WRAP) && !defined(GC_USE_LD_WRAP)
#define GC_USE_LD_WRAP
#endif

/* Derived: which thread system it is, and what of it exists here. */
#undef GC_PTHREADS
#if defined(GC_THREADS)
#define GC_PTHREADS
#if !defined(GC_LINUX_THREADS)
#define GC_LINUX_THREADS
#endif
#if !defined(_REENTRANT)
#define _REENTRANT 1
#endif
#if !defined(GC_HAVE_PTHREAD_EXIT)
#define GC_HAVE_PTHREAD_EXIT
#define GC_PTHREAD_EXIT_ATTRIBUTE GC_ATTR_NORETURN
#endif
#endif

/* ---- declarations ---------------------------------------------------------------------------- */

/* Every public function and variable.  The visibility is stated in the declaration: the library is
 * compiled with everything else hidden, and a client's own hidden default must not catch these. */
#if !defined(GC_API)
#if GC_GNUC_PREREQ(4, 0) && !defined(GC_NO_VISIBILITY)
#define GC_API extern __attribute__((__visibility__("default")))
#else
#define GC_API extern
#endif
#endif

#if !defined(GC_CALL)
#define GC_CALL
#endif
#if !defined(GC_CALLBACK)
#define GC_CALLBACK GC_CALL
#endif

#if !defined(GC_ATTR_MALLOC)
#if GC_GNUC_PREREQ(3, 1) && !defined(GC_OOM_FUNC_RETURNS_ALIAS)
#define GC_ATTR_MALLOC __attribute__((__malloc__))
#else
#define GC_ATTR_MALLOC
#endif
#endif

#if !defined(GC_ATTR_ALLOC_SIZE)
#if defined(__clang__) || GC_GNUC_PREREQ(4, 3)
#define GC_ATTR_ALLOC_SIZE(argument) __attribute__((__alloc_size__(argument)))
#else
#define GC_ATTR_ALLOC_SIZE(argument)
#endif
#endif
#if !defined(GC_ATTR_CALLOC_SIZE)
#if defined(__clang__) || GC_GNUC_PREREQ(4, 3)
#define GC_ATTR_CALLOC_SIZE(count, size) __attribute__((__alloc_size__(count, size)))
#else
#define GC_ATTR_CALLOC_SIZE(count, size)
#endif
#endif

#if !defined(GC_ATTR_NONNULL)
#if GC_GNUC_PREREQ(4, 0)
#define GC_ATTR_NONNULL(argument) __attribute__((__nonnull__(argument)))
#else
#define GC_ATTR_NONNULL(argument)
#endif
#endif

#if !defined(GC_ATTR_CONST)
#if GC_GNUC_PREREQ(4, 0)
#define GC_ATTR_CONST __attribute__((__const__))
#else
#define GC_ATTR_CONST
#endif
#endif

/* Public variables work, but the functions beside them are better: they can report a bad value. */
#if !defined(GC_ATTR_DEPRECATED)
#if GC_GNUC_PREREQ(4, 0) && !defined(GC_BUILD)
#define GC_ATTR_DEPRECATED __attribute__((__deprecated__))
#else
#define GC_ATTR_DEPRECATED
#endif
#endif

#if !defined(GC_ATTR_NORETURN)
#if GC_GNUC_PREREQ(2, 7)
#define GC_ATTR_NORETURN __attribute__((__noreturn__))
#else
#define GC_ATTR_NORETURN
#endif
#endif

/* What differs between bdwgc 8.2 and 8.3 (gc_version.h). */
#if SGC_BDWGC == 803
#define GC_SGC_FORMAT_ const char
#define GC_SGC_GCJ_TYPE_ const void
#define GC_SGC_STACK_SIZE_ size_t
#define GC_SGC_MEMORY_USE_ GC_word
#else
#define GC_SGC_FORMAT_ char
#define GC_SGC_GCJ_TYPE_ void
#define GC_SGC_STACK_SIZE_ GC_word
#define GC_SGC_MEMORY_USE_ size_t
#endif

/* Bytes of a pointer. */
#define GC_SIZEOF_PTR 8

/* Of GC_get_version(). */
#define GC_VERSION_VAL_T unsigned

/* ---- call positions, for the debugging functions --------------------------------------------- */

#if defined(__GLIBC__) && !defined(GC_MISSING_EXECINFO_H) && !defined(GC_HAVE_BUILTIN_BACKTRACE)
#define GC_HAVE_BUILTIN_BACKTRACE
#endif
#if (defined(GC_HAVE_BUILTIN_BACKTRACE) || defined(__x86_64__)) && !defined(GC_CAN_SAVE_CALL_STACKS)
#define GC_CAN_SAVE_CALL_STACKS
#endif

/* ---- C++ ------------------------------------------------------------------------------------- */

#if defined(__cplusplus)
#if !defined(GC_ATTR_EXPLICIT)
#if __cplusplus >= 201103L && !defined(__clang__)
#define GC_ATTR_EXPLICIT explicit
#else
#define GC_ATTR_EXPLICIT
#endif
#endif
#if !defined(GC_CONSTEXPR)
#if __cplusplus >= 202002L
#define GC_CONSTEXPR constexpr
#else
#define GC_CONSTEXPR
#endif
#endif
#if !defined(GC_NOEXCEPT)
#if __cplusplus >= 201103L
#define GC_NOEXCEPT noexcept
#else
#define GC_NOEXCEPT throw()
#endif
#endif
#endif

#endif
