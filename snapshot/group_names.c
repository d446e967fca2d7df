/* SPDX-License-Identifier: MIT */
/* Names of objects, and what is shared with those of root words: snapshot/names.h. */
#include "snapshot/namer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/sorted.h"
#include "platform/text_line.h"

/* ---- modules ---- */

const char *sgc_namer_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return path[0] == '\0' ? "unknown" : slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void note_problem(struct sgc_namer_module *m, const char *missing, const char *path, const char *problem)
{
    sgc_assert(m->problem == NULL && problem[0] != '\0');
    if (asprintf(&m->problem, "%s from %s: %s", missing, path[0] != '\0' ? path : "a module", problem) < 0)
        m->problem = NULL;
}

void sgc_namer_note_stripped(struct sgc_namer *n, uint32_t module)
{
    const struct sgc_graph_module *of = &n->g->module[module];
    struct sgc_namer_module *m = &n->module[module];
    char id[2 * SGC_GRAPH_BUILD_ID + 1] = "", text[SGC_SYMBOLS_PROBLEM];

    sgc_assert(module < n->g->modules && of->build_id_bytes <= SGC_GRAPH_BUILD_ID);
    if (m->problem != NULL || !m->there || m->symbols.complete)
        return;
    for (uint32_t i = 0; i < of->build_id_bytes; i++)
        sprintf(id + 2 * i, "%02x", of->build_id[i]);
    if (id[0] != '\0')
        snprintf(text, sizeof text, "its own symbols have been stripped; install its debug package (Debian: NAME-dbgsym), or "
                 "put its debug file at /usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
    else
        snprintf(text, sizeof text, "its own symbols have been stripped, and it has no build id by which its debug file can be "
                 "found; build it with -g, and do not strip it");
    note_problem(m, m->symbols.count != 0 ? "few names" : "no names", of->path, text);
}

/* NULL: it has no symbols. */
static const struct sgc_symbols *symbols_of(struct sgc_namer *n, uint32_t module)
{
    struct sgc_namer_module *m = &n->module[module];
    char problem[SGC_SYMBOLS_PROBLEM] = "";

    sgc_assert(module < n->g->modules);
    if (!m->asked) {
        m->there = sgc_symbols_read(&m->symbols, &n->g->module[module], problem);
        if (!m->there)
            note_problem(m, "no names", n->g->module[module].path, problem);
    }
    m->asked = true;
    return m->there ? &m->symbols : NULL;
}

/* The last one that begins there or below comes first, then those before it: one may lie in
 * another, but not deep. */
static const struct sgc_symbol *find_among(const struct sgc_symbol *of, size_t count, uint64_t offset)
{
    size_t low = count != 0 ? sgc_sorted_up_to(&of->lo, count, sizeof *of, offset) : 0;

    sgc_assert(low <= count);
    for (size_t i = low, tries = 0; i > 0 && tries < 16; i--, tries++)
        if (offset - of[i - 1].lo < of[i - 1].bytes)
            return &of[i - 1];
    return NULL;
}

static const struct sgc_symbol *find_symbol(const struct sgc_symbols *symbols, uint64_t offset)
{
    return symbols != NULL ? find_among(symbols->of, symbols->count, offset) : NULL;
}

const struct sgc_symbol *sgc_namer_thread_local(struct sgc_namer *n, uint32_t module, uint64_t offset)
{
    const struct sgc_symbols *symbols = symbols_of(n, module);

    return symbols != NULL ? find_among(symbols->local, symbols->locals, offset) : NULL;
}

void sgc_namer_show_place(const struct sgc_namer *n, uint32_t module, uint64_t offset, char text[SGC_NAMER_TEXT])
{
    const char *module_name = sgc_namer_base_name(n->g->module[module].path);

    sgc_assert(module < n->g->modules);
    snprintf(text, SGC_NAMER_TEXT, "%.*s+%#" PRIx64, SGC_NAMER_TEXT - 32, module_name, offset);
}

struct sgc_namer_place sgc_namer_place_of(struct sgc_namer *n, uint64_t address)
{
    struct sgc_namer_place place = { .module = sgc_graph_module_at(n->g, address) };

    if (place.module == SGC_GRAPH_NONE)
        return place;
    place.offset = address - n->g->module[place.module].lo;
    place.symbol = find_symbol(symbols_of(n, place.module), place.offset);
    sgc_assert(place.offset < n->g->module[place.module].bytes);
    return place;
}

const char *sgc_namer_address(struct sgc_namer *n, uint64_t address, char text[SGC_NAMER_TEXT])
{
    struct sgc_namer_place place = sgc_namer_place_of(n, address);
    size_t length;

    snprintf(text, SGC_NAMER_TEXT, "%#" PRIx64, address);
    if (place.symbol == NULL) {
        if (place.module != SGC_GRAPH_NONE)
            sgc_namer_show_place(n, place.module, place.offset, text);
        return text;
    }
    sgc_symbol_text(place.symbol->name, text);
    length = strlen(text);
    if (place.offset != place.symbol->lo)
        snprintf(text + length, SGC_NAMER_TEXT - length, "+%#" PRIx64, place.offset - place.symbol->lo);
    return text;
}

uint32_t sgc_namer_distinct(const struct sgc_namer *n, struct sgc_texts *texts, uint32_t number, uint32_t module,
                            const struct sgc_symbol *symbol)
{
    char text[2 * SGC_NAMER_TEXT], place[SGC_NAMER_TEXT];

    if (number == SGC_NAMER_NONE || !texts->of[number].shared)
        return number;
    sgc_namer_show_place(n, module, symbol->lo, place);
    snprintf(text, SGC_NAMER_TEXT, "%.*s at %.*s", SGC_NAMER_TEXT / 2, texts->of[number].text, SGC_NAMER_TEXT / 4, place);
    number = sgc_texts_number(texts, text, symbol);
    if (number == SGC_NAMER_NONE || !texts->of[number].shared)
        return number;
    snprintf(text + strlen(text), SGC_NAMER_TEXT / 4, ", %#" PRIx64, n->g->module[module].lo + symbol->lo);
    return sgc_texts_number(texts, text, symbol);
}

/* ---- groups ---- */

/* May there be a table that describes a type?  It has addresses in it, which the loader has
 * written. */
static bool may_describe(const struct sgc_graph_module *module, uint64_t offset)
{
    sgc_assert(offset <= module->bytes);
    for (uint32_t i = 0; i < module->segments; i++)
        if (module->lo + offset - module->segment[i].lo < module->segment[i].bytes)
            return (module->segment[i].access & 2) != 0;
    return false;
}

/* The symbol that a type is, and its class. */
static const struct sgc_symbol *class_of(struct sgc_namer *n, const struct sgc_graph_type *type, char text[SGC_NAMER_TEXT])
{
    const struct sgc_symbol *symbol = find_symbol(symbols_of(n, type->module), type->offset);

    return symbol != NULL && sgc_class_of_symbol(symbol->name, text) ? symbol : NULL;
}

/* A place of which nothing else is known is a type if several objects point there: a first field
 * may point at any data, mostly each at its own. */
static void name_type(struct sgc_namer *n, uint32_t number, bool types_first)
{
    const struct sgc_graph_type *type = &n->g->type[number];
    const struct sgc_symbols *symbols = symbols_of(n, type->module);
    struct sgc_namer_type *t = &n->type[number];
    char text[SGC_NAMER_TEXT];
    const struct sgc_symbol *class = class_of(n, type, text);

    sgc_assert(number < n->g->types && type->module < n->g->modules);
    t->class = t->symbol = t->place = SGC_NAMER_NONE;
    if (class != NULL)
        t->class = sgc_texts_number(&n->groups, text, class);
    if (types_first) {
        sgc_namer_address(n, n->g->module[type->module].lo + type->offset, text);
        t->symbol = sgc_texts_number(&n->groups, text, NULL);
    }
    if (t->repeats && (symbols == NULL || !symbols->complete) && find_symbol(symbols, type->offset) == NULL &&
        may_describe(&n->g->module[type->module], type->offset)) {
        sgc_namer_show_place(n, type->module, type->offset, text);
        t->place = sgc_texts_number(&n->groups, text, NULL);
        sgc_namer_note_stripped(n, type->module);
    }
}

static void find_repeated(struct sgc_namer *n)
{
    for (uint32_t i = 0; n->g->type_of != NULL && i < n->g->objects; i++) {
        struct sgc_namer_type *t = &n->type[n->g->type_of[i]];

        if (n->g->type_of[i] == SGC_GRAPH_NO_TYPE)
            continue;
        sgc_assert(n->g->type_of[i] < n->g->types);
        t->repeats = t->there;
        t->there = true;
    }
}

/* Classes of one name are told apart. */
static void tell_classes_apart(struct sgc_namer *n)
{
    char text[SGC_NAMER_TEXT];

    for (uint32_t i = 0; i < n->g->types; i++)
        if (n->type[i].class != SGC_NAMER_NONE)
            n->type[i].class = sgc_namer_distinct(n, &n->groups, n->type[i].class, n->g->type[i].module,
                                                  class_of(n, &n->g->type[i], text));
}

static void name_groups(struct sgc_namer *n)
{
    bool types_first = false;

    sgc_assert(n->groups.count == 0 && n->g->kinds <= SGC_GRAPH_KINDS);
    for (uint32_t i = 0; i < SGC_GRAPH_KINDS; i++)
        n->kind[i] = SGC_NAMER_NONE;
    for (uint32_t i = 0; i < n->g->kinds; i++) {
        types_first |= n->g->kind[i].type_first;
        if (n->g->kind[i].name[0] != '\0')
            n->kind[i] = sgc_texts_number(&n->groups, n->g->kind[i].name, NULL);
    }
    find_repeated(n);
    for (uint32_t i = 0; i < n->g->types; i++)
        name_type(n, i, types_first);
    tell_classes_apart(n);
}

uint32_t sgc_namer_groups(const struct sgc_namer *n)
{
    return n->groups.count;
}

uint32_t sgc_namer_group_of(void *namer, uint32_t object)
{
    const struct sgc_namer *n = namer;
    uint32_t number = n->g->type_of != NULL ? n->g->type_of[object] : SGC_GRAPH_NO_TYPE;
    uint32_t kind = sgc_graph_kind_of(n->g, object), site = sgc_graph_site_of(n->g, object);
    const struct sgc_namer_type none = { .class = SGC_NAMER_NONE, .symbol = SGC_NAMER_NONE, .place = SGC_NAMER_NONE };
    const struct sgc_namer_type *type = number != SGC_GRAPH_NO_TYPE ? &n->type[number] : &none;

    sgc_assert(kind < n->g->kinds && (number < n->g->types || number == SGC_GRAPH_NO_TYPE));
    if (type->class != SGC_NAMER_NONE)
        return type->class;
    if (n->g->kind[kind].type_first && type->symbol != SGC_NAMER_NONE)
        return type->symbol;
    if (n->kind[kind] != SGC_NAMER_NONE)
        return n->kind[kind];
    if (site != SGC_GRAPH_NO_SITE && n->site[site].group != SGC_NAMER_NONE)
        return n->site[site].group;
    return type->place;
}

const char *sgc_namer_group_name(void *namer, uint32_t group)
{
    const struct sgc_namer *n = namer;

    sgc_assert(group < n->groups.count);
    return n->groups.of[group].text;
}

/* ---- all ---- */

const char *sgc_namer_problem(const struct sgc_namer *n, uint32_t i)
{
    for (uint32_t m = 0; m < n->g->modules; m++)
        if (n->module[m].problem != NULL && i-- == 0)
            return n->module[m].problem;
    return NULL;
}

void sgc_namer_print_problems(const struct sgc_namer *n)
{
    char shown[1000];
    const char *problem;

    for (uint32_t i = 0; (problem = sgc_namer_problem(n, i)) != NULL; i++)
        fprintf(stderr, "sgc-snapshot: %s\n", sgc_quote(problem, strlen(problem), shown, sizeof shown));
}

struct sgc_namer *sgc_namer_open(const struct sgc_graph *g)
{
    struct sgc_namer *n = calloc(1, sizeof *n);

    if (n == NULL)
        return NULL;
    n->g = g;
    n->module = calloc((size_t)g->modules + 1, sizeof *n->module);
    n->type = calloc((size_t)g->types + 1, sizeof *n->type);
    n->site = calloc((size_t)g->sites + 1, sizeof *n->site);
    n->root_of = malloc(((size_t)g->roots + 1) * sizeof *n->root_of);
    if (n->module == NULL || n->type == NULL || n->site == NULL || n->root_of == NULL) {
        sgc_namer_close(n);
        return NULL;
    }
    name_groups(n);
    sgc_namer_name_sites(n);
    sgc_namer_name_roots(n);
    return n;
}

void sgc_namer_close(struct sgc_namer *n)
{
    if (n == NULL)
        return;
    for (uint32_t i = 0; n->module != NULL && i < n->g->modules; i++) {
        sgc_symbols_release(&n->module[i].symbols);
        free(n->module[i].problem);
    }
    sgc_texts_release(&n->groups);
    sgc_texts_release(&n->roots);
    free(n->module);
    free(n->type);
    free(n->site);
    free(n->root_of);
    free(n);
}
