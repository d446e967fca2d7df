/* SPDX-License-Identifier: MIT */
/*
 * The options of a plain malloc: one struct of values, from malloc/options.def.
 *
 *   what                 written by                           read by     ordering
 *   sgc_malloc_options   the thread that starts the heap,     everybody   the release of the start's state
 *                        before there is one                              (malloc/start.h); who reads without
 *                                                                         it may see the defaults
 */
#ifndef SGC_MALLOC_OPTIONS_H
#define SGC_MALLOC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "options/option_table.h"
#include "platform/compiler.h"

enum sgc_harden_action { SGC_HARDEN_ABORT, SGC_HARDEN_REPORT };

struct sgc_malloc_options {
    int harden;                 /* 0 to 2 */
    int action;                 /* enum sgc_harden_action */
    int decay_ms;               /* -1: never */
    int huge_pages;             /* enum sgc_huge_pages */
    size_t reserve;             /* 0: automatic */
    bool stats, print;
};
SGC_INNER struct sgc_malloc_options sgc_malloc_options;

SGC_INNER const struct sgc_option_list sgc_malloc_option_list;

/* Reads the environment, unless the program has more rights than whoever has started it.  Calls
 * nothing that allocates.  While the heap is started. */
void sgc_malloc_options_read(void);

/* Are blocks checked (malloc/checked.h)? */
static inline bool sgc_checks(void)
{
    return sgc_malloc_options.harden == 2;
}

#endif
