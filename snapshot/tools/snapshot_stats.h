/* SPDX-License-Identifier: MIT */
/* Figures of a snapshot, for sgc-snapshot. */
#ifndef SGC_SNAPSHOT_TOOLS_SNAPSHOT_STATS_H
#define SGC_SNAPSHOT_TOOLS_SNAPSHOT_STATS_H

#include "snapshot/graph.h"

/* Lines "name value" to the standard output.  False if there is no memory. */
bool sgc_snapshot_print_stats(const struct sgc_graph *g);

#endif
