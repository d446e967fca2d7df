/* SPDX-License-Identifier: MIT */
/*
 * What the benchmark programs share: cases in processes of their own, medians, resident memory.
 */
#ifndef SGC_BENCH_MEASURE_H
#define SGC_BENCH_MEASURE_H

#include <stddef.h>

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

#endif
