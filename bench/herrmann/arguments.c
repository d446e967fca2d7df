/* SPDX-License-Identifier: MIT */
/*
 * Prints the arguments that small programs give to sin and cos, a line each: the function, and the
 * argument's 64 bits in hexadecimal.  bench/herrmann/run (d1) tries to predict them.
 *
 *     arguments KIND [CALLS]
 *
 *     fft        Fourier transforms of 256 values, each of which computes all its factors
 *     scan       rays through the columns and rows of a picture
 *     clock      the three hands of a clock, second by second
 *     curve      a curve of many sides, drawn by turns to the left and to the right
 *     pendulum   a pendulum, step by step
 *     orbit      Kepler's equation by Newton's method, for many points of time
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

static const double PI = 3.14159265358979323846;
static long calls_to_make;

static void print_argument(const char *function, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    if (calls_to_make > 0)
        printf("%s %016" PRIx64 "\n", function, bits);
    calls_to_make--;
}

static double sine(double x)
{
    print_argument("sin", x);
    return sin(x);
}

static double cosine(double x)
{
    print_argument("cos", x);
    return cos(x);
}

static double both(double x)
{
    double s = sine(x);

    return s + cosine(x);
}

/* ---- the programs; each does one part of its work ---- */

static double fft_stage(double *re, double *im, int size, int half)
{
    for (int k = 0; k < half; k++) {
        double angle = -PI * k / half, c = cosine(angle), s = sine(angle);

        for (int i = k; i < size; i += 2 * half) {
            double a = re[i + half] * c - im[i + half] * s, b = re[i + half] * s + im[i + half] * c;

            re[i + half] = re[i] - a;
            im[i + half] = im[i] - b;
            re[i] += a;
            im[i] += b;
        }
    }
    return re[0];
}

/* Nobody needs the result, so the values are not brought into reversed order first. */
static double fft(long part)
{
    enum { SIZE = 256 };
    double re[SIZE], im[SIZE], sum = 0;

    for (int i = 0; i < SIZE; i++) {
        re[i] = (double)((i * 7 + part) % 16);
        im[i] = 0;
    }
    for (int half = 1; half < SIZE; half *= 2)
        sum += fft_stage(re, im, SIZE, half);
    return sum;
}

/* One row: the angles of columns are those of each row. */
static double scan(long part)
{
    enum { WIDTH = 64, HEIGHT = 48 };
    double down = ((double)(part % HEIGHT) / HEIGHT - 0.5) * 0.75, sum = sine(down);

    for (int column = 0; column < WIDTH; column++)
        sum += both((double)column / WIDTH - 0.5);
    return sum;
}

static double clock_hands(long part)
{
    double sum = both(2 * PI * (double)(part % 60) / 60);

    sum += both(2 * PI * (double)(part / 60 % 60) / 60);
    sum += both(2 * PI * (double)(part / 3600 % 12) / 12);
    return sum;
}

/* The dragon curve: turn n is to the left if the bit above the lowest set bit of n is set. */
static double curve(long part)
{
    static int direction;
    unsigned long n = (unsigned long)part + 1, above = (n & (~n + 1)) << 1;

    direction = (direction + ((n & above) != 0 ? 1 : 7)) % 8;
    return both(PI / 4 * direction);
}

static double pendulum(long part)
{
    static double angle = 1, speed;

    (void)part;
    speed -= 0.01 * sine(angle);
    angle += 0.01 * speed;
    return angle;
}

static double orbit(long part)
{
    double mean = 0.01 * (double)part, e = 0.3, found = mean;

    for (int i = 0; i < 4; i++) {
        double s = sine(found), c = cosine(found);

        found -= (found - e * s - mean) / (1 - e * c);
    }
    return found;
}

int main(int argc, char **argv)
{
    static double (*const programs[])(long) = { fft, scan, clock_hands, curve, pendulum, orbit };
    int chosen = choice(argc, argv, 1, "fft|scan|clock|curve|pendulum|orbit");
    double sum = 0;

    calls_to_make = argument(argc, argv, 2, 20000, 1, 10000000);
    for (long part = 0; calls_to_make > 0; part++)
        sum += programs[chosen](part);
    if (!isfinite(sum)) {
        fprintf(stderr, "arguments: a result is not finite\n");
        return 1;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
