/* SPDX-License-Identifier: MIT */
/*
 * What the benchmark programs share: cases in processes of their own, medians, resident memory.
 */
#ifndef SGC_BENCH_MEASURE_H
#define SGC_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/* Median, least and most of n figures; sorts them. */
struct spread {
    double median, least, most;
};
struct spread spread_of(double *figure, size_t n);

/* Runs fill(figure, n, arg) in a child process and brings its n figures back.  Ends the program with a message if the
 * child fails. */
void in_child(void (*fill)(double *figure, size_t n, long arg), double *figure, size_t n, long arg);

/* Resident bytes of this process. */
size_t resident_bytes(void);

/* The part of the command line behind the program's name, as a number within bounds. */
long argument(int argc, char **argv, int i, long otherwise, long least, long most);

/* The i-th argument as the index of one of the words "a|b|c"; a missing argument is the first. */
int choice(int argc, char **argv, int i, const char *words);

/* Numbers that look random and are the same in each run; *state is not 0. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static inline size_t random_below(uint64_t *state, size_t bound)
{
    return (size_t)(((random_next(state) >> 32) * (uint64_t)bound) >> 32);
}

#endif
