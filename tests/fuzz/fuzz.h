/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzers share.  Each has one entry point in libFuzzer's form, and runs under libFuzzer (tests/fuzz/build_libfuzzer)
 * or under the driver of this folder (drive.c), which every compiler can build.
 *
 * An input is any bytes.  What reads it (struct fuzz_input) gets zeros behind its end, so each input means something, and a
 * shorter one means the beginning of the same.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns 0, or ends the process in fuzz_found. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the driver has to know of a fuzzer. */
struct fuzz_subject {
    const char *name;
    size_t longest;                     /* bytes of an input */
    uint32_t batch;                     /* inputs that one process runs, one after the other */
    bool in_place;                      /* little of an input is moved: it has a format */
    bool first_byte;                    /* is the same in all inputs of a process */
    const char *const *words;           /* what mutations put in, NULL behind the last; NULL: none */
    const char *const *faults;          /* that can be planted, likewise */
    void (*plant)(unsigned fault);      /* the n-th of them, before the first input */
};

extern const struct fuzz_subject fuzz_subject;

/* Says what is wrong, and ends the process so that the driver, or libFuzzer, keeps the input. */
_Noreturn void fuzz_found(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what the model is like, for fuzz_found; a fuzzer may have it. */
void fuzz_describe(void);

#define fuzz_expect(condition, ...) ((condition) ? (void)0 : fuzz_found(__VA_ARGS__))

/* ---- reading an input ---- */

struct fuzz_input {
    const uint8_t *at, *end;
};

static inline bool fuzz_more(const struct fuzz_input *in)
{
    return in->at < in->end;
}

static inline unsigned fuzz_byte(struct fuzz_input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

/* Below n, which is at most 65536. */
static inline unsigned fuzz_below(struct fuzz_input *in, unsigned n)
{
    unsigned value = fuzz_byte(in);

    if (n > 256)
        value = value << 8 | fuzz_byte(in);
    return value % n;
}

static inline uint64_t fuzz_word(struct fuzz_input *in)
{
    uint64_t word = 0;

    for (int i = 0; i < 8; i++)
        word = word << 8 | fuzz_byte(in);
    return word;
}

#endif
