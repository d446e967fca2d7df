/* SPDX-License-Identifier: MIT */
/*
 * Kinds: what the words of an object mean.
 *
 * Four are built in; clients make others.  All objects of a page are of one kind, so a kind is a
 * number, and what it stands for is looked up in a table.
 *
 *   what        written by                               read by      ordering
 *   count       who makes a kind: atomic add             everybody    none: an entry that is not filled yet has no
 *                                                                     objects, so it changes nothing
 *   of[n]       who has got the number n from `count`,   everybody    who uses the number has been given it by who
 *               before it gives the number to anybody                 made the kind; markers: the stopped world, or the
 *                                                                     allocation bit of an object of the kind
 */
#ifndef SGC_ALLOC_PAGES_KIND_H
#define SGC_ALLOC_PAGES_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/compiler.h"

/* The numbers 0 and 1 are part of the ABI. */
enum sgc_kind_number {
    SGC_KIND_POINTER_FREE = 0,
    SGC_KIND_CONSERVATIVE = 1,
    SGC_KIND_UNCOLLECTABLE = 2,
    SGC_KIND_POINTER_FREE_UNCOLLECTABLE = 3,
    SGC_KINDS_BUILT_IN = 4,
    SGC_KINDS = SGC_TRACES ? 16 : 4,    /* there may be */
    SGC_KINDS_AT_START = SGC_TRACES ? SGC_KINDS_BUILT_IN : SGC_KIND_CONSERVATIVE + 1,
};

/* How a marked object is scanned. */
enum sgc_scan {
    SGC_SCAN_NOTHING,           /* it has no pointers */
    SGC_SCAN_WORDS,             /* each of its words may be one */
    SGC_SCAN_DESCRIBED,         /* as the kind's descriptor says: mark/descriptor.h */
};

struct sgc_kind {
    uintptr_t descriptor;
    bool add_size;              /* the object's size is added to the descriptor */
    bool clear;                 /* new objects are zeroed */
    bool uncollectable;
    uint8_t scan;               /* enum sgc_scan */
};

struct sgc_kinds {
    sgc_a32_t count;
    struct sgc_kind of[SGC_KINDS];
};
SGC_INNER struct sgc_kinds sgc_kinds;

/* A new kind; its number, SGC_KINDS if there can be no more.  Any thread, any time; with caches:
 * sgc_caches_make_kind. */
uint32_t sgc_kind_make(const struct sgc_kind *kind);

/* Kinds there are. */
static inline uint32_t sgc_kind_count(void)
{
    return sgc_a32_load(&sgc_kinds.count);
}

/* Is it the number of a kind that there is? */
static inline bool sgc_kind_ok(uint32_t kind)
{
    return kind < sgc_kind_count();
}

/* The built-in kinds are told by their numbers, since these are mostly known to the compiler.  A
 * plain malloc has no others. */
static inline bool sgc_kind_is_client(uint32_t kind)
{
    return SGC_TRACES && kind >= SGC_KINDS_BUILT_IN;
}

static inline bool sgc_kind_has_pointers(uint32_t kind)
{
    return sgc_kind_is_client(kind) ? sgc_kinds.of[kind].scan != SGC_SCAN_NOTHING : (kind & 1) != (kind >> 1);
}

static inline bool sgc_kind_uncollectable(uint32_t kind)
{
    return sgc_kind_is_client(kind) ? sgc_kinds.of[kind].uncollectable : kind >= SGC_KIND_UNCOLLECTABLE;
}

/* Are new objects zeroed? */
static inline bool sgc_kind_cleared(uint32_t kind)
{
    return sgc_kind_is_client(kind) ? sgc_kinds.of[kind].clear : (kind & 1) != (kind >> 1);
}

/* Slots that a thread has freed are handed out again before they are zeroed: not where a client's
 * mark procedure might see old words. */
static inline bool sgc_kind_keeps_freed(uint32_t kind)
{
    return !sgc_kind_is_client(kind);
}

#endif
