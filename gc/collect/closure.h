/* SPDX-License-Identifier: MIT */
/*
 * A check of the mark that does not trust it (SGC_VERIFY=marks, and under torture): each word of a root, and of a marked
 * object, that leads to an object leads to a marked one.
 */
#ifndef SGC_GC_COLLECT_CLOSURE_H
#define SGC_GC_COLLECT_CLOSURE_H

#include <stddef.h>
#include <stdint.h>

/* A word that leads to an object without mark. */
struct sgc_gap {
    const char *where;          /* "static data", "an object", ...; NULL: there is no gap */
    uintptr_t word, target;     /* where the word lies; the object's first address */
};

/* A mark beside the program begins.  Words may lead to objects that come where nothing is now: these are no gaps, so such
 * places are looked for (alloc/pages/dangling.h), in all objects that there are.  World stopped, caches retired, on the
 * collecting thread. */
void sgc_closure_begin(void);

/* The first gap of a mark that is complete.  Before the flip, world stopped, caches retired, on the collecting thread. */
struct sgc_gap sgc_closure_find_gap(void);

/* Ends the process if there is one.  Says nothing of programs that have set marks themselves (GC_set_mark_bit). */
void sgc_closure_check(void);

#endif
