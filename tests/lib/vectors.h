/* SPDX-License-Identifier: MIT */
/*
 * How many words of a range stand in the calling thread's vector registers: a signal's frame has them all.
 */
#ifndef SGC_TESTS_LIB_VECTORS_H
#define SGC_TESTS_LIB_VECTORS_H

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

static struct {
    uintptr_t low, high;
    volatile int words;
} vectors;

#if defined(__x86_64__)

/* Bytes that each processor saves, and where the kernel says how many this one does.  Behind the
 * sixteen low registers are bytes that nobody writes: there stands what the stack held before the
 * signal came. */
enum { VECTORS_LEGACY = 512, VECTORS_SIZE_AT = 468, VECTORS_UNWRITTEN = 416 };

static const char *vectors_saved(const ucontext_t *context, size_t *bytes)
{
    const char *saved = (const char *)context->uc_mcontext.fpregs;
    uint32_t all;

    memcpy(&all, saved + VECTORS_SIZE_AT, sizeof all);
    *bytes = all > VECTORS_LEGACY ? all : VECTORS_LEGACY;
    return saved;
}

static int vectors_writes(size_t at)
{
    return at < VECTORS_UNWRITTEN || at >= VECTORS_LEGACY;
}

#else

/* Records of the frame: a word that says what follows, a word with its bytes; the last one has none. */
static const char *vectors_saved(const ucontext_t *context, size_t *bytes)
{
    const char *record = (const char *)context->uc_mcontext.__reserved;
    uint32_t head[2];

    for (;;) {
        memcpy(head, record, sizeof head);
        if (head[0] == FPSIMD_MAGIC || head[1] == 0)
            break;
        record += head[1];
    }
    *bytes = head[0] == FPSIMD_MAGIC ? sizeof(struct fpsimd_context) : 0;
    return record;
}

static int vectors_writes(size_t at)
{
    (void)at;
    return 1;
}

#endif

static void vectors_count(int signal, siginfo_t *info, void *context)
{
    size_t bytes;
    const char *saved = vectors_saved(context, &bytes);

    (void)signal, (void)info;
    for (size_t at = 0; at + sizeof(uintptr_t) <= bytes; at += sizeof(uintptr_t)) {
        uintptr_t word;

        memcpy(&word, saved + at, sizeof word);
        vectors.words += vectors_writes(at) && word >= vectors.low && word < vectors.high;
    }
}

static int vectors_within(uintptr_t low, uintptr_t high)
{
    struct sigaction action = { .sa_sigaction = vectors_count, .sa_flags = SA_SIGINFO };

    vectors.low = low;
    vectors.high = high;
    vectors.words = 0;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    return vectors.words;
}

#endif
