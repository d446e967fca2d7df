/* SPDX-License-Identifier: MIT */
/*
 * alloc/small/countdown_rules.h: the logarithm and the share against values to 16 digits, which were computed with 40; and that
 * draws have the mean, the variance and the quantiles of the exponential distribution.
 */
#include "alloc/small/countdown_rules.h"
#include "tests/lib/tap.h"

static bool near(double found, double expected, double relative)
{
    double off = found - expected;

    return (off < 0 ? -off : off) <= relative * (expected < 0 ? -expected : expected);
}

/* -ln(u / 2^53) */
static void check_log(void)
{
    static const struct { uint64_t u; double expected; } row[] = {
        { 1, 36.73680056967710139911330 }, { 2, 36.04365338911715608969 }, { 3, 35.63818828100899170770 },
        { UINT64_C(1) << 52, 0.6931471805599453094172 }, { (UINT64_C(1) << 53) / 10, 2.302585092994045906 },
        { UINT64_C(5422887464914534), 0.5073957585676650 },
    };
    int wrong = sgc_countdown_minus_log(UINT64_C(1) << 53) != 0;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        wrong += !near(sgc_countdown_minus_log(row[i].u), row[i].expected, 1e-8);
    tap_ok(wrong == 0, "logarithms are right to 8 digits");
}

static void check_share(void)
{
    static const struct { double x, expected; } row[] = {
        { 1e-9, 9.999999995e-10 }, { 3.0517578125e-05, 3.05171124684496e-05 }, { 0.001, 9.995001666250083e-4 },
        { 0.5, 0.3934693402873666 }, { 1, 0.6321205588285577 }, { 2, 0.8646647167633873 }, { 10, 0.9999546000702375 },
    };
    int wrong = sgc_countdown_share(0) != 0 || sgc_countdown_share(1e300) != 1;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        wrong += !near(sgc_countdown_share(row[i].x), row[i].expected, 1e-9);
    wrong += sgc_countdown_weight(16, 1) != 1 || !near(sgc_countdown_weight(1 << 20, 1 << 20), 1 / 0.6321205588285577, 1e-9);
    tap_ok(wrong == 0, "1 - exp(-x) is right to 9 digits");
}

enum { DRAWS = 400000, MEAN = 1 << 20 };

/* Of so many draws the mean is off by 0.16 % once in three times, and quantiles by as much: four times that is allowed. */
static void check_draws(void)
{
    uint64_t state = 1;
    double sum = 0, squares = 0;
    int below_half = 0, above_three = 0;

    for (int i = 0; i < DRAWS; i++) {
        double x = (double)sgc_countdown_draw(&state, MEAN) / MEAN;

        sum += x;
        squares += x * x;
        below_half += x < 0.6931471805599453;
        above_three += x > 3;
    }
    tap_ok(near(sum / DRAWS, 1, 0.0064) && near(squares / DRAWS, 2, 0.03),
           "draws have mean and variance of the distribution: %g, %g", sum / DRAWS, squares / DRAWS);
    tap_ok(near(below_half, DRAWS / 2, 0.0064) && near(above_three, DRAWS * 0.049787068367863944, 0.03),
           "and its quantiles: %d below the median, %d above three times the mean", below_half, above_three);
    state = 5;
    tap_ok(sgc_countdown_draw(&state, 1) == 0 && sgc_countdown_draw(&state, SIZE_MAX / 2) <= SIZE_MAX / 8,
           "a rate of 1 takes each object, and the largest one does not wrap");
}

int main(void)
{
    tap_all(check_log, check_share, check_draws);
}
