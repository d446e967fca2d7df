/* SPDX-License-Identifier: MIT */
/*
 * Text for bench/shortterm/indexer.c that is made up: what a document says follows from its number.  A few words are frequent,
 * most are rare.  Nothing is kept in memory, so any thread may ask, and a check can read it all again.
 */
#ifndef SGC_BENCH_SHORTTERM_CORPUS_H
#define SGC_BENCH_SHORTTERM_CORPUS_H

#include <stddef.h>
#include <stdint.h>

enum {
    CORPUS_WORDS = 4096,        /* different ones */
    CORPUS_LETTERS = 12,        /* of a word, at most, with the NUL */
};

/* The words of a document one by one, as numbers below CORPUS_WORDS. */
struct corpus {
    uint64_t random;
};
struct corpus corpus_open(unsigned document);
unsigned corpus_next(struct corpus *corpus);

/* How a word is spelt; its length.  And which word that is, or CORPUS_WORDS. */
size_t corpus_spell(unsigned word, char *letters);
unsigned corpus_word(const char *letters);

#endif
