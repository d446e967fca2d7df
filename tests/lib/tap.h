/* SPDX-License-Identifier: MIT */
/*
 * The Test Anything Protocol, for test programs: one check a line on standard output.
 *
 *     tap_plan(2);
 *     tap_ok(p != NULL, "malloc(%d) returns memory", n);
 *     tap_ok(GC_base(p) == p, "and its base is itself");
 *     return tap_all(test_sizes, test_frees);         calls these, and says how it went
 *
 * Each check must be able to fail: write down what would have to be wrong for its condition to be
 * false, and where that is not obvious, plant it once and see the line turn to "not ok".  A check
 * that only says that the program came this far is none.
 *
 * The counters belong to the thread that runs main: other threads report to it.  Each line is
 * flushed at once, so that a fork copies none of it and a crash loses none.
 */
#ifndef TESTS_LIB_TAP_H
#define TESTS_LIB_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a function that not every test calls, or of a parameter that is not read. */
#define TEST_UNUSED __attribute__((unused))

/* Of a function that has a frame of its own. */
#define TEST_NOINLINE __attribute__((noinline, unused))

#define TAP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args), unused))

/* One for all files of a program, so that those of tests/lib/libtest.la count with the test. */
__attribute__((weak)) struct { int planned, run, failed; } tap_state;

/* Announces how many checks will run; 0: tap_done counts them. */
TEST_UNUSED static void tap_plan(int checks)
{
    tap_state.planned = checks;
    if (checks > 0)
        printf("1..%d\n", checks);
    fflush(stdout);
}

TAP_PRINTF(2, 3) static void tap_line(const char *begin, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs(begin, stdout);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    fflush(stdout);
}

/* A remark that is no result. */
#define tap_diag(...) tap_line("# ", __VA_ARGS__)

TAP_PRINTF(5, 6) static bool tap_check(bool passed, const char *condition, const char *file,
                                       int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%sok %d - ", passed ? "" : "not ", ++tap_state.run);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    if (!passed) {
        tap_state.failed++;
        printf("# %s:%d: false: %s\n", file, line, condition);
    }
    fflush(stdout);
    return passed;
}

/* One check; the rest is its name, as for printf.  Returns the condition. */
#define tap_ok(condition, ...) \
    tap_check((condition) ? true : false, #condition, __FILE__, __LINE__, __VA_ARGS__)

/* One check that cannot be made here, and why. */
#define tap_skip(...) (printf("ok %d # SKIP ", ++tap_state.run), tap_line("", __VA_ARGS__))

/* Instead of tap_plan: nothing of this program can be checked here.  Ends the program. */
#define tap_skip_all(...) (tap_line("1..0 # SKIP ", __VA_ARGS__), exit(0))

/* The rest makes no sense any more.  Ends the program. */
#define tap_bail(...) (tap_line("Bail out! ", __VA_ARGS__), exit(1))

/* What a function with a format and arguments was given; buffer is an array. */
#define tap_format(buffer, format)                              \
    do {                                                        \
        va_list args;                                           \
        va_start(args, format);                                 \
        vsnprintf(buffer, sizeof(buffer), format, args);        \
        va_end(args);                                           \
    } while (0)

/* The exit status: 0 if every planned check ran and passed. */
TEST_UNUSED static int tap_done(void)
{
    if (tap_state.planned == 0)
        printf("1..%d\n", tap_state.run);
    else if (tap_state.planned != tap_state.run)
        printf("# %d checks planned, %d run\n", tap_state.planned, tap_state.run);
    fflush(stdout);
    bool complete = tap_state.planned == 0 || tap_state.planned == tap_state.run;
    return complete && tap_state.run > 0 && tap_state.failed == 0 ? 0 : 1;
}

TEST_UNUSED static void tap_call(void (*const *check)(void))
{
    while (*check != NULL)
        (*check++)();
}

/* Calls these functions, one after the other; with tap_all nothing is left to do then. */
#define tap_each(...) tap_call((void (*const[])(void)){ __VA_ARGS__, NULL })
#define tap_all(...) (tap_each(__VA_ARGS__), tap_done())

#endif
