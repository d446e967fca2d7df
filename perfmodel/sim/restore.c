/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/restore.h. */
#include "perfmodel/sim/restore.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/pages/page.h"
#include "perfmodel/sim/platform.h"

/* Memory that a marker may need besides the heap: its stack of work, and its record. */
static const size_t MARKER_ROOM = ((size_t)64 << 20) + ((size_t)1 << 20), ROOM = (size_t)64 << 20;

/* ---- the heap ---- */

/* Of a range: its words, and for each root one more, as a word may lead to two objects. */
static size_t root_bytes(const struct sgc_graph_range *range)
{
    uint64_t roots = range[1].first_root - range->first_root;

    sgc_assert(range->first_root <= range[1].first_root);
    return (range->lo != 0 ? sgc_round_up(range->bytes, 8) : 0) + roots * 8;
}

static size_t memory_wanted(const struct sgc_graph *graph, uint32_t markers)
{
    size_t heap = (size_t)(graph->arenas + 1) << SGC_ARENA_LOG, bytes = heap + heap / 8 + markers * MARKER_ROOM + ROOM;

    sgc_assert(markers != 0 && bytes > heap);
    for (uint32_t i = 0; i < graph->ranges; i++)
        bytes += root_bytes(&graph->range[i]) + 4096;
    bytes += graph->procedure_edges * sizeof(uintptr_t) + 4096;
    return sgc_round_up(bytes, SGC_ARENA);
}

static bool make_heap(const struct sgc_graph *graph)
{
    uint32_t arenas = graph->arenas < 1 ? 1 : graph->arenas;
    struct sgc_heap_config config = { .reserve = (size_t)arenas << SGC_ARENA_LOG, .interior_pointers = true };

    memset(&sgc_heap, 0, sizeof sgc_heap);
    sgc_size_classes_init();
    if (!sgc_heap_reserve(&config) || !sgc_heap_commit(arenas * SGC_ARENA_PAGES))
        return false;
    sgc_heap.homes = 1;
    sgc_aw_store(&sgc_heap.limit, (uintptr_t)arenas << SGC_ARENA_LOG);
    sgc_aw_store(&sgc_heap.granules, (uintptr_t)arenas << (SGC_ARENA_LOG - SGC_GRANULE_LOG));
    return true;
}

static uint32_t kind_of(const struct sgc_graph *graph, const struct sgc_graph_page *page)
{
    sgc_assert(page->kind < graph->kinds);
    return graph->kind[page->kind].scan == SGC_GRAPH_SCAN_NOTHING ? SGC_KIND_POINTER_FREE : SGC_KIND_CONSERVATIVE;
}

/* ---- pages ---- */

static const char *small_page(const struct sgc_graph *graph, uint32_t number)
{
    const struct sgc_graph_page *page = &graph->page[number];
    uint32_t granules = (uint32_t)(page->object_bytes / SGC_GRANULE), cls;

    sgc_assert(number < graph->pages && page->is == SGC_GRAPH_PAGE_SMALL);
    if (granules == 0 || page->object_bytes > SGC_SMALL_MAX || page->object_bytes % SGC_GRANULE != 0)
        return "the objects of a page have an impossible size";
    cls = sgc_class_for(granules);
    if (sgc_size_classes.of[cls].granules != granules)
        return "the objects of a page have a size that no size class of this version has";
    sgc_page_set_up_small(number, cls, kind_of(graph, page), 0, sgc_tag(SGC_NO_OWNER, sgc_heap.epoch), false);
    return NULL;
}

