/* SPDX-License-Identifier: MIT */
/* See snapshot/names.h. */
#include "snapshot/names.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text_line.h"
#include "snapshot/symbols.h"

/* ---- texts, each once ---- */

struct texts {
    char **of;
    const void **owner;                 /* what has that name; NULL: nobody has said */
    uint32_t count, capacity;
    void *tree;                         /* of struct numbered */
};

struct numbered {
    uint32_t number;
    char text[];
};

static int compare_numbered(const void *a, const void *b)
{
    return strcmp(((const struct numbered *)a)->text, ((const struct numbered *)b)->text);
}

static bool grow(struct texts *texts)
{
    uint32_t capacity = texts->capacity == 0 ? 64 : 2 * texts->capacity;
    char **of;
    const void **owner;

    sgc_assert(texts->count <= texts->capacity);
    if (texts->count < texts->capacity)
        return true;
    of = realloc(texts->of, capacity * sizeof *of);
    texts->of = of != NULL ? of : texts->of;
    owner = realloc(texts->owner, capacity * sizeof *owner);
    texts->owner = owner != NULL ? owner : texts->owner;
    if (of == NULL || owner == NULL)
        return false;
    texts->capacity = capacity;
    return true;
}

/* Its number; SGC_NAMER_NONE: there is no memory. */
static uint32_t number_of(struct texts *texts, const char *text)
{
    struct numbered *entry = malloc(sizeof *entry + strlen(text) + 1), **found;

    sgc_assert(text[0] != '\0');
    if (entry == NULL || !grow(texts)) {
        free(entry);
        return SGC_NAMER_NONE;
    }
    strcpy(entry->text, text);
    entry->number = texts->count;
    found = tsearch(entry, &texts->tree, compare_numbered);
    if (found != NULL && *found == entry) {
        texts->owner[texts->count] = NULL;
        texts->of[texts->count++] = entry->text;
        return entry->number;
    }
    free(entry);
    return found != NULL ? (*found)->number : SGC_NAMER_NONE;
}

static void release_texts(struct texts *texts)
{
    tdestroy(texts->tree, free);
    free(texts->of);
    free(texts->owner);
}

/* ---- the namer ---- */

struct module {
    bool asked, there;                  /* its symbols */
    struct sgc_symbols symbols;
    char *problem;
};

struct type {
    uint32_t class, symbol, place;      /* groups by the three ways; SGC_NAMER_NONE: it has none */
};

struct sgc_namer {
    const struct sgc_graph *g;
    struct module *module;
    struct texts groups, roots;
    struct type *type;
    uint32_t kind[SGC_GRAPH_KINDS];     /* groups */
    uint32_t *root_of;
    const struct sgc_symbol *last;      /* variable that was named, and its number */
    uint32_t last_root;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return path[0] == '\0' ? "unknown" : slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void note_problem(struct module *m, const char *path, const char *problem)
{
    size_t bytes = strlen(path) + strlen(problem) + 3;

    sgc_assert(m->problem == NULL && problem[0] != '\0');
    m->problem = malloc(bytes);
    if (m->problem != NULL)
        snprintf(m->problem, bytes, "%s: %s", path[0] != '\0' ? path : "a module", problem);
}

/* NULL: it has no symbols. */
static const struct sgc_symbols *symbols_of(struct sgc_namer *n, uint32_t module)
{
    struct module *m = &n->module[module];
    char problem[SGC_SYMBOLS_PROBLEM] = "";

    sgc_assert(module < n->g->modules);
    if (!m->asked) {
        m->there = sgc_symbols_read(&m->symbols, &n->g->module[module], problem);
        if (!m->there)
            note_problem(m, n->g->module[module].path, problem);
    }
    m->asked = true;
    return m->there ? &m->symbols : NULL;
}

/* The last one that begins there or below comes first, then those before it: one may lie in
 * another, but not deep. */
static const struct sgc_symbol *find_symbol(const struct sgc_symbols *symbols, uint64_t offset)
{
    size_t low = 0, high = symbols != NULL ? symbols->count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (offset < symbols->of[middle].lo)
            high = middle;
        else
            low = middle + 1;
    }
    sgc_assert(low == 0 || symbols->of[low - 1].lo <= offset);
    for (size_t i = low, tries = 0; i > 0 && tries < 16; i--, tries++)
        if (offset - symbols->of[i - 1].lo < symbols->of[i - 1].bytes)
            return &symbols->of[i - 1];
    return NULL;
}

static void show_place(const struct sgc_namer *n, uint32_t module, uint64_t offset, char text[SGC_NAMER_TEXT])
{
    snprintf(text, SGC_NAMER_TEXT, "%.*s+%#" PRIx64, SGC_NAMER_TEXT - 32, base_name(n->g->module[module].path), offset);
}

