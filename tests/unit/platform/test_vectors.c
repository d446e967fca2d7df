/* SPDX-License-Identifier: MIT */
/*
 * Vector registers after a collection: a signal's frame has all of them, and all of it is scanned, so what our loops over words
 * leave there would keep objects alive for as long as nobody else uses the same registers.
 */

#include "platform/find_pointers.h"
#include "platform/platform.h"
#include "tests/lib/tap.h"
#include "tests/lib/vectors.h"

enum { WORDS = 64 };

static uintptr_t word[WORDS], inside[2 * WORDS];

static void scan(sgc_words_form *form)
{
    struct sgc_words whole = { (uintptr_t)word, sizeof word }, pairs[WORDS / 2];

    for (size_t i = 0; i < WORDS / 2; i++)
        pairs[i] = (struct sgc_words){ (uintptr_t)&word[2 * i], 2 * sizeof *word };
    form(inside, &whole, 1, word[0], word[WORDS - 1] + 1);
    form(inside, pairs, WORDS / 2, word[0], word[WORDS - 1] + 1);
}

int main(void)
{
    sgc_words_form *form;

    for (int i = 0; i < WORDS; i++)
        word[i] = (uintptr_t)0x3fdecafe0000 + ((uintptr_t)i << 16);
    for (unsigned i = 0; (form = sgc_words_inside(i / 2, i % 2 != 0)) != NULL; i++) {
        int left;

        scan(form);
        sgc_stack_clear_deep();
        left = vectors_within(word[0], word[WORDS - 1] + 1);
        tap_ok(left == 0, "form %u of the loop over words leaves nothing in vector registers once a collection is over (%d)",
               i, left);
    }
    return tap_done();
}
