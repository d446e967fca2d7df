/* SPDX-License-Identifier: MIT */
/* Names of root words: snapshot/names.h. */
#include "snapshot/namer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `what` of it: "stack", or a variable. */
static void show_thread(const struct sgc_graph *g, const struct sgc_graph_range *range, const char *what,
                        char text[SGC_NAMER_TEXT])
{
    const struct sgc_graph_thread *thread = sgc_graph_thread(g, range->thread);
    const char *name = thread != NULL ? thread->name : "";

    sgc_assert(range->thread != 0);
    snprintf(text, SGC_NAMER_TEXT, "%.*s of thread %" PRIu32 "%s%s%s", SGC_NAMER_TEXT / 2, what, range->thread,
             name[0] != '\0' ? " (" : "", name, name[0] != '\0' ? ")" : "");
}

static bool is_of_thread(const struct sgc_graph_range *range)
{
    return range->thread != 0 && (range->root == SGC_GRAPH_STACK || range->root == SGC_GRAPH_THREAD_LOCAL);
}

/* The thread-local variable at so many bytes from where those of its module begin; NULL: none is
 * known. */
static const struct sgc_symbol *thread_local_of(struct sgc_namer *n, const struct sgc_graph_range *range, uint64_t offset)
{
    sgc_assert(range->module == 0 || range->root == SGC_GRAPH_THREAD_LOCAL);
    return range->module != 0 ? sgc_namer_thread_local(n, range->module - 1, offset) : NULL;
}

/* A thread-local variable by its name, what else belongs to a thread by that alone. */
static uint32_t name_of_thread(struct sgc_namer *n, const struct sgc_graph_range *range, uint64_t offset)
{
    const struct sgc_symbol *symbol = thread_local_of(n, range, offset);
    char variable[SGC_NAMER_TEXT], text[SGC_NAMER_TEXT];

    if (symbol != NULL)
        sgc_symbol_text(symbol->name, variable);
    show_thread(n->g, range,
                symbol != NULL ? variable : range->root == SGC_GRAPH_STACK ? "stack" : "thread-local variables", text);
    return sgc_texts_number(&n->roots, text, NULL);
}

/* Libraries of the system are stripped everywhere. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/lib/", 5) == 0 || strncmp(path, "/lib64/", 7) == 0 || strncmp(path, "/usr/lib", 8) == 0;
}

/* Of a word of static data. */
static struct sgc_namer_place place_of_word(struct sgc_namer *n, uint64_t root)
{
    const struct sgc_graph_range *range = &n->g->range[n->g->root[root].range];

    sgc_assert(root < n->g->roots);
    if (range->root > SGC_GRAPH_ADDED || range->lo == 0)
        return (struct sgc_namer_place){ .module = SGC_GRAPH_NONE };
    return sgc_namer_place_of(n, range->lo + n->g->root[root].word * n->g->geometry.word);
}

static uint32_t name_variable(struct sgc_namer *n, uint64_t root)
{
    struct sgc_namer_place place = place_of_word(n, root);
    char text[SGC_NAMER_TEXT];

    if (place.module == SGC_GRAPH_NONE)
        return SGC_NAMER_NONE;
    if (place.symbol != NULL && place.symbol == n->last)
        return n->last_root;
    n->last = place.symbol;
    if (place.symbol != NULL) {
        sgc_symbol_text(place.symbol->name, text);
        return n->last_root = sgc_texts_number(&n->roots, text, place.symbol);
    }
    if (!is_of_system(n->g->module[place.module].path))
        sgc_namer_note_stripped(n, place.module);
    snprintf(text, SGC_NAMER_TEXT, "static data of %s", sgc_namer_base_name(n->g->module[place.module].path));
    return sgc_texts_number(&n->roots, text, NULL);
}

static uint32_t name_root(struct sgc_namer *n, const struct sgc_graph_range *range, uint64_t root)
{
    if (is_of_thread(range))
        return name_of_thread(n, range, n->g->root[root].word * n->g->geometry.word);
    return range->root <= SGC_GRAPH_ADDED && range->lo != 0 ? name_variable(n, root) : SGC_NAMER_NONE;
}

static void name_range(struct sgc_namer *n, const struct sgc_graph_range *range)
{
    sgc_assert(range->first_root <= range[1].first_root && range[1].first_root <= n->g->roots);
    for (uint64_t r = range->first_root; r < range[1].first_root; r++)
        n->root_of[r] = name_root(n, range, r);
}

/* Variables of one name, as those of several files may be, are told apart. */
static void tell_variables_apart(struct sgc_namer *n)
{
    for (uint64_t r = 0; r < n->g->roots; r++) {
        struct sgc_namer_place place;

        if (n->root_of[r] == SGC_NAMER_NONE || !n->roots.of[n->root_of[r]].shared)
            continue;
        place = place_of_word(n, r);
        if (place.symbol != NULL)
            n->root_of[r] = sgc_namer_distinct(n, &n->roots, n->root_of[r], place.module, place.symbol);
    }
}

void sgc_namer_name_roots(struct sgc_namer *n)
{
    for (uint32_t i = 0; i < n->g->ranges; i++)
        name_range(n, &n->g->range[i]);
    tell_variables_apart(n);
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
    return n->roots.of[root].text;
}

/* A variable's name begins with its symbol, and the place behind that may tell it from another. */
const char *sgc_namer_root_word(struct sgc_namer *n, uint64_t root, char text[SGC_NAMER_TEXT])
{
    const struct sgc_graph_range *range = &n->g->range[n->g->root[root].range];
    const char *name = sgc_namer_root_name(n, n->root_of[root]);
    struct sgc_namer_place place = place_of_word(n, root);
    size_t length;

    if (is_of_thread(range)) {
        place.offset = n->g->root[root].word * n->g->geometry.word;
        place.symbol = thread_local_of(n, range, place.offset);
    }

    snprintf(text, SGC_NAMER_TEXT, "%s", name);
    if (place.symbol == NULL || place.offset == place.symbol->lo)
        return text;
    sgc_symbol_text(place.symbol->name, text);
    for (length = strlen(text); strncmp(name, text, length) != 0;)
        length--;
    sgc_assert(length <= strlen(name));
    snprintf(text + length, SGC_NAMER_TEXT - length, "+%#" PRIx64 "%s", place.offset - place.symbol->lo, name + length);
    return text;
}
