/* SPDX-License-Identifier: MIT */
/* snapshot/view/: groups and roots with names and without, what a group retains, the merged tree. */
#include "snapshot/view/compare.h"
#include "snapshot/view/export.h"

#include <string.h>

#include "tests/lib/shapes.h"

/* ---- a graph ---- */

/*
 * 0 -> 1 -> 2 -> 3 -> 4 is a list of cells of 32 bytes, 5 to 8 are items of 64 bytes: of 0 to 3.  Two roots lead to 9,
 * nothing to 10.  Root words 0 and 1 are in static data and lead to 0 and 9, 2 is thread-local, and
 * leads to 9; 3 is on a stack, and leads to 0, as data does.
 */
static struct sgc_graph make(void)
{
    struct shape s = shape_make(11, 16, 3);
    struct sgc_graph g;

    for (uint32_t i = 0; i < 11; i++)
        s.bytes[s.objects++] = i < 5 ? 32 : i < 9 ? 64 : 256;
    for (uint32_t i = 0; i < 4; i++) {
        shape_edge(&s, i, i + 1);
        shape_edge(&s, i, i + 5);
    }
    shape_root(&s, 0);
    shape_root(&s, 9);
    shape_root(&s, 9);
    shape_root(&s, 0);
    g = shape_graph(&s);
    g.range = realloc(g.range, 4 * sizeof *g.range);
    g.range[0] = (struct sgc_graph_range){ .lo = 0x1000, .bytes = 16, .root = SGC_GRAPH_STATIC };
    g.range[1] = (struct sgc_graph_range){ .lo = 0x8000, .bytes = 8, .root = SGC_GRAPH_THREAD_LOCAL, .thread = 42,
                                            .first_root = 2 };
    g.range[2] = (struct sgc_graph_range){ .lo = 0x9000, .bytes = 8, .root = SGC_GRAPH_STACK, .thread = 43, .first_root = 3 };
    g.range[3] = (struct sgc_graph_range){ .first_root = 4 };
    g.ranges = 3;
    g.root[2].range = 1;
    g.root[3].range = 2;
    return g;
}

static uint32_t group_named(const struct sgc_view *v, const char *name)
{
    for (uint32_t i = 0; i < v->groups.count; i++)
        if (strcmp(v->groups.name[i], name) == 0)
            return i;
    return SGC_NAMES_NONE;
}

/* ---- without names ---- */

static void test_plain(const struct sgc_graph *g)
{
    struct sgc_group_sum *sum;
    struct sgc_view v;
    uint32_t cells, items;

    tap_ok(sgc_view_make(&v, g, NULL) && v.groups.count == 3 && v.roots.count == 3, "groups are sizes and kinds, roots ranges");
    cells = group_named(&v, "32 bytes, conservative");
    items = group_named(&v, "64 bytes, conservative");
    tap_ok(cells != SGC_NAMES_NONE && items != SGC_NAMES_NONE && v.groups.of[3] == cells && v.groups.of[8] == items,
           "and are named so");
    tap_ok(strcmp(v.roots.name[0], "static data, 16 bytes at 0x1000") == 0 &&
           strcmp(v.roots.name[1], "thread-local variables of thread 42") == 0 &&
           strcmp(v.roots.name[2], "stack of thread 43") == 0, "the roots, too (%s, %s, %s)", v.roots.name[0], v.roots.name[1],
           v.roots.name[2]);
    tap_ok(v.d.of[9] == v.d.nodes - 1 && v.d.of[0] == v.d.objects && !sgc_dominators_reached(&v.d, 10),
           "what several roots lead to is no root's, and nobody leads to the rest");
    tap_ok(v.d.retained[v.d.objects] == 416 && v.d.retained[v.d.objects + 2] == 0,
           "what lasting data leads to is not shared with a stack");
    sum = sgc_view_sums(&v);
    tap_ok(sum[cells].objects == 5 && sum[cells].bytes == 160 && sum[cells].retained == 160 + 256 && sum[items].objects == 4 &&
           sum[items].retained == 256, "a group retains what its objects dominate, each byte once");
    free(sum);
    sgc_view_release(&v);
}

/* ---- with names ---- */

/* Cells by place: of one class the first three, of another the fourth; and one of the static words is a variable. */
static uint32_t group_of(void *context, uint32_t object)
{
    *(uint32_t *)context += 1;
    return object < 3 ? 7 : object == 3 ? 2 : SGC_NAMES_NONE;
}

static const char *group_name(TEST_UNUSED void *context, uint32_t group)
{
    return group == 7 ? "struct cell" : group == 2 ? "struct last" : "wrong";
}

