/* SPDX-License-Identifier: MIT */
/*
 * SGC_INNER: a variable of our own that common paths read.  The compiler is told that it lies in this library, so that
 * one instruction reads it; it cannot know that from -fvisibility=hidden, which says nothing of what is only declared.
 */
#ifndef SGC_PLATFORM_VISIBILITY_H
#define SGC_PLATFORM_VISIBILITY_H

#define SGC_INNER extern __attribute__((visibility("hidden")))

#endif
