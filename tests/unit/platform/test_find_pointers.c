/* SPDX-License-Identifier: MIT */
/*
 * Which words are addresses: all forms of platform/find_pointers.h that this processor has find what a plain loop finds, also
 * of words that a mask makes addresses of.
 */
#include <string.h>
#include <sys/mman.h>

#include "platform/find_pointers.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { WORDS = 512, RANGES = 7, ROUNDS = 2000, UNTOUCHED = 77 };

static const uintptr_t BASE = UINT64_C(0x7f1234560000), LIMIT = UINT64_C(0x80000);

static uint64_t state = 88172645463325252u;

static size_t below(size_t bound)
{
    return (size_t)(random_word(&state) >> 20) % bound;
}

/* A word that stands for the address. */
static uintptr_t written(uintptr_t address)
{
    return address | (random_word(&state) & ~sgc_word_form.mask);
}

/* One in so many stands for an address inside, that is. */
static uintptr_t any_word(size_t one_in)
{
    const uintptr_t inside[] = { BASE, BASE + LIMIT - 1, BASE + below(LIMIT) };
    const uintptr_t outside[] = { 0, 1, BASE - 1, BASE + LIMIT, UINTPTR_MAX, INTPTR_MAX, (uintptr_t)INTPTR_MIN,
                                  BASE ^ (uintptr_t)INTPTR_MIN };

    return below(one_in) == 0 ? written(inside[below(sizeof inside / sizeof *inside)])
                              : outside[below(sizeof outside / sizeof *outside)];
}

static size_t plain(uintptr_t *inside, const struct sgc_words *range, size_t ranges)
{
    size_t n = 0;

    for (size_t i = 0; i < ranges; i++)
        for (size_t w = 0; w < range[i].bytes / sizeof(uintptr_t); w++) {
            uintptr_t word = ((const uintptr_t *)range[i].start)[w];
            uintptr_t address = word & sgc_word_form.mask;

            if (address >= BASE && address < BASE + LIMIT)
                inside[n++] = address - BASE;
        }
    return n;
}

static bool same(sgc_words_form *form, const struct sgc_words *range, size_t ranges, size_t words)
{
    static uintptr_t wanted[WORDS], got[WORDS + SGC_WORDS_BEYOND + 1];
    size_t n = plain(wanted, range, ranges);

    got[words + SGC_WORDS_BEYOND] = UNTOUCHED;
    return form(got, range, ranges, BASE, LIMIT) == n && memcmp(wanted, got, n * sizeof *got) == 0 &&
           got[words + SGC_WORDS_BEYOND] == UNTOUCHED;
}

/* Ranges of all lengths, which may overlap, end where memory ends: what lies behind must not be read. */
static bool random_ranges(sgc_words_form *form, uintptr_t *end)
{
    struct sgc_words range[RANGES];
    size_t ranges = below(RANGES + 1), words = 0, one_in = below(2) == 0 ? 2 : 60;

    for (size_t w = 1; w <= WORDS; w++)
        *(end - w) = any_word(one_in);
    for (size_t i = 0; i < ranges; i++) {
        size_t n = below(WORDS / RANGES), behind = below(3) == 0 ? below(WORDS - n) : 0;

        range[i] = (struct sgc_words){ (uintptr_t)(end - behind - n), n * sizeof *end };
        words += n;
    }
    return same(form, range, ranges, words);
}

static bool all_inside(sgc_words_form *form, uintptr_t *end)
{
    struct sgc_words range = { (uintptr_t)(end - WORDS), WORDS * sizeof *end };

    for (size_t w = 1; w <= WORDS; w++)
        *(end - w) = written(BASE + w * 16);
    return same(form, &range, 1, WORDS);
}

static uintptr_t *end_of_memory(void)
{
    size_t bytes = WORDS * sizeof(uintptr_t), guard = 1 << 16;
    char *memory = mmap(NULL, guard + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || bytes > guard || mprotect(memory + guard, guard, PROT_NONE) != 0)
        exit(1);
    return (uintptr_t *)(void *)(memory + guard);
}

static void check(sgc_words_form *form, uintptr_t *end, const char *name)
{
    bool good = true;

    for (int round = 0; round < ROUNDS && good; round++)
        good = random_ranges(form, end);
    tap_ok(good, "%s finds what a plain loop finds, and reads nothing else", name);
    tap_ok(all_inside(form, end), "nothing is written too far behind");
}

static unsigned check_all(bool masked, uintptr_t *end, sgc_words_form *last)
{
    sgc_words_form *form = NULL;
    unsigned n = 0;

    for (; sgc_words_inside(n, masked) != NULL; n++)
        check(form = sgc_words_inside(n, masked), end, masked ? "each form for masked words" : "each form");
    tap_ok(form == last, "the last form is the one for any processor");
    return n;
}

int main(void)
{
    uintptr_t *end = end_of_memory();
    unsigned forms = check_all(false, end, sgc_words_inside_any);

    sgc_word_form.mask = UINT64_C(0x0000fffffffffff0);
    tap_ok(check_all(true, end, sgc_words_masked_any) == forms, "as many for masked words");
    return tap_done();
}