/* As alloc/large/span.c sets one up, without its lists. */
static const char *span(const struct sgc_graph *graph, uint32_t number)
{
    const struct sgc_graph_page *page = &graph->page[number];
    struct sgc_page *d = &sgc_heap.pages[number];

    sgc_assert(number < graph->pages && page->is == SGC_GRAPH_PAGE_SPAN);
    if (page->pages == 0 || page->pages > graph->pages - number || page->object_bytes > (uint64_t)page->pages * SGC_PAGE)
        return "a large object does not fit into its pages";
    sgc_page_set_kind(d, kind_of(graph, page));
    sgc_aw_store(&d->span_bytes, page->object_bytes);
    sgc_aw_store(&d->span_reach, page->reach);
    sgc_span_set_limited(d, page->reach < page->object_bytes);
    sgc_heap.records[number].span_pages = page->pages;
    for (uint32_t i = 1; i < page->pages; i++) {
        sgc_page_set_back(d + i, i);
        sgc_page_set_state(d + i, SGC_PAGE_SPAN_TAIL);
    }
    sgc_page_set_state(d, SGC_PAGE_SPAN);
    return NULL;
}

static const char *restore_pages(const struct sgc_graph *graph, struct sgc_sim_heap *heap)
{
    const char *problem = NULL;

    for (uint32_t i = 0; i < graph->pages && problem == NULL; i++) {
        if (graph->page[i].is == SGC_GRAPH_PAGE_SMALL)
            problem = small_page(graph, i);
        else if (graph->page[i].is == SGC_GRAPH_PAGE_SPAN)
            problem = span(graph, i);
        heap->home[i] = graph->page[i].home != 0 ? (uint16_t)(graph->page[i].home - 1) : 0;
    }
    return problem;
}

/* ---- objects ---- */

static void allocate(const struct sgc_graph *graph, uint32_t object)
{
    uint32_t page = sgc_graph_page_of(graph, object);
    sgc_aw_t *word = sgc_span_word(page, sgc_heap.alloc_role);

    sgc_assert(sgc_page_ok(page));
    if (graph->page[page].is == SGC_GRAPH_PAGE_SPAN)
        sgc_aw_store(word, sgc_aw_load(word) | sgc_arena_bit(page));
    else
        sgc_alloc_bit_set(graph->object[object].offset / SGC_GRANULE);
}

static bool is_in_its_slot(const struct sgc_graph *graph, uint32_t object)
{
    uint64_t offset = graph->object[object].offset;
    const struct sgc_graph_page *page = &graph->page[sgc_graph_page_of(graph, object)];

    if (page->is == SGC_GRAPH_PAGE_SPAN)
        return offset % SGC_PAGE == 0;
    return page->is == SGC_GRAPH_PAGE_SMALL && offset % SGC_PAGE % page->object_bytes == 0 &&
           offset % SGC_PAGE + page->object_bytes <= SGC_PAGE;
}

/* ---- edges ---- */

/* Edges that do not fit into their objects.  A mark finds them with its roots. */
struct left {
    const struct sgc_graph *graph;
    uintptr_t *words;
    uint64_t used, room;
    struct sgc_graph_reach reach;
};

static uintptr_t aim_of(const struct sgc_graph *graph, uint64_t edge)
{
    sgc_assert(edge < graph->edges);
    return sgc_heap.base + (graph->aim != NULL ? graph->aim[edge] : graph->object[graph->edge[edge].target].offset);
}

/* Writes an edge of a procedure, whose place nobody knows, into the first free word of the object.
 * If none is free the edge becomes a root, unless no mark would come to the object. */
static void write_without_word(struct left *left, uint32_t object, uint64_t edge, uint64_t *free_word)
{
    const struct sgc_graph *graph = left->graph;
    uintptr_t *words = (uintptr_t *)(sgc_heap.base + graph->object[object].offset);
    uint64_t count = sgc_graph_bytes(graph, object) / sizeof *words;

    while (*free_word < count && words[*free_word] != 0)
        ++*free_word;
    if (*free_word < count)
        words[*free_word] = aim_of(graph, edge);
    else if (sgc_graph_seen(&left->reach, object))
        left->words[left->used++] = aim_of(graph, edge);
    sgc_assert(left->used <= left->room);
}