static uint32_t root_of(TEST_UNUSED void *context, uint64_t root)
{
    return root == 1 ? 3 : SGC_NAMES_NONE;
}

static const char *root_name(TEST_UNUSED void *context, uint32_t root)
{
    return root == 3 ? "the variable" : "wrong";
}

static void test_named(const struct sgc_graph *g)
{
    uint32_t asked = 0;
    struct sgc_names names = { &asked, 8, 4, group_of, group_name, root_of, root_name };
    struct sgc_view v;

    tap_ok(sgc_view_make(&v, g, &names) && v.groups.count == 5 && asked == 11, "each object is asked for once");
    tap_ok(v.groups.of[0] == group_named(&v, "struct cell") && v.groups.of[2] == v.groups.of[0] &&
           v.groups.of[3] == group_named(&v, "struct last") && v.groups.of[4] == group_named(&v, "32 bytes, conservative"),
           "names are groups, and what has none goes by its size");
    tap_ok(v.roots.count == 4 && v.roots.named[0] && !v.roots.named[1] &&
           strcmp(v.roots.name[0], "the variable") == 0 && v.roots.of[1] == 0 && v.roots.of[0] == 1,
           "a root word with a name is a root of its own");
    sgc_view_release(&v);
}

/* ---- compared ---- */

static const char *later_name(TEST_UNUSED void *context, uint32_t group)
{
    return group == 7 ? "struct piece" : "struct last";
}

/* The objects of "struct piece", which were "struct cell" before, that are new or renamed. */
static bool pieces_are(const struct sgc_graph *older, const struct sgc_graph *newer, uint64_t fresh, uint64_t renamed)
{
    uint32_t asked = 0;
    const struct sgc_names before = { &asked, 8, 0, group_of, group_name, NULL, NULL },
                           now = { &asked, 8, 0, group_of, later_name, NULL, NULL };
    struct sgc_comparison c = { .count = 0 };
    struct sgc_view a, b;
    bool are = sgc_view_make(&a, older, &before) && sgc_view_make(&b, newer, &now) && sgc_compare(&c, &a, &b, 10) &&
               c.renamed.objects == renamed && (renamed == 0 || strcmp(c.old_name, "struct cell") == 0);

    for (uint32_t i = 0; are && i < c.count; i++)
        if (strcmp(c.growth[i].name, "struct piece") == 0)
            are = c.growth[i].fresh.objects == fresh && c.growth[i].came.objects == renamed &&
                  sgc_growth_bytes(&c.growth[i]) == (int64_t)fresh * 32 && (c.growth[i].held != NULL) == (fresh != 0);
    if (!are)
        tap_diag("renamed %lu", (unsigned long)c.renamed.objects);
    sgc_comparison_release(&c);
    sgc_view_release(&a);
    sgc_view_release(&b);
    return are;
}

static void test_compared(const struct sgc_graph *g)
{
    struct sgc_graph_module module = { .lo = 0x1000, .bytes = 0x100 };
    struct sgc_graph_type types[] = { { .offset = 0x10 }, { .offset = 0x20 } };
    uint32_t first[11] = { 0 }, second[11] = { 1, 1, 1 };
    struct sgc_graph older = *g, newer = *g;

    older.module = newer.module = &module;
    older.type = newer.type = types;
    older.types = newer.types = 2;
    older.modules = newer.modules = 1;
    older.type_of = first;
    newer.type_of = second;
    tap_ok(pieces_are(g, g, 0, 3), "a group of another name is no growth");
    tap_ok(pieces_are(&older, &newer, 3, 0), "objects with another first word are new");
    newer.type_of = NULL;
    tap_ok(pieces_are(&older, &newer, 3, 0), "also with none, while the module is there");
    newer.modules = 0;
    tap_ok(pieces_are(&older, &newer, 0, 3), "when it is gone they are renamed");
    older = newer = *g;
    older.sites = newer.sites = 2;
    older.site_of = first;
    newer.site_of = second;
    tap_ok(pieces_are(&older, &newer, 3, 0), "objects that were allocated elsewhere are new");
    newer.site_of = first;
    tap_ok(pieces_are(&older, &newer, 0, 3), "not those of one site");
}

/* ---- merged ---- */

static bool node_is(const struct sgc_merged *m, uint32_t node, uint32_t parent, const char *name, uint64_t objects,
                    uint64_t retained)
{
    const struct sgc_merged_node *n = &m->node[node];
    bool is = node < m->count && n->parent == parent && strcmp(sgc_merged_name(m, node), name) == 0 && n->objects == objects &&
              n->retained == retained;

    if (!is && node < m->count)
        tap_diag("node %u: parent %u, %s, %lu objects, retains %lu", node, n->parent, sgc_merged_name(m, node),
                 (unsigned long)n->objects, (unsigned long)n->retained);
    return is;
}

