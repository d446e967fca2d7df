/* SPDX-License-Identifier: MIT */
/*
 * Matmul: products of dense matrices, several of them ([Endo], 1.1).  Rows are objects; row i is allocated, filled and
 * computed by thread i modulo the number of threads, and the operands' rows are allocated anew before each product.  The
 * matrices themselves are arrays of pointers to rows.
 *
 * Ours, since the thesis does not say: rows are pointer-free; elements are small whole numbers, so products are exact.
 *
 * The check, after each product: the product times a vector is the first operand times the second times that vector.
 */
#include <stdlib.h>

#include "bench/endo/apps/app.h"

enum { SIZE, PRODUCTS, PARAMETERS };

static struct app_parameter parameters[PARAMETERS] = {
    [SIZE] = { "size", 1, 20000, { 64, 1000, 0, 0, 0 }, 0 },
    [PRODUCTS] = { "products", 1, 100000, { 60, 30, 0, 0, 0 }, 0 },
};

enum { LEFT, RIGHT, PRODUCT, MATRICES };

static double **matrix[MATRICES];
static double *vector[MATRICES];        /* x; RIGHT x; what is checked */
static uint64_t digest;

static long size(void)
{
    return parameters[SIZE].chosen;
}

static void new_row(long i, int m, long row)
{
    STORE(&matrix[m][row], app_new_plain(i, (size_t)size() * sizeof(double)));
}

static void fill_row(long i, int m, long row, long product)
{
    uint64_t state = (uint64_t)((product * MATRICES + m) * size() + row + 1) * UINT64_C(0x9e3779b97f4a7c15);

    new_row(i, m, row);
    for (long k = 0; k < size(); k++)
        matrix[m][row][k] = (double)random_below(&state, 10);
}

static void multiply_row(long row)
{
    double *to = matrix[PRODUCT][row];

    for (long k = 0; k < size(); k++)
        to[k] = 0;
    for (long j = 0; j < size(); j++) {
        double factor = matrix[LEFT][row][j];
        const double *from = matrix[RIGHT][j];

        for (long k = 0; k < size(); k++)
            to[k] += factor * from[k];
    }
}

static double times(int m, long row, const double *by)
{
    double sum = 0;

    for (long k = 0; k < size(); k++)
        sum += matrix[m][row][k] * by[k];
    return sum;
}

/* By one thread. */
static void check(void)
{
    if (app_spoil())
        matrix[PRODUCT][size() / 2][size() / 2]++;
    for (long row = 0; row < size(); row++)
        vector[1][row] = times(RIGHT, row, vector[0]);
    for (long row = 0; row < size(); row++) {
        vector[2][row] = times(LEFT, row, vector[1]);
        result_check(times(PRODUCT, row, vector[0]) == vector[2][row], "a row of a product is not the product of the operands");
    }
    digest = result_digest(digest, vector[2], (size_t)size() * sizeof(double));
    app_live((unsigned long)size() * MATRICES + MATRICES,
             (unsigned long)(size() * size() * MATRICES + size() * MATRICES) * sizeof(double));
}

static void body(long i)
{
    for (long row = i; row < size(); row += app_threads())
        new_row(i, PRODUCT, row);
    for (long product = 0; product < parameters[PRODUCTS].chosen; product++) {
        for (int m = LEFT; m <= RIGHT; m++)
            for (long row = i; row < size(); row += app_threads())
                fill_row(i, m, row, product);
        app_barrier();
        for (long row = i; row < size(); row += app_threads())
            multiply_row(row);
        if (app_barrier())
            check();
        app_barrier();
    }
}

int main(int argc, char **argv)
{
    uint64_t state = 1000;

    app_begin(argc, argv, "matmul", parameters, PARAMETERS);
    for (int m = 0; m < MATRICES; m++) {
        matrix[m] = app_new(0, (size_t)size() * sizeof *matrix[m]);
        vector[m] = obtained(calloc((size_t)size(), sizeof *vector[m]));
    }
    for (long k = 0; k < size(); k++)
        vector[0][k] = (double)random_below(&state, 100);
    app_run(body);
    for (int m = 0; m < MATRICES; m++)
        free(vector[m]);
    return app_end(digest);
}
