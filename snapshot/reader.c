/* SPDX-License-Identifier: MIT */
/* Reading a snapshot: the order of its sections, and its end.  See snapshot/reader.h. */
#include "snapshot/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sgc_reader_add(struct sgc_reader *r, struct sgc_grown *array)
{
    sgc_assert(array->each != 0 && array->count <= array->capacity);
    if (array->count == array->capacity) {
        size_t capacity = array->capacity == 0 ? 1024 : array->capacity + array->capacity / 2;
        void *of = realloc(array->of, capacity * array->each);

        if (of == NULL) {
            sgc_input_fail(&r->in, "there is no memory for %zu entries of %zu bytes; free some, or raise the limit (ulimit -v)",
                           capacity, array->each);
            return NULL;
        }
        array->of = of;
        array->capacity = capacity;
    }
    sgc_assert(array->of != NULL && array->count < array->capacity);
    return (char *)array->of + array->each * array->count++;
}

bool sgc_reader_begin_numbers(struct sgc_reader *r, uint32_t **by_object, const char *what)
{
    size_t bytes = ((size_t)r->g->objects + 1) * sizeof **by_object;

    sgc_assert(*by_object == NULL);
    if (!r->type_of)
        return true;
    *by_object = malloc(bytes);
    if (*by_object == NULL)
        sgc_input_fail(&r->in, "there is no memory for the %s of %u objects; free some, or raise the limit (ulimit -v)", what,
                       r->g->objects);
    else
        memset(*by_object, 0xff, bytes);
    return !r->in.failed;
}

static bool trailer(struct sgc_reader *r)
{
    static const char *const names[SGC_TRAILER_COUNTS] = { "blocks", "pages", "objects", "bytes", "words", "ranges of roots",
                                                           "words of roots", "addresses of finalization",
                                                           "records of the hook", "words of the hook",
                                                           "records of procedures", "words of procedures", "modules",
                                                           "objects with a type", "threads" };
    const uint64_t found[SGC_TRAILER_COUNTS] = {
        r->in.blocks, r->records, r->g->objects, r->g->bytes, r->words, r->read_ranges, r->root_words, r->kept,
        r->pushed.count, r->pushed_words.count, r->noted_records, r->noted_words, r->modules.count, r->typed, r->threads.count,
    };
    uint64_t counts = r->in.version < 3 ? SGC_TRAILER_COUNTS_2 : SGC_TRAILER_COUNTS;

    if (!sgc_input_section(&r->in, SGC_SECTION_TRAILER))
        return false;
    sgc_input_within(&r->in, "the number of counts", counts, counts);
    for (uint64_t i = 0; i < counts; i++)
        sgc_input_within(&r->in, names[i], found[i], found[i]);
    return sgc_input_end(&r->in);
}

/* Hands names over to the graph, as far as they have been read. */
static void finish_names(struct sgc_reader *r)
{
    struct sgc_graph *g = r->g;

    sgc_assert(g->module == NULL && g->type == NULL && g->thread == NULL);
    g->module = r->modules.of;
    g->type = r->types.of;
    g->thread = r->threads.of;
    g->modules = (uint32_t)r->modules.count;
    g->types = (uint32_t)r->types.count;
    g->threads = (uint32_t)r->threads.count;
    g->site = r->sites.of;
    g->frame = r->frames.of;
    g->sites = (uint32_t)r->sites.count;
    g->frames = r->frames.count;
    r->modules.of = r->types.of = r->threads.of = r->sites.of = r->frames.of = NULL;
}

/* Hands the reader's arrays over to the graph, with an entry behind the last of objects and ranges,
 * and with the edges of procedures. */
