/* SPDX-License-Identifier: MIT */
/*
 * The prefetcher of a processor of today, for one simulated marker: who misses one line after the
 * other gets the next ones as fast as they stream.  It follows so many streams at once, upwards;
 * the one that went on longest ago makes room for a new one.
 */
#ifndef SGC_PERFMODEL_SIM_PREFETCHER_H
#define SGC_PERFMODEL_SIM_PREFETCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/report.h"

enum { SGC_SIM_STREAMS = 16 };

struct sgc_sim_prefetcher {
    uint64_t next[SGC_SIM_STREAMS];     /* the line that would go on with it; 0: there is none */
    uint64_t used[SGC_SIM_STREAMS];     /* when it went on last */
    uint64_t turn;
};

/* The stream that the line goes on with; SGC_SIM_STREAMS: none. */
static inline uint32_t sgc_sim_stream_of(const struct sgc_sim_prefetcher *p, uint64_t line)
{
    uint32_t i = 0;

    while (i < SGC_SIM_STREAMS && (p->next[i] != line || line == 0))
        i++;
    return i;
}

static inline uint32_t sgc_sim_oldest_stream(const struct sgc_sim_prefetcher *p)
{
    uint32_t oldest = 0;

    for (uint32_t i = 1; i < SGC_SIM_STREAMS; i++)
        if (p->used[i] < p->used[oldest])
            oldest = i;
    return oldest;
}

/* The line has been missed. */
static inline void sgc_sim_stream_goes_on(struct sgc_sim_prefetcher *p, uint64_t line)
{
    uint32_t stream = sgc_sim_stream_of(p, line);

    if (stream == SGC_SIM_STREAMS)
        stream = sgc_sim_oldest_stream(p);
    sgc_assert(stream < SGC_SIM_STREAMS);
    p->next[stream] = line + 1;
    p->used[stream] = ++p->turn;
}

#endif
