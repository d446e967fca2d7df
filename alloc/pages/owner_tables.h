/* SPDX-License-Identifier: MIT */
/*
 * Tables with an entry for each owner (alloc/pages/page.h).  There may be 32768 owners, and there are a few: entries get memory
 * as their owners come, since what could be written to counts against the limits of the process.
 *
 *   the list of tables   at the start; who opens a cache, under the registry's lock   the same, which excludes itself
 */
#ifndef SGC_ALLOC_PAGES_OWNER_TABLES_H
#define SGC_ALLOC_PAGES_OWNER_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table of zeros with entries of so many bytes for all owners that there are; NULL if the system refuses. */
void *sgc_owner_table_make(size_t entry);

/* Sees to it that each table has entries for owners below `owners`, whose numbers have come one by one.  False if the system
 * refuses. */
bool sgc_owner_tables_reach(uint32_t owners);

#endif
