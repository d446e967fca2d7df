/* SPDX-License-Identifier: MIT */
/* Answers questions about a finished library on stdout.  Main thread only. */
#ifndef WORDINDEX_QUERY_H
#define WORDINDEX_QUERY_H

#include "examples/wordindex/build.h"

/* The most frequent words. */
void print_top(const struct library *library, size_t count);

/* One word: where it stands.  More: the files that have all of them, and those that have them as
 * a phrase. */
void answer_query(const struct library *library, const char *text);

/* The words that begin with prefix. */
void answer_prefix(const struct library *library, const char *prefix);

#endif
