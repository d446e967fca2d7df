/* SPDX-License-Identifier: MIT */
/*
 * platform/report.c: formats at their limits, lines to descriptors and hooks, the last words.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

#include "platform/report.h"
#include "tests/lib/child.h"

/* ---- formatting ------------------------------------------------------------------------------------ */

static void check_text(const char *got, const char *expected)
{
    tap_ok(strcmp(got, expected) == 0, "\"%.*s\" is as expected", (int)strcspn(got, "\n"), got);
    if (strcmp(got, expected) != 0)
        tap_diag("expected: %.*s", (int)strcspn(expected, "\n"), expected);
}

static char formatted[128];

/* sgc_format makes that of the rest. */
#define check_format(expected, ...) (sgc_format(formatted, sizeof formatted, __VA_ARGS__), check_text(formatted, expected))

static void test_numbers(void)
{
    check_format("-2147483648 0 2147483647", "%d %d %d", INT_MIN, 0, INT_MAX);
    check_format("-9223372036854775808 9223372036854775807", "%ld %ld", LONG_MIN, LONG_MAX);
    check_format("4294967295 18446744073709551615 18446744073709551615", "%u %lu %zu", UINT_MAX, ULONG_MAX, SIZE_MAX);
    check_format("deadbeef ffffffffffffffff 0", "%x %lx %zx", 0xdeadbeefu, ULONG_MAX, (size_t)0);
    check_format("0x0 0x7f12ab", "%p %p", (void *)0, (void *)0x7f12ab);
}

static void test_strings(void)
{
    const char *volatile none = NULL;           /* volatile: compilers warn about a visible NULL */
    check_format("[] [(null)] x 100%", "[%s] [%s] %c 100%%", "", none, 'x');
}

/* An unknown directive is shown, and a lone percent sign at the end is not run past. */
static void test_unknown_directives(void)
{
    char text[128];
    const char *volatile strange = "%q, %";     /* volatile: compilers check what they can see */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    size_t wanted = sgc_format(text, sizeof text, strange);
#pragma GCC diagnostic pop
    check_text(text, "%q, %");
    tap_ok(wanted == 5, "and counted: %zu", wanted);
}

static void test_truncation(void)
{
    char text[8] = "#######";
    size_t wanted = sgc_format(text, 5, "%s", "abcdefgh");
    tap_ok(wanted == 8, "the wanted length is the whole: %zu", wanted);
    check_text(text, "abcd");
    tap_ok(text[5] == '#' && text[6] == '#', "nothing is written behind the size given");
    wanted = sgc_format(text, 1, "%d", 12345);
    tap_ok(wanted == 5 && text[0] == '\0', "size 1 leaves room for the end only");
    text[0] = 'k';
    wanted = sgc_format(text, 0, "%d", 12345);
    tap_ok(wanted == 5 && text[0] == 'k', "size 0 writes nothing");
    wanted = sgc_format(text, 6, "%d", 12345);
    tap_ok(wanted == 5 && strcmp(text, "12345") == 0, "what just fits is not cut");
}

/* ---- lines ----------------------------------------------------------------------------------------------- */

static int pipe_ends[2];

