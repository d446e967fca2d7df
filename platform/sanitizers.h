/* SPDX-License-Identifier: MIT */
/*
 * SGC_SANITIZED: 1 when a sanitizer watches every access of this build, so that none may be hidden in an instruction
 * it does not see.  SGC_TSAN: ThreadSanitizer does.
 */
#ifndef SGC_PLATFORM_SANITIZERS_H
#define SGC_PLATFORM_SANITIZERS_H

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

#endif
