/* SPDX-License-Identifier: MIT */
/*
 * Catches what is written to standard error, for tests of messages:
 *
 *     capture_begin();
 *     ...
 *     const char *text = capture_end();      // valid until the next capture_begin
 */
#ifndef TESTS_LIB_CAPTURE_H
#define TESTS_LIB_CAPTURE_H

#include <string.h>
#include <unistd.h>

#include "tests/lib/tap.h"

void capture_begin(void);
const char *capture_end(void);

/* What is said while an expression is worked out. */
#define capture_said(...) (capture_begin(), (void)(__VA_ARGS__), capture_end())

/* How often `part` occurs in `text`. */
int capture_count(const char *text, const char *part);

#endif