static bool finish(struct sgc_reader *r)
{
    struct sgc_graph_object *object = sgc_reader_add(r, &r->objects);
    struct sgc_graph_range *range = sgc_reader_add(r, &r->ranges);
    struct sgc_graph *g = r->g;

    if (object == NULL || range == NULL)
        return false;
    sgc_assert(r->objects.count == (size_t)g->objects + 1);
    *object = (struct sgc_graph_object){ .offset = g->geometry.limit, .first_edge = r->edges.count };
    if (!sgc_reader_put_noted(r))
        return false;
    *range = (struct sgc_graph_range){ .first_root = r->roots.count };
    g->object = r->objects.of;
    g->edge = r->edges.of;
    g->aim = r->aim.of;
    g->range = r->ranges.of;
    g->root = r->roots.of;
    g->edges = r->edges.count;
    g->ranges = (uint32_t)r->ranges.count - 1;
    g->roots = r->roots.count;
    r->objects.of = r->edges.of = r->aim.of = r->ranges.of = r->roots.of = NULL;
    return true;
}

static bool read_all(struct sgc_reader *r)
{
    return sgc_reader_header(r) && sgc_reader_pushed(r) && sgc_reader_kinds(r) && sgc_reader_modules(r) &&
           sgc_reader_threads(r) && sgc_reader_distances(r) && sgc_reader_nodes(r) && sgc_reader_pages(r) &&
           sgc_reader_words(r) && sgc_reader_types(r) && sgc_reader_sites(r) && sgc_reader_roots(r) && sgc_reader_noted(r) &&
           trailer(r) && finish(r);
}

static void release(struct sgc_reader *r)
{
    struct sgc_grown *const arrays[] = { &r->objects, &r->edges, &r->aim, &r->ranges, &r->roots, &r->bits, &r->before,
                                         &r->pushed, &r->pushed_words, &r->noted };

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]->of);
    free(r->bits_at);
    free(r->by_hand);
    free(r->contents);
    free(r->distances);
    sgc_input_close(&r->in);
    free(r);
}

static struct sgc_reader *make(struct sgc_graph *g, unsigned flags)
{
    struct sgc_reader *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    r->g = g;
    r->aims = (flags & SGC_GRAPH_AIMS) != 0;
    r->type_of = (flags & SGC_GRAPH_TYPES) != 0;
    r->modules.each = sizeof(struct sgc_graph_module);
    r->types.each = sizeof(struct sgc_graph_type);
    r->threads.each = sizeof(struct sgc_graph_thread);
    r->sites.each = sizeof(struct sgc_graph_site);
    r->frames.each = sizeof(uint64_t);
    r->objects.each = sizeof(struct sgc_graph_object);
    r->edges.each = sizeof(struct sgc_graph_edge);
    r->aim.each = r->bits.each = sizeof(uint64_t);
    r->ranges.each = sizeof(struct sgc_graph_range);
    r->roots.each = sizeof(struct sgc_graph_root_word);
    r->before.each = sizeof(uint16_t);
    r->pushed.each = sizeof(struct sgc_reader_pushed);
    r->pushed_words.each = sizeof(struct sgc_reader_pushed_word);
    r->noted.each = sizeof(struct sgc_reader_noted);
    return r;
}

bool sgc_graph_load_or(struct sgc_graph *g, const char *path, unsigned flags, char problem[SGC_GRAPH_PROBLEM])
{
    struct sgc_reader *r = make(g, flags);
    bool done;

    _Static_assert((int)SGC_GRAPH_PROBLEM == (int)SGC_INPUT_PROBLEM, "it fits");
    *g = (struct sgc_graph){ .cycle = 0 };
    if (r == NULL) {
        snprintf(problem, SGC_GRAPH_PROBLEM, "there is no memory to read it; free some, or raise the limit (ulimit -v)");
        return false;
    }
    done = sgc_input_open(&r->in, path) && read_all(r) && !r->in.failed;
    finish_names(r);
    memcpy(problem, r->in.problem, SGC_GRAPH_PROBLEM);
    sgc_assert(done == (problem[0] == '\0'));
    release(r);
    return done;
}

bool sgc_graph_load(struct sgc_graph *g, const char *path, unsigned flags)
{
    char problem[SGC_GRAPH_PROBLEM], line[SGC_GRAPH_PROBLEM + 4096];
    bool done = sgc_graph_load_or(g, path, flags, problem);

    snprintf(line, sizeof line, "%s: %s: %s", program_invocation_short_name, path, problem);
    if (!done)
        fprintf(stderr, "%s\n", sgc_make_shown(line));
    return done;
}
