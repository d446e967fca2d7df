/* SPDX-License-Identifier: MIT */
/*
 * Frames that AddressSanitizer has put elsewhere, with an AddressSanitizer of our own: one that a word of the stack leads to is
 * scanned if its function runs there.  tests/check/check_asan has the real one.
 */
#include "api.h"

#include <sgc.h>

#include "../lib/sanitized.h"

void *__asan_get_current_fake_stack(void);
void *__asan_addr_is_in_fake_stack(void *fake_stack, void *address, void **from, void **to);

enum { WORDS = 512, FRAME = 16 };

static void **elsewhere;                /* so many words: frames, each of so many */
static uintptr_t stands;                /* where the function of all of them stands */
static int strange;                     /* questions that make no sense */

void *__asan_get_current_fake_stack(void)
{
    return elsewhere;
}

void *__asan_addr_is_in_fake_stack(void *fake_stack, void *address, void **from, void **to)
{
    uintptr_t word = ((uintptr_t)address - (uintptr_t)elsewhere) / sizeof(void *);

    strange += fake_stack != elsewhere;
    if (word >= WORDS)
        return NULL;
    *from = elsewhere + word / FRAME * FRAME;
    *to = elsewhere + (word / FRAME + 1) * FRAME;
    return (void *)stands;
}

/* Into the second frame. */
static void *make(TEST_UNUSED void *unused)
{
    elsewhere[FRAME + 3] = GC_malloc(API_LARGE);
    return (void *)GC_HIDE_POINTER(elsewhere[FRAME + 3]);
}

static struct SGC_step first;

static void record(const struct SGC_step *step, TEST_UNUSED void *data)
{
    first = step->number == 0 ? *step : first;
}

/* An object in the second frame, while this function's stack has that word. */
TEST_NOINLINE static bool lives(void *leads_to, uintptr_t at)
{
    void *volatile frame = leads_to;
    GC_hidden_pointer hidden = (GC_hidden_pointer)api_in_thread(make, NULL);
    bool alive;

    stands = at;
    scrub_stack();
    api_collect();
    alive = api_alive(&hidden, 1) == 1;
    memset(&first, 0, sizeof(first));
    SGC_find_way(GC_REVEAL_POINTER(hidden), record, NULL);
    memset(elsewhere, 0, WORDS * sizeof(void *));
    return frame == leads_to && alive;
}

int main(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has its own functions of these names");
    elsewhere = api_outside(WORDS * sizeof(void *));
    GC_INIT();
    GC_exclude_static_roots(&first, &first + 1);
    tap_ok(lives(&elsewhere[FRAME + 9], here), "a frame that the stack leads to is scanned");
    tap_ok(first.word == &elsewhere[FRAME + 3] && first.thread == getpid(), "and is where a way begins");
    tap_ok(!lives(&elsewhere[2 * FRAME], here), "one that it does not lead to is not");
    tap_ok(!lives(&elsewhere[FRAME + 9], (uintptr_t)elsewhere), "nor one whose function does not run on this stack");
    tap_ok(strange == 0, "each question is about the thread's own");
    return tap_done();
}
