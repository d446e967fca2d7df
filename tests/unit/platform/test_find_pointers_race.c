/* SPDX-License-Identifier: MIT */
/*
 * platform/find_pointers.h while another thread writes the words: whatever it writes, what a form says to lie in the range does.
 * A form that loads a word once to compare it and once to use it fails within a fraction of a second.
 */
#include <stdbool.h>

#include "platform/atomics.h"
#include "platform/find_pointers.h"
#include "platform/platform.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"

enum { WORDS = 64, ROUNDS = TEST_SANITIZED ? 20000 : 400000, LENGTHS = 6 };

static const uintptr_t BASE = UINT64_C(0x7f1234560000), LIMIT = UINT64_C(0x80000);

static _Alignas(64) uintptr_t words[WORDS];
static sgc_a32_t over;

/* In, out, in: each word again and again. */
__attribute__((no_sanitize("thread")))
static void *write_words(void *unused)
{
    volatile uintptr_t *to = words;

    (void)unused;
    for (uintptr_t n = 0; sgc_a32_load(&over) == 0; n++)
        for (size_t i = 0; i < WORDS; i++)
            to[i] = (n + i) % 2 == 0 ? BASE + (n + i) % LIMIT : UINTPTR_MAX - n;
    return NULL;
}

/* Ranges of several lengths: each has loads of its own. */
static size_t beyond(sgc_words_form *form, int round)
{
    static const size_t lengths[LENGTHS] = { 1, 2, 4, 6, 13, WORDS };
    uintptr_t inside[WORDS + SGC_WORDS_BEYOND];
    size_t length = lengths[round % LENGTHS], n, wrong = 0;
    struct sgc_words range[2] = {
        { (uintptr_t)words, length * sizeof *words },
        { (uintptr_t)(words + WORDS - length), length * sizeof *words },
    };

    n = form(inside, range, length <= WORDS / 2 ? 2 : 1, BASE, LIMIT);
    for (size_t i = 0; i < n; i++)
        wrong += inside[i] >= LIMIT;
    return wrong;
}

int main(void)
{
    pthread_t thread = thread_start(write_words, NULL);
    sgc_words_form *form;
    size_t wrong = 0;

    for (unsigned i = 0; (form = sgc_words_inside(i)) != NULL; i++)
        for (int round = 0; round < ROUNDS; round++)
            wrong += beyond(form, round);
    sgc_a32_store(&over, 1);
    pthread_join(thread, NULL);
    tap_ok(wrong == 0, "what is written while it is read is never taken for an address that it is not (%zu times)", wrong);
    return tap_done();
}
