/* SPDX-License-Identifier: MIT */
/* See snapshot/tools/command_line.h. */
#include "snapshot/tools/command_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line may quote any bytes: those that could disturb a terminal become "?". */
_Noreturn void sgc_tool_fail(int status, const char *format, ...)
{
    char line[8192];
    va_list args;

    sgc_assert(status == SGC_TOOL_FAILED || status == SGC_TOOL_MISUSED);
    fflush(stdout);
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", sgc_tool_name, sgc_make_shown(line));
    exit(status);
}

int sgc_tool_end(void)
{
    bool failed = ferror(stdout) != 0;
    int reason = fflush(stdout) != 0 ? errno : 0;

    if (!failed && reason == 0)
        return 0;
    fprintf(stderr, "%s: the standard output cannot be written to (%s); write to where there is room\n", sgc_tool_name,
            reason != 0 ? strerror(reason) : "not all of it");
    return SGC_TOOL_FAILED;
}

/* The word before the "=", if its option takes a value; otherwise NULL. */
static char *word_of(const char *argument, bool (*takes_value)(const char *option))
{
    const char *value = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
    char *word = value != NULL ? strndup(argument, (size_t)(value - argument)) : NULL;

    if (value != NULL && word == NULL)
        sgc_tool_fail(SGC_TOOL_FAILED, "there is no memory for the arguments; free some, or raise the limit (ulimit -v)");
    if (word != NULL && takes_value(word))
        return word;
    free(word);
    return NULL;
}

char **sgc_tool_divide_words(int *argc, char **argv, bool (*takes_value)(const char *option))
{
    static char **divided;              /* static: what lasts until the end is no leak */
    int count = 0;

    sgc_assert(takes_value != NULL && divided == NULL);
    divided = calloc(2 * (size_t)*argc + 1, sizeof *divided);
    if (divided == NULL)
        sgc_tool_fail(SGC_TOOL_FAILED, "there is no memory for the arguments; free some, or raise the limit (ulimit -v)");
    for (int i = 0; i < *argc; i++) {
        char *word = i > 0 ? word_of(argv[i], takes_value) : NULL;

        if (word != NULL)
            divided[count++] = word;
        divided[count++] = word != NULL ? strchr(argv[i], '=') + 1 : argv[i];
    }
    *argc = count;
    return divided;
}

/* A number that begins there, in `all`; *end: behind it. */
static uint64_t number_at(const char *option, const char *all, const char *at, uint64_t min, uint64_t max, char **end)
{
    uint64_t value;

    sgc_assert(min <= max);
    errno = 0;
    value = strtoull(at, end, 10);
    if (*end == at || at[0] < '0' || at[0] > '9' || errno != 0 || value < min || value > max)
        sgc_tool_fail(SGC_TOOL_MISUSED, "%s %s: expected numbers from %" PRIu64 " to %" PRIu64, option, all, min, max);
    return value;
}

uint64_t sgc_tool_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char *end;
    uint64_t value = number_at(option, text, text, min, max, &end);

    sgc_assert(value >= min && value <= max);
    if (*end != '\0')
        sgc_tool_fail(SGC_TOOL_MISUSED, "%s %s: expected one number, with nothing behind it", option, text);
    return value;
}

void sgc_tool_numbers(const char *option, const char *list, uint32_t max, void (*take)(void *arg, uint32_t number), void *arg)
{
    const char *at = list;
    char *end;

    sgc_assert(max >= 1 && take != NULL);
    for (;; at = end + 1) {
        uint64_t first = number_at(option, list, at, 1, max, &end), last = first;

        if (*end == '-')
            last = number_at(option, list, end + 1, first, max, &end);
        for (; first <= last; first++)
            take(arg, (uint32_t)first);
        if (*end == '\0')
            return;
        if (*end != ',')
            sgc_tool_fail(SGC_TOOL_MISUSED, "%s %s: expected numbers and ranges with commas between, such as 1,2,4-8", option,
                          list);
    }
}
