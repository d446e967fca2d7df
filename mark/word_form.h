/* SPDX-License-Identifier: MIT */
/*
 * Words that are no plain addresses.  A program may write its pointers otherwise than they are:
 * with tags of its own in some bits, as in boxed numbers, or shifted.  Then a word leads to two
 * addresses, (word & mask) << shift and itself, and markers follow both.  With plain words nothing
 * of this costs them anything.
 *
 *   sgc_word_form   written by a thread of the program,    read by markers and by others that ask
 *                   before it allocates                    where words lead: they follow objects
 */
#ifndef SGC_MARK_WORD_FORM_H
#define SGC_MARK_WORD_FORM_H

#include "alloc/pages/heap.h"
#include "mark/read_once.h"
#include "platform/find_pointers.h"

static inline bool sgc_words_are_plain(void)
{
    return sgc_word_form.mask == UINTPTR_MAX && sgc_word_form.shift == 0;
}

/* The address that the program has written as that word. */
static inline uintptr_t sgc_word_formed(uintptr_t word)
{
    sgc_assert(sgc_word_form.mask != 0 && sgc_word_form.shift < 8 * sizeof word);
    return (word & sgc_word_form.mask) << sgc_word_form.shift;
}

/* The one of the two addresses that is in the heap, for questions. */
static inline uintptr_t sgc_word_address(uintptr_t word)
{
    uintptr_t formed = sgc_word_formed(word);

    return sgc_heap_contains(formed) ? formed : word;
}

/* That of a word of the program's memory, which is loaded once. */
SGC_INLINE_BLIND uintptr_t sgc_address_at(uintptr_t at)
{
    sgc_assert(at % sizeof at == 0);
    return sgc_word_address(sgc_read_once(at));
}

#endif
