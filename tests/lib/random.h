/* SPDX-License-Identifier: MIT */
/* Numbers that look random and are the same in every run. */
#ifndef TESTS_LIB_RANDOM_H
#define TESTS_LIB_RANDOM_H

#include <stdint.h>

/* The next of them.  *state is not 0. */
static inline uint64_t random_word(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Below n. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(random_word(state) >> 20) % n;
}

/* Another sequence, from any state. */
static inline uint64_t random_mixed(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state ^ *state >> 29;
}

#endif
