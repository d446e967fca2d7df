/* SPDX-License-Identifier: MIT */
/*
 * subject_views FOLDER: writes exports of a small graph whose groups have names that could disturb a format, and the names, for
 * tests/check/check_views.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/view/export.h"

static const char *const names[] = {
    "quote\" back\\slash 'single'", "new\nline\ttab\rreturn\001one\177del", "</script><!-- &amp; -->",
    "\xff\xfe not UTF-8 \x80", "cut off \xe2\x82", "semi;colon and 12 numbers 34",
    "too long \xc0\xaf, a surrogate \xed\xa0\x80, too high \xf4\x90\x80\x80",
    "line separator \xe2\x80\xa8, \xe2\x82\xac, \xf0\x9f\x98\x80", "\\u0041 %s %n \x1b[31m",
};

enum { NAMES = sizeof names / sizeof names[0] };

static uint32_t group_of(void *context, uint32_t object)
{
    (void)context;
    return object < NAMES ? object : SGC_NAMES_NONE;
}

static const char *group_name(void *context, uint32_t group)
{
    (void)context;
    return names[group];
}

static FILE *file_in(const char *folder, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL)
        exit(1);
    return file;
}

static bool close_file(FILE *file, bool done)
{
    return fclose(file) == 0 && done;
}

/* A list, whose cells are a group each. */
static bool make_graph(struct sgc_graph *g)
{
    static uint32_t bytes[NAMES + 1], from[NAMES], to[NAMES], root[] = { 0 };
    const struct sgc_graph_arrays arrays = { NAMES + 1, bytes, NAMES, from, to, 1, root };

    for (uint32_t i = 0; i <= NAMES; i++)
        bytes[i] = 64;
    for (uint32_t i = 0; i < NAMES; i++) {
        from[i] = i;
        to[i] = i + 1;
    }
    return sgc_graph_make(g, &arrays);
}

int main(int argc, char **argv)
{
    static const struct sgc_names source = { .groups = NAMES, .group_of = group_of, .group_name = group_name };
    struct sgc_graph g;
    struct sgc_merged m;
    struct sgc_view v;
    FILE *file;
    bool done = argc == 2 && make_graph(&g) && sgc_view_make(&v, &g, &source) && sgc_merged_make(&m, &v, 0, 100);

    if (!done)
        return 1;
    file = file_in(argv[1], "names.bin");
    for (int i = 0; i < NAMES; i++)
        fwrite(names[i], 1, strlen(names[i]) + 1, file);
    done = close_file(file, done);
    file = file_in(argv[1], "x.heapsnapshot");
    done = close_file(file, sgc_export_heapsnapshot(file, &v, 0)) && done;
    file = file_in(argv[1], "x.pprof");
    done = close_file(file, sgc_export_pprof(file, &m)) && done;
    file = file_in(argv[1], "x.folded");
    done = close_file(file, sgc_export_folded(file, &m)) && done;
    file = file_in(argv[1], "x.json");
    done = close_file(file, sgc_export_json(file, &m)) && done;
    sgc_merged_release(&m);
    sgc_view_release(&v);
    sgc_graph_release(&g);
    return done ? 0 : 1;
}
