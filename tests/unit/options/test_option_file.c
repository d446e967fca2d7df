/* SPDX-License-Identifier: MIT */
/* options/option_file.c: PATTERN[,key=value]..., and what is said of each text that is none. */
#include "options/option_file.h"

#include <signal.h>
#include <string.h>

#include "tests/lib/tap.h"

static int every, way, signal_number;
static size_t rate;

static const struct sgc_option_row keys[] = {
    { "every", NULL, "so many", 1, 1, 1000, SGC_NONE, SGC_OPTION_INT, &every },
    { "rate", NULL, "so large", 4096, 1, 1 << 30, 0, SGC_OPTION_SIZE, &rate },
    { "way", "up|down", "where to", 0, 0, 1, SGC_NONE, SGC_OPTION_ENUM, &way },
    { "signal", NULL, "the request", 0, 1, 64, SGC_NONE, SGC_OPTION_SIGNAL, &signal_number },
};

static struct sgc_option_file option;

static bool parse(const char *text)
{
    return sgc_option_file_parse(text, keys, sizeof keys / sizeof keys[0], &option);
}

static bool is_initial(void)
{
    return every == 1 && rate == 4096 && way == 0 && signal_number == 0;
}

static bool pattern_is(const char *pattern)
{
    return strcmp(option.pattern, pattern) == 0 && option.wrong[0] == '\0';
}

static void test_accepted(void)
{
    tap_ok(parse("a%p.b") && pattern_is("a%p.b") && is_initial(), "a pattern alone: initial values");
    tap_ok(parse("a,every=12") && pattern_is("a") && every == 12 && rate == 4096, "one key");
    tap_ok(parse("/x/y,signal=USR2,way=down,rate=512k,every=3") && pattern_is("/x/y") && every == 3 && rate == 512 << 10 &&
           way == 1 && signal_number == SIGUSR2, "all keys, in any order");
    tap_ok(parse("a,rate=0") && rate == 0, "a special value");
    tap_ok(parse("a,b") && pattern_is("a,b") && parse(",a") && pattern_is(",a") && parse("a,") && pattern_is("a,"),
           "a comma may be part of a name");
    tap_ok(parse("a=b") && pattern_is("a=b") && parse("a,b,every=2") && pattern_is("a,b") && every == 2 &&
           parse("a,X=1") && pattern_is("a,X=1"), "and so may what is no key");
    tap_ok(parse("a") && is_initial(), "nothing is left of the text before");
}

static void refused(const char *text, const char *wrong)
{
    bool accepted = parse(text);

    tap_ok(!accepted && strcmp(option.wrong, wrong) == 0 && option.pattern[0] == '\0' && is_initial(), "%.40s: %s", text,
           option.wrong);
}

static void test_refused(void)
{
    char longest[2000];

    refused("", "there is no file name");
    refused(",every=2", "there is no file name");
    refused("a,every=0", "every=0 is out of range (1 to 1000)");
    refused("a,every=", "every= is empty (1 to 1000)");
    refused("a,every=2x", "every=2x is not a number (1 to 1000)");
    refused("a,every=-1", "every=-1 is out of range (1 to 1000)");
    refused("a,rate=2,every=1001", "every=1001 is out of range (1 to 1000)");
    refused("a,every=99999999999999999999", "every=99999999999999999999 is a number with too many digits (1 to 1000)");
    refused("a,rate=x", "rate=x is not a number (1 to 1g, or 0)");
    refused("a,rate=7y", "rate=7y is not a size in bytes, with k, m, g or t (1 to 1g, or 0)");
    refused("a,way=aside", "way=aside is not one of the known words (up|down)");
    refused("a,signal=NONE", "signal=NONE is not a signal (a number of 1 to 64 or a name like SIGUSR1)");
    refused("a,evry=2", "there is no key \"evry\", only every, rate, way, signal");
    refused("a,every=2,b", "there is no key \"b\", only every, rate, way, signal");
    refused("a,every=2,", "there is no key \"\", only every, rate, way, signal");
    refused("a,every=2,every=2", "every is there twice");
    refused("a,b\033=2,every=\033", "every=? is not a number (1 to 1000)");

    memset(longest, 'a', sizeof longest);
    longest[1024] = '\0';
    tap_ok(!parse(longest) && strcmp(option.wrong, "the file name is too long") == 0, "a pattern of 1024 characters");
    longest[1023] = '\0';
    tap_ok(parse(longest) && strlen(option.pattern) == 1023, "one of 1023 fits");
    memset(longest, '1', sizeof longest);
    memcpy(longest, "a,every=", 8);
    longest[sizeof longest - 1] = '\0';
    tap_ok(!parse(longest) && strncmp(option.wrong, "every=111", 9) == 0 && strlen(option.wrong) < sizeof option.wrong,
           "a value of 1991: %s", option.wrong);
}

int main(void)
{
    return tap_all(test_accepted, test_refused);
}
