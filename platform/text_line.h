/* SPDX-License-Identifier: MIT */
/*
 * A line of text put together in a fixed buffer, for statistics and the log.  Neither stdio nor
 * malloc.  Text that does not fit is cut off; the line stays terminated.
 */
#ifndef SGC_PLATFORM_TEXT_LINE_H
#define SGC_PLATFORM_TEXT_LINE_H

#include <stdint.h>

#include "platform/report.h"

struct sgc_line {
    size_t used;                    /* characters, the end not counted */
    char text[2304];                /* the longest log line, with every number at its largest,
                                       fits */
};

void sgc_line_start(struct sgc_line *line);
void sgc_line_add(struct sgc_line *line, const char *format, ...) SGC_PRINTF(2, 3);

/* value / unit as a decimal fraction with `digits` places, rounded: (1234567, 1000000, 3) is
 * 1.235. */
void sgc_line_fixed(struct sgc_line *line, uint64_t value, uint64_t unit, int digits);

/* "1.235" */
static inline void sgc_line_ms(struct sgc_line *line, uint64_t ns)
{
    sgc_line_fixed(line, ns, 1000000, 3);
}

/* "38.2" */
static inline void sgc_line_mib(struct sgc_line *line, uint64_t bytes)
{
    sgc_line_fixed(line, bytes, UINT64_C(1) << 20, 1);
}

/* `length` characters of a stranger's text, cut ("...") to what fits into `buffer` and without what
 * could disturb a terminal.  Returns `buffer`. */
const char *sgc_quote(const char *text, size_t length, char *buffer, size_t size);

#endif
