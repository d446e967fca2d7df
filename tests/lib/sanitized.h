/* SPDX-License-Identifier: MIT */
/*
 * TEST_SANITIZED: a sanitizer owns a part of this process (its address space, its signals), so that
 * checks of exactly that make no sense.
 */
#ifndef TESTS_LIB_SANITIZED_H
#define TESTS_LIB_SANITIZED_H

#include "platform/compiler.h"

enum { TEST_SANITIZED = SGC_SANITIZED };

/* Are they built in? */
#ifdef SGC_ASSERTIONS
enum { TEST_ASSERTIONS = 1 };
#else
enum { TEST_ASSERTIONS = 0 };
#endif

#endif
