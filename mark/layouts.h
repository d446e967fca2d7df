/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of typed objects that do not fit into a word: long bitmaps, and arrays.
 *
 * A long bitmap is a number of consecutive words in a table.  Each has the bits of 63 words of the
 * object, the first one's the highest; the lowest bit says that another word follows.  So any word
 * of it describes the rest of the object, and the rest can be left to another marker.  The table
 * consists of chunks, each twice as large as the one before; they never move, and no entry is ever
 * taken away.
 *
 *   what        written by                                 read by     ordering
 *   used        who adds a layout: compare-and-swap        everybody   none: words that are not written yet are zero
 *   chunk[n]    who needs it first: compare-and-swap       everybody   release / acquire
 *   words       who has got their positions from `used`,   markers     the stopped world; beside the program a number may be
 *               before it gives the number to anybody                  seen before its words, which then read as zero: the
 *                                                                      object that it stands in was written just now
 *
 * An array says in its last words what its elements are; those words are written by who allocates
 * it, the last one last.
 */
#ifndef SGC_MARK_LAYOUTS_H
#define SGC_MARK_LAYOUTS_H

#include "mark/mark_procs.h"

/* Procedures of our own. */
enum {
    SGC_PROC_ARRAY = SGC_MARK_PROCS_OWN,    /* with the bytes of a part of an array, 0: the whole
                                               object */
    SGC_PROC_LAYOUT,                        /* with the number of a layout */
};

enum {
    SGC_LAYOUT_BITS = 63,       /* words of the object in one word of a layout */
    SGC_LAYOUT_MORE = 1,        /* the bit that says that there is another */
};

/* A layout of its own: each word of the object may be a pointer. */
#define SGC_LAYOUT_ALL (UINTPTR_MAX >> (SGC_DS_TAG_BITS + SGC_DS_PROC_BITS))

/* The end of an array's last slot. */
struct sgc_array_end {
    size_t element_bytes;
    uintptr_t element_descriptor;
    uintptr_t descriptor;
};

static inline uintptr_t sgc_ds_proc(uint32_t number, uintptr_t environment)
{
    return (environment << SGC_DS_PROC_BITS | number) << SGC_DS_TAG_BITS | SGC_DS_PROC;
}

static inline bool sgc_ds_is_proc(uintptr_t descriptor, uint32_t number)
{
    return (descriptor & SGC_DS_TAGS) == SGC_DS_PROC && (descriptor >> SGC_DS_TAG_BITS & (SGC_MARK_PROCS - 1)) == number;
}

static inline uintptr_t sgc_ds_environment(uintptr_t descriptor)
{
    return descriptor >> (SGC_DS_TAG_BITS + SGC_DS_PROC_BITS);
}

/* Room for a layout of so many words, which the caller fills; *words is NULL if there is no memory.
 * Any thread, any time. */
uintptr_t sgc_layout_add(size_t count, uintptr_t **words);

/* The words of a layout, and in *max_words how many there can be at most; NULL if there is no such
 * layout. */
const uintptr_t *sgc_layout_words(uintptr_t number, size_t *max_words);

#endif
