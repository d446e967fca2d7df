/* SPDX-License-Identifier: MIT */
/*
 * When a memory node is busy: stretches of time, in order, with room between them.
 *
 * Requests that somebody waits for are known when they arrive, and served in that order.  Those
 * that are asked for ahead are known when they are made, and arrive later.  Each is served at the
 * first time from its arrival on at which the node is free for long enough.
 */
#ifndef SGC_PERFMODEL_SIM_OCCUPIED_H
#define SGC_PERFMODEL_SIM_OCCUPIED_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "platform/report.h"

enum { SGC_SIM_STRETCHES = 512 };       /* with more, a request is served behind them all */

struct sgc_sim_stretch {
    uint64_t from, to;
};

struct sgc_sim_occupied {
    uint32_t count;
    struct sgc_sim_stretch at[SGC_SIM_STRETCHES];
};

/* Nothing will be asked of what was before `now`. */
static inline void sgc_sim_occupied_forget(struct sgc_sim_occupied *o, uint64_t now)
{
    uint32_t past = 0;

    sgc_assert(o->count <= SGC_SIM_STRETCHES);
    while (past < o->count && o->at[past].to <= now)
        past++;
    if (past == 0)
        return;
    o->count -= past;
    memmove(o->at, o->at + past, o->count * sizeof *o->at);
}

/* Before the stretch i; it becomes one with neighbours that it touches. */
static inline void sgc_sim_occupied_insert(struct sgc_sim_occupied *o, uint32_t i, uint64_t from, uint64_t to)
{
    bool joins_before = i > 0 && o->at[i - 1].to == from, joins_after = i < o->count && o->at[i].from == to;

    sgc_assert(i <= o->count && (i == 0 || o->at[i - 1].to <= from) && (i == o->count || to <= o->at[i].from));
    if (joins_before && joins_after) {
        o->at[i - 1].to = o->at[i].to;
        o->count--;
        memmove(o->at + i, o->at + i + 1, (o->count - i) * sizeof *o->at);
    } else if (joins_before) {
        o->at[i - 1].to = to;
    } else if (joins_after) {
        o->at[i].from = from;
    } else {
        memmove(o->at + i + 1, o->at + i, (o->count - i) * sizeof *o->at);
        o->at[i] = (struct sgc_sim_stretch){ from, to };
        o->count++;
    }
}

/* A request that is made now and arrives then keeps the node busy for so long: from when on. */
static inline uint64_t sgc_sim_occupy(struct sgc_sim_occupied *o, uint64_t now, uint64_t arrival, uint64_t length)
{
    uint64_t start = arrival;
    uint32_t i = 0;

    sgc_assert(now <= arrival);
    if (length == 0)
        return arrival;
    sgc_sim_occupied_forget(o, now);
    for (; i < o->count && (start + length > o->at[i].from || o->count == SGC_SIM_STRETCHES); i++)
        if (o->at[i].to > start)
            start = o->at[i].to;
    if (i == SGC_SIM_STRETCHES)
        o->at[i - 1].to = start + length;
    else
        sgc_sim_occupied_insert(o, i, start, start + length);
    return start;
}

#endif
