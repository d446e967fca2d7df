/* SPDX-License-Identifier: MIT */
/*
 * Objects that are found one at a time, as in a list.  Batches would only add latency, and cost more than what is done about
 * one object; so these are followed at once, nothing is prefetched, and the processor guesses the branches.
 *
 * On a marker, world stopped.
 */
#ifndef SGC_MARK_FOLLOW_H
#define SGC_MARK_FOLLOW_H

#include "mark/marker.h"

enum {
    SGC_CHAIN_FEW = 2,          /* objects in hand that an only marker follows one after the other; several only a single one */
    SGC_CHAIN_BYTES = 8 * sizeof(uintptr_t),    /* that each of them may have */
};

/* Does that go for these? */
static inline bool sgc_chain_takes(const struct sgc_marker *marker, const struct sgc_batch *batch)
{
    if (marker->how != SGC_MARKBIT_PLAIN && marker->how != SGC_MARKBIT_OWN)
        return batch->count == 1;
    if (batch->count > (marker->how == SGC_MARKBIT_PLAIN ? SGC_CHAIN_FEW : 1))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->object[i].bytes > SGC_CHAIN_BYTES)
            return false;
    return true;
}

/* Scans an object and goes on with what it leads to, until that is nothing, or too much for one at a time; then
 * it is on the stack. */
void sgc_chain_follow(struct sgc_marker *marker, struct sgc_words object);

/* With several markers that have no pages of their own.  While the objects have their marks in one word, these are kept back, to be
 * set together: an atomic operation for each would cost more than all the rest.  Another marker that comes
 * upon one of them meanwhile scans it, too; who sets the mark counts it and goes on. */
struct sgc_chain {
    size_t word;                /* of the bitmap; any, if nothing is kept back */
    uintptr_t late;             /* bits that are still to be set there */
    uintptr_t last;             /* the one found last */
    size_t bytes;               /* of each of these objects, */
    bool pointer_free;          /* and whether they have no words to scan */
};

/* Follows an edge, which was a word of the heap.  If it leads to a small object that is not marked yet and has words to
 * scan, its first byte; its size is in the chain, and it was not pushed.  Otherwise 0. */
uintptr_t sgc_edge_follow(struct sgc_marker *marker, struct sgc_chain *chain, uintptr_t edge);

/* Sets the marks that were kept back. */
void sgc_chain_end(struct sgc_marker *marker, struct sgc_chain *chain);

#endif
