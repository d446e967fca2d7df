/* SPDX-License-Identifier: MIT */
/*
 * What an atomic increment costs beside a plain one ([Herrmann], appendix C): an empty loop, a loop
 * that adds one to a variable in memory, and one that does so by an atomic instruction.  The second
 * and third figures are without the first.
 *
 *     increment [MILLIONS]                turns of each loop
 *
 * The number of the turn is volatile in all three, so that no loop goes and none is unrolled.  One
 * thread, so nobody contends for the variable.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "bench/measure.h"

static volatile unsigned long plain;
static atomic_ulong shared;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double empty_ns(long turns)
{
    double began = now_ns();

    for (volatile long i = 0; i < turns; i++)
        continue;
    return (now_ns() - began) / (double)turns;
}

static double plain_ns(long turns)
{
    double began = now_ns();

    for (volatile long i = 0; i < turns; i++)
        plain = plain + 1;
    return (now_ns() - began) / (double)turns;
}

static double atomic_ns(long turns)
{
    double began = now_ns();

    for (volatile long i = 0; i < turns; i++)
        atomic_fetch_add(&shared, 1);
    return (now_ns() - began) / (double)turns;
}

int main(int argc, char **argv)
{
    long turns = argument(argc, argv, 1, 100, 1, 100000) * 1000000;
    double base = empty_ns(turns);

    printf("loop_ns %.6g ns\n", base);
    printf("plain_ns %.6g ns\n", plain_ns(turns) - base);
    printf("atomic_ns %.6g ns\n", atomic_ns(turns) - base);
    if (plain != (unsigned long)turns || atomic_load(&shared) != (unsigned long)turns) {
        fprintf(stderr, "increment: a variable was not increased in each turn\n");
        return 1;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
