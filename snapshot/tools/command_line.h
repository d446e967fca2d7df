/* SPDX-License-Identifier: MIT */
/* The functions that the command lines of the tools share.  A mistake ends the process, with a line
 * that says what was expected. */
#ifndef SGC_SNAPSHOT_TOOLS_COMMAND_LINE_H
#define SGC_SNAPSHOT_TOOLS_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/report.h"

enum { SGC_TOOL_FAILED = 1, SGC_TOOL_MISUSED = 2 };     /* exit statuses */

/* The tool's name, which each tool defines. */
extern const char sgc_tool_name[];

_Noreturn void sgc_tool_fail(int status, const char *format, ...) SGC_PRINTF(2, 3);

/* The status with which the tool ends: 0 if all that was printed is written; otherwise it says
 * so. */
int sgc_tool_end(void);

/* The arguments, with "--word=value" as two where takes_value("--word") is true; *argc grows with
 * them.  They last until the process ends. */
char **sgc_tool_divide_words(int *argc, char **argv, bool (*takes_value)(const char *option));

/* The number that the text is. */
uint64_t sgc_tool_number(const char *option, const char *text, uint64_t min, uint64_t max);

/* Calls take for each number of a list such as "1,2,4-8", in which they are 1 to `max`. */
void sgc_tool_numbers(const char *option, const char *list, uint32_t max, void (*take)(void *arg, uint32_t number), void *arg);

#endif
