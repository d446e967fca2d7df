/* SPDX-License-Identifier: MIT */
/* A folder of a test's own, below $TMPDIR or /tmp, and files in it. */
#ifndef TESTS_LIB_FOLDER_H
#define TESTS_LIB_FOLDER_H

#include <string.h>
#include <sys/stat.h>

#include "tests/lib/tap.h"

extern char folder[256];

void folder_make(void);
void folder_remove(void);

/* Of a file in it; the last four are valid. */
const char *folder_path(const char *name);

/* Writes a file, and makes the folders it lies in. */
void folder_put(const char *name, const char *text);

#endif
