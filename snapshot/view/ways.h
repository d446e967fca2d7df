/* SPDX-License-Identifier: MIT */
/*
 * Ways from roots to objects.
 *
 * A search in breadth from the roots finds a shortest way, over all pointers that a collection
 * follows: as SGC_why_live does in the running program.  Dates of short-term memory count only if
 * nothing else leads there, finalizers and disclaim procedures only if dates do not either.
 */
#ifndef SGC_SNAPSHOT_VIEW_WAYS_H
#define SGC_SNAPSHOT_VIEW_WAYS_H

#include "snapshot/view/groups.h"

struct sgc_way {
    uint64_t root;                      /* the root word that it begins with */
    uint32_t count;                     /* of objects on it; 0: there is none */
    uint32_t *object;                   /* the one that was asked for is the last */
};

/* Objects by a bit each: those to which a way is wanted. */
static inline bool sgc_ways_wants(const uint64_t *wanted, uint32_t object)
{
    return (wanted[object / 64] >> object % 64 & 1) != 0;
}

/* A shortest way to one of them.  False if there is no memory; *way is to be released in any
 * case. */
bool sgc_way_find(struct sgc_way *way, const struct sgc_graph *g, const uint64_t *wanted);
void sgc_way_release(struct sgc_way *way);

/* Where in the object before on the way the pointer to that one is; SGC_GRAPH_NO_WORD: not
 * known. */
uint32_t sgc_way_word(const struct sgc_way *way, const struct sgc_graph *g, uint32_t step);

/* Which roots lead to one of the objects; those of finalizers and disclaimers only if `late`.
 * leads[i] is set for each that does.  False if there is no memory. */
bool sgc_ways_roots(const struct sgc_graph *g, const struct sgc_roots *roots, const uint64_t *wanted, bool late, bool *leads);

#endif
