/* SPDX-License-Identifier: MIT */
/*
 * Objects by groups, and root words by roots: views count by these and name these.
 *
 * Each object has a group, a small number: that of its class, its kind or its allocation site, as
 * struct sgc_names says, or, of an object of which that says nothing, of its size and kind.  Each
 * root word has a root: a variable, as struct sgc_names says, or else a range of data, a thread's
 * stack, all finalizers ...  Names are texts of each group and each root, made once, and never of
 * an object.
 */
#ifndef SGC_SNAPSHOT_VIEW_GROUPS_H
#define SGC_SNAPSHOT_VIEW_GROUPS_H

#include "snapshot/graph.h"

#define SGC_NAMES_NONE UINT32_MAX       /* there is no name */

/*
 * A source of names.  Its numbers are its own.  A function may be NULL: it knows none.  group_of is
 * called once for each object, in the order of their numbers, so it should take no longer than to
 * read an array; the names are asked for afterwards, once for each number that was answered.  Names
 * may have any bytes; they are copied.
 */
struct sgc_names {
    void *context;
    uint32_t groups, roots;             /* its numbers are below these */
    uint32_t (*group_of)(void *context, uint32_t object);   /* or SGC_NAMES_NONE */
    const char *(*group_name)(void *context, uint32_t group);
    uint32_t (*root_of)(void *context, uint64_t root);      /* of a root word in memory: its place
                                         * in the graph's roots */
    const char *(*root_name)(void *context, uint32_t root);
};

struct sgc_groups {
    uint32_t count;
    uint32_t *of;                       /* by object */
    char **name;                        /* by group */
    bool *named;                        /* by group: the name is of a source of names */
};

/* `names` may be NULL.  False if there is no memory; *groups is to be released in any case. */
bool sgc_groups_make(struct sgc_groups *groups, const struct sgc_graph *g, const struct sgc_names *names);
void sgc_groups_release(struct sgc_groups *groups);

/*
 * Roots by how long they keep what they lead to.  Views ask why memory is not given back: a root
 * counts only for objects to which none of an earlier level leads.
 */
enum sgc_roots_level {
    SGC_ROOTS_LASTING,
    SGC_ROOTS_STACKS,                   /* until functions return */
    SGC_ROOTS_LATE,                     /* finalizers and disclaimers, for a cycle: what the mark has
                                         * not reached */
    SGC_ROOTS_LEVELS
};

/* Root words of one root stand one behind the other, those that keep their object only and not what
 * it leads to as the last of all. */
struct sgc_roots {
    uint32_t count;
    uint32_t begin[SGC_ROOTS_LEVELS];   /* the first root of each level, or of a later one; `count`
                                         * if there is none */
    uint32_t *of;                       /* by root word */
    uint64_t *first;                    /* by root, and the end: its first one in `word` */
    uint64_t *word;                     /* numbers of root words */
    char **name;
    char **with_others;                 /* the name of what it keeps together with later ones, and
                                         * none of them alone */
    bool *named;                        /* by root: the name is of a source of names */
};

static inline enum sgc_roots_level sgc_roots_level_of(const struct sgc_roots *roots, uint32_t root)
{
    sgc_assert(root < roots->count);
    return root >= roots->begin[SGC_ROOTS_LATE] ? SGC_ROOTS_LATE
           : root >= roots->begin[SGC_ROOTS_STACKS] ? SGC_ROOTS_STACKS : SGC_ROOTS_LASTING;
}

bool sgc_roots_make(struct sgc_roots *roots, const struct sgc_graph *g, const struct sgc_names *names);
void sgc_roots_release(struct sgc_roots *roots);

#endif
