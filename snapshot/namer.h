/* SPDX-License-Identifier: MIT */
/* A namer (snapshot/names.h), for its parts: group_names.c names objects, site_names.c those of
 * allocation sites, root_names.c roots. */
#ifndef SGC_SNAPSHOT_NAMER_H
#define SGC_SNAPSHOT_NAMER_H

#include "snapshot/names.h"
#include "snapshot/symbols.h"
#include "snapshot/texts.h"

struct sgc_namer_module {
    bool asked, there;                  /* its symbols */
    struct sgc_symbols symbols;
    char *problem;
};

struct sgc_namer_type {
    uint32_t class, symbol, place;      /* groups by the three ways; SGC_NAMER_NONE: it has none */
    bool there, repeats;                /* one object, or several, have it */
};

struct sgc_namer_site {
    uint32_t group;                     /* SGC_NAMER_NONE: it has no objects, or no frames */
    uint32_t object;                    /* the first one; SGC_GRAPH_NONE: none */
    const struct sgc_symbol *symbol;    /* the function whose name it has; NULL: none is known */
    uint32_t module;
};

struct sgc_namer {
    const struct sgc_graph *g;
    struct sgc_namer_module *module;
    struct sgc_texts groups, roots;
    struct sgc_namer_type *type;
    struct sgc_namer_site *site;
    uint32_t kind[SGC_GRAPH_KINDS];     /* groups */
    uint32_t *root_of;
    const struct sgc_symbol *last;      /* variable that was named, and its number */
    uint32_t last_root;
};

/* ---- group_names.c ---- */

const char *sgc_namer_base_name(const char *path);

/* Where an address lies: its module, SGC_GRAPH_NONE if there is none; how far in it, and the symbol
 * there, or NULL. */
struct sgc_namer_place {
    uint32_t module;
    uint64_t offset;
    const struct sgc_symbol *symbol;
};
struct sgc_namer_place sgc_namer_place_of(struct sgc_namer *n, uint64_t address);

/* "program+0x4fd0" */
void sgc_namer_show_place(const struct sgc_namer *n, uint32_t module, uint64_t offset, char text[SGC_NAMER_TEXT]);

/* The thread-local variable at so many bytes from where the module's begin; NULL: none is known. */
const struct sgc_symbol *sgc_namer_thread_local(struct sgc_namer *n, uint32_t module, uint64_t offset);

/* The number of a name that several things have: with the place of this one behind it, or its
 * address, if modules have one name, too; others keep theirs. */
uint32_t sgc_namer_distinct(const struct sgc_namer *n, struct sgc_texts *texts, uint32_t number, uint32_t module,
                            const struct sgc_symbol *symbol);

/* Something in it has no name since the symbols of its own have been removed. */
void sgc_namer_note_stripped(struct sgc_namer *n, uint32_t module);

/* ---- site_names.c ---- */

void sgc_namer_name_sites(struct sgc_namer *n);

/* ---- root_names.c ---- */

void sgc_namer_name_roots(struct sgc_namer *n);

#endif
