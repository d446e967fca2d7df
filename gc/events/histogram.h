/* SPDX-License-Identifier: MIT */
/*
 * A histogram of durations with a bounded relative error and a fixed size, log-linear like HDR
 * histograms: 32 equal buckets for each power of two.  A percentile is the middle of its bucket, so
 * it is at most 1/64 (1.6 %) off; the maximum is exact.
 *
 *   field    written by                         read by        ordering
 *   bucket   one writer at a time (the          any thread     relaxed: a reader sees each value added
 *   total    collecting thread, under the       or not yet; it counts the buckets it saw
 *   max      lock of the collection)            itself and so needs no snapshot
 */
#ifndef SGC_GC_EVENTS_HISTOGRAM_H
#define SGC_GC_EVENTS_HISTOGRAM_H

#include <stdbool.h>

#include "platform/atomics.h"

#define SGC_HISTOGRAM_BITS 5
#define SGC_HISTOGRAM_TOP 42        /* 2^42 ns are 73 minutes; what is longer counts as that */
#define SGC_HISTOGRAM_BUCKETS ((SGC_HISTOGRAM_TOP - SGC_HISTOGRAM_BITS + 1) << SGC_HISTOGRAM_BITS)

struct sgc_histogram {
    sgc_a32_t bucket[SGC_HISTOGRAM_BUCKETS];
    sgc_aw_t total;                 /* the sum of the values */
    sgc_aw_t max;
};

/* For the writer: is the sum of the values at least the largest?  (It overflows after 500 years.) */
static inline bool sgc_histogram_ok(const struct sgc_histogram *histogram)
{
    return sgc_aw_load(&histogram->max) <= sgc_aw_load(&histogram->total);
}

void sgc_histogram_add(struct sgc_histogram *histogram, uint64_t value);

uint64_t sgc_histogram_count(const struct sgc_histogram *histogram);

/* The value that permille/1000 of the values do not exceed (nearest rank); 0 when there is none. */
uint64_t sgc_histogram_permille(const struct sgc_histogram *histogram, unsigned permille);

/* Which bucket a value falls into, and the middle of a bucket.  For tests. */
unsigned sgc_histogram_index(uint64_t value);
uint64_t sgc_histogram_middle(unsigned index);

#endif
