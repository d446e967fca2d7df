/* SPDX-License-Identifier: MIT */
/* What is random in ACDC, and how many objects a batch has ([SCM-C] 5.3.2). */
#ifndef ACDC_DRAW_H
#define ACDC_DRAW_H

#include <stdint.h>

#include "bench/acdc/options.h"

/* The same numbers in each run with the same seed, others on each thread. */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static inline uint64_t draw_seed(long seed, long thread)
{
    uint64_t state = (uint64_t)seed << 8 | (uint64_t)thread;

    return draw(&state);
}

/* Uniform in [least, most]. */
static inline long draw_between(uint64_t *state, long least, long most)
{
    return least + (long)(((draw(state) >> 32) * (uint64_t)(most - least + 1)) >> 32);
}

/* Small and short-lived objects are more, by the square of how far they are from the largest and longest-lived. */
static inline long batch_objects(const struct options *o, long class, long lifetime)
{
    long by_class = o->size_most - class + 1, by_lifetime = o->lifetime - lifetime + 1;

    return by_class * by_class * by_lifetime * by_lifetime * o->multiplier / (o->threads * o->lifetime);
}

#endif
