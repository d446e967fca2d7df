/* SPDX-License-Identifier: MIT */
/*
 * What a word is: a maximal run of the ASCII letters A-Z and a-z, in lower case.  In shell,
 *     tr 'A-Z' 'a-z' | tr -cs 'a-z' '\n'
 * under LC_ALL=C, one file at a time.  No lock: each thread cuts its own text.
 */
#ifndef WORDINDEX_TOKENS_H
#define WORDINDEX_TOKENS_H

#include <stddef.h>

struct tokens {
    const char *next, *end;
};

/* The next word of the text as a new string, NULL at the end. */
char *next_word(struct tokens *text);

#endif
