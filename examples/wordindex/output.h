/* SPDX-License-Identifier: MIT */
/* Writes lists and statistics of a finished library.  Main thread only. */
#ifndef WORDINDEX_OUTPUT_H
#define WORDINDEX_OUTPUT_H

#include "examples/wordindex/build.h"

/* "COUNT WORD" lines, sorted by word.  false, after a message, if they cannot be written. */
bool write_counts(const struct library *library, const char *path);

/* The paths of the texts, each ended by a NUL byte because a path can hold a newline. */
bool write_files(const struct library *library, const char *path);

/* "NAME VALUE" lines on stdout; seconds is the time that building took, in all rounds. */
void print_statistics(const struct library *library, int threads, int rounds, double seconds);

#endif
