/* SPDX-License-Identifier: MIT */
/*
 * Lines of text in a fixed buffer: numbers with decimals, cutting, and strangers' texts.
 */
#include "platform/text_line.h"

#include <string.h>

#include "tests/lib/tap.h"

static bool fixed_is(uint64_t value, uint64_t unit, int digits, const char *wanted)
{
    struct sgc_line line;

    sgc_line_start(&line);
    sgc_line_fixed(&line, value, unit, digits);
    if (strcmp(line.text, wanted) != 0)
        tap_diag("%lu/%lu is \"%s\", wanted \"%s\"", (unsigned long)value, (unsigned long)unit, line.text, wanted);
    return strcmp(line.text, wanted) == 0 && line.used == strlen(wanted);
}

/* The C library's decimals, rounded from numbers it represents exactly. */
static bool fixed_as_printf(void)
{
    bool right = true;
    char wanted[64];

    for (uint64_t value = 0; value < 5000000; value += 4999) {
        snprintf(wanted, sizeof wanted, "%.3f", (double)(value * 1000 / 1000 + 0.1) / 1e6);
        right &= fixed_is(value, 1000000, 3, wanted);
    }
    return right;
}

static bool cuts(void)
{
    struct sgc_line line;
    bool right = true;

    sgc_line_start(&line);
    for (int i = 0; i < 2000; i++) {
        sgc_line_add(&line, "%s%d", "ab", 7);
        right &= line.used == strlen(line.text) && line.used < sizeof line.text;
    }
    return right && line.used == sizeof line.text - 1 && strncmp(line.text, "ab7ab7", 6) == 0;
}

static bool quotes_as(const char *text, size_t size, const char *wanted)
{
    char buffer[64];

    memset(buffer, '#', sizeof buffer);
    bool same = strcmp(sgc_quote(text, strlen(text), buffer, size), wanted) == 0;
    return same && buffer[size] == '#';
}

int main(void)
{
    struct sgc_line line;

    tap_plan(15);
    tap_ok(fixed_is(0, 1000000, 3, "0.000") && fixed_is(1234567, 1000000, 3, "1.235"), "milliseconds from nanoseconds");
    tap_ok(fixed_is(499, 1000000, 3, "0.000") && fixed_is(500, 1000000, 3, "0.001"), "halves are rounded up");
    tap_ok(fixed_is(1999999, 1000000, 3, "2.000") && fixed_is(999, 1000, 0, "1"), "rounding carries into the whole");
    tap_ok(fixed_is(1050000, 1000000, 3, "1.050") && fixed_is(7, 1000, 3, "0.007"), "zeros behind the point are kept");
    tap_ok(fixed_is(UINT64_MAX, 1000000, 3, "18446744073709.552") && fixed_is(UINT64_MAX, 1, 2, "18446744073709551615.00"),
           "the largest numbers");
    tap_ok(fixed_as_printf(), "as printf does it");
    sgc_line_start(&line);
    sgc_line_ms(&line, 1500000);
    sgc_line_add(&line, " ");
    sgc_line_mib(&line, 3 << 19);
    tap_ok(strcmp(line.text, "1.500 1.5") == 0, "ms and MiB");
    tap_ok(cuts(), "a line that is too long is cut and stays terminated");
    tap_ok(quotes_as("plain", 16, "plain") && quotes_as("", 16, ""), "a plain text is quoted as it is");
    tap_ok(quotes_as("a\nb\x1b[0m\x7f", 16, "a?b?[0m?"), "control characters become question marks");
    tap_ok(quotes_as("J\xc3\xbcrgen \xe2\x82\xac", 32, "J\xc3\xbcrgen \xe2\x82\xac"), "other letters stay");
    tap_ok(quotes_as("\x9b" "1m\xc2\x9b" "1m\xe0\x82\x9b\xc3", 32, "?1m??1m????"),
           "but neither the controls above ASCII, nor what is no letter");
    tap_ok(quotes_as("\xed\xa0\x80|\xed\x9f\xbf|\xf4\x90\x80\x80|\xf4\x8f\xbf\xbf", 32,
                     "???|\xed\x9f\xbf|????|\xf4\x8f\xbf\xbf"),
           "nor halves of pairs, nor what lies behind the last character");
    tap_ok(quotes_as("0123456789abcdef", 16, "0123456789ab..."), "a long text is cut to the buffer");
    tap_ok(quotes_as("0123456789ab", 16, "0123456789ab"), "one that just fits is not");
    return tap_done();
}
