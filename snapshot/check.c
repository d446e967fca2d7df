/* SPDX-License-Identifier: MIT */
/* Do the parts of a graph fit together?  sgc_graph_check. */
#include "snapshot/graph.h"

static const char *check_pages(const struct sgc_graph *g)
{
    uint32_t next = 0;

    sgc_assert(g->kinds <= SGC_GRAPH_KINDS);
    for (uint32_t i = 0; i < g->pages; i++) {
        const struct sgc_graph_page *page = &g->page[i];

        if (page->first_object != next)
            return "the objects of a page do not follow those of the page before";
        if (page->objects != 0 && page->is != SGC_GRAPH_PAGE_SMALL && page->is != SGC_GRAPH_PAGE_SPAN)
            return "a page without objects has some";
        if (page->is != SGC_GRAPH_PAGE_NONE && page->kind >= g->kinds)
            return "the kind of a page is none";
        if (page->is == SGC_GRAPH_PAGE_TAIL && (page->pages == 0 || page->pages > i))
            return "the tail of a span leads nowhere";
        next += page->objects;
    }
    return next == g->objects ? NULL : "the pages do not have all objects";
}

static const char *check_objects(const struct sgc_graph *g)
{
    uint64_t end = 0, bytes = 0;

    sgc_assert(g->object != NULL);
    for (uint32_t i = 0; i < g->objects; i++) {
        const struct sgc_graph_object *object = &g->object[i];

        if (object->offset < end)
            return "objects overlap";
        if (object->offset >> g->geometry.page_log >= g->pages)
            return "an object lies in no page";
        if (i < g->page[sgc_graph_page_of(g, i)].first_object ||
            i - g->page[sgc_graph_page_of(g, i)].first_object >= g->page[sgc_graph_page_of(g, i)].objects)
            return "an object is none of its page's";
        if (object->first_edge > object[1].first_edge)
            return "the edges of objects overlap";
        end = object->offset + sgc_graph_bytes(g, i);
        bytes += sgc_graph_bytes(g, i);
    }
    if (g->object[g->objects].first_edge != g->edges)
        return "the last object does not have the last edge";
    return bytes == g->bytes ? NULL : "the sizes of objects are not their sum";
}

static const char *check_edges(const struct sgc_graph *g)
{
    sgc_assert(g->object != NULL && g->geometry.word != 0);
    for (uint32_t i = 0; i < g->objects; i++) {
        uint64_t words = sgc_graph_bytes(g, i) / g->geometry.word;

        for (uint64_t e = g->object[i].first_edge; e < g->object[i + 1].first_edge; e++) {
            if (g->edge[e].target >= g->objects)
                return "an edge leads to no object";
            if (g->edge[e].word >= words && g->edge[e].word != SGC_GRAPH_NO_WORD)
                return "an edge lies behind its object";
            if (e > g->object[i].first_edge && g->edge[e].word <= g->edge[e - 1].word &&
                g->edge[e].word != SGC_GRAPH_NO_WORD)
                return "the edges of an object are not in order";
        }
    }
    return NULL;
}

static const char *check_roots(const struct sgc_graph *g)
{
    sgc_assert(g->range != NULL);
    for (uint32_t i = 0; i < g->ranges; i++) {
        if (g->range[i].root >= SGC_GRAPH_ROOTS)
            return "the kind of a root is none";
        if (g->range[i].first_root > g->range[i + 1].first_root)
            return "the roots of ranges overlap";
        for (uint64_t r = g->range[i].first_root; r < g->range[i + 1].first_root; r++)
            if (r >= g->roots || g->root[r].target >= g->objects || g->root[r].range != i)
                return "a root leads to no object";
    }
    return g->range[g->ranges].first_root == g->roots ? NULL : "the last range does not have the last root";
}

static const char *check_names(const struct sgc_graph *g)
{
    sgc_assert((g->module != NULL || g->modules == 0) && (g->type != NULL || g->types == 0));
    for (uint32_t i = 0; i < g->modules; i++)
        if (g->module[i].path == NULL || (i != 0 && g->module[i].lo < g->module[i - 1].lo))
            return "the modules are not in order";
    for (uint32_t i = 0; i < g->types; i++)
        if (g->type[i].module >= g->modules || g->type[i].offset > g->module[g->type[i].module].bytes)
            return "a type lies in no module";
    for (uint32_t i = 0; g->type_of != NULL && i < g->objects; i++)
        if (g->type_of[i] >= g->types && g->type_of[i] != SGC_GRAPH_NO_TYPE)
            return "the type of an object is none";
    return NULL;
}

static const char *check_sites(const struct sgc_graph *g)
{
    sgc_assert(g->site != NULL || g->sites == 0);
    for (uint32_t i = 0; i < g->sites; i++)
        if (g->site[i].first_frame > g->frames || g->frames - g->site[i].first_frame < g->site[i].frames)
            return "the frames of a site are none";
    for (uint32_t i = 0; g->site_of != NULL && i < g->objects; i++)
        if (g->site_of[i] >= g->sites && g->site_of[i] != SGC_GRAPH_NO_SITE)
            return "the site of an object is none";
    return NULL;
}

const char *sgc_graph_check(const struct sgc_graph *g)
{
    const char *problem = NULL;

    if (g->kinds > SGC_GRAPH_KINDS || g->geometry.word == 0 || g->object == NULL || g->range == NULL)
        return "it was not filled";
    problem = check_pages(g);
    if (problem == NULL)
        problem = check_objects(g);
    if (problem == NULL)
        problem = check_edges(g);
    if (problem == NULL)
        problem = check_roots(g);
    if (problem == NULL)
        problem = check_names(g);
    return problem != NULL ? problem : check_sites(g);
}
