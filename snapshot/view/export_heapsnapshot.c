/* SPDX-License-Identifier: MIT */
/*
 * See snapshot/view/export.h: JSON whose nodes and edges are arrays of numbers.
 *
 * Nodes are the virtual root, the roots, the objects that are there in the order of their numbers,
 * and the nodes for those that are left out, each of one dominator: a "rest".  The objects of a
 * rest are found by a walk over what its dominator dominates, once to count its pointers and once
 * to write them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/view/export.h"
#include "snapshot/view/text.h"

enum { NODE_FIELDS = 7 };

/* Numbers of "node_types" and "edge_types" below. */
enum { TYPE_OBJECT = 3, TYPE_NATIVE = 8, TYPE_SYNTHETIC = 9 };
enum { EDGE_ELEMENT = 1, EDGE_INTERNAL = 3, EDGE_WEAK = 6 };

static const char meta[] =
    "{\"snapshot\":{\"meta\":{"
    "\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\",\"detachedness\"],"
    "\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\","
    "\"native\",\"synthetic\",\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\"],"
    "\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
    "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],"
    "\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],"
    "\"string_or_number\",\"node\"],"
    "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\",\"line\",\"column\"],"
    "\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],"
    "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],"
    "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]}";

/* Texts: these, then the names of roots and groups. */
enum { TOP, SMALLER, PROCEDURE, BESIDES, TEXTS };

static const char *const texts[] = { [TOP] = "", [SMALLER] = "smaller objects", [PROCEDURE] = "mark procedure",
                                     [BESIDES] = "besides others" };

struct writing {
    FILE *out;
    const struct sgc_view *v;
    uint64_t smallest;
    uint32_t *place;                    /* by object: number of its node; SGC_GRAPH_NONE: it has
                                         * none */
    uint32_t kept;                      /* objects that have one */
    uint32_t *rest, rests;              /* the nodes whose rests there are */
    uint64_t edges;
    char between;                       /* the next number has a comma before it */
    char buffer[1 << 16];
    size_t used;
};

/* ---- numbers ---- */

static void flush(struct writing *w)
{
    sgc_assert(w->used <= sizeof w->buffer);
    fwrite(w->buffer, 1, w->used, w->out);
    w->used = 0;
}

static void put_number(struct writing *w, uint64_t value)
{
    char digits[24];
    size_t count = 0;

    sgc_assert(w->used <= sizeof w->buffer);
    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    if (w->used + count + 2 > sizeof w->buffer)
        flush(w);
    if (w->between != '\0')
        w->buffer[w->used++] = w->between;
    w->between = ',';
    while (count > 0)
        w->buffer[w->used++] = digits[--count];
}

static void begin_array(struct writing *w, const char *name)
{
    fprintf(w->out, ",\n\"%s\":[", name);
    w->between = '\0';
}

static void end_array(struct writing *w)
{
    flush(w);
    putc(']', w->out);
}

/* ---- nodes ---- */

static uint32_t root_node(uint32_t root)
{
    return 1 + root;
}

static bool is_there(const struct writing *w, uint32_t node)
{
    return node >= w->v->g->objects || w->place[node] != SGC_GRAPH_NONE;
}

static uint32_t rest_node(const struct writing *w, uint32_t i)
{
    sgc_assert(i < w->rests);
    return 1 + w->v->roots.count + w->kept + i;
}

static void number_objects(struct writing *w)
{
    const struct sgc_dominators *d = &w->v->d;

    for (uint32_t i = 0; i < d->objects; i++) {
        bool there = sgc_dominators_reached(d, i) && d->retained[i] >= w->smallest;

        w->place[i] = there ? 1 + w->v->roots.count + w->kept++ : SGC_GRAPH_NONE;
    }
}

static bool has_rest(const struct writing *w, uint32_t node)
{
    sgc_assert(is_there(w, node));
    for (uint32_t child = w->v->d.child[node]; child != SGC_GRAPH_NONE; child = w->v->d.sibling[child])
        if (!is_there(w, child))
            return true;
    return false;
}

/* All nodes that are there, in their order. */
static uint32_t next_node(const struct writing *w, uint32_t node)
{
    uint32_t top = sgc_dominators_top(&w->v->d);

    if (node == top)
        return w->v->roots.count != 0 ? w->v->g->objects : top;
    node++;
    if (node == top)
        node = 0;
    while (node < w->v->g->objects && !is_there(w, node))
        node++;
    return node == w->v->g->objects ? top : node;
}

static bool find_rests(struct writing *w)
{
    uint32_t top = sgc_dominators_top(&w->v->d), node = top;

    w->rest = malloc((size_t)w->v->d.nodes * sizeof *w->rest);
    if (w->rest == NULL)
        return false;
    do {
        if (has_rest(w, node))
            w->rest[w->rests++] = node;
        node = next_node(w, node);
    } while (node != top);
    return true;
}

