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
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/report.h"

#define SGC_HISTOGRAM_BITS 5
#define SGC_HISTOGRAM_TOP 42        /* 2^42 ns are 73 minutes; what is longer counts as that */
#define SGC_HISTOGRAM_BUCKETS ((SGC_HISTOGRAM_TOP - SGC_HISTOGRAM_BITS + 1) << SGC_HISTOGRAM_BITS)

enum { SGC_HISTOGRAM_SUB = 1 << SGC_HISTOGRAM_BITS };     /* buckets a power of two */

struct sgc_histogram {
    sgc_a32_t bucket[SGC_HISTOGRAM_BUCKETS];
    sgc_aw_t total;                 /* the sum of the values */
    sgc_aw_t max;
};

/* For the writer: is the sum of the values at least the largest?  (It overflows after 500
 * years.) */
static inline bool sgc_histogram_ok(const struct sgc_histogram *histogram)
{
    return sgc_aw_load(&histogram->max) <= sgc_aw_load(&histogram->total);
}

/* The bucket that a value falls into.  Values below 2 * SGC_HISTOGRAM_SUB have a bucket each; from
 * there on the upper bits of the value, the first one included, count through the buckets, and
 * `shift` bits are dropped. */
static inline unsigned sgc_histogram_index(uint64_t value)
{
    if (value >> SGC_HISTOGRAM_TOP != 0)
        return SGC_HISTOGRAM_BUCKETS - 1;
    if (value < SGC_HISTOGRAM_SUB)
        return (unsigned)value;
    unsigned shift = (unsigned)(63 - __builtin_clzll(value)) - SGC_HISTOGRAM_BITS;
    sgc_assert(value >> shift >= SGC_HISTOGRAM_SUB && value >> shift < 2 * SGC_HISTOGRAM_SUB);
    return shift * SGC_HISTOGRAM_SUB + (unsigned)(value >> shift);
}

/* The middle of a bucket. */
static inline uint64_t sgc_histogram_middle(unsigned index)
{
    sgc_assert(index < SGC_HISTOGRAM_BUCKETS);
    if (index < 2 * SGC_HISTOGRAM_SUB)
        return index;
    unsigned shift = index / SGC_HISTOGRAM_SUB - 1;
    uint64_t lowest = (uint64_t)(index - shift * SGC_HISTOGRAM_SUB) << shift;
    sgc_assert(sgc_histogram_index(lowest) == index);
    return lowest + (UINT64_C(1) << shift) / 2;
}

static inline void sgc_histogram_add(struct sgc_histogram *histogram, uint64_t value)
{
    sgc_a32_t *bucket = &histogram->bucket[sgc_histogram_index(value)];

    sgc_assert(sgc_histogram_ok(histogram));
    sgc_a32_store(bucket, sgc_a32_load(bucket) + 1);
    sgc_aw_store(&histogram->total, sgc_aw_load(&histogram->total) + value);
    if (value > sgc_aw_load(&histogram->max))
        sgc_aw_store(&histogram->max, value);
}

static inline uint64_t sgc_histogram_count(const struct sgc_histogram *histogram)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < SGC_HISTOGRAM_BUCKETS; i++)
        count += sgc_a32_load(&histogram->bucket[i]);
    return count;
}

/* The value that permille/1000 of the values do not exceed (nearest rank); 0 when there is none. */
static inline uint64_t sgc_histogram_permille(const struct sgc_histogram *histogram, unsigned permille)
{
    uint64_t rank = (sgc_histogram_count(histogram) * permille + 999) / 1000;
    uint64_t max = sgc_aw_load(&histogram->max);
    uint64_t seen = 0;

    sgc_assert(permille <= 1000);
    for (unsigned i = 0; i < SGC_HISTOGRAM_BUCKETS; i++) {
        seen += sgc_a32_load(&histogram->bucket[i]);
        if (seen >= rank && seen > 0) {
            uint64_t middle = sgc_histogram_middle(i);
            return middle < max ? middle : max;
        }
    }
    return 0;
}

#endif
