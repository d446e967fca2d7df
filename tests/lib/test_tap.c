/* SPDX-License-Identifier: MIT */
/*
 * Checks tests/lib/tap.h itself: what a passing, a failing and a skipped check print, and that a failed
 * or missing check ends in a failing exit status.  Each case runs in a child whose output is read.
 */
#include "tests/lib/tap.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct outcome {
    char text[1024];
    int status;
};

static int pass_one(void) { tap_plan(1); tap_ok(1 + 1 == 2, "sum %d", 2); return tap_done(); }
static int fail_one(void) { tap_plan(1); tap_ok(1 + 1 == 3, "sum"); return tap_done(); }
static int run_too_few(void) { tap_plan(2); tap_ok(true, "first"); return tap_done(); }
static int run_none(void) { tap_plan(0); return tap_done(); }
static int count_at_end(void) { tap_plan(0); tap_ok(true, "a"); tap_ok(true, "b"); return tap_done(); }
static int skip_one(void) { tap_plan(1); tap_skip("no %s", "fork"); return tap_done(); }
static int skip_program(void) { tap_skip_all("no %s", "hwloc"); return tap_done(); }
static int bail(void) { tap_plan(2); tap_bail("no memory"); return tap_done(); }

/* What `body` prints and returns as the main of a program of its own. */
static struct outcome run(int (*body)(void))
{
    struct outcome outcome = {.text = "", .status = -1};
    int ends[2];
    if (pipe(ends) != 0)
        tap_bail("pipe failed");
    pid_t child = fork();
    if (child == 0) {
        memset(&tap_state, 0, sizeof tap_state);
        dup2(ends[1], 1);
        exit(body());
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n; (n = read(ends[0], outcome.text + got, sizeof outcome.text - 1 - got)) > 0;)
        got += (size_t)n;
    close(ends[0]);
    waitpid(child, &outcome.status, 0);
    return outcome;
}

static void check(int (*body)(void), bool succeeds, const char *text, const char *name)
{
    struct outcome outcome = run(body);
    tap_ok(strcmp(outcome.text, text) == 0 || (text[0] == '~' && strstr(outcome.text, text + 1)),
           "%s: prints the right lines", name);
    tap_ok((outcome.status == 0) == succeeds, "%s: exit status", name);
}

int main(void)
{
    tap_plan(16);
    check(pass_one, true, "1..1\nok 1 - sum 2\n", "a passing check");
    check(fail_one, false, "~\nnot ok 1 - sum\n# ", "a failing check");
    check(run_too_few, false, "~# 2 checks planned, 1 run\n", "a missing check");
    check(run_none, false, "1..0\n", "no check at all");
    check(count_at_end, true, "ok 1 - a\nok 2 - b\n1..2\n", "a plan at the end");
    check(skip_one, true, "1..1\nok 1 # SKIP no fork\n", "a skipped check");
    check(skip_program, true, "1..0 # SKIP no hwloc\n", "a skipped program");
    check(bail, false, "1..2\nBail out! no memory\n", "bailing out");
    return tap_done();
}
