/* SPDX-License-Identifier: MIT */
/* A build without libdw: snapshot/symbols.h. */
#include "snapshot/symbols.h"

#include <stdio.h>

bool sgc_symbols_read(struct sgc_symbols *symbols, const struct sgc_graph_module *module,
                      char problem[SGC_SYMBOLS_PROBLEM])
{
    (void)module;
    *symbols = (struct sgc_symbols){ .of = NULL };
    snprintf(problem, SGC_SYMBOLS_PROBLEM, "this build has no libdw; build SGC where it is (Debian: libdw-dev)");
    return false;
}

void sgc_symbols_release(struct sgc_symbols *symbols)
{
    (void)symbols;
}
