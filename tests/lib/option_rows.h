/* SPDX-License-Identifier: MIT */
/*
 * A document's table of options against the rows of a library: each row as it must stand there.
 */
#ifndef TESTS_LIB_OPTION_ROWS_H
#define TESTS_LIB_OPTION_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/option_table.h"
#include "tests/lib/tap.h"

enum { OPTION_LINE = 3072 };

/* `text` as a cell of a table: bars would end it. */
static inline char *option_cell(const char *text, char buffer[OPTION_LINE / 3])
{
    char *to = buffer;

    for (; *text != '\0'; text++) {
        if (*text == '|')
            *to++ = '\\';
        *to++ = *text;
    }
    *to = '\0';
    return buffer;
}

static inline char *option_default(const struct sgc_option_row *row, char *buffer, size_t size)
{
    if (row->type == SGC_OPTION_TEXT)
        snprintf(buffer, size, "none");
    else
        sgc_option_show(row, row->initial, buffer, size);
    return buffer;
}

static inline void option_line(const struct sgc_option_row *row, char line[OPTION_LINE])
{
    static const char *const types[] = { "bool", "int", "size", "ms", "enum", "text", "signal", "ratio" };
    char initial[SGC_OPTION_WORDS], range[SGC_OPTION_WORDS], range_cell[OPTION_LINE / 3], help_cell[OPTION_LINE / 3];

    snprintf(line, OPTION_LINE, "| `%s` | %s | %s | %s | %s |\n", row->name, types[row->type],
             option_default(row, initial, sizeof initial), option_cell(sgc_option_range(row, range, sizeof range), range_cell),
             option_cell(row->help, help_cell));
}

/* How many rows of the text begin with a name in the form of an option's. */
static inline int option_rows(const char *text)
{
    int count = 0;

    for (const char *at = text; (at = strstr(at, "\n| `")) != NULL; at++)
        count += strncmp(at + 4, "GC_", 3) == 0 || strncmp(at + 4, "SGC_", 4) == 0;
    return count;
}

/* The document below the top directory; static. */
static inline char *option_document(const char *name)
{
    const char *top = getenv("SGC_SRCDIR");
    static char path[4096], text[65536];

    snprintf(path, sizeof path, "%s/%s", top != NULL ? top : ".", name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        tap_bail("%s cannot be read; run this in the top directory or set SGC_SRCDIR to it", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

#endif
