/* SPDX-License-Identifier: MIT */
/*
 * doc/options.md against the table of options: each option stands there with its type, default,
 * accepted values and help, and nothing stands there that is no option.
 *
 *     test_option_docs            compares (a TAP test)
 *     test_option_docs --print    prints the two tables
 */
#include "gc/config/option_set.h"
#include "tests/lib/option_rows.h"

static void unsupported_line(const struct sgc_unsupported_row *row, char line[OPTION_LINE])
{
    char advice[OPTION_LINE / 3];

    snprintf(line, OPTION_LINE, "| `%s` | %s |\n", row->name, option_cell(row->advice, advice));
}

static void print_tables(void)
{
    char line[OPTION_LINE];

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
    char line[OPTION_LINE];
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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        print_tables();
        return 0;
    }
    tap_plan(5);
    char *text = option_document("doc/options.md");
    tap_ok(missing_rows(text, true) == 0, "each option is documented as it is");
    tap_ok(option_rows(text) == SGC_OPTIONS + sgc_unsupported_count, "and nothing else is (%d rows)", option_rows(text));

    char *range = strstr(text, "| 0 to 86400000");
    tap_ok(range != NULL, "the document says the longest decay");
    if (range != NULL)
        range[2] = '1';
    tap_ok(missing_rows(text, false) == 1, "a wrong range is found");
    text[0] = '\0';
    tap_ok(missing_rows(text, false) == SGC_OPTIONS + sgc_unsupported_count, "so is an empty document");
    return tap_done();
}
