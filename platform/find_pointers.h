/* SPDX-License-Identifier: MIT */
/*
 * Which words of memory are addresses in a given range: the innermost loop of marking.
 *
 * Words are read that were never meant for the reader (other functions' stack frames, gaps between
 * variables, what other threads write), so sanitizers don't watch.  Other threads may write them
 * meanwhile: what is said to lie in the range does, since each word that is written to `inside` is
 * loaded once.
 */
#ifndef SGC_PLATFORM_FIND_POINTERS_H
#define SGC_PLATFORM_FIND_POINTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/compiler.h"

/* Whole words, aligned to words. */
struct sgc_words {
    uintptr_t start;
    size_t bytes;
};

enum { SGC_WORDS_BEYOND = 8 };          /* places behind those of all words that may be written
                                           to */

/* Of the words of all ranges, those that lie in the `limit` bytes from `base`: writes their
 * distances from it to `inside`, in order, and says how many they are.  base + limit does not
 * overflow. */
typedef size_t sgc_words_form(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                              uintptr_t limit);

/* How the program writes addresses: a word stands for (word & mask) << shift.  Written by a thread
 * of the program before there is a word to look at. */
struct sgc_word_form {
    uintptr_t mask;
    uintptr_t shift;                    /* to the left, in bits */
};
SGC_INNER struct sgc_word_form sgc_word_form;

/* Any processor. */
sgc_words_form sgc_words_inside_any, sgc_words_masked_any;

/* The form numbered i, 0 being the fastest, of those that this processor can run; NULL: there are
 * no more.  The last is the one for any.  `masked`: it applies the mask to each word, and there is
 * no shift. */
sgc_words_form *sgc_words_inside(unsigned i, bool masked);

#endif
