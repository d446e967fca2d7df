/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is: numbers, each with a time, and the one with the earliest first; of two with the
 * same time the lower number.
 */
#ifndef SGC_PERFMODEL_SIM_QUEUE_H
#define SGC_PERFMODEL_SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/sim/memory.h"
#include "platform/report.h"

struct sgc_sim_queue {
    uint32_t count;
    uint32_t number[SGC_SIM_MARKERS_MAX];           /* a heap: each comes before those at 2i+1 and
                                                     * 2i+2 */
    uint32_t place[SGC_SIM_MARKERS_MAX];            /* by number: where it is, plus 1; 0: nowhere */
    uint64_t time[SGC_SIM_MARKERS_MAX];             /* by number */
};

static inline bool sgc_sim_queue_before(const struct sgc_sim_queue *q, uint32_t a, uint32_t b)
{
    return q->time[a] < q->time[b] || (q->time[a] == q->time[b] && a < b);
}

static inline void sgc_sim_queue_put(struct sgc_sim_queue *q, uint32_t place, uint32_t number)
{
    sgc_assert(place < SGC_SIM_MARKERS_MAX && number < SGC_SIM_MARKERS_MAX);
    q->number[place] = number;
    q->place[number] = place + 1;
}

static inline void sgc_sim_queue_up(struct sgc_sim_queue *q, uint32_t place, uint32_t number)
{
    for (; place > 0 && sgc_sim_queue_before(q, number, q->number[(place - 1) / 2]); place = (place - 1) / 2)
        sgc_sim_queue_put(q, place, q->number[(place - 1) / 2]);
    sgc_sim_queue_put(q, place, number);
}

static inline void sgc_sim_queue_down(struct sgc_sim_queue *q, uint32_t place, uint32_t number)
{
    for (;;) {
        uint32_t next = 2 * place + 1;

        if (next + 1 < q->count && sgc_sim_queue_before(q, q->number[next + 1], q->number[next]))
            next++;
        if (next >= q->count || !sgc_sim_queue_before(q, q->number[next], number))
            break;
        sgc_sim_queue_put(q, place, q->number[next]);
        place = next;
    }
    sgc_sim_queue_put(q, place, number);
}

static inline void sgc_sim_queue_add(struct sgc_sim_queue *q, uint32_t number, uint64_t time)
{
    sgc_assert(q->place[number] == 0 && q->count < SGC_SIM_MARKERS_MAX);
    q->time[number] = time;
    sgc_sim_queue_up(q, q->count++, number);
}

static inline void sgc_sim_queue_remove(struct sgc_sim_queue *q, uint32_t number)
{
    uint32_t place = q->place[number] - 1, last = q->number[--q->count];

    sgc_assert(q->place[number] != 0 && place <= q->count);
    q->place[number] = 0;
    if (last == number)
        return;
    sgc_sim_queue_down(q, place, last);
    sgc_sim_queue_up(q, q->place[last] - 1, last);
}

#endif
