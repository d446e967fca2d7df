/* SPDX-License-Identifier: MIT */
/*
 * Vector registers after a collection: a signal's frame has all of them, and all of it is scanned, so what our loops over words
 * leave there would keep objects alive for as long as nobody else uses the same registers.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "platform/find_pointers.h"
#include "platform/platform.h"
#include "tests/lib/tap.h"

enum { WORDS = 64 };

static uintptr_t word[WORDS], inside[2 * WORDS];
static volatile int hits;

/* The saved vector registers in a signal's frame. */
#if defined(__x86_64__)

enum { LEGACY = 512, EXTENDED_SIZE = 468 };     /* bytes of what each processor has; where the size of all is */

static const char *saved_vectors(const ucontext_t *context, size_t *bytes)
{
    const char *saved = (const char *)context->uc_mcontext.fpregs;
    uint32_t all;

    memcpy(&all, saved + EXTENDED_SIZE, sizeof all);
    *bytes = all > LEGACY ? all : LEGACY;
    return saved;
}

#else

static const char *saved_vectors(const ucontext_t *context, size_t *bytes)
{
    *bytes = sizeof context->uc_mcontext.__reserved;
    return (const char *)context->uc_mcontext.__reserved;
}

#endif

/* A word that stands in a vector register is one of the array's. */
static void count_hits(int signal, siginfo_t *info, void *context)
{
    size_t bytes;
    const char *saved = saved_vectors(context, &bytes);

    (void)signal, (void)info;
    for (size_t at = 0; at + sizeof(uintptr_t) <= bytes; at += sizeof(uintptr_t)) {
        uintptr_t here;

        memcpy(&here, saved + at, sizeof here);
        for (int i = 0; i < WORDS; i++)
            hits += here == word[i];
    }
}

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
    sgc_signal_install(SIGUSR1, count_hits);
    for (unsigned i = 0; (form = sgc_words_inside(i)) != NULL; i++) {
        hits = 0;
        scan(form);
        sgc_stack_clear_deep();
        raise(SIGUSR1);
        tap_ok(hits == 0, "form %u of the loop over words leaves nothing in vector registers once a collection is over (%d)", i, hits);
    }
    return tap_done();
}
