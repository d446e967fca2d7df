/* SPDX-License-Identifier: MIT */
/* What tests of gc/pacing/pacing.c share: how much can be allocated until a collection happens, and costs to order. */
#ifndef TESTS_PACING_H
#define TESTS_PACING_H

#include "alloc/free.h"
#include "gc/pacing/pacing.h"
#include "gc/pacing/pacing_rules.h"
#include "gc/events/stats.h"
#include "tests/white.h"

enum { PATIENCE_MB = 256 };

WHITE_UNUSED static size_t mb(size_t bytes)
{
    return bytes >> 20;
}

/* Bytes that can be allocated until a collection happens by itself. */
WHITE_UNUSED static size_t until_collection(size_t bytes, bool freeing)
{
    uint64_t before = sgc_cycles_finished();
    size_t sum = 0;

    while (sgc_cycles_finished() == before && sum < (size_t)PATIENCE_MB << 20) {
        void *object = sgc_allocate(bytes, WHITE_KIND);
        sum += bytes;
        if (freeing)
            sgc_object_free(sgc_self, object);
    }
    return sum;
}

/* As if the last cycles had taken so long. */
WHITE_UNUSED static void pretend_cycles(uint64_t ns)
{
    for (int i = 0; i < 2; i++) {
        struct sgc_cycle_record record = { .reason = SGC_REASON_EXPLICIT };

        record.request_ns = record.stop_begin_ns = sgc_clock_ns();
        record.phase_ns[SGC_PHASE_STOP] = ns;
        record.stopped_ns = record.resumed_ns = record.stop_begin_ns + ns;
        SGC_EVENT(cycle_end, &record);
    }
}

#endif
