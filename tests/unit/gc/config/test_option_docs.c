/* SPDX-License-Identifier: MIT */
/*
 * doc/options.md against the table of options: each option stands there with its type, default,
 * accepted values and help, and nothing stands there that is no option.
 *
 *     test_option_docs            compares (a TAP test)
 *     test_option_docs --print    prints the two tables
 */
#include <string.h>

#include "gc/config/option_set.h"
#include "tests/lib/tap.h"

enum { LINE = 1024 };

/* `text` as a cell of a table: bars would end it. */
static char *cell(const char *text, char buffer[LINE])
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

static char *default_of(const struct sgc_option_row *row, char *buffer, size_t size)
{
    if (row->type == SGC_OPTION_TEXT)
        snprintf(buffer, size, "none");
    else
        sgc_option_show(row, row->initial, buffer, size);
    return buffer;
}

static const char *const type_names[] = { "bool", "int", "size", "ms", "enum", "text", "signal", "ratio" };

static void option_line(const struct sgc_option_row *row, char line[LINE * 3])
{
    char initial[SGC_OPTION_WORDS], range[SGC_OPTION_WORDS], range_cell[LINE], help_cell[LINE];

    snprintf(line, LINE * 3, "| `%s` | %s | %s | %s | %s |\n", row->name, type_names[row->type],
             default_of(row, initial, sizeof initial), cell(sgc_option_range(row, range, sizeof range), range_cell),
             cell(row->help, help_cell));
}

static void unsupported_line(const struct sgc_unsupported_row *row, char line[LINE * 3])
{
    char advice[LINE];

    snprintf(line, LINE * 3, "| `%s` | %s |\n", row->name, cell(row->advice, advice));
}

static void print_tables(void)
{
    char line[LINE * 3];

    printf("| name | type | default | accepted | meaning |\n| --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < SGC_OPTIONS; i++) {
        option_line(&sgc_option_table[i], line);
        fputs(line, stdout);
    }
    printf("\n| name | what to do instead |\n| --- | --- |\n");
    for (int i = 0; i < sgc_unsupported_count; i++) {
        unsupported_line(&sgc_unsupported_table[i], line);
        fputs(line, stdout);
    }
}

/* How many rows are missing in the text, or differ there. */
static int missing_rows(const char *text, bool tell)
{
    char line[LINE * 3];
    int missing = 0;

    for (int i = 0; i < SGC_OPTIONS + sgc_unsupported_count; i++) {
        if (i < SGC_OPTIONS)
            option_line(&sgc_option_table[i], line);
        else
            unsupported_line(&sgc_unsupported_table[i - SGC_OPTIONS], line);
        if (strstr(text, line) != NULL)
            continue;
        missing++;
        if (tell)
            tap_diag("expected: %.*s", (int)strcspn(line, "\n"), line);
    }
    return missing;
}

/* How many rows of the text begin with a name in the form of an option's. */
static int rows(const char *text)
{
    int count = 0;

    for (const char *at = text; (at = strstr(at, "\n| `")) != NULL; at++)
        count += strncmp(at + 4, "GC_", 3) == 0 || strncmp(at + 4, "SGC_", 4) == 0;
    return count;
}

static char *read_document(void)
{
    const char *top = getenv("SGC_SRCDIR");
    static char path[4096], text[65536];

    snprintf(path, sizeof path, "%s/doc/options.md", top != NULL ? top : ".");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        tap_bail("%s cannot be read; run this in the top directory or set SGC_SRCDIR to it", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        print_tables();
        return 0;
    }
    tap_plan(5);
    char *text = read_document();
    tap_ok(missing_rows(text, true) == 0, "each option is documented as it is");
    tap_ok(rows(text) == SGC_OPTIONS + sgc_unsupported_count, "and nothing else is (%d rows)", rows(text));

    char *range = strstr(text, "| 0 to 86400000");
    tap_ok(range != NULL, "the document says the longest decay");
    if (range != NULL)
        range[2] = '1';
    tap_ok(missing_rows(text, false) == 1, "a wrong range is found");
    text[0] = '\0';
    tap_ok(missing_rows(text, false) == SGC_OPTIONS + sgc_unsupported_count, "so is an empty document");
    return tap_done();
}
