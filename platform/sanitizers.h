/* SPDX-License-Identifier: MIT */
/*
 * SGC_SANITIZED: 1 when a sanitizer watches every access of this build, so that none may be hidden in an instruction
 * it does not see.
 */
#ifndef SGC_PLATFORM_SANITIZERS_H
#define SGC_PLATFORM_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SGC_SANITIZED 1
#elif !defined(__has_feature)
#define SGC_SANITIZED 0
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SGC_SANITIZED 1
#else
#define SGC_SANITIZED 0
#endif

#endif
