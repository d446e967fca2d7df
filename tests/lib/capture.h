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

/* How often `part` occurs in `text`. */
int capture_count(const char *text, const char *part);

#endif
