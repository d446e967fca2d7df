/* SPDX-License-Identifier: MIT */
/* The accesses of one marker that marks a graph depth first. */
#include "perfmodel/model/serial_mark.h"

#include <stdlib.h>

struct piece {
    uint32_t object, from, to;
}; /* words */

struct mark {
    const struct sgc_homes *homes;
    const struct sgc_graph *graph;
    uint32_t split_words;
    sgc_access_fn *access;
    void *arg;
    uint64_t *marked; /* a bit an object */
    struct piece *stack;
    uint64_t depth, room;
    bool failed; /* no memory for the stack */
};

static void push(struct mark *m, struct piece piece)
{
    sgc_assert(m->depth <= m->room && piece.from <= piece.to);
    if (m->depth == m->room) {
        uint64_t room = m->room != 0 ? 2 * m->room : 1024;
        struct piece *larger = realloc(m->stack, room * sizeof *larger);

        if (larger == NULL) {
            m->failed = true;
            return;
        }
        m->stack = larger;
        m->room = room;
    }
    m->stack[m->depth++] = piece;
}

static uint32_t words_of(const struct mark *m, uint32_t object)
{
    return (uint32_t)(sgc_graph_bytes(m->graph, object) / m->graph->geometry.word);
}

/* An edge leads to the object. */
static void visit(struct mark *m, uint32_t object)
{
    uint64_t bit = UINT64_C(1) << object % 64;
    bool is_new = (m->marked[object / 64] & bit) == 0;
    struct sgc_access access = { sgc_mark_bit_address(m->homes, object), sgc_home_of_mark_bit(m->homes, object),
                                 is_new ? SGC_MISS_RMW : SGC_MISS_READ };

    sgc_assert(object < m->graph->objects);
    m->access(m->arg, &access);
    m->marked[object / 64] |= bit;
    if (is_new && sgc_graph_has_words(m->graph, object))
        push(m, (struct piece){ object, 0, words_of(m, object) });
}

/* The first edge of the object that is in this word or behind it. */
static uint64_t first_edge(const struct sgc_graph *g, uint32_t object, uint32_t word)
{
    uint64_t lo = g->object[object].first_edge, hi = g->object[object + 1].first_edge;

    while (lo < hi) {
        uint64_t middle = lo + (hi - lo) / 2;

        if (g->edge[middle].word < word)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Reads the words of the piece, and visits the targets of their edges; edges that are in no word
 * come after the object's last word. */
static void scan(struct mark *m, struct piece piece)
{
    const struct sgc_graph *g = m->graph;
    uint64_t edge = first_edge(g, piece.object, piece.from), end = g->object[piece.object + 1].first_edge;

    for (uint32_t word = piece.from; word < piece.to; word++) {
        uint64_t byte = (uint64_t)word * g->geometry.word;
        struct sgc_access access = { sgc_graph_address(g, piece.object) + byte, sgc_home_of_byte(m->homes, piece.object, byte),
                                     SGC_MISS_READ };

        sgc_assert(edge == end || g->edge[edge].word >= word);
        m->access(m->arg, &access);
        for (; edge < end && g->edge[edge].word == word; edge++)
            visit(m, g->edge[edge].target);
    }
    for (; edge < end && piece.to == words_of(m, piece.object); edge++)
        visit(m, g->edge[edge].target);
}

static void drain(struct mark *m)
{
    while (m->depth > 0 && !m->failed) {
        struct piece piece = m->stack[--m->depth];
        uint32_t middle = piece.from + (piece.to - piece.from) / 2;

        sgc_assert(piece.from <= piece.to);
        if (m->split_words == 0 || piece.to - piece.from <= m->split_words) {
            scan(m, piece);
            continue;
        }
        push(m, (struct piece){ piece.object, middle, piece.to });
        push(m, (struct piece){ piece.object, piece.from, middle });
    }
}

bool sgc_serial_mark(const struct sgc_homes *homes, uint32_t split_bytes, sgc_access_fn *access, void *arg)
{
    const struct sgc_graph *g = homes->graph;
    struct mark m = { .homes = homes, .graph = g, .split_words = split_bytes / g->geometry.word, .access = access, .arg = arg };

    sgc_assert(access != NULL && g->geometry.word > 0);
    m.marked = calloc(g->objects / 64 + 1, sizeof *m.marked);
    if (m.marked == NULL)
        return false;
    for (uint64_t r = 0; r < g->roots && !m.failed; r++)
        if ((SGC_GRAPH_MARK_ROOTS & SGC_GRAPH_BIT(g->range[g->root[r].range].root)) != 0)
            visit(&m, g->root[r].target);
    drain(&m);
    free(m.stack);
    free(m.marked);
    return !m.failed;
}