static void write_edges(struct left *left, uint32_t object)
{
    const struct sgc_graph *graph = left->graph;
    uintptr_t *words = (uintptr_t *)(sgc_heap.base + graph->object[object].offset);
    uint64_t free_word = 0;

    sgc_assert(sgc_heap_contains((uintptr_t)words));
    for (uint64_t e = graph->object[object].first_edge; e < graph->object[object + 1].first_edge; e++)
        if (graph->edge[e].word != SGC_GRAPH_NO_WORD)
            words[graph->edge[e].word] = aim_of(graph, e);
        else
            write_without_word(left, object, e, &free_word);
}

static bool begin_left(const struct sgc_graph *graph, struct left *left)
{
    *left = (struct left){ .graph = graph, .room = graph->procedure_edges, .reach = { .seen = NULL } };
    if (left->room == 0)
        return true;
    left->words = sgc_mem_obtain(left->room * sizeof *left->words);
    return left->words != NULL && sgc_graph_reach(graph, SGC_GRAPH_MARK_ROOTS, &left->reach);
}

static void end_left(struct left *left, struct sgc_sim_heap *heap)
{
    sgc_assert(left->used <= left->room);
    if (left->used != 0)
        heap->range[heap->ranges++] = (struct sgc_sim_range){
            (uintptr_t)left->words, (uintptr_t)(left->words + left->used), 0,
        };
    sgc_graph_reach_release(&left->reach);
}

static const char *restore_objects(const struct sgc_graph *graph, struct sgc_sim_heap *heap)
{
    struct left left;
    const char *problem = begin_left(graph, &left) ? NULL : "there is no memory for its edges";

    for (uint32_t i = 0; i < graph->objects && problem == NULL; i++) {
        if (is_in_its_slot(graph, i)) {
            allocate(graph, i);
            write_edges(&left, i);
        } else {
            problem = "an object does not lie where objects of its size do";
        }
    }
    end_left(&left, heap);
    return problem;
}

/* ---- roots ---- */

/* Those that a cycle looks at after the mark are left out. */
static const char *restore_range(const struct sgc_graph *graph, const struct sgc_graph_range *range, struct sgc_sim_heap *heap)
{
    size_t bytes = root_bytes(range), count = range->lo != 0 ? sgc_round_up(range->bytes, 8) / 8 : 0, used = count;
    uintptr_t *words;

    sgc_assert(heap->ranges <= graph->ranges);
    if ((SGC_GRAPH_BIT(range->root) & SGC_GRAPH_MARK_ROOTS) == 0 || bytes == 0)
        return NULL;
    words = sgc_mem_obtain(bytes);
    if (words == NULL)
        return "there is no memory for the roots";
    for (uint64_t r = range->first_root; r < range[1].first_root; r++) {
        size_t at = range->lo != 0 ? graph->root[r].word : used;

        if (range->lo != 0 && at >= count)
            return "a root lies behind its range";
        if (at == used || words[at] != 0)
            at = used++;
        words[at] = sgc_heap.base + graph->object[graph->root[r].target].offset;
    }
    sgc_assert(used <= bytes / sizeof *words);
    heap->range[heap->ranges++] = (struct sgc_sim_range){ (uintptr_t)words, (uintptr_t)(words + used), range->thread };
    return NULL;
}

static const char *restore_roots(const struct sgc_graph *graph, struct sgc_sim_heap *heap)
{
    const char *problem = NULL;

    for (uint32_t i = 0; i < graph->ranges && problem == NULL; i++)
        problem = restore_range(graph, &graph->range[i], heap);
    return problem;
}

/* ---- all ---- */

static size_t distance(const void *table)
{
    return (uintptr_t)table - sgc_sim_platform_base();
}