static void put_node(struct writing *w, uint64_t type, uint64_t name, uint64_t id, uint64_t bytes, uint64_t edges)
{
    const uint64_t fields[NODE_FIELDS] = { type, name, id, bytes, edges };

    sgc_assert(type <= TYPE_SYNTHETIC && id != 0);
    for (int i = 0; i < NODE_FIELDS; i++)
        put_number(w, fields[i]);
    w->edges += edges;
    if (w->used + 2 > sizeof w->buffer)
        flush(w);
    w->buffer[w->used++] = '\n';
}

/* ---- edges: each function counts them, and writes them if it is to ---- */

static void put_edge(struct writing *w, uint64_t type, uint64_t name, uint32_t to)
{
    sgc_assert(to != 0 && to < 1 + w->v->roots.count + w->kept + w->rests);
    put_number(w, type);
    put_number(w, name);
    put_number(w, (uint64_t)to * NODE_FIELDS);
}

/* Its pointers to what is there, as `type` or with the words that they are in. */
static uint64_t object_edges(struct writing *w, uint32_t object, bool write, bool of_rest)
{
    const struct sgc_graph *g = w->v->g;
    uint64_t count = 0;

    if (!sgc_dominators_follows(&w->v->d, object))
        return 0;
    for (uint64_t e = g->object[object].first_edge; e < g->object[object + 1].first_edge; e++) {
        uint32_t to = w->place[g->edge[e].target];

        if (to == SGC_GRAPH_NONE)
            continue;
        count++;
        if (write && (of_rest || g->edge[e].word == SGC_GRAPH_NO_WORD))
            put_edge(w, EDGE_INTERNAL, of_rest ? SMALLER : PROCEDURE, to);
        else if (write)
            put_edge(w, EDGE_ELEMENT, g->edge[e].word, to);
    }
    return count;
}

/* Those that do not count are weak: they are shown, and keep nothing. */
static uint64_t root_edges(struct writing *w, uint32_t root, bool write)
{
    const struct sgc_roots *roots = &w->v->roots;
    uint64_t count = 0;

    sgc_assert(root < roots->count);
    for (uint64_t i = roots->first[root]; i < roots->first[root + 1]; i++) {
        const struct sgc_graph_root_word *word = &w->v->g->root[roots->word[i]];

        if (w->place[word->target] == SGC_GRAPH_NONE)
            continue;
        count++;
        if (write && !sgc_dominators_counts(&w->v->d, sgc_roots_level_of(roots, root), word->target))
            put_edge(w, EDGE_WEAK, BESIDES, w->place[word->target]);
        else if (write)
            put_edge(w, EDGE_ELEMENT, word->word, w->place[word->target]);
    }
    return count;
}

/* The virtual root leads to the roots, and to its rest; what several roots lead to is theirs. */
static uint64_t node_edges(struct writing *w, uint32_t node, bool write)
{
    uint32_t objects = w->v->g->objects;

    if (node < objects)
        return object_edges(w, node, write, false);
    if (node != sgc_dominators_top(&w->v->d))
        return root_edges(w, node - objects, write);
    for (uint32_t root = 0; write && root < w->v->roots.count; root++)
        put_edge(w, EDGE_ELEMENT, root, root_node(root));
    return w->v->roots.count;
}

/* The objects that the dominator dominates at once and that are not there, with all below them:
 * their bytes, and the pointers of all of them to what is there. */
static uint64_t rest_edges(struct writing *w, uint32_t dominator, bool write, uint64_t *bytes)
{
    const struct sgc_dominators *d = &w->v->d;
    uint64_t count = 0;

    *bytes = 0;
    for (uint32_t child = d->child[dominator]; child != SGC_GRAPH_NONE; child = d->sibling[child]) {
        if (is_there(w, child))
            continue;
        *bytes += d->retained[child];
        for (uint32_t at = child; at != SGC_GRAPH_NONE; at = sgc_dominators_next(d, at, child, true)) {
            sgc_assert(!is_there(w, at));
            count += object_edges(w, at, write, true);
        }
    }
    return count;
}

/* ---- the file ---- */

static uint64_t name_of(const struct writing *w, uint32_t node)
{
    const struct sgc_view *v = w->v;

    if (node == sgc_dominators_top(&v->d))
        return TOP;
    return (uint64_t)TEXTS + (node < v->g->objects ? v->roots.count + v->groups.of[node] : node - v->g->objects);
}

/* The number of a node in the file. */
static uint32_t number_of(const struct writing *w, uint32_t node)
{
    uint32_t objects = w->v->g->objects;

    if (node == sgc_dominators_top(&w->v->d))
        return 0;
    sgc_assert(is_there(w, node));
    return node < objects ? w->place[node] : root_node(node - objects);
}

