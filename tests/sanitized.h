/* SPDX-License-Identifier: MIT */
/*
 * TEST_SANITIZED: a sanitizer owns a part of this process (its address space, its signals), so that
 * checks of exactly that make no sense.
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TEST_SANITIZED = 1 };
#elif !defined(__has_feature)
enum { TEST_SANITIZED = 0 };
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
enum { TEST_SANITIZED = 1 };
#else
enum { TEST_SANITIZED = 0 };
#endif

#endif
