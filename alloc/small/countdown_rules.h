/* SPDX-License-Identifier: MIT */
/*
 * How many bytes there are to the next point at which a sample is taken, and how likely an object
 * is to have one.  Pure.
 *
 * Points are a Poisson process of one in `rate` bytes: the distances are independent of each other,
 * and exponentially distributed.  So an object of n bytes has a point in it, and is a sample, with
 * the probability 1 - exp(-n / rate), and stands for the inverse of that number of objects.
 * Without the mathematical library: these run in the allocator.
 */
#ifndef SGC_ALLOC_SMALL_COUNTDOWN_RULES_H
#define SGC_ALLOC_SMALL_COUNTDOWN_RULES_H

#include <stddef.h>
#include <stdint.h>

/* xorshift64*: the next number of a sequence that is not 0.  [Vigna 2016] */
static inline uint64_t sgc_countdown_random(uint64_t *state)
{
    uint64_t x = *state | 1;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* -ln(u / 2^53) for u from 1 to 2^53: the digits of the binary logarithm one by one, by squaring
 * what is left of the number. */
static inline double sgc_countdown_minus_log(uint64_t u)
{
    enum { DIGITS = 32 };
    int whole = 63 - __builtin_clzll(u);
    double rest = (double)u / (double)(UINT64_C(1) << whole), part = 0, digit = 0.5;

    for (int i = 0; i < DIGITS; i++, digit /= 2) {
        rest *= rest;
        if (rest >= 2) {
            rest /= 2;
            part += digit;
        }
    }
    return (53 - whole - part) * 0.69314718055994531;
}

/* Bytes to the next point; with a rate of 1 each object is a sample. */
static inline size_t sgc_countdown_draw(uint64_t *state, size_t rate)
{
    uint64_t u = (sgc_countdown_random(state) >> 11) + 1;       /* 1 to 2^53 */
    double bytes = sgc_countdown_minus_log(u) * (double)rate;

    return rate <= 1 ? 0 : bytes < (double)(SIZE_MAX / 8) ? (size_t)bytes : SIZE_MAX / 8;
}

/* 1 - exp(-x) for x >= 0: by the first terms of the series for x / 2^n, doubled n times. */
static inline double sgc_countdown_share(double x)
{
    int doublings = 0;
    double q;

    if (x > 40)
        return 1;
    for (; x > 1.0 / 1024; doublings++)
        x /= 2;
    q = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
    for (; doublings > 0; doublings--)
        q *= 2 - q;
    return q;
}

/* So many objects of `bytes` each stands a sample of one for. */
static inline double sgc_countdown_weight(size_t bytes, size_t rate)
{
    return rate <= 1 ? 1 : 1 / sgc_countdown_share((double)bytes / (double)rate);
}

#endif
