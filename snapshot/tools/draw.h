/* SPDX-License-Identifier: MIT */
/* A heap snapshot as a picture for dot(1). */
#ifndef SGC_SNAPSHOT_TOOLS_DRAW_H
#define SGC_SNAPSHOT_TOOLS_DRAW_H

#include "snapshot/graph.h"

/* Prints it, and to stderr why there are no symbols of a module that something points at.  The
 * graph has `type_of`.  False if there is no memory. */
bool sgc_snapshot_draw(const struct sgc_graph *g);

#endif
