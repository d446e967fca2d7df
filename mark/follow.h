/* SPDX-License-Identifier: MIT */
/*
 * Objects that are found one at a time, as in a list.  Batches would only add latency, and cost more than what is done about
 * one object; so these are followed at once, nothing is prefetched, and the processor guesses the branches.
 *
 * On a marker.
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

#endif