static const char *written(void)
{
    static char text[4096];
    ssize_t length = read(pipe_ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void test_lines(void)
{
    tap_ok(sgc_report_fd() == 2, "messages go to standard error at first");
    sgc_report_to(pipe_ends[1]);
    tap_ok(sgc_report_fd() == pipe_ends[1], "and elsewhere when told");
    sgc_warn("%d is too many", 7);
    check_text(written(), "SGC: warning: 7 is too many\n");
    sgc_error("bad value %s", "x");
    check_text(written(), "SGC: error: bad value x\n");
    sgc_print("heap %zu", (size_t)1 << 20);
    check_text(written(), "SGC: heap 1048576\n");
}

static void test_long_line(void)
{
    char text[3000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sgc_print("%s", text);
    const char *line = written();
    size_t length = strlen(line);
    tap_ok(length == 1023 && strcmp(line + length - 5, "a...\n") == 0,
           "a long line is cut and says so (%zu bytes)", length);
    text[1023 - 1 - 5] = '\0';
    sgc_print("%s", text);
    line = written();
    length = strlen(line);
    tap_ok(length == 1023 && line[length - 2] == 'a', "the longest line is whole (%zu bytes)", length);
}

static char hooked[2048];

static void keep_line(const char *line)
{
    snprintf(hooked, sizeof hooked, "%s", line);
}

static void test_hooks(void)
{
    sgc_report_hooks(keep_line, NULL);
    sgc_warn("to the hook %d", 1);
    check_text(hooked, "SGC: warning: to the hook 1");
    sgc_print("marker");
    check_text(written(), "SGC: marker\n");
    sgc_report_hooks(NULL, NULL);
    sgc_warn("back");
    check_text(written(), "SGC: warning: back\n");
}

static void test_errno(void)
{
    errno = EDOM;
    sgc_report_to(-1);
    sgc_warn("nobody hears this");
    tap_ok(errno == EDOM, "a message that cannot be written leaves errno alone");
    sgc_report_to(pipe_ends[1]);
}

/* ---- the end ---------------------------------------------------------------------------------------------- */

static void tell_fatal(const char *line)
{
    sgc_print("hook got: %s", line);
}

static int die(void)
{
    sgc_report_hooks(NULL, tell_fatal);
    sgc_fatal("no way on: %d", 42);
}

static int fail_assertion(void)
{
    sgc_assert_failed("1 == 2", "file.c", 77);
}

static void fail_again(int number)
{
    sgc_fatal("again in the handler of %d", number);
}

static int die_in_handler(void)
{
    alarm(10);                  /* nobody reads the pipe meanwhile */
    signal(SIGABRT, fail_again);
    sgc_fatal("once");
}

/* It never blocks the signal. */
static int die_undeferred(void)
{
    struct sigaction action = { .sa_handler = fail_again, .sa_flags = SA_NODEFER };

    alarm(10);
    sigaction(SIGABRT, &action, NULL);
    sgc_fatal("once");
}

static sigjmp_buf place;

static void jump_out(TEST_UNUSED int number)
{
    siglongjmp(place, 1);
}

/* It goes on after each. */
static int outlive(void)
{
    volatile int messages = 0;

    signal(SIGABRT, jump_out);
    sigsetjmp(place, 1);
    messages = messages + 1;
    if (messages <= 3)
        sgc_fatal("message %d", messages);
    return messages;
}

static void test_fatal(void)
{
    int status = run_in_child(die);
    tap_ok(status == 128 + SIGABRT, "sgc_fatal aborts (status %d)", status);
    check_text(written(), "SGC: hook got: SGC: fatal: no way on: 42\nSGC: fatal: no way on: 42\n");
    status = run_in_child(fail_assertion);
    tap_ok(status == 128 + SIGABRT, "a failed assertion aborts (status %d)", status);
    const char *line = written();
    tap_ok(strstr(line, "\"1 == 2\"") && strstr(line, "file.c:77"), "and says which and where");
    status = run_in_child(die_in_handler);
    tap_ok(status == 128 + SIGABRT, "a handler of SIGABRT that comes here again is not called again (status %d)", status);
    check_text(written(), "SGC: fatal: once\nSGC: fatal: again in the handler of 6\n");
    status = run_in_child(die_undeferred);
    tap_ok(status == 128 + SIGABRT, "nor does one for ever that does not block the signal (status %d)", status);
    written();
    status = run_in_child(outlive);
    tap_ok(status == 4, "one that leaves by a jump is called by the next message, too (status %d)", status);
    check_text(written(), "SGC: fatal: message 1\nSGC: fatal: message 2\nSGC: fatal: message 3\n");
}

int main(void)
{
    if (pipe(pipe_ends) != 0)
        tap_bail("no pipe");
    return tap_all(test_numbers, test_strings, test_unknown_directives, test_truncation, test_lines,
                   test_long_line, test_hooks, test_errno, test_fatal);
}
