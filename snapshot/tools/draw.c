/* SPDX-License-Identifier: MIT */
/* See snapshot/tools/draw.h. */
#include "snapshot/tools/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "platform/text_line.h"
#include "snapshot/names.h"

/* A name as a line of a label, cut: dot(1) reads what is behind a backslash. */
static void print_name(const char *name, const char *end)
{
    char shown[200];

    sgc_assert(name[0] != '\0');
    sgc_quote(name, strlen(name), shown, sizeof shown);
    for (const char *c = shown; *c != '\0'; c++)
        printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs(end, stdout);
}

/* ---- roots ---- */

/* Where it is tells one thread's stack, or one library's data, from another's. */
static void draw_range(const struct sgc_graph_range *range, uint32_t i)
{
    sgc_assert(range->root < SGC_GRAPH_ROOTS);
    printf("  r%u [shape=box, label=\"%s", i, sgc_graph_root_name((enum sgc_graph_root)range->root));
    if (range->lo != 0)
        printf("\\n%#" PRIx64 "\\n%" PRIu64, range->lo, range->bytes);
    printf("\"];\n");
}

static void draw_root(const struct sgc_graph *g, struct sgc_namer *namer, uint64_t root)
{
    const struct sgc_graph_range *range = &g->range[g->root[root].range];
    uint32_t number = sgc_namer_root_of(namer, root);
    char text[SGC_NAMER_TEXT];

    sgc_assert(number < sgc_namer_roots(namer) || number == SGC_NAMER_NONE);
    printf("  r%u -> o%u", g->root[root].range, g->root[root].target);
    if (number != SGC_NAMER_NONE) {
        printf(" [label=\"");
        if (range->root <= SGC_GRAPH_ADDED)
            print_name(sgc_namer_address(namer, range->lo + g->root[root].word * g->geometry.word, text), "\"]");
        else
            print_name(sgc_namer_root_name(namer, number), "\"]");
    }
    printf(";\n");
}

static void draw_roots(const struct sgc_graph *g, struct sgc_namer *namer)
{
    for (uint32_t i = 0; i < g->ranges; i++) {
        if (g->range[i].first_root == g->range[i + 1].first_root)
            continue;
        draw_range(&g->range[i], i);
        for (uint64_t r = g->range[i].first_root; r < g->range[i + 1].first_root; r++)
            draw_root(g, namer, r);
    }
}

/* ---- objects ---- */

static void draw_object(const struct sgc_graph *g, struct sgc_namer *namer, uint32_t i)
{
    uint32_t group = sgc_namer_group_of(namer, i);

    sgc_assert(group < sgc_namer_groups(namer) || group == SGC_NAMER_NONE);
    printf("  o%u [label=\"", i);
    if (group != SGC_NAMER_NONE)
        print_name(sgc_namer_group_name(namer, group), "\\n");
    printf("%#" PRIx64 "\\n%" PRIu64 "\"];\n", sgc_graph_address(g, i), sgc_graph_bytes(g, i));
    for (uint64_t e = g->object[i].first_edge; e < g->object[i + 1].first_edge; e++)
        printf("  o%u -> o%u;\n", i, g->edge[e].target);
}

/* ---- */

bool sgc_snapshot_draw(const struct sgc_graph *g)
{
    struct sgc_namer *namer = sgc_namer_open(g);

    sgc_assert(g->object != NULL && g->range != NULL);
    if (namer == NULL)
        return false;
    sgc_namer_print_problems(namer);
    printf("digraph heap {\n");
    for (uint32_t i = 0; i < g->objects; i++)
        draw_object(g, namer, i);
    draw_roots(g, namer);
    printf("}\n");
    sgc_namer_close(namer);
    return true;
}
