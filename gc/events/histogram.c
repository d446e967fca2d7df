/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histograms.  One writer at a time, any readers; see the table in the header.
 */
#include "gc/events/histogram.h"

#include "platform/report.h"

enum { SUB = 1 << SGC_HISTOGRAM_BITS };     /* buckets a power of two */

/* Values below 2*SUB have a bucket each; from there on the upper bits of the value, the first one
 * included, count through the buckets, and `shift` bits are dropped. */
unsigned sgc_histogram_index(uint64_t value)
{
    if (value >> SGC_HISTOGRAM_TOP != 0)
        return SGC_HISTOGRAM_BUCKETS - 1;
    if (value < SUB)
        return (unsigned)value;
    unsigned shift = (unsigned)(63 - __builtin_clzll(value)) - SGC_HISTOGRAM_BITS;
    sgc_assert(value >> shift >= SUB && value >> shift < 2 * SUB);
    return shift * SUB + (unsigned)(value >> shift);
}

uint64_t sgc_histogram_middle(unsigned index)
{
    sgc_assert(index < SGC_HISTOGRAM_BUCKETS);
    if (index < 2 * SUB)
        return index;
    unsigned shift = index / SUB - 1;
    uint64_t lowest = (uint64_t)(index - shift * SUB) << shift;
    sgc_assert(sgc_histogram_index(lowest) == index);
    return lowest + (UINT64_C(1) << shift) / 2;
}

void sgc_histogram_add(struct sgc_histogram *histogram, uint64_t value)
{
    sgc_a32_t *bucket = &histogram->bucket[sgc_histogram_index(value)];

    sgc_assert(sgc_histogram_ok(histogram));
    sgc_a32_store(bucket, sgc_a32_load(bucket) + 1);
    sgc_aw_store(&histogram->total, sgc_aw_load(&histogram->total) + value);
    if (value > sgc_aw_load(&histogram->max))
        sgc_aw_store(&histogram->max, value);
}

uint64_t sgc_histogram_count(const struct sgc_histogram *histogram)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < SGC_HISTOGRAM_BUCKETS; i++)
        count += sgc_a32_load(&histogram->bucket[i]);
    return count;
}

uint64_t sgc_histogram_permille(const struct sgc_histogram *histogram, unsigned permille)
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