static void set_layout(struct sgc_sim_heap *heap)
{
    sgc_assert(distance((void *)sgc_heap.base) == 0);
    heap->layout = (struct sgc_sim_layout){
        .bytes = sgc_sim_platform_bytes(),
        .objects = sgc_aw_load(&sgc_heap.limit),
        .bits = distance(sgc_heap.bits), .bits_end = distance(sgc_heap.remote_bits),
        .tables = distance(sgc_heap.pages), .tables_end = distance(sgc_heap.records),
        .bits_per_page = 2 * SGC_PAGE_GRANULES / 8, .table_per_page = sizeof(struct sgc_page), .page = SGC_PAGE,
    };
}

const char *sgc_sim_restore(const struct sgc_graph *graph, uint32_t markers, struct sgc_sim_heap *heap)
{
    const char *problem;

    sgc_assert(markers != 0 && markers <= SGC_SIM_MARKERS_MAX);
    *heap = (struct sgc_sim_heap){ .used = 0 };
    if (graph->pages > (uint64_t)graph->arenas * SGC_ARENA_PAGES ||
        (graph->pages != 0 && graph->page[0].is != SGC_GRAPH_PAGE_NONE))
        return "its pages are not those of its arenas";
    if (graph->geometry.word != 8 || graph->geometry.granule_log != SGC_GRANULE_LOG || graph->geometry.page_log != SGC_PAGE_LOG)
        return "it is of a heap with other pages than this version has";
    heap->range = calloc((size_t)graph->ranges + 2, sizeof *heap->range);
    heap->home = calloc(((size_t)graph->arenas + 1) * SGC_ARENA_PAGES, sizeof *heap->home);
    if (heap->range == NULL || heap->home == NULL || !sgc_sim_platform_begin(memory_wanted(graph, markers)) ||
        !make_heap(graph))
        return "there is no memory for it";
    problem = restore_pages(graph, heap);
    if (problem == NULL)
        problem = restore_objects(graph, heap);
    if (problem == NULL)
        problem = restore_roots(graph, heap);
    set_layout(heap);
    heap->used = sgc_sim_platform_used();
    return problem;
}

void sgc_sim_release(struct sgc_sim_heap *heap)
{
    free(heap->range);
    free(heap->home);
    heap->range = NULL;
    heap->home = NULL;
    sgc_sim_platform_end();
}

/* ---- marks ---- */

static size_t mark_words(void)
{
    return sgc_aw_load(&sgc_heap.granules) / 64;
}

static size_t arenas(void)
{
    return sgc_aw_load(&sgc_heap.limit) >> SGC_ARENA_LOG;
}

void sgc_sim_unmark(void)
{
    for (size_t w = 0; w < mark_words(); w++)
        if (sgc_aw_load(sgc_bits_word(w, sgc_mark_role())) != 0)
            sgc_aw_store(sgc_bits_word(w, sgc_mark_role()), 0);
    for (size_t a = 0; a < arenas(); a++)
        sgc_aw_store(sgc_span_word((uint32_t)(a * SGC_ARENA_PAGES), sgc_mark_role()), 0);
}

bool sgc_sim_is_marked(const struct sgc_graph *graph, uint32_t object)
{
    uint32_t page = sgc_graph_page_of(graph, object);

    sgc_assert(sgc_page_ok(page));
    if (graph->page[page].is == SGC_GRAPH_PAGE_SPAN)
        return (sgc_aw_load(sgc_span_word(page, sgc_mark_role())) & sgc_arena_bit(page)) != 0;
    return sgc_mark_bit(graph->object[object].offset / SGC_GRANULE);
}

uint64_t sgc_sim_count_marks(void)
{
    uint64_t count = 0;

    for (size_t w = 0; w < mark_words(); w++)
        count += (uint64_t)__builtin_popcountll(sgc_aw_load(sgc_bits_word(w, sgc_mark_role())));
    for (size_t a = 0; a < arenas(); a++)
        count += (uint64_t)__builtin_popcountll(sgc_aw_load(sgc_span_word((uint32_t)(a * SGC_ARENA_PAGES), sgc_mark_role())));
    return count;
}
