/* SPDX-License-Identifier: MIT */
/*
 * Where the heap and its tables lie, on a machine with several memory nodes (SGC_NUMA).
 *
 *   off               as the system does it: memory is on the node where a thread first touches it
 *   local             each arena has a home, with its bits; the other tables are on all nodes in turn
 *   balanced          each arena has a home; all tables are on all nodes in turn
 *   interleave-heap   everything is on all nodes in turn, and no arena has a home
 *
 * A home is meant: the system may refuse to bind memory, and takes it elsewhere when the node is
 * full.  Fresh pages of an arena go to threads of its home first, so that most are there even so.
 *
 * With one node nothing here makes a system call.  Memory is bound before anybody touches it: an
 * arena and its part of the tables by the only thread that grows the heap, another table by the
 * thread that makes or enlarges it.
 */
#ifndef SGC_ALLOC_PAGES_HOMES_H
#define SGC_ALLOC_PAGES_HOMES_H

#include "alloc/pages/heap.h"
#include "platform/nodes/placement.h"

/* Says how many homes there are.  Before any of the heap is used. */
void sgc_homes_init(void);

/* Puts the pages [from, end), which are committed and not published, and the tables of their arenas
 * where the configuration wants them.  A refusal changes nothing. */
void sgc_homes_bind(uint32_t from, uint32_t end, uint32_t home);

/* Why the system has refused to put the heap's tables somewhere, an errno; 0: it has not. */
int sgc_homes_refused(void);

/* The home for what the calling thread asks for; 0 if there are none. */
static inline uint32_t sgc_home_here(void)
{
    return sgc_heap.homes > 1 ? (uint32_t)sgc_node_here() : 0;
}

/* The node that an arena has its home on; -1 if it has none. */
static inline int sgc_arena_node(uint32_t arena)
{
    sgc_assert(arena < sgc_heap.reserved / SGC_ARENA);
    return sgc_heap.homes > 1 ? sgc_heap.arenas[arena].home : -1;
}

/* ---- tables with an entry for each owner (alloc/pages/page.h) ----
 *
 * There may be 32768 owners, and there are a few: entries get memory as their owners come, since
 * what could be written to counts against the limits of the process.
 *
 *   the list of tables   at the start; a thread that opens a cache, under     the same, which
 *                        the registry's lock                                  excludes itself
 */

/* A table of zeros with entries of so many bytes for all owners that there are; NULL if the system
 * refuses. */
void *sgc_owner_table_make(size_t entry);

/* Sees to it that each table has entries for owners below `owners`, whose numbers have come one by
 * one.  False if the system refuses. */
bool sgc_owner_tables_reach(uint32_t owners);

#endif