const char *sgc_namer_address(struct sgc_namer *n, uint64_t address, char text[SGC_NAMER_TEXT])
{
    uint32_t module = sgc_graph_module_at(n->g, address);
    const struct sgc_symbol *symbol;
    uint64_t offset;
    size_t length;

    snprintf(text, SGC_NAMER_TEXT, "%#" PRIx64, address);
    if (module == SGC_GRAPH_NONE)
        return text;
    offset = address - n->g->module[module].lo;
    sgc_assert(offset < n->g->module[module].bytes);
    symbol = find_symbol(symbols_of(n, module), offset);
    if (symbol == NULL) {
        show_place(n, module, offset, text);
        return text;
    }
    sgc_symbol_text(symbol->name, text);
    length = strlen(text);
    if (offset != symbol->lo)
        snprintf(text + length, SGC_NAMER_TEXT - length, "+%#" PRIx64, offset - symbol->lo);
    return text;
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

static void name_type(struct sgc_namer *n, uint32_t number, bool types_first)
{
    const struct sgc_graph_type *type = &n->g->type[number];
    const struct sgc_symbols *symbols = symbols_of(n, type->module);
    const struct sgc_symbol *symbol = find_symbol(symbols, type->offset);
    struct type *t = &n->type[number];
    char text[SGC_NAMER_TEXT];

    sgc_assert(number < n->g->types && type->module < n->g->modules);
    *t = (struct type){ SGC_NAMER_NONE, SGC_NAMER_NONE, SGC_NAMER_NONE };
    if (symbol != NULL && sgc_class_of_symbol(symbol->name, text))
        t->class = number_of(&n->groups, text);
    if (types_first) {
        sgc_namer_address(n, n->g->module[type->module].lo + type->offset, text);
        t->symbol = number_of(&n->groups, text);
    }
    if (symbol == NULL && (symbols == NULL || !symbols->complete) && may_describe(&n->g->module[type->module], type->offset)) {
        show_place(n, type->module, type->offset, text);
        t->place = number_of(&n->groups, text);
    }
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
            n->kind[i] = number_of(&n->groups, n->g->kind[i].name);
    }
    for (uint32_t i = 0; i < n->g->types; i++)
        name_type(n, i, types_first);
}

uint32_t sgc_namer_groups(const struct sgc_namer *n)
{
    return n->groups.count;
}

uint32_t sgc_namer_group_of(void *namer, uint32_t object)
{
    const struct sgc_namer *n = namer;
    uint32_t number = n->g->type_of != NULL ? n->g->type_of[object] : SGC_GRAPH_NO_TYPE;
    uint32_t kind = sgc_graph_kind_of(n->g, object);
    const struct type none = { SGC_NAMER_NONE, SGC_NAMER_NONE, SGC_NAMER_NONE };
    const struct type *type = number != SGC_GRAPH_NO_TYPE ? &n->type[number] : &none;

    sgc_assert(kind < n->g->kinds && (number < n->g->types || number == SGC_GRAPH_NO_TYPE));
    if (type->class != SGC_NAMER_NONE)
        return type->class;
    if (n->g->kind[kind].type_first && type->symbol != SGC_NAMER_NONE)
        return type->symbol;
    return n->kind[kind] != SGC_NAMER_NONE ? n->kind[kind] : type->place;
}

const char *sgc_namer_group_name(void *namer, uint32_t group)
{
    const struct sgc_namer *n = namer;

    sgc_assert(group < n->groups.count);
    return n->groups.of[group];
}

/* ---- roots ---- */

static void show_thread(const struct sgc_graph *g, const struct sgc_graph_range *range, char text[SGC_NAMER_TEXT])
{
    const struct sgc_graph_thread *thread = sgc_graph_thread(g, range->thread);
    const char *name = thread != NULL ? thread->name : "";

    sgc_assert(range->thread != 0);
    snprintf(text, SGC_NAMER_TEXT, "%s of thread %" PRIu32 "%s%s%s",
             range->root == SGC_GRAPH_STACK ? "stack" : "thread-local variables", range->thread,
             name[0] != '\0' ? " (" : "", name, name[0] != '\0' ? ")" : "");
}

/* Variables of one name, as those of several files may be, are told apart by their places. */
static uint32_t number_of_variable(struct sgc_namer *n, uint32_t module, const struct sgc_symbol *symbol)
{
    char text[SGC_NAMER_TEXT], place[SGC_NAMER_TEXT];
    uint32_t number;
    size_t length;

    sgc_symbol_text(symbol->name, text);
    number = number_of(&n->roots, text);
    if (number != SGC_NAMER_NONE && n->roots.owner[number] != NULL && n->roots.owner[number] != symbol) {
        show_place(n, module, symbol->lo, place);
        length = strnlen(text, SGC_NAMER_TEXT / 2);
        snprintf(text + length, SGC_NAMER_TEXT - length, " at %.*s", (int)(SGC_NAMER_TEXT - length - 8), place);
        number = number_of(&n->roots, text);
    }
    if (number != SGC_NAMER_NONE)
        n->roots.owner[number] = symbol;
    return number;
}