/* The bytes of all nodes are what is reachable. */
static bool adds_up(const struct sgc_merged *m)
{
    uint64_t bytes = 0, objects = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        bytes += m->node[i].bytes;
        objects += m->node[i].objects;
    }
    return bytes == m->node[0].retained && objects == m->node[0].retained_objects;
}

static void test_merged(const struct sgc_graph *g)
{
    struct sgc_merged m;
    struct sgc_view v;

    tap_ok(sgc_view_make(&v, g, NULL) && sgc_merged_make(&m, &v, 0, 10) && m.count == 6 && adds_up(&m), "a tree by groups");
    tap_ok(node_is(&m, 0, 0, "all that is reachable", 0, 672) &&
           node_is(&m, 1, 0, "static data, 16 bytes at 0x1000", 0, 416) &&
           node_is(&m, 4, 0, "static data, 16 bytes at 0x1000, and others", 0, 256),
           "has roots, the largest first, and what several lead to");
    tap_ok(node_is(&m, 2, 1, "32 bytes, conservative", 5, 416) && node_is(&m, 3, 2, "64 bytes, conservative", 4, 256),
           "a list is one node, and its items another");
    tap_ok(node_is(&m, 5, 4, "256 bytes, conservative", 1, 256), "below several roots are groups");
    sgc_merged_release(&m);
    tap_ok(sgc_merged_make(&m, &v, 300, 10) && m.count == 5 && adds_up(&m) && node_is(&m, 3, 2, "the rest", 4, 256) &&
           node_is(&m, 4, 0, "the rest", 1, 256), "what retains too little is the rest of its parent");
    sgc_merged_release(&m);
    tap_ok(sgc_merged_make(&m, &v, 0, 1) && m.count == 5 && adds_up(&m) && node_is(&m, 2, 1, "the rest", 9, 416),
           "and so is what lies too deep");
    sgc_merged_release(&m);
    sgc_view_release(&v);
}

/* ---- a .heapsnapshot ---- */

/* Has each node its number, from 1, as its id? */
static bool are_numbered(const struct sgc_view *v, char *text)
{
    FILE *out = fmemopen(text, 1 << 16, "w");
    bool numbered = out != NULL && sgc_export_heapsnapshot(out, v, 0) && fclose(out) == 0;
    const char *at = numbered ? strstr(text, "\"nodes\":[") : NULL;
    unsigned long id, nodes = 0;

    for (at = at != NULL ? at + strlen("\"nodes\":[") : ""; sscanf(at, "%*u,%*u,%lu", &id) == 1; nodes++) {
        numbered = numbered && id == nodes + 1;
        at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : "";
        at += *at == ',';
    }
    return numbered && nodes == 1 + 3 + 10;
}

static void test_ids(const struct sgc_graph *g)
{
    static char text[1 << 16];
    struct sgc_graph large = *g;
    struct sgc_graph_geometry fits = { .limit = UINT64_C(1) << 35, .granule_log = 4 }, above = fits;
    struct sgc_view v;

    above.limit += 1 << 16;
    tap_ok(sgc_export_ids_last(&fits) && (((fits.limit - 16) >> 4) * 2 + 1) >> 32 == 0 && !sgc_export_ids_last(&above),
           "up to 32 GB ids of places have 32 bits");
    large.geometry.limit = above.limit;
    tap_ok(sgc_view_make(&v, &large, NULL) && are_numbered(&v, text), "above, ids are numbers of nodes");
    v.g = g;
    tap_ok(!are_numbered(&v, text), "below, they are not");
    sgc_view_release(&v);
}

static void test_nothing(void)
{
    const struct sgc_graph_arrays none = { .objects = 0 };
    struct sgc_merged m = { .count = 0 };
    struct sgc_graph g;
    struct sgc_view v;

    tap_ok(sgc_graph_make(&g, &none) && sgc_view_make(&v, &g, NULL) && sgc_merged_make(&m, &v, 0, 10) && m.count == 1,
           "there may be no objects");
    sgc_merged_release(&m);
    sgc_view_release(&v);
    sgc_graph_release(&g);
}

int main(void)
{
    struct sgc_graph g = make();

    test_plain(&g);
    test_named(&g);
    test_compared(&g);
    test_merged(&g);
    test_ids(&g);
    sgc_graph_release(&g);
    test_nothing();
    return tap_done();
}