/* Odd ones are objects', by their places: no object is on the heap's first page.  In a large heap
 * nodes are numbered. */
static uint64_t id_of(const struct writing *w, uint32_t node)
{
    const struct sgc_graph *g = w->v->g;

    if (!sgc_export_ids_last(&g->geometry) || node == sgc_dominators_top(&w->v->d))
        return number_of(w, node) + UINT64_C(1);
    return node < g->objects ? (g->object[node].offset >> g->geometry.granule_log) * 2 + 1
                             : ((uint64_t)(node - g->objects) + 1) * 2;
}

static uint64_t rest_id(const struct writing *w, uint32_t i)
{
    if (!sgc_export_ids_last(&w->v->g->geometry))
        return rest_node(w, i) + UINT64_C(1);
    return ((uint64_t)w->v->roots.count + 1 + i) * 2;
}

/* `rest` goes through the nodes that have one in step with the nodes. */
static void write_nodes(struct writing *w)
{
    uint32_t top = sgc_dominators_top(&w->v->d), node = top, rest = 0;

    begin_array(w, "nodes");
    do {
        bool object = node < w->v->g->objects, more = rest < w->rests && w->rest[rest] == node;

        put_node(w, !object ? TYPE_SYNTHETIC : sgc_graph_has_words(w->v->g, node) ? TYPE_OBJECT : TYPE_NATIVE, name_of(w, node),
                 id_of(w, node), sgc_view_bytes(w->v, node), node_edges(w, node, false) + more);
        rest += more;
        node = next_node(w, node);
    } while (node != top);
    sgc_assert(rest == w->rests);
    for (uint32_t i = 0; i < w->rests; i++) {
        uint64_t bytes, edges = rest_edges(w, w->rest[i], false, &bytes);

        put_node(w, TYPE_NATIVE, SMALLER, rest_id(w, i), bytes, edges);
    }
    end_array(w);
}

static void write_edges(struct writing *w)
{
    uint32_t top = sgc_dominators_top(&w->v->d), node = top, rest = 0;
    uint64_t bytes;

    begin_array(w, "edges");
    do {
        node_edges(w, node, true);
        if (rest < w->rests && w->rest[rest] == node)
            put_edge(w, EDGE_INTERNAL, SMALLER, rest_node(w, rest++));
        node = next_node(w, node);
    } while (node != top);
    sgc_assert(rest == w->rests);
    for (uint32_t i = 0; i < w->rests; i++)
        rest_edges(w, w->rest[i], true, &bytes);
    end_array(w);
}

/* The head has the number of edges, which only the nodes tell: they are counted first. */
static uint64_t count_edges(struct writing *w)
{
    uint32_t top = sgc_dominators_top(&w->v->d), node = top;
    uint64_t count = w->rests, bytes;

    do {
        count += node_edges(w, node, false);
        node = next_node(w, node);
    } while (node != top);
    for (uint32_t i = 0; i < w->rests; i++)
        count += rest_edges(w, w->rest[i], false, &bytes);
    return count;
}

static void write_strings(struct writing *w)
{
    const struct sgc_view *v = w->v;

    fprintf(w->out, ",\n\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],\"locations\":[],\n\"strings\":[");
    for (int i = 0; i < TEXTS; i++) {
        fputs(i == 0 ? "" : ",\n", w->out);
        sgc_text_json(w->out, texts[i]);
    }
    for (uint32_t i = 0; i < v->roots.count + v->groups.count; i++) {
        fputs(",\n", w->out);
        sgc_text_json(w->out, i < v->roots.count ? v->roots.name[i] : v->groups.name[i - v->roots.count]);
    }
    fprintf(w->out, "]}\n");
}

static void write_all(struct writing *w)
{
    uint64_t edges = count_edges(w);

    fprintf(w->out, "%s,\"node_count\":%" PRIu64 ",\"edge_count\":%" PRIu64 ",\"trace_function_count\":0}", meta,
            (uint64_t)1 + w->v->roots.count + w->kept + w->rests, edges);
    w->edges = 0;
    write_nodes(w);
    sgc_assert(w->edges == edges);
    write_edges(w);
    write_strings(w);
}

bool sgc_export_heapsnapshot(FILE *out, const struct sgc_view *v, uint64_t smallest)
{
    struct writing *w = calloc(1, sizeof *w);
    bool done;

    if (w == NULL)
        return false;
    w->out = out;
    w->v = v;
    w->smallest = smallest;
    w->place = malloc(((size_t)v->g->objects + 1) * sizeof *w->place);
    done = w->place != NULL;
    if (done) {
        number_objects(w);
        done = find_rests(w);
    }
    if (done)
        write_all(w);
    free(w->place);
    free(w->rest);
    free(w);
    return done;
}