static uint32_t name_variable(struct sgc_namer *n, uint64_t address)
{
    uint32_t module = sgc_graph_module_at(n->g, address);
    const struct sgc_symbol *symbol;
    char text[SGC_NAMER_TEXT];

    if (module == SGC_GRAPH_NONE)
        return SGC_NAMER_NONE;
    symbol = find_symbol(symbols_of(n, module), address - n->g->module[module].lo);
    if (symbol != NULL && symbol == n->last)
        return n->last_root;
    n->last = symbol;
    if (symbol != NULL)
        return n->last_root = number_of_variable(n, module, symbol);
    snprintf(text, SGC_NAMER_TEXT, "static data of %s", base_name(n->g->module[module].path));
    return number_of(&n->roots, text);
}

static void name_range(struct sgc_namer *n, const struct sgc_graph_range *range)
{
    uint32_t thread = SGC_NAMER_NONE;
    char text[SGC_NAMER_TEXT];

    sgc_assert(range->first_root <= range[1].first_root && range[1].first_root <= n->g->roots);
    if (range->thread != 0 && (range->root == SGC_GRAPH_STACK || range->root == SGC_GRAPH_THREAD_LOCAL) &&
        range->first_root != range[1].first_root) {
        show_thread(n->g, range, text);
        thread = number_of(&n->roots, text);
    }
    for (uint64_t r = range->first_root; r < range[1].first_root; r++)
        n->root_of[r] = range->root <= SGC_GRAPH_ADDED && range->lo != 0
                            ? name_variable(n, range->lo + n->g->root[r].word * n->g->geometry.word) : thread;
}

uint32_t sgc_namer_roots(const struct sgc_namer *n)
{
    return n->roots.count;
}

uint32_t sgc_namer_root_of(void *namer, uint64_t root)
{
    const struct sgc_namer *n = namer;

    sgc_assert(root < n->g->roots);
    return n->root_of[root];
}

const char *sgc_namer_root_name(void *namer, uint32_t root)
{
    const struct sgc_namer *n = namer;

    sgc_assert(root < n->roots.count);
    return n->roots.of[root];
}

/* A variable's name begins with its symbol, and the place behind that may tell it from another. */
const char *sgc_namer_root_word(struct sgc_namer *n, uint64_t root, char text[SGC_NAMER_TEXT])
{
    const struct sgc_graph_range *range = &n->g->range[n->g->root[root].range];
    uint64_t address = range->lo + n->g->root[root].word * n->g->geometry.word;
    const char *name = sgc_namer_root_name(n, n->root_of[root]);
    uint32_t module = range->root <= SGC_GRAPH_ADDED ? sgc_graph_module_at(n->g, address) : SGC_GRAPH_NONE;
    const struct sgc_symbol *symbol = NULL;
    uint64_t offset = 0;
    size_t length = 0;

    sgc_assert(name[0] != '\0' && (module == SGC_GRAPH_NONE || range->lo != 0));
    if (module != SGC_GRAPH_NONE) {
        offset = address - n->g->module[module].lo;
        symbol = find_symbol(symbols_of(n, module), offset);
    }
    if (symbol != NULL && offset != symbol->lo) {
        sgc_symbol_text(symbol->name, text);
        for (length = strlen(text); strncmp(name, text, length) != 0;)
            length--;
        snprintf(text + length, SGC_NAMER_TEXT - length, "+%#" PRIx64 "%s", offset - symbol->lo, name + length);
    } else {
        snprintf(text, SGC_NAMER_TEXT, "%s", name);
    }
    return text;
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
        fprintf(stderr, "sgc-snapshot: no names from %s\n", sgc_quote(problem, strlen(problem), shown, sizeof shown));
}

struct sgc_namer *sgc_namer_open(const struct sgc_graph *g)
{
    struct sgc_namer *n = calloc(1, sizeof *n);

    if (n == NULL)
        return NULL;
    n->g = g;
    n->module = calloc((size_t)g->modules + 1, sizeof *n->module);
    n->type = malloc(((size_t)g->types + 1) * sizeof *n->type);
    n->root_of = malloc(((size_t)g->roots + 1) * sizeof *n->root_of);
    if (n->module == NULL || n->type == NULL || n->root_of == NULL) {
        sgc_namer_close(n);
        return NULL;
    }
    name_groups(n);
    for (uint32_t i = 0; i < g->ranges; i++)
        name_range(n, &g->range[i]);
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
    release_texts(&n->groups);
    release_texts(&n->roots);
    free(n->module);
    free(n->type);
    free(n->root_of);
    free(n);
}
