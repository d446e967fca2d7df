/* SPDX-License-Identifier: MIT */
/*
 * The compiler and the processor, as far as declarations depend on them.  Includes nothing.
 *
 * SGC_SANITIZED: 1 when a sanitizer watches every access of this build, so that none may be hidden
 * in an instruction it does not see.  SGC_TSAN: ThreadSanitizer does.
 *
 * SGC_TRACES: 0 where the lower rooms are compiled for a plain malloc, without anything that marks:
 * no thread is ever stopped, the heap has no mark bits, and its epoch never changes.
 */
#ifndef SGC_PLATFORM_COMPILER_H
#define SGC_PLATFORM_COMPILER_H

#ifdef __has_feature
#define SGC_HAS_FEATURE(name) __has_feature(name)
#else
#define SGC_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || SGC_HAS_FEATURE(thread_sanitizer)
#define SGC_TSAN 1
#else
#define SGC_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SGC_TSAN || SGC_HAS_FEATURE(address_sanitizer) || SGC_HAS_FEATURE(memory_sanitizer)
#define SGC_SANITIZED 1
#else
#define SGC_SANITIZED 0
#endif

#ifndef SGC_TRACES
#define SGC_TRACES 1
#endif

/* A variable of our own that common paths read.  The compiler is told that it lies in this library,
 * so that one instruction reads it; it cannot know that from -fvisibility=hidden, which says
 * nothing of a variable that is only declared. */
#define SGC_INNER extern __attribute__((visibility("hidden")))

/* The compiler compares the arguments with the format. */
#if defined(__GNUC__)
#define SGC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SGC_PRINTF(fmt, args)
#endif

/* Linkers may take out sections that nobody names. */
#if __has_attribute(retain)
#define SGC_RETAIN retain,
#else
#define SGC_RETAIN
#endif

/* On a processor with longer lines the code is slower, and as right. */
enum {
    SGC_CACHE_LINE = 64,            /* bytes that a processor fetches at a time */
    SGC_CACHE_LINE_PAIR = 128,      /* processors fetch lines in pairs: what must not share a line
                                       is that far apart */
};

#endif
