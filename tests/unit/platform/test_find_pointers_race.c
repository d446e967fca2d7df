/* SPDX-License-Identifier: MIT */
/*
 * platform/find_pointers.h while another thread writes the words: whatever it writes, what a form says to lie in the range
 * does.  The words lie across the end of a page, where a load of several takes longest: a form that loads them once to compare
 * them and once to use them fails some hundred times, if both threads have a processor.
 */

#include "platform/atomics.h"
#include "platform/find_pointers.h"
#include "platform/platform.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"

enum { HOT = 4, WORDS = 40, ROUNDS = TEST_SANITIZED ? 20000 : 8000000, LENGTHS = 4, PAGE = 4096 };

static const uintptr_t BASE = UINT64_C(0x7f1234560000), LIMIT = UINT64_C(0x80000);

static _Alignas(PAGE) uintptr_t memory[2 * PAGE / sizeof(uintptr_t)];
static uintptr_t *const words = memory + PAGE / sizeof(uintptr_t) - HOT / 2;
static sgc_a32_t over;

/* The first ones, in, out, in, again and again. */
__attribute__((no_sanitize("thread")))
static void *write_words(TEST_UNUSED void *unused)
{
    volatile uintptr_t *to = words;

    for (uintptr_t n = 0; sgc_a32_load(&over) == 0; n++)
        for (size_t i = 0; i < HOT; i++)
            to[i] = n % 2 == 0 ? BASE + 64 : UINTPTR_MAX - 64;
    return NULL;
}

/* Ranges of several lengths: each has loads of its own. */
static size_t beyond(sgc_words_form *form, int round)
{
    static const size_t lengths[LENGTHS] = { 8, 4, 8, WORDS };
    uintptr_t inside[WORDS + SGC_WORDS_BEYOND];
    size_t n, wrong = 0;
    struct sgc_words range = { (uintptr_t)words, lengths[round % LENGTHS] * sizeof *words };

    n = form(inside, &range, 1, BASE, LIMIT);
    for (size_t i = 0; i < n; i++)
        wrong += inside[i] >= LIMIT;
    return wrong;
}

int main(void)
{
    pthread_t thread = thread_start(write_words, NULL);
    sgc_words_form *form;
    size_t wrong = 0;

    for (unsigned i = 0; (form = sgc_words_inside(i / 2, i % 2 != 0)) != NULL; i++)
        for (int round = 0; round < ROUNDS; round++)
            wrong += beyond(form, round);
    sgc_a32_store(&over, 1);
    pthread_join(thread, NULL);
    tap_ok(wrong == 0, "what is written while it is read is never taken for an address that it is not (%zu times)", wrong);
    return tap_done();
}
