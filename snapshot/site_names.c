/* SPDX-License-Identifier: MIT */
/* Names of objects by the functions that allocated them: snapshot/names.h. */
#include "snapshot/namer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- calls ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A module whose functions allocate for others. */
static bool is_allocator_module(const char *path)
{
    static const char *const modules[] = { "libsgc", "libgc.so", "libgccpp.so", "libgctba.so", "libc.so", "libc-2",
                                           "libstdc++.so", "libc++.so" };
    bool is = false;

    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        is |= begins(sgc_namer_base_name(path), modules[i]);
    return is;
}

/* A symbol of C++ from its first name on. */
static const char *own_name(const char *symbol)
{
    if (!begins(symbol, "_Z"))
        return symbol;
    symbol += 2;
    symbol += strspn(symbol, "NKL");
    return symbol + strspn(symbol, "0123456789");
}

/* In a program that is linked statically, or has templates of C++: operators new, std::,
 * __gnu_cxx::, and what gc_cpp.h and gc_allocator.h have. */
static bool is_allocator_symbol(const char *symbol)
{
    static const char *const mangled[] = { "_Znw", "_Zna", "_ZN2gcn", "_ZSt", "_ZNSt", "_ZNKSt" };
    static const char *const own[] = { "GC_", "SGC_", "sgc_", "gc_allocator", "traceable_allocator", "__gnu_cxx" };
    static const char *const names[] = { "malloc", "calloc", "realloc", "strdup", "aligned_alloc", "posix_memalign" };
    bool is = false;

    for (size_t i = 0; i < sizeof mangled / sizeof *mangled; i++)
        is |= begins(symbol, mangled[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        is |= begins(own_name(symbol), own[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is |= strcmp(symbol, names[i]) == 0;
    return is;
}

static uint64_t call_at(const struct sgc_namer *n, uint32_t site, uint32_t i)
{
    sgc_assert(site < n->g->sites && i < n->g->site[site].frames);
    return n->g->frame[n->g->site[site].first_frame + i] - 1;
}

static bool is_allocators(struct sgc_namer *n, uint64_t call)
{
    uint32_t module = sgc_graph_module_at(n->g, call);
    struct sgc_namer_place place;

    if (module == SGC_GRAPH_NONE)
        return false;
    if (is_allocator_module(n->g->module[module].path))
        return true;
    place = sgc_namer_place_of(n, call);
    return place.symbol != NULL && is_allocator_symbol(place.symbol->name);
}

/* The first call that is none of the allocators'; if all are, the innermost. */
static uint32_t first_call(struct sgc_namer *n, uint32_t site)
{
    uint32_t frames = n->g->site[site].frames, i = 0;

    while (i < frames && is_allocators(n, call_at(n, site, i)))
        i++;
    return i < frames ? i : 0;
}

static void show_call(struct sgc_namer *n, uint64_t call, char text[SGC_NAMER_TEXT])
{
    struct sgc_namer_place place = sgc_namer_place_of(n, call);
    char where[SGC_NAMER_TEXT], name[SGC_NAMER_TEXT];

    sgc_namer_address(n, call, text);
    if (place.symbol == NULL)
        return;
    sgc_symbol_text(place.symbol->name, name);
    sgc_namer_show_place(n, place.module, place.offset, where);
    snprintf(text, SGC_NAMER_TEXT, "%.*s, %.*s", SGC_NAMER_TEXT / 2, name, SGC_NAMER_TEXT / 4, where);
}

bool sgc_namer_call(struct sgc_namer *n, uint32_t object, uint32_t i, char text[SGC_NAMER_TEXT])
{
    uint32_t site = sgc_graph_site_of(n->g, object);

    sgc_assert(site < n->g->sites || site == SGC_GRAPH_NO_SITE);
    if (site == SGC_GRAPH_NO_SITE || n->g->site[site].frames == 0)
        return false;
    i += first_call(n, site);
    if (i >= n->g->site[site].frames)
        return false;
    show_call(n, call_at(n, site, i), text);
    return true;
}

/* ---- groups ---- */

/* The function alone, by which calls in it are one group, and the size. */
static void name_site(struct sgc_namer *n, uint32_t number)
{
    const struct sgc_graph_page *page = &n->g->page[sgc_graph_page_of(n->g, n->site[number].object)];
    uint64_t call = call_at(n, number, first_call(n, number));
    struct sgc_namer_place place = sgc_namer_place_of(n, call);
    struct sgc_namer_site *site = &n->site[number];
    char text[SGC_NAMER_TEXT];
    size_t length;

    sgc_assert(page->objects != 0);
    if (place.symbol != NULL)
        sgc_symbol_text(place.symbol->name, text);
    else
        sgc_namer_address(n, call, text);
    length = strlen(text) < SGC_NAMER_TEXT - 40 ? strlen(text) : SGC_NAMER_TEXT - 40;
    if (page->is == SGC_GRAPH_PAGE_SMALL)
        snprintf(text + length, SGC_NAMER_TEXT - length, ", %" PRIu64 " bytes", page->object_bytes);
    else
        snprintf(text + length, SGC_NAMER_TEXT - length, ", large");
    site->symbol = place.symbol;
    site->module = place.module;
    site->group = sgc_texts_number(&n->groups, text, place.symbol);
}

/* Functions of one name, as those of several files may be, are told apart. */
static void tell_functions_apart(struct sgc_namer *n)
{
    for (uint32_t i = 0; i < n->g->sites; i++) {
        struct sgc_namer_site *site = &n->site[i];

        if (site->group != SGC_NAMER_NONE && site->symbol != NULL)
            site->group = sgc_namer_distinct(n, &n->groups, site->group, site->module, site->symbol);
    }
}

void sgc_namer_name_sites(struct sgc_namer *n)
{
    for (uint32_t i = 0; i < n->g->sites; i++)
        n->site[i] = (struct sgc_namer_site){ .group = SGC_NAMER_NONE, .object = SGC_GRAPH_NONE };
    for (uint32_t i = n->g->sites != 0 ? n->g->objects : 0; i-- > 0;)
        if (sgc_graph_site_of(n->g, i) != SGC_GRAPH_NO_SITE)
            n->site[sgc_graph_site_of(n->g, i)].object = i;
    for (uint32_t i = 0; i < n->g->sites; i++)
        if (n->site[i].object != SGC_GRAPH_NONE && n->g->site[i].frames != 0)
            name_site(n, i);
    tell_functions_apart(n);
}
