/* SPDX-License-Identifier: MIT */
/*
 * The numbers of partitions p(0) to p(N) by Euler's recurrence, p(n) = p(n - 1) + p(n - 2)
 * - p(n - 5) - p(n - 7) + ..., in numbers of as many words as they need.  Each sum is a new block,
 * and the one before it is freed: a program whose time goes to short-lived small blocks.
 *
 *     partitions [N]
 *
 * p(5k + 4) must be a multiple of 5.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"

/* The lowest word first. */
struct number {
    size_t words;
    uint32_t word[];
};

static struct number *new_number(size_t words)
{
    struct number *number = malloc(sizeof *number + words * sizeof number->word[0]);

    if (number == NULL) {
        fprintf(stderr, "partitions: no memory for a number of %zu words\n", words);
        exit(3);
    }
    number->words = words;
    return number;
}

static struct number *small_number(uint32_t value)
{
    struct number *number = new_number(1);

    number->word[0] = value;
    return number;
}

static uint32_t word_at(const struct number *a, size_t i)
{
    return i < a->words ? a->word[i] : 0;
}

static void drop_zeros(struct number *a)
{
    while (a->words > 1 && a->word[a->words - 1] == 0)
        a->words--;
}

static struct number *sum_of(const struct number *a, const struct number *b)
{
    struct number *sum = new_number((a->words > b->words ? a->words : b->words) + 1);
    uint64_t carry = 0;

    for (size_t i = 0; i < sum->words; i++) {
        carry += (uint64_t)word_at(a, i) + word_at(b, i);
        sum->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    drop_zeros(sum);
    return sum;
}

/* b is not greater than a. */
static struct number *difference_of(const struct number *a, const struct number *b)
{
    struct number *difference = new_number(a->words);
    uint64_t borrow = 0;

    for (size_t i = 0; i < a->words; i++) {
        uint64_t word = (uint64_t)a->word[i] - word_at(b, i) - borrow;

        difference->word[i] = (uint32_t)word;
        borrow = word >> 63;
    }
    drop_zeros(difference);
    return difference;
}

static uint32_t remainder_of(const struct number *a, uint32_t divisor)
{
    uint64_t rest = 0;

    for (size_t i = a->words; i > 0; i--)
        rest = (rest << 32 | a->word[i - 1]) % divisor;
    return (uint32_t)rest;
}

static void add_to(struct number **sum, const struct number *more)
{
    struct number *before = *sum;

    *sum = sum_of(before, more);
    free(before);
}

/* p(n), n > 0, when all before it are known. */
static struct number *next_partition(struct number **p, long n)
{
    struct number *sums[2] = { small_number(0), small_number(0) }, *result;

    for (long k = 1; k * (3 * k - 1) / 2 <= n; k++) {
        struct number **sum = &sums[k % 2 == 0];

        add_to(sum, p[n - k * (3 * k - 1) / 2]);
        if (k * (3 * k + 1) / 2 <= n)
            add_to(sum, p[n - k * (3 * k + 1) / 2]);
    }
    result = difference_of(sums[0], sums[1]);
    free(sums[0]);
    free(sums[1]);
    return result;
}

int main(int argc, char **argv)
{
    long last = argument(argc, argv, 1, 30000, 1, 1000000);
    struct number **p = malloc((size_t)(last + 1) * sizeof(struct number *));
    uint32_t result = 0;

    if (p == NULL) {
        fprintf(stderr, "partitions: no memory for the table\n");
        return 3;
    }
    p[0] = small_number(1);
    for (long n = 1; n <= last; n++) {
        p[n] = next_partition(p, n);
        if (n % 5 == 4 && remainder_of(p[n], 5) != 0) {
            fprintf(stderr, "partitions: p(%ld) is wrong: it is no multiple of 5\n", n);
            return 1;
        }
    }
    for (long n = 0; n <= last; n++) {
        result = result * 31 + p[n]->word[0];
        free(p[n]);
    }
    free(p);
    printf("result %lu -\n", (unsigned long)result);
    return fflush(stdout) == 0 ? 0 : 1;
}
