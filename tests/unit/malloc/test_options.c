/* SPDX-License-Identifier: MIT */
/*
 * The options of a plain malloc: each stands in doc/malloc.md as it is; each library knows the
 * other's names; and what the values are after an environment was read.
 *
 * Also: malloc/harden.c.
 */
#include "malloc/options.h"
#include "tests/lib/capture.h"
#include "tests/lib/option_rows.h"

static const struct sgc_option_list *const list = &sgc_malloc_option_list;

/* ---- the document ---- */

static int missing_rows(const char *text)
{
    char line[OPTION_LINE];
    int missing = 0;

    for (int i = 0; i < list->count; i++) {
        option_line(&list->rows[i], line);
        if (strstr(text, line) == NULL)
            tap_diag("expected in doc/malloc.md: %.*s", (int)strcspn(line, "\n"), line);
        missing += strstr(text, line) == NULL;
    }
    return missing;
}

static void test_document(void)
{
    const char *text = option_document("doc/malloc.md");

    tap_ok(missing_rows(text) == 0, "each option is documented as it is");
    tap_ok(option_rows(text) == list->count, "and nothing else is (%d rows)", option_rows(text));
}

/* ---- two libraries ---- */

static const char *const collectors[] = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_) #name_,
#define SGC_FOREIGN(name_) #name_,
#include "gc/config/option_table.def"
};

enum { COLLECTORS = sizeof collectors / sizeof *collectors };

static bool is_known(const char *name)
{
    for (int i = 0; i < list->foreign_count; i++)
        if (strcmp(list->foreign[i], name) == 0)
            return true;
    return sgc_option_list_find(list, name, strlen(name)) >= 0;
}

static bool is_collectors(const char *name)
{
    for (int i = 0; i < COLLECTORS; i++)
        if (strcmp(collectors[i], name) == 0)
            return true;
    return false;
}

static void test_names(void)
{
    int unknown = 0, gone = 0, ours = 0;

    for (int i = 0; i < COLLECTORS; i++)
        if (strncmp(collectors[i], "SGC_", 4) == 0 && !is_known(collectors[i]))
            tap_diag("%s is not known here (%d)", collectors[i], ++unknown);
    for (int i = 0; i < list->foreign_count; i++)
        if (!is_collectors(list->foreign[i]))
            tap_diag("the collector does not know %s (%d)", list->foreign[i], ++gone);
    for (int i = 0; i < list->count; i++)
        if (!is_collectors(list->rows[i].name))
            tap_diag("the collector does not know our %s (%d)", list->rows[i].name, ++ours);
    tap_ok(unknown == 0, "each name of the collector is known to this library");
    tap_ok(gone == 0, "and each name that it knows as another's is known to the collector");
    tap_ok(ours == 0, "as is each of its own");
}

/* ---- values ---- */

static const char *read_from(char *const *environment)
{
    sgc_option_list_reset(list);
    capture_begin();
    sgc_option_list_read(list, environment, false);
    return capture_end();
}

static void test_values(void)
{
    char *good[] = { "SGC_HARDEN=0", "SGC_HARDEN_ACTION=report", "SGC_DECAY_MS=-1", "SGC_HUGE_PAGES=on", "SGC_RESERVE=64m",
                     "SGC_MALLOC_STATS=1", "SGC_MODE=concurrent", "GC_MARKERS=3", "SGC_PREFIX=/usr", NULL };
    char *bad[] = { "SGC_HARDEN=most", NULL };
    char *near[] = { "SGC_HARDENS=2", NULL };
    const struct sgc_malloc_options *o = &sgc_malloc_options;
    const char *said = read_from(good);

    tap_ok(*said == '\0', "values, and names of the collector, are read without a word");
    tap_ok(o->harden == 0 && o->action == SGC_HARDEN_REPORT && o->decay_ms == -1 && o->huge_pages == 1 &&
           o->reserve == (size_t)64 << 20 && o->stats && !o->print, "they are what was said");
    said = read_from(bad);
    tap_ok(capture_count(said, "\n") == 1 &&
           strstr(said, "SGC_HARDEN=most: not a number; accepted: 0 to 1; the default 1 is used") != NULL,
           "a bad word is told with what was expected and what is used");
    tap_ok(o->harden == 1, "which is the default");
    said = read_from(near);
    tap_ok(strstr(said, "SGC_HARDENS: no such option") != NULL && strstr(said, "SGC_HARDEN;") != NULL,
           "a misspelt name is told, too");
    sgc_option_list_reset(list);
}

int main(void)
{
    return tap_all(test_document, test_names, test_values);
}
