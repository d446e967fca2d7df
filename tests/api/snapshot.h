/* SPDX-License-Identifier: MIT */
/*
 * Is what can be reached in a heap snapshot what the very same collection has marked?  In the folder of tests/lib/folder.h.
 */
#ifndef TESTS_API_SNAPSHOT_H
#define TESTS_API_SNAPSHOT_H

#include "tests/api/api.h"

#include "gc/events/events.h"
#include "snapshot/graph.h"
#include "sgc_shortterm.h"
#include "tests/lib/folder.h"

/* The last collection. */
static struct sgc_cycle_record snapshot_last;

static void snapshot_on_cycle_end(TEST_UNUSED void *context, const struct sgc_cycle_record *record)
{
    snapshot_last = *record;
}

/* Once, when the collector has started. */
static void snapshot_listen(void)
{
    static const struct sgc_listener listener = { .cycle_end = snapshot_on_cycle_end };

    sgc_listener_add(&listener);
}

/* A layer that marks by itself does not have its dates counted among the roots. */
static uint64_t snapshot_scanned(const struct sgc_graph *g)
{
    uint64_t bytes = g->root_bytes;

    for (uint32_t i = 0; i < g->ranges; i++)
        if (g->range[i].root == SGC_GRAPH_DATE && SGC_shortterm_mode() == SGC_SHORTTERM_VERIFY)
            bytes -= g->range[i].bytes;
    return bytes;
}

static bool snapshot_agrees(const struct sgc_graph *g, const struct sgc_graph_reach *reach)
{
    const struct sgc_cycle_record *last = &snapshot_last;

    if (g->cycle == last->cycle && reach->objects == last->marked.objects && reach->bytes == last->marked.bytes &&
        reach->pointer_free == last->marked.pointer_free_bytes && snapshot_scanned(g) == last->marked.root_bytes)
        return true;
    fprintf(stderr, "# objects %lu, marked %lu; bytes %lu, %lu; pointer-free %lu, %lu; roots %lu, %lu\n",
            (unsigned long)reach->objects, (unsigned long)last->marked.objects, (unsigned long)reach->bytes,
            (unsigned long)last->marked.bytes, (unsigned long)reach->pointer_free,
            (unsigned long)last->marked.pointer_free_bytes, (unsigned long)snapshot_scanned(g),
            (unsigned long)last->marked.root_bytes);
    return false;
}

/* Of the file; `look`, which may be NULL, is asked, too. */
static bool snapshot_is(const char *path, bool (*look)(const struct sgc_graph *g))
{
    struct sgc_graph_reach reach = { .seen = NULL };
    struct sgc_graph g;
    bool agrees = sgc_graph_load(&g, path, 0);
    const char *problem = agrees ? sgc_graph_check(&g) : NULL;

    if (problem != NULL)
        fprintf(stderr, "# %s\n", problem);
    agrees = agrees && problem == NULL && sgc_graph_reach(&g, SGC_GRAPH_ALL_ROOTS, &reach) && snapshot_agrees(&g, &reach) &&
             (look == NULL || look(&g));
    sgc_graph_reach_release(&reach);
    sgc_graph_release(&g);
    return agrees;
}

/* Writes one and looks. */
static bool snapshot_is_exact(bool (*look)(const struct sgc_graph *g))
{
    return SGC_write_heap_snapshot(folder_path("exact")) == 0 && snapshot_is(folder_path("exact"), look);
}

/* ---- objects ---- */

struct cell {
    struct cell *next;
    void *other;
};

static void *volatile roots[64];
static int used;

static void *keep(void *object)
{
    roots[used++] = object;
    return object;
}

static struct cell *chain(int length, void *last_other)
{
    struct cell *first = NULL;

    for (int i = 0; i < length; i++) {
        struct cell *cell = GC_MALLOC(sizeof *cell);

        cell->next = first;
        cell->other = last_other;
        first = cell;
    }
    return first;
}

#endif
