/* SPDX-License-Identifier: MIT */
/* The symbols of a module of a heap snapshot, read from the file that was loaded, or its debug
 * file, by libdw, if this build has it: symbols_libdw.c, else symbols_none.c. */
#ifndef SGC_SNAPSHOT_SYMBOLS_H
#define SGC_SNAPSHOT_SYMBOLS_H

#include "snapshot/graph.h"

enum { SGC_SYMBOLS_PROBLEM = 300 };

/* Something with a name that takes bytes of the module. */
struct sgc_symbol {
    uint64_t lo, bytes;                 /* lo: from the module's lowest address */
    const char *name;
};

struct sgc_symbols {
    struct sgc_symbol *of;              /* ascending by lo */
    size_t count;
    struct sgc_symbol *local;           /* thread-local variables, by lo: from where the module's
                                           begin */
    size_t locals;
    bool complete;                      /* also those that other modules do not see */
    void *source;                       /* holds the names */
};

/* False, with a text that says why and how to go on, if they cannot be read, or if the file is not
 * the one that was loaded; *symbols is to be released in any case. */
bool sgc_symbols_read(struct sgc_symbols *symbols, const struct sgc_graph_module *module,
                      char problem[SGC_SYMBOLS_PROBLEM]);
void sgc_symbols_release(struct sgc_symbols *symbols);

#endif
